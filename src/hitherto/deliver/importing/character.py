"""Chats with characters: Character.AI's turns with their candidates, and the chat files of SillyTavern and similar programs
(a line of names, then one message per line)."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from hitherto.deliver.importing.mem0 import when
from hitherto.deliver.importing.source import Imported, JsonStream, Source
from hitherto.deliver.untrusted import Raw, child, flag, instant, mapping, number, objects, text
from hitherto.ids import derived_id
from hitherto.types import Turn

_HOLDERS: Final = ("chats", "histories", "history", "turns", "messages", "msgs")
_WRITTEN: Final = ("%B %d, %Y %I:%M%p", "%Y-%m-%d @%Hh %Mm %Ss %fms", "%Y-%m-%d@%Hh%Mm%Ss")
"""How chat files write a time that is not ISO."""


def read(source: Source) -> Iterator[Imported]:
    owner = source.owner(of="a chat with a character")
    with source.path.open("rb") as file:
        stream = JsonStream(file, name=source.path.name)
        chain = derived_id("character", owner)
        while stream.peek():
            if stream.peek() == b"[":
                for _ in stream.elements():
                    for turn in _thing(mapping(stream.value()), chain, "", owner=owner, source=source):
                        chain = turn.id or chain
                        yield turn
                    source.passed = stream.offset
                continue
            for turn in _thing(mapping(stream.value()), chain, "", owner=owner, source=source):
                chain = turn.id or chain
                yield turn
            source.passed = stream.offset


def _thing(given: Raw, chain: str, chat: str, *, owner: str, source: Source) -> Iterator[Turn]:
    """A message, or what contains messages in the order they were said (Character.AI lists turns newest first)."""
    held = [name for name in _HOLDERS if isinstance(given.get(name), list)]
    chat = text(given, "chat_id") or text(given, "external_id") or chat
    for name in held:
        inner = objects(given, name)
        for one in reversed(inner) if name == "turns" and _backwards(inner) else inner:
            for turn in _thing(one, chain, chat, owner=owner, source=source):
                chain = turn.id or chain
                yield turn
    if not held:
        yield from _message(given, chain, chat, owner=owner, source=source)


def _message(given: Raw, chain: str, chat: str, *, owner: str, source: Source) -> Iterator[Turn]:
    author = child(given, "author") or child(given, "src")
    said = text(given, "mes") or _chosen(given) or text(given, "text")
    if said is None:
        source.skip("line of names" if "user_name" in given else "message without words")
        return
    if flag(given, "is_system"):
        source.skip("system message")
        return
    human = flag(given, "is_user") or flag(author, "is_human") or flag(given, "is_human")
    known = text(child(given, "turn_key"), "turn_id") or text(given, "uuid") or derived_id(chain, said)
    yield Turn(
        owner,
        "user" if human else "assistant",
        said,
        id=known if known.startswith("character:") else f"character:{known}",
        at=_time(given),
        persona=source.persona,
        conversation=f"character:{chat}" if chat else None,
        origin="import",
    )


def _backwards(turns: list[Raw]) -> bool:
    times = [found for turn in turns if (found := _time(turn)) is not None]
    return len(times) > 1 and times[0] > times[-1]


def _chosen(turn: Raw) -> str | None:
    """The answer that the person continued from."""
    candidates = objects(turn, "candidates")
    chosen = text(turn, "primary_candidate_id")
    best = next((one for one in candidates if text(one, "candidate_id") == chosen), candidates[0] if candidates else {})
    return text(best, "raw_content")


def _time(given: Raw) -> datetime | None:
    if (stamp := number(given, "send_date")) is not None:
        return instant(stamp / 1000 if stamp > 1e11 else stamp)
    written = text(given, "create_time") or text(given, "send_date") or text(given, "created") or ""
    if (found := when(written)) is not None:
        return found
    for form in _WRITTEN:
        try:
            return datetime.strptime(written, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None
