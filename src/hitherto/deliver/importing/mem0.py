"""mem0: the JSON of `get_all()` or of a memory export, its history file (SQLite), and the file of its embedded Qdrant.

Facts arrive as memories; the conversation that they were learnt from is in the history file only, as far as mem0 kept it.
"""

import io
import pickle
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from hitherto.deliver.importing.source import Imported, JsonStream, KnownFact, Source
from hitherto.deliver.untrusted import Raw, child, mapping, storable, text
from hitherto.errors import InvalidInput
from hitherto.ids import derived_id
from hitherto.types import Role, Turn

_LISTS: Final = ("results", "memories", "data", "facts")
_ROLES: Final[dict[str, Role]] = {"user": "user", "assistant": "assistant"}


def read(source: Source) -> Iterator[Imported]:
    if not source.is_sqlite:
        yield from _export(source)
    elif source.has_table("points"):
        for _, point in source.rows("points", "id", "point"):
            yield from _fact(_payload(point, source=source), source=source)
    else:
        yield from _history(source)


def _export(source: Source) -> Iterator[Imported]:
    with source.path.open("rb") as file:
        stream = JsonStream(file, name=source.path.name)
        if stream.peek() == b"[":
            yield from _listed(stream, source=source)
            return
        if stream.peek() != b"{":
            raise InvalidInput(f"{source.path.name}, line {stream.line}: an export of mem0 is a list or an object")
        for key in stream.members():
            if key in _LISTS and stream.peek() == b"[":
                yield from _listed(stream, source=source)
            else:
                stream.skip()


def _listed(stream: JsonStream, *, source: Source) -> Iterator[Imported]:
    for _ in stream.elements():
        yield from _fact(mapping(stream.value()), source=source)
        source.passed = stream.offset


def _fact(given: Raw, *, source: Source) -> Iterator[Imported]:
    said = text(given, "memory") or text(given, "data")
    if said is None:
        source.skip("entry without a memory")
        return
    owner = source.user or text(given, "user_id") or source.owner(of="a memory of mem0 without user_id")
    known = text(given, "id") or text(given, "hash") or said
    yield KnownFact(
        user=owner,
        id=derived_id("mem0", owner, known),
        text=said,
        at=when(text(given, "updated_at") or text(given, "created_at")),
        persona=source.persona or text(given, "agent_id"),
    )


def _history(source: Source) -> Iterator[Imported]:
    """The last version of every memory, and the messages that mem0 kept."""
    if not source.has_table("history"):
        raise InvalidInput(f"{source.path.name}: neither mem0's history nor a collection of its Qdrant")
    owner = source.owner(of="mem0's history")
    last: dict[str, tuple[str, str | None]] = {}
    for known, said, event, at in source.rows("history", "memory_id", "new_memory", "event", "created_at"):
        if event == "DELETE":
            last.pop(str(known), None)
            source.skip("deleted memory")
        elif isinstance(said, str) and storable(said):
            last[str(known)] = (storable(said), at if isinstance(at, str) else None)
    for known, (said, at) in last.items():
        yield KnownFact(user=owner, id=derived_id("mem0", owner, known), text=said, at=when(at), persona=source.persona)
    if source.has_table("messages"):
        for known, role, said, at in source.rows("messages", "id", "role", "content", "created_at"):
            if role not in _ROLES or not isinstance(said, str) or not storable(said):
                source.skip("message without words")
                continue
            yield Turn(
                owner,
                _ROLES[role],
                storable(said),
                id=f"mem0:{known}",
                at=when(at if isinstance(at, str) else None),
                persona=source.persona,
                origin="import",
            )


def when(value: str | None) -> datetime | None:
    """A time with its zone; one without a zone is UTC, as mem0 and SQLite write it."""
    try:
        found = datetime.fromisoformat(value or "")
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


class _Plain:
    """Stands for every class that a pickled point names: it holds values and runs nothing."""

    def __init__(self, *given: Any) -> None:
        self.state: Raw = {}

    def __setstate__(self, state: object) -> None:
        """Pydantic's objects hold their fields under `__dict__`."""
        self.state = child(mapping(state), "__dict__") or mapping(state)


class _Harmless(pickle.Unpickler):
    """Reads a pickle's values without running any code that the pickle may name."""

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        return _Plain


def _payload(point: object, *, source: Source) -> Raw:
    try:
        found = _Harmless(io.BytesIO(point if isinstance(point, bytes) else b"")).load()
    except (pickle.UnpicklingError, EOFError, AttributeError, TypeError, ValueError, IndexError, KeyError) as error:
        raise InvalidInput(f"{source.path.name}: a point of its collection cannot be read ({error})") from error
    state = mapping(found.state if isinstance(found, _Plain) else found)
    return {"id": str(state.get("id") or ""), **mapping(state.get("payload"))}
