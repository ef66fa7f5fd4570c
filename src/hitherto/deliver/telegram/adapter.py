"""Keeps a memory in step with a bot's chats: give it every update, and every message the bot sent.

Updates come as raw dictionaries. aiogram and python-telegram-bot are not imported: each can write its own objects as the
Bot API's JSON. A webhook checks two things before it trusts an update: the secret token, and that the update is new.
"""

import hmac
import re
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Protocol

from hitherto.deliver.telegram.events import Deleted, Edited, Event, Migrated, Posted
from hitherto.deliver.telegram.updates import Bot, chat_of, read, sent
from hitherto.deliver.untrusted import Raw, integer, mapping
from hitherto.errors import InvalidInput
from hitherto.ingest.sessions import session_id
from hitherto.types import StoredTurn, Turn


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


SECRET_HEADER: Final = "X-Telegram-Bot-Api-Secret-Token"
_SECRET: Final = re.compile(r"[A-Za-z0-9_-]{1,256}")


def check_secret(secret: str) -> str:
    """The secret if Telegram's `setWebhook` accepts it, else a clear error."""
    if not _SECRET.fullmatch(secret):
        raise InvalidInput("the webhook secret must be 1 to 256 of A-Z, a-z, 0-9, _ and -")
    return secret


def is_from_telegram(header: str | None, *, secret: str) -> bool:
    """Whether the request carried our secret, compared in constant time."""
    return hmac.compare_digest((header or "").encode(), check_secret(secret).encode())


def update_key(update: Raw, *, bot: int) -> str | None:
    """The name under which this update is noted as done; update ids are unique per bot."""
    number = integer(update, "update_id")
    return None if number is None else f"telegram:update:{bot}:{number}"


class Seen:
    """The updates that were handled recently. Turn ids keep recording idempotent over restarts; this saves the rest."""

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


CHANNEL: Final = "telegram"
"""The channel's name in links. People have positive ids and chats negative ones, so one name serves both."""

_CHAT: Final = session_id("")


class Log(Protocol):
    """The calls of `Hitherto` that a channel needs."""

    async def record(self, turn: Turn, /) -> object: ...

    async def revise(self, *, user: str, turn: str, text: str) -> object: ...

    async def turns(self, *, user: str, ids: Sequence[str]) -> Sequence[StoredTurn]: ...


class Forgetter(Protocol):
    """The call of `Hitherto` that deletions need."""

    async def forget(self, *, user: str, turn: str) -> object: ...


class Links(Protocol):
    """Which user a channel's id belongs to."""

    async def resolve(self, channel: str, external_id: str) -> str | None: ...

    async def link(self, user: str, channel: str, external_id: str) -> object: ...


class Telegram:
    """One bot's view of the memory.

    An update may arrive twice (a webhook that was not answered in time, a repeated poll): turns are recorded under ids of
    their own, and an update that was already handled gives None. Without a `forgetter`, deletions in business chats are
    only reported.
    """

    def __init__(
        self,
        log: Log,
        *,
        bot: Bot,
        links: Links | None = None,
        forgetter: Forgetter | None = None,
        seen: Seen | None = None,
    ) -> None:
        self._log = log
        self._forgetter = forgetter
        self._bot = bot
        self._links = links
        self._seen = seen or Seen()
        self._origins: dict[int, int] = {}

    async def handle(self, update: Raw) -> Event | None:
        """Stores what the update says, durably; returns what it meant, or None if it was handled before."""
        key = update_key(update, bot=self._bot.id)
        if key is not None and key in self._seen:
            return None
        await self._learn_origin(chat_of(update))
        event = await self._apply(read(update, bot=self._bot, origins=self._origins))
        if key is not None:
            self._seen.add(key)
        return event

    async def record_sent(self, message: Raw, *, snapshot: str | None = None) -> Event:
        """Stores what the bot sent: the `Message` that the send returned, and the snapshot it was given."""
        await self._learn_origin(chat_of({"message": message}))
        event = sent(message, bot=self._bot, origins=self._origins)
        if isinstance(event, Posted):
            event = replace(event, turn=replace(event.turn, snapshot=snapshot))
        return await self._apply(event)

    async def _apply(self, event: Event) -> Event:
        match event:
            case Posted():
                return await self._record(event)
            case Edited(posted=posted):
                return Edited(posted=await self._edit(posted))
            case Deleted(owner=owner, turns=turns) if self._forgetter is not None:
                for found in await self._log.turns(user=owner.user, ids=turns):
                    await self._forgetter.forget(user=owner.user, turn=found.id)
            case Migrated(old=old, new=new):
                await self._move(old, new)
            case _:
                pass
        return event

    async def _record(self, posted: Posted) -> Posted:
        """A message that the log already has is left alone: it may have been edited since this delivery set out."""
        posted = await self._owned(posted)
        quoted = posted.quoted.id if posted.quoted else None
        known = await self._known(posted.turn.user, posted.turn.id, posted.chain, quoted)
        if (recorded := known.get(posted.turn.id or "")) is not None:
            return replace(posted, turn=replace(posted.turn, lane=recorded.lane), chain=None)
        if posted.chain in known:
            posted = posted.joining(known[posted.chain].lane)
        if posted.quoted is not None and quoted not in known:
            await self._log.record(posted.quoted)
        await self._log.record(posted.turn)
        return posted

    async def _edit(self, posted: Posted) -> Posted:
        """A new version of the turn if its words changed: Telegram also reports edits that bots cannot see."""
        turn = (await self._owned(posted)).turn
        recorded = (await self._known(turn.user, turn.id)).get(turn.id or "")
        if recorded is not None and recorded.text != turn.text:
            await self._log.revise(user=turn.user, turn=recorded.id, text=turn.text)
        return await self._record(posted)

    async def _known(self, user: str, *ids: str | None) -> dict[str, StoredTurn]:
        wanted = [one for one in dict.fromkeys(ids) if one]
        return {turn.id: turn for turn in await self._log.turns(user=user, ids=wanted)}

    async def _owned(self, posted: Posted) -> Posted:
        """The application may know a person by another name; a chat never."""
        if self._links is None or posted.owner.kind != "person":
            return posted
        user = await self._links.resolve(CHANNEL, posted.owner.external_id)
        return posted if user is None else posted.owned_by(user)

    async def _move(self, old: int, new: int) -> None:
        self._origins[new] = self._origins.get(old, old)
        if self._links is not None:
            await self._links.link(session_id(self._origins[new]), CHANNEL, str(new))

    async def _learn_origin(self, chat: int | None) -> None:
        """After a restart, which group this supergroup was."""
        if chat is None or chat >= 0 or chat in self._origins or self._links is None:
            return
        user = await self._links.resolve(CHANNEL, str(chat)) or ""
        prefix, before = user[: len(_CHAT)], user[len(_CHAT) :]
        known = prefix == _CHAT and before.removeprefix("-").isdecimal()
        self._origins[chat] = int(before) if known else chat
