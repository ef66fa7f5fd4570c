"""The checks at a webhook's door."""

import pytest

from hitherto.deliver.telegram import Seen, check_secret, is_from_telegram, update_key
from hitherto.errors import InvalidInput


def test_only_our_secret_opens() -> None:
    assert is_from_telegram("s3cret_-", secret="s3cret_-")
    for wrong in (None, "", "s3cret", "s3cret_-x", "S3CRET_-", "s3cret_\xff"):
        assert not is_from_telegram(wrong, secret="s3cret_-")


@pytest.mark.parametrize("secret", ["", "with space", "ü", "x" * 257])
def test_a_secret_that_telegram_would_refuse_is_an_error_and_opens_nothing(secret: str) -> None:
    with pytest.raises(InvalidInput, match="1 to 256"):
        check_secret(secret)
    with pytest.raises(InvalidInput):
        is_from_telegram(secret, secret=secret)


def test_updates_are_named_by_bot_and_number() -> None:
    assert update_key({"update_id": 7}, bot=900) == "telegram:update:900:7"
    assert update_key({"update_id": "7"}, bot=900) is None


def test_seen_keeps_the_newest() -> None:
    seen = Seen(limit=2)
    for key in ("a", "b", "a", "c"):
        seen.add(key)
    assert ["a" in seen, "b" in seen, "c" in seen] == [True, False, True]
