"""What a webhook checks before it believes an update: the secret token, and that the update is new."""

import hmac
import re
from collections import OrderedDict
from typing import Final

from hitherto.deliver.untrusted import Raw, integer
from hitherto.errors import InvalidInput

SECRET_HEADER: Final = "X-Telegram-Bot-Api-Secret-Token"
_SECRET: Final = re.compile(r"[A-Za-z0-9_-]{1,256}")


def check_secret(secret: str) -> str:
    """The secret if Telegram's `setWebhook` takes it, else a clear error."""
    if not _SECRET.fullmatch(secret):
        raise InvalidInput("the webhook secret must be 1 to 256 of A-Z, a-z, 0-9, _ and -")
    return secret


def is_from_telegram(header: str | None, *, secret: str) -> bool:
    """Whether the request carried our secret. Takes the same time for every wrong one."""
    return hmac.compare_digest((header or "").encode(), check_secret(secret).encode())


def update_key(update: Raw, *, bot: int) -> str | None:
    """The name under which this update is noted as done; update ids are unique per bot."""
    number = integer(update, "update_id")
    return None if number is None else f"telegram:update:{bot}:{number}"


class Seen:
    """The updates that were handled lately. Turn ids keep recording idempotent over restarts; this spares
    the rest.
    """

    def __init__(self, *, limit: int = 10_000) -> None:
        self._limit = limit
        self._keys: OrderedDict[str, None] = OrderedDict()

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def add(self, key: str) -> None:
        self._keys[key] = None
        self._keys.move_to_end(key)
        while len(self._keys) > self._limit:
            self._keys.popitem(last=False)
