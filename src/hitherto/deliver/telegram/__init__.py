"""Telegram: every update into the right lane of the right memory, whatever library receives it."""

from hitherto.deliver.telegram.adapter import Forgetter, Links, Log, Telegram
from hitherto.deliver.telegram.events import (
    Connected,
    Deleted,
    Destination,
    Edited,
    Event,
    Ignored,
    Migrated,
    Owner,
    Posted,
)
from hitherto.deliver.telegram.shims import from_aiogram, from_python_telegram_bot
from hitherto.deliver.telegram.updates import Bot, read, sent, turn_id
from hitherto.deliver.telegram.webhook import SECRET_HEADER, Seen, check_secret, is_from_telegram, update_key

__all__ = [
    "SECRET_HEADER",
    "Bot",
    "Connected",
    "Deleted",
    "Destination",
    "Edited",
    "Event",
    "Forgetter",
    "Ignored",
    "Links",
    "Log",
    "Migrated",
    "Owner",
    "Posted",
    "Seen",
    "Telegram",
    "check_secret",
    "from_aiogram",
    "from_python_telegram_bot",
    "is_from_telegram",
    "read",
    "sent",
    "turn_id",
    "update_key",
]
