"""Telegram: puts every update into the right lane of the right memory, whichever library receives it."""

from hitherto.deliver.telegram.adapter import (
    SECRET_HEADER,
    Forgetter,
    Links,
    Log,
    Seen,
    Telegram,
    check_secret,
    from_aiogram,
    from_python_telegram_bot,
    is_from_telegram,
    update_key,
)
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
from hitherto.deliver.telegram.updates import Bot, read, sent, turn_id

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
