"""The record of a context, from which it can be rebuilt byte for byte without ranking anything again.

A snapshot contains no text of its own. Every text that came from somewhere (a turn, a memory, the persona, the message) is
a blob under a hash of its owner and its content, so that contexts share what they have in common, and forgetting a thing
removes it from every snapshot at once. What is left between the blobs are the renderer's own words. A rebuilt context shows
where something was forgotten, never what.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import blake2b
from typing import Any, Final, cast

from hitherto.assemble.material import Assembled, Material, Piece, result_hash
from hitherto.assemble.render import RENDERER
from hitherto.errors import NotFound
from hitherto.ids import erased_name
from hitherto.recall.lists import ACCESSED
from hitherto.recipes.recipe import Recipe
from hitherto.safety.visible import visible
from hitherto.store import records as nouns
from hitherto.store.protocol import Change, Note, RecordsById, SnapshotsById, StoredSnapshot, UserStore
from hitherto.types import Context, Item, Json, SectionUse, Thought

FORGOTTEN: Final = "(forgotten)"
"""Stands where something was forgotten."""
_NOBODY: Final = -1
"""The owner of a blob that no item represents: the recipe, the persona."""


Taken = tuple[StoredSnapshot, Mapping[str, str]]
"""A snapshot, and its blobs by hash."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """A context from its snapshot. `exact` says that its bytes are those that were sent; `notes` say why not."""

    context: Context
    exact: bool
    notes: tuple[str, ...]


def taken(made: Assembled, recipe: Recipe, material: Material) -> Taken:
    """The snapshot of a context, and its blobs by hash."""
    book = _Blobs(made.items)
    persona = material.persona
    body: dict[str, Json] = {
        "renderer": RENDERER,
        "recipe": [made.recipe, book.put(_NOBODY, recipe.canonical)],
        "persona": [persona.id, persona.version, book.put(_NOBODY, persona.text)],
        "lane": material.lane,
        "message": book.put(made.carriers[-1] or 0, str(made.messages[-1]["content"])),
        "tokens": made.tokens,
        "prefix": made.prefix_hash,
        "result": made.result,
        "history": len(made.history),
        "breakpoints": list(made.breakpoints),
        "system": book.pieces(made.pieces),
        "messages": [
            ["user", book.pieces(made.tail), None, None] if owner is None else book.message(owner, message)
            for owner, message in zip(made.carriers, made.messages, strict=True)
        ],
        "items": [book.item(number, item) for number, item in enumerate(made.items)],
        "sections": [[u.group, list(u.sections), u.tokens, u.target, u.cap] for u in made.sections],
        "log": dict(made.log),
        "warnings": list(made.warnings),
        "blobs": book.listed,
    }
    return StoredSnapshot(id=made.snapshot, at=made.at, known=made.known, body=_written(body)), book.texts


def rebuilt(snapshot: StoredSnapshot, blobs: Mapping[str, str]) -> Rebuilt:
    """The context that a snapshot records. A missing blob was forgotten."""
    body = body_of(snapshot)
    if not snapshot.full:
        raise NotFound(f"snapshot {snapshot.id!r} is older than full receipts are kept; only its ids are left")
    names: list[str] = [name for name, _ in body["blobs"]]
    missing = sum(name not in blobs for name in names)

    def text(ref: int | str) -> str:
        return ref if isinstance(ref, str) else blobs.get(names[ref], FORGOTTEN)

    messages = [_message(row, text) for row in body["messages"]]
    context = Context(
        system="".join(text(piece) for piece in body["system"]),
        history=messages[: body["history"]],
        messages=messages,
        tokens=body["tokens"],
        items=[_item(row, text) for row in body["items"]],
        snapshot=snapshot.id,
        prefix_hash=body["prefix"],
        recipe=body["recipe"][0],
        at=snapshot.at,
        known=snapshot.known,
        sections=tuple(
            SectionUse(group=group, sections=tuple(ids), tokens=tokens, target=target, cap=cap)
            for group, ids, tokens, target, cap in body["sections"]
        ),
        log=body["log"],
        warnings=tuple(body["warnings"]),
        breakpoints=tuple(body.get("breakpoints", ())),
    )
    exact = result_hash(context.system, context.messages) == body["result"]
    notes: list[str] = []
    if missing:
        notes.append(f"{missing} of its texts were forgotten since")
    if body["renderer"] != RENDERER:
        notes.append(f"it was written by renderer {body['renderer']}, this is renderer {RENDERER}")
    if not exact and not missing:
        notes.append("its bytes differ from those that were sent")
    return Rebuilt(context, exact, tuple(notes))


def blob_names(snapshot: StoredSnapshot) -> tuple[str, ...]:
    """The hashes of the blobs that a snapshot needs."""
    return tuple(name for name, _ in body_of(snapshot).get("blobs", ()))


def given(snapshot: StoredSnapshot) -> list[tuple[str, str]]:
    """Kind and id of everything that the context showed."""
    # Only these columns are read: an answer waits for this, and making rows of all of them took as long again as the rest.
    body: dict[str, Any] = json.loads(snapshot.body)
    columns = body[_COLUMNS]["items"] if _COLUMNS in body else list(zip(*body["items"], strict=True))
    shown = zip(columns[1], columns[2], columns[_INCLUDED], strict=True) if columns else ()
    return [(kind, name) for kind, name, included in shown if included]


def belongs(snapshot: StoredSnapshot, *, persona: str | None = None, lane: str | None = None) -> bool:
    """Whether a context was made for this persona or in this lane."""
    body = body_of(snapshot)
    whose, where = body.get("persona", [None])[0], body.get("lane")
    return (persona is not None and whose == persona) or (lane is not None and where == lane)


def message_names(texts: Iterable[str]) -> frozenset[str]:
    """The names of blobs that hold these texts as messages that were not yet recorded when they were asked."""
    return frozenset(_name("", said) for text in texts for said in (text, visible(text)))


def blobs_of(snapshot: StoredSnapshot, ids: Collection[str], names: Collection[str] = ()) -> tuple[str, ...]:
    """The hashes of the blobs that show one of these turns or records, rest on one, or are named themselves."""
    body = body_of(snapshot)
    wanted = set(ids)
    touched = {
        number for number, row in enumerate(body["items"]) if row[2] in wanted or not wanted.isdisjoint(row[_SOURCES])
    }
    return tuple(name for name, owner in body.get("blobs", ()) if owner in touched or name in names)


def unnamed(snapshot: StoredSnapshot, ids: Collection[str]) -> StoredSnapshot | None:
    """The snapshot with hashes instead of these ids, which may have been chosen by whoever recorded them; None if it has
    none of them."""
    body, wanted = body_of(snapshot), set(ids)
    if not any(row[2] in wanted or not wanted.isdisjoint(row[_SOURCES]) for row in body["items"]):
        return None
    for row in body["items"]:
        reason, _, rest = row[_REASON].partition(" of ")
        row[2] = _hashed(row[2], wanted)
        row[_SOURCES] = [_hashed(name, wanted) for name in row[_SOURCES]]
        row[_REASON] = reason + (rest and " of " + " ".join(_hashed(word, wanted) for word in rest.split(" ")))
    return replace(snapshot, body=_written(body))


def _hashed(name: str, wanted: Collection[str]) -> str:
    return erased_name(name) if name in wanted else name


def thinned(snapshot: StoredSnapshot) -> StoredSnapshot:
    """What is kept of an old snapshot: which items were candidates, in or out and why, without any text."""
    body = body_of(snapshot)
    kept = {name: body[name] for name in ("renderer", "tokens", "prefix", "result", "log", "warnings")}
    kept |= {name: body[name] for name in ("lane",) if name in body}
    kept["recipe"], kept["persona"] = [body["recipe"][0]], body["persona"][:1]
    kept["items"] = [[*row[:3], None, *row[4:]] for row in body["items"]]
    return replace(snapshot, body=_written(kept), full=False)


def _name(item: str, text: str) -> str:
    """A text's name as a blob: it belongs to one item, so that forgetting that item leaves the others theirs."""
    return blake2b(f"{item}\0{text}".encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


class _Blobs:
    """Texts on their way into blobs, each listed once with the item that owns it."""

    __slots__ = ("_items", "_places", "listed", "texts")

    def __init__(self, items: tuple[Item, ...]) -> None:
        self._items = items
        self._places: dict[tuple[int, str], int] = {}
        self.listed: list[Json] = []
        self.texts: dict[str, str] = {}

    def put(self, owner: int, text: str) -> int:
        """The text's index in the list of blobs."""
        known = self._places.get((owner, text))
        if known is not None:
            return known
        item = self._items[owner].id if owner != _NOBODY else ""
        name = _name(item, text)
        self.texts[name] = text
        self.listed.append([name, owner])
        place = self._places[owner, text] = len(self.listed) - 1
        return place

    def pieces(self, pieces: Iterable[Piece]) -> list[Json]:
        """A text of many owners: the renderer's own words as they are, the others by index."""
        return [p.text if p.item is None else self.put(p.item, p.text) for p in pieces]

    def item(self, number: int, item: Item) -> Json:
        return [
            item.section,
            item.kind,
            item.id,
            self.put(number, item.text),
            item.tokens,
            item.score,
            dict(item.parts),
            list(item.sources),
            item.included,
            item.reason,
        ]

    def message(self, owner: int, message: Mapping[str, Json]) -> Json:
        """Role, content, tool calls and the call it answers."""
        content, answers = message.get("content"), message.get("tool_call_id")
        calls = message.get("tool_calls")
        return [
            message["role"],
            None if content is None else self.put(owner, str(content)),
            None if calls is None else self.put(owner, json.dumps(calls, ensure_ascii=False)),
            None if answers is None else self.put(owner, str(answers)),
        ]


_SOURCES: Final = 7
_INCLUDED: Final = 8
_REASON: Final = 9
"""Where an item's sources, whether it was shown, and the reason stand in its row."""


# A body is written by columns, so that what follows one another is of one kind. An index into the list of texts or items is
# written as its distance from the previous one, nearly always 1, and the sources of an item that is its own source as 0.
# Compressed, it takes two thirds of the bytes that rows take. It is read as rows, the format up to 0.1.0.

_COLUMNS: Final = "columns"
_PLACED: Final[Mapping[str, tuple[int, ...]]] = {"items": (3,), "messages": (1, 2, 3), "blobs": (1,)}
"""Which columns of each kind of row hold indexes."""
_PARTS: Final = 6
"""Where the parts of an item's score stand in its row."""


def body_of(snapshot: StoredSnapshot) -> dict[str, Any]:
    """The content of a snapshot, with a row for each item, message and text."""
    body: dict[str, Any] = json.loads(snapshot.body)
    for name, columns in body.pop(_COLUMNS, {}).items():
        for column in _PLACED[name] if columns else ():
            columns[column] = _places(columns[column])
        if name == "items" and columns:
            columns[_PARTS] = _whole_parts(*columns[_PARTS])
            columns[_SOURCES] = [
                [own] if one == 0 else one for own, one in zip(columns[2], columns[_SOURCES], strict=True)
            ]
        body[name] = [list(row) for row in zip(*columns, strict=True)]
        if name == "messages":
            body["system"] = _places(body["system"])
    return body


def _written(body: Mapping[str, Any]) -> str:
    by_columns: dict[str, list[Any]] = {}
    written = {name: value for name, value in body.items() if name not in _PLACED} | {_COLUMNS: by_columns}
    for name, placed in _PLACED.items():
        columns: list[Any] = list(zip(*body.get(name, ()), strict=True))
        if name == "items" and columns:
            columns[_PARTS] = _split_parts(columns[_PARTS])
            columns[_SOURCES] = [
                0 if one == [own] else one for own, one in zip(columns[2], columns[_SOURCES], strict=True)
            ]
        for column in placed if columns else ():
            columns[column] = _steps(columns[column])
        if name in body:
            by_columns[name] = columns
    if "messages" in body:
        written["system"] = _steps(body["system"])
    return json.dumps(written, ensure_ascii=False, separators=(",", ":"))


def _steps(values: Sequence[Any]) -> list[Any]:
    """Indexes, including those in lists, as distances; anything else stays."""
    last = 0

    def step(value: Any) -> Any:
        nonlocal last
        if isinstance(value, int):
            last, value = value, value - last
        return [step(one) for one in cast("list[Any]", value)] if isinstance(value, list) else value

    return [step(value) for value in values]


def _places(values: Sequence[Any]) -> list[Any]:
    """The inverse of `_steps`."""
    last = 0

    def place(value: Any) -> Any:
        nonlocal last
        if isinstance(value, int):
            last += value
            return last
        return [place(one) for one in cast("list[Any]", value)] if isinstance(value, list) else value

    return [place(value) for value in values]


_Parts = tuple[list[tuple[str, ...]], list[int], dict[str, list[float]]]
"""Which names occur together, which of these sets each item has, and the values of each name."""


def _split_parts(parts: Iterable[Mapping[str, float]]) -> _Parts:
    shapes: dict[tuple[str, ...], int] = {}
    values: dict[str, list[float]] = {}
    numbers: list[int] = []
    for one in parts:
        numbers.append(shapes.setdefault(tuple(one), len(shapes)))
        for name, value in one.items():
            values.setdefault(name, []).append(value)
    return list(shapes), numbers, values


def _whole_parts(shapes: list[list[str]], numbers: list[int], values: dict[str, list[float]]) -> list[dict[str, float]]:
    each = {name: iter(column) for name, column in values.items()}
    return [{name: next(each[name]) for name in shapes[number]} for number in numbers]


def _item(row: list[Any], text: Callable[[int | str], str]) -> Item:
    section, kind, name, ref, tokens, score, parts, sources, included, reason = row
    return Item(
        section=section,
        kind=kind,
        id=name,
        text=text(ref),
        tokens=tokens,
        score=score,
        parts=parts,
        sources=tuple(sources),
        included=included,
        reason=reason,
    )


def _message(row: list[Any], text: Callable[[int | str], str]) -> dict[str, Json]:
    role, content, calls, answers = row
    message: dict[str, Json] = {"role": role}
    if answers is not None:
        message["tool_call_id"] = text(answers)
    if isinstance(content, list):
        message["content"] = "".join(text(piece) for piece in cast("list[int | str]", content))
    else:
        message["content"] = None if content is None else text(content)
    if calls is not None:
        found = text(calls)
        message["tool_calls"] = [] if found == FORGOTTEN else json.loads(found)
    return message


async def marks(store: UserStore, snapshots: Sequence[str], *, now: datetime) -> Change:
    """The change that accompanies the answers; an unknown snapshot marks nothing."""
    query = SnapshotsById(ids=tuple(dict.fromkeys(snapshots)))
    thoughts: dict[str, str] = {}
    accessed: set[str] = set()
    for taken in (await store.read(query))[query]:
        for kind, name in given(taken):
            if kind == "thought":
                thoughts.setdefault(name, taken.id)
            elif kind == "memory":
                accessed.add(name)
    spent = RecordsById(ids=tuple(thoughts))
    rows = (await store.read(spent))[spent] if thoughts else ()
    return Change(
        records=tuple(
            nouns.draft(replace(thought, used_in=thoughts[thought.id]), now=now)
            for thought in nouns.records(rows, Thought)
            if thought.used_in is None
        ),
        notes=tuple(Note(name=ACCESSED + memory, body=now.isoformat()) for memory in sorted(accessed)),
    )
