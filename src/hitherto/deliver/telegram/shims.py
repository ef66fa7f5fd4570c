"""Updates of the two common libraries, as the raw dictionaries that this package reads.

Neither library is imported: each knows how to write its own object as the Bot API's JSON.
"""

from typing import Protocol

from hitherto.deliver.untrusted import Raw, mapping


class _Aiogram(Protocol):
    """An aiogram 3 object (`Update`, `Message`): a Pydantic model."""

    def model_dump(self, *, by_alias: bool, exclude_none: bool, exclude_defaults: bool) -> dict[str, object]: ...


class _PythonTelegramBot(Protocol):
    """A python-telegram-bot 20+ object (`Update`, `Message`): a `TelegramObject`."""

    def to_dict(self, recursive: bool = True) -> dict[str, object]: ...  # noqa: FBT001, FBT002 - the library's signature


def from_aiogram(thing: _Aiogram) -> Raw:
    """An aiogram `Update`, or the `Message` that a send returned.

    Defaults are left out because some are markers that only an aiogram bot can resolve.
    """
    return mapping(thing.model_dump(by_alias=True, exclude_none=True, exclude_defaults=True))


def from_python_telegram_bot(thing: _PythonTelegramBot) -> Raw:
    """A python-telegram-bot `Update`, or the `Message` that a send returned."""
    return mapping(thing.to_dict())
