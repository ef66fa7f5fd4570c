"""Only the platform's own, fresh requests are let in."""

import hmac
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitherto.deliver.voice import signatures

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
BODY = b'{"type":"post_call_transcription"}'
SECRET = "wsec_test"
SCHEMES = [
    pytest.param(signatures.sign_elevenlabs, signatures.elevenlabs, timedelta(minutes=30), id="elevenlabs"),
    pytest.param(signatures.sign_retell, signatures.retell, timedelta(minutes=5), id="retell"),
]
Sign = Callable[..., str]
Check = Callable[..., str]


def test_elevenlabs_signs_time_dot_body_in_seconds() -> None:
    stamp = str(int(NOW.timestamp()))
    digest = hmac.new(SECRET.encode(), f"{stamp}.".encode() + BODY, sha256).hexdigest()
    assert signatures.sign_elevenlabs(BODY, secret=SECRET, at=NOW) == f"t={stamp},v0={digest}"


def test_retell_signs_body_and_time_in_milliseconds() -> None:
    stamp = str(int(NOW.timestamp() * 1000))
    digest = hmac.new(SECRET.encode(), BODY + stamp.encode(), sha256).hexdigest()
    assert signatures.sign_retell(BODY, secret=SECRET, at=NOW) == f"v={stamp},d={digest}"


@pytest.mark.parametrize(("sign", "check", "tolerance"), SCHEMES)
def test_the_right_one_in_time_is_let_in(sign: Sign, check: Check, tolerance: timedelta) -> None:
    for sent in (NOW, NOW - tolerance, NOW + timedelta(minutes=4)):
        assert check(sign(BODY, secret=SECRET, at=sent), BODY, secret=SECRET, now=NOW) == "ok"


@pytest.mark.parametrize(("sign", "check", "tolerance"), SCHEMES)
def test_replayed_later_or_sent_from_the_future_it_is_refused(sign: Sign, check: Check, tolerance: timedelta) -> None:
    old = sign(BODY, secret=SECRET, at=NOW - tolerance - timedelta(seconds=1))
    future = sign(BODY, secret=SECRET, at=NOW + timedelta(minutes=6))
    assert check(old, BODY, secret=SECRET, now=NOW) == "too old"
    assert check(future, BODY, secret=SECRET, now=NOW) == "from the future"


@pytest.mark.parametrize(("sign", "check", "tolerance"), SCHEMES)
def test_another_body_secret_or_time_is_wrong(sign: Sign, check: Check, tolerance: timedelta) -> None:
    header = sign(BODY, secret=SECRET, at=NOW)
    later = sign(BODY, secret=SECRET, at=NOW + tolerance).split(",")[0] + "," + header.split(",")[1]
    assert check(header, BODY + b" ", secret=SECRET, now=NOW) == "wrong"
    assert check(header, BODY, secret="other", now=NOW) == "wrong"
    assert check(later, BODY, secret=SECRET, now=NOW) == "wrong"


@pytest.mark.parametrize(("sign", "check", "tolerance"), SCHEMES)
@pytest.mark.parametrize(
    "header", [None, "", "t=1", "v0=ab", "t=x,v0=ab", "v=١٢,d=ab", "t=1,t=2,v0=a", "nonsense", "=,="]
)
def test_anything_else_is_refused(sign: Sign, check: Check, tolerance: timedelta, header: str | None) -> None:
    assert check(header, BODY, secret=SECRET, now=NOW) in ("missing", "malformed", "wrong")
    assert check(sign(BODY, secret="", at=NOW), BODY, secret="", now=NOW) == "missing"


@given(header=st.text(max_size=80), body=st.binary(max_size=40))
def test_no_header_made_by_chance_gets_in(header: str, body: bytes) -> None:
    assert signatures.elevenlabs(header, body, secret=SECRET, now=NOW) != "ok"
    assert signatures.retell(header, body, secret=SECRET, now=NOW) != "ok"


def test_a_stamp_beyond_all_time_is_malformed_even_if_signed() -> None:
    stamp = "9" * 30
    digest = hmac.new(SECRET.encode(), f"{stamp}.".encode() + BODY, sha256).hexdigest()
    assert signatures.elevenlabs(f"t={stamp},v0={digest}", BODY, secret=SECRET, now=NOW) == "malformed"


def test_vapi_sends_the_secret_itself() -> None:
    assert signatures.vapi("s", secret="s") == "ok"
    assert signatures.vapi("x", secret="s") == "wrong"
    assert signatures.vapi(None, bearer="Bearer s", secret="s") == "ok"
    assert signatures.vapi(None, bearer="Bearer x", secret="s") == "wrong"
    assert signatures.vapi(None, bearer="Basic s", secret="s") == "missing"
    assert signatures.vapi(None, secret="s") == signatures.vapi("", secret="") == "missing"
