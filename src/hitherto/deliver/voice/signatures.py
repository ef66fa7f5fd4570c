"""Whether a webhook comes from the platform and is fresh. Answers are reasons, so that a log can say why one was refused.

Each platform signs the raw body together with a time. A request whose time is too far from ours, in either direction, is
refused, so a captured one cannot be replayed later. Within that window the same delivery has the same signature, so a
replay is recognised by its digest.
"""

import hmac
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final, Literal

from hitherto.clock import EPOCH
from hitherto.deliver.untrusted import instant

Verdict = Literal["ok", "missing", "malformed", "wrong", "too old", "from the future"]

ELEVENLABS_HEADER: Final = "ElevenLabs-Signature"
RETELL_HEADER: Final = "X-Retell-Signature"
VAPI_HEADER: Final = "X-Vapi-Secret"

ELEVENLABS_TOLERANCE: Final = timedelta(minutes=30)
RETELL_TOLERANCE: Final = timedelta(minutes=5)
_AHEAD: Final = timedelta(minutes=5)
"""How far the platform's clock may be ahead of ours."""


@dataclass(frozen=True, slots=True)
class _Scheme:
    """How one platform writes its header: the keys of time and digest, the time's unit, and what is signed."""

    time: str
    digest: str
    per_second: int
    signed: Callable[[bytes, bytes], bytes]


_ELEVENLABS: Final = _Scheme("t", "v0", 1, lambda stamp, body: stamp + b"." + body)
_RETELL: Final = _Scheme("v", "d", 1_000, lambda stamp, body: body + stamp)


def elevenlabs(
    header: str | None,
    body: bytes,
    *,
    secret: str,
    now: datetime,
    tolerance: timedelta = ELEVENLABS_TOLERANCE,
) -> Verdict:
    """`t=<seconds>,v0=<hex>`: HMAC-SHA256 of time, a dot and the body."""
    return _verdict(_ELEVENLABS, header, body, secret=secret, now=now, tolerance=tolerance)


def retell(
    header: str | None, body: bytes, *, secret: str, now: datetime, tolerance: timedelta = RETELL_TOLERANCE
) -> Verdict:
    """`v=<milliseconds>,d=<hex>`: HMAC-SHA256 of the body and the time, with the API key as secret."""
    return _verdict(_RETELL, header, body, secret=secret, now=now, tolerance=tolerance)


def vapi(header: str | None, *, secret: str, bearer: str | None = None) -> Verdict:
    """Vapi sends the server's secret itself, without a time: only the call's id reveals a replay. A custom credential of
    its newer kind comes as `Authorization: Bearer …` instead."""
    kind, _, token = (bearer or "").partition(" ")
    given = header or (token.strip() if kind.lower() == "bearer" else "")
    if not given or not secret:
        return "missing"
    return "ok" if hmac.compare_digest(given.encode(), secret.encode()) else "wrong"


def sign_elevenlabs(body: bytes, *, secret: str, at: datetime) -> str:
    """The header ElevenLabs would send."""
    return _header(_ELEVENLABS, body, secret=secret, at=at)


def sign_retell(body: bytes, *, secret: str, at: datetime) -> str:
    """The header Retell would send."""
    return _header(_RETELL, body, secret=secret, at=at)


def _header(scheme: _Scheme, body: bytes, *, secret: str, at: datetime) -> str:
    stamp = str(int((at - EPOCH).total_seconds() * scheme.per_second))
    return f"{scheme.time}={stamp},{scheme.digest}={_digest(scheme, stamp, body, secret=secret)}"


def _digest(scheme: _Scheme, stamp: str, body: bytes, *, secret: str) -> str:
    return hmac.new(secret.encode(), scheme.signed(stamp.encode(), body), sha256).hexdigest()


def _verdict(
    scheme: _Scheme, header: str | None, body: bytes, *, secret: str, now: datetime, tolerance: timedelta
) -> Verdict:
    if not header or not secret:
        return "missing"
    fields = [part.strip().partition("=") for part in header.split(",")]
    stamps = [value for key, _, value in fields if key == scheme.time]
    digests = [value for key, _, value in fields if key == scheme.digest]
    if len(stamps) != 1 or not digests or not (stamps[0].isascii() and stamps[0].isdecimal()):
        return "malformed"
    expected = _digest(scheme, stamps[0], body, secret=secret).encode()
    if not any(hmac.compare_digest(expected, digest.encode()) for digest in digests):
        return "wrong"
    at = instant(int(stamps[0]) / scheme.per_second) if len(stamps[0]) <= 16 else None
    if at is None:
        return "malformed"
    if at < now - tolerance:
        return "too old"
    return "from the future" if at > now + _AHEAD else "ok"
