"""Telegram bots of aiogram and python-telegram-bot: every message is remembered before its handler runs.

    dispatcher.update.outer_middleware(AiogramMemory(memory, bot))       # aiogram: handlers take `posted`
    application.add_handler(PtbMemory(memory, bot).handler(), group=-1)  # python-telegram-bot: context.chat_data["posted"]

A memory that cannot answer costs the memory, never the handler; and a person whose messages cannot be read stops nobody else.
"""

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from hitherto import Hitherto
from hitherto.deliver.telegram import Bot, Posted, Telegram
from hitherto.errors import HithertoError

if TYPE_CHECKING:
    from telegram.ext import TypeHandler

LOG = logging.getLogger("hitherto.bots")


class _Remembering:
    def __init__(self, memory: Hitherto, bot: Bot) -> None:
        self._telegram = Telegram(memory, bot=bot, links=memory)

    async def posted(self, update: dict[str, Any]) -> Posted | None:
        """The message of an update, recorded; None for an update without one, or one that came before."""
        try:
            event = await self._telegram.handle(update)
        except HithertoError as error:
            LOG.warning("update %s was not remembered: %s", update.get("update_id"), error)
            return None
        return event if isinstance(event, Posted) else None

    async def sent(self, message: Any, *, snapshot: str | None = None) -> None:
        """What the bot answered, as either library returns it."""
        plain = message.to_dict() if hasattr(message, "to_dict") else _plain(message)
        await self._telegram.record_sent(plain, snapshot=snapshot)


class AiogramMemory(_Remembering):
    """An outer middleware for updates. Handlers are given `posted` (with its turn) and `remember_sent`."""

    async def __call__(
        self, handler: Callable[[Any, dict[str, Any]], Awaitable[Any]], event: Any, data: dict[str, Any]
    ) -> Any:
        data["posted"] = await self.posted(_plain(event))
        data["remember_sent"] = self.sent
        return await handler(event, data)


class PtbMemory(_Remembering):
    """A handler for a group before the others, which find `posted` in `context.chat_data`."""

    def handler(self) -> "TypeHandler[Any, Any, Any]":
        from telegram import Update
        from telegram.ext import TypeHandler

        async def remember(update: Any, context: Any) -> None:
            posted = await self.posted(update.to_dict())
            if context.chat_data is not None:
                context.chat_data["posted"] = posted

        return TypeHandler(Update, remember)


def _plain(event: Any) -> dict[str, Any]:
    """aiogram's object as the Bot API wrote it."""
    return event.model_dump(mode="json", exclude_none=True, by_alias=True)
