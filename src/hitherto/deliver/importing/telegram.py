"""Telegram Desktop's export, `result.json`: one chat, or all chats of an account.

Ids are converted to those of the Bot API, so that history joins what a bot records live. In supergroups and channels a
message has one number for everybody, so a turn has the same id from both; in private chats and basic groups each account
counts for itself, so those turns have ids of their own.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from hitherto.deliver.importing.source import JsonStream, Source
from hitherto.deliver.telegram.updates import turn_id
from hitherto.deliver.untrusted import Raw, child, instant, integer, mapping, number, objects, storable, text, values
from hitherto.errors import InvalidInput
from hitherto.ingest.sessions import chain_root, lane, session_id
from hitherto.types import Role, Turn

_SHARED_IDS: Final = ("private_supergroup", "public_supergroup", "private_channel", "public_channel")
_GROUPS: Final = (*_SHARED_IDS, "private_group", "public_group")
_CHANNEL_OFFSET: Final = 1_000_000_000_000


@dataclass(slots=True)
class _Chat:
    """The chat whose messages are being read. `above`: message → what it replies to; `topics`: the messages that created
    topics.
    """

    kind: str = ""
    number: int = 0
    name: str = ""
    roots: dict[int, int] = field(default_factory=dict[int, int])
    topics: set[int] = field(default_factory=set[int])

    @property
    def id(self) -> int:
        """The chat's id in the Bot API."""
        if self.kind in _SHARED_IDS:
            return -_CHANNEL_OFFSET - self.number
        return -self.number if self.kind in _GROUPS else self.number

    def turn(self, message: int) -> str:
        if self.kind in _SHARED_IDS:
            return turn_id(self.id, message)
        return f"telegram:export:{self.id}:{message}"

    def lane(self, message: int) -> str:
        """A topic is the chain of the service message that created it."""
        root = chain_root(message, parent=self.roots.get)
        if root in self.topics:
            return lane(self.id, topic=root)
        return lane(self.id, reply_root=root if root != message else None)


def turns(source: Source) -> Iterator[Turn]:
    with source.path.open("rb") as file:
        stream = JsonStream(file, name=source.path.name)
        if stream.peek() != b"{":
            raise InvalidInput(f"{source.path.name}, line {stream.line}: a Telegram export is an object")
        yield from _export(stream, source=source)


def _export(stream: JsonStream, *, source: Source) -> Iterator[Turn]:
    """The root is a chat itself, or contains lists of chats (the account's, and those that were left)."""
    chat = _Chat()
    for key in stream.members():
        if key in ("chats", "left_chats") and stream.peek() == b"{":
            for inner in stream.members():
                if inner != "list":
                    stream.skip()
                    continue
                for _ in stream.elements():
                    yield from _members(stream, _Chat(), source=source)
        else:
            yield from _member(stream, key, chat, source=source)


def _members(stream: JsonStream, chat: _Chat, *, source: Source) -> Iterator[Turn]:
    for key in stream.members():
        yield from _member(stream, key, chat, source=source)


def _member(stream: JsonStream, key: str, chat: _Chat, *, source: Source) -> Iterator[Turn]:
    if key == "messages":
        yield from _messages(stream, chat, source=source)
    elif key in ("name", "type", "id"):
        given: Raw = {key: stream.value()}
        chat.name = text(given, "name") or chat.name
        chat.kind = text(given, "type") or chat.kind
        chat.number = integer(given, "id") or chat.number
    else:
        stream.skip()
    source.passed = stream.offset


def _messages(stream: JsonStream, chat: _Chat, *, source: Source) -> Iterator[Turn]:
    for _ in stream.elements():
        message = mapping(stream.value())
        source.passed = stream.offset
        found = integer(message, "id")
        if found is None:
            raise InvalidInput(f"{source.path.name}, line {stream.line}: this message has no id")
        replied = integer(message, "reply_to_message_id") if "reply_to_peer_id" not in message else None
        if replied is not None:
            chat.roots[found] = chat.roots.get(replied, replied)
        if text(message, "type") == "service":
            if text(message, "action") == "topic_created":
                chat.topics.add(found)
            source.skip("service message")
            continue
        said = _words(message)
        if not said:
            source.skip("empty message")
            continue
        yield _turn(message, chat, found=found, replied=replied, said=said, source=source)


def _turn(message: Raw, chat: _Chat, *, found: int, replied: int | None, said: str, source: Source) -> Turn:
    speaker = text(message, "from")
    role = _role(message, chat, assistant=source.assistant)
    group = chat.kind in _GROUPS
    return Turn(
        source.user or (session_id(chat.id) if group else source.owner(of="a private Telegram chat")),
        role,
        said,
        id=chat.turn(found),
        at=_time(message),
        persona=source.persona,
        lane=chat.lane(found),
        conversation=session_id(chat.id),
        speaker=speaker if role == "user" and chat.kind != "bot_chat" else None,
        reply_to=None if replied is None or replied in chat.topics else chat.turn(replied),
        origin="import",
    )


def _role(message: Raw, chat: _Chat, *, assistant: str | None) -> Role:
    """In a chat with a bot, the bot answers; elsewhere, whoever the caller names."""
    sender = text(message, "from_id")
    if chat.kind == "bot_chat" and sender == f"user{chat.number}":
        return "assistant"
    return "assistant" if assistant is not None and assistant in (sender, text(message, "from")) else "user"


def _time(message: Raw) -> datetime | None:
    """Old exports have only the local time, which is then taken as UTC."""
    stamp = instant(number(message, "date_unixtime"))
    if stamp is not None:
        return stamp
    try:
        return datetime.fromisoformat(text(message, "date") or "").replace(tzinfo=UTC)
    except ValueError:
        return None


def _words(message: Raw) -> str:
    """Texts come as a string or as pieces with their formatting."""
    given = message.get("text")
    pieces: list[object] = [given] if isinstance(given, str) else values(message, "text")
    said = "".join(piece if isinstance(piece, str) else text(mapping(piece), "text") or "" for piece in pieces)
    return storable(said) or _shown(message)


def _shown(message: Raw) -> str:
    kind = text(message, "media_type")
    if kind is not None:
        known = text(message, "sticker_emoji") or text(message, "file_name") or text(message, "title")
        return f"({kind.replace('_', ' ')}{': ' + known if known else ''})"
    if message.get("photo"):
        return "(photo)"
    if message.get("file"):
        return f"(file: {text(message, 'file_name') or 'unnamed'})"
    if place := child(message, "location_information"):
        return f"(location: {number(place, 'latitude')}, {number(place, 'longitude')})"
    if contact := child(message, "contact_information"):
        name = " ".join(filter(None, (text(contact, "first_name"), text(contact, "last_name"))))
        return f"(contact: {name} {text(contact, 'phone_number') or ''})"
    if poll := child(message, "poll"):
        options = " / ".join(text(option, "text") or "" for option in objects(poll, "answers"))
        return f"(poll: {text(poll, 'question') or ''} {options})"
    return ""
