"""Zep and Graphiti: sessions with their messages, and facts (a graph's edges) with the time for which they held.

Read are a JSON object or list, or one object per line, in the shapes their APIs answer: `messages`, `facts`, `edges`, and
objects of these kinds by themselves.
"""

from collections.abc import Iterator
from typing import Final

from hitherto.deliver.importing.mem0 import when
from hitherto.deliver.importing.source import Imported, JsonStream, KnownFact, Source
from hitherto.deliver.untrusted import Raw, mapping, objects, text
from hitherto.ids import derived_id
from hitherto.types import Role, Turn

_ROLES: Final[dict[str, Role]] = {
    **dict.fromkeys(("user", "human", "norole"), "user"),
    **dict.fromkeys(("assistant", "ai"), "assistant"),
    "system": "system",
    "tool": "tool",
    "function": "tool",
}
_HOLDERS: Final = ("sessions", "threads", "messages", "facts", "edges", "relevant_facts", "results")


def read(source: Source) -> Iterator[Imported]:
    owner = source.owner(of="an export of Zep")
    with source.path.open("rb") as file:
        stream = JsonStream(file, name=source.path.name)
        while stream.peek():
            if stream.peek() == b"[":
                for _ in stream.elements():
                    yield from _thing(mapping(stream.value()), "", owner=owner, source=source)
                    source.passed = stream.offset
            else:
                yield from _thing(mapping(stream.value()), "", owner=owner, source=source)
                source.passed = stream.offset


def _thing(given: Raw, session: str, *, owner: str, source: Source) -> Iterator[Imported]:
    held = [name for name in _HOLDERS if isinstance(given.get(name), list)]
    session = text(given, "session_id") or text(given, "thread_id") or session
    for name in held:
        for one in objects(given, name):
            yield from _thing(one, session, owner=owner, source=source)
    if held:
        return
    known = text(given, "uuid") or text(given, "uuid_")
    if (fact := text(given, "fact")) is not None:
        yield KnownFact(
            user=owner,
            id=derived_id("zep", owner, known or fact),
            text=fact,
            at=when(text(given, "created_at")),
            persona=source.persona,
            valid_from=when(text(given, "valid_at")),
            valid_to=when(text(given, "invalid_at") or text(given, "expired_at")),
        )
        return
    role = _ROLES.get((text(given, "role_type") or text(given, "role") or "").lower().replace("_", ""))
    said = text(given, "content")
    if said is None or role is None:
        source.skip("neither a message nor a fact")
        return
    at = text(given, "created_at")
    yield Turn(
        owner,
        role,
        said,
        id=f"zep:{known or derived_id('zep', session, role, said, at or '')}",
        at=when(at),
        persona=source.persona,
        conversation=f"zep:{session}" if session else None,
        speaker=text(given, "name") if role == "user" else None,
        origin="import",
    )
