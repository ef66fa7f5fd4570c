"""Recording turns: everything costly is prepared before the lock is taken, and one pure function decides under it.

Recording a turn again changes nothing and returns the same ids; the same id with other content is a conflict. A forgotten
turn stays forgotten: if it is delivered again, the call succeeds but stores nothing. An answer that names its snapshot
marks the thoughts it was given as used, in the same transaction.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from typing import Final

from hitherto.errors import Conflict, InvalidInput, NotFound, ServiceError
from hitherto.ingest import sessions
from hitherto.ingest import validation as validate
from hitherto.store import records as nouns
from hitherto.store.protocol import (
    ANY,
    Answers,
    Change,
    Erased,
    RecordList,
    Row,
    TurnDraft,
    TurnsById,
    UserStore,
    Vector,
    Window,
)
from hitherto.types import Part, Session, StoredTurn, Turn

LOG = logging.getLogger("hitherto.record")

TOGETHER: Final = 128
"""Turns that are embedded together: few enough that their stems are still cached when the index asks for them too."""

Measure = Callable[[str, tuple[Part, ...]], int]
Embed = Callable[[Sequence[str]], Sequence[Vector | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Indexer:
    """How a text becomes countable and searchable; without `embed`, vectors are written later."""

    count: Measure
    family: str
    stems: Callable[[str], Sequence[str]]
    embed: Embed | None = None


def forgiving(embed: Embed) -> Embed:
    """A failing embedder does not keep anything from being stored: without a vector, a turn is found by its words."""

    def vectors(texts: Sequence[str]) -> Sequence[Vector | None]:
        try:
            return embed(texts)
        except ServiceError as error:
            stored = "one text is" if len(texts) == 1 else f"{len(texts)} texts are"
            LOG.warning("%s stored without vectors until `hitherto reindex`: %s", stored, error)
            return [None] * len(texts)

    return vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A valid turn with its id and everything computed from its text."""

    turn: Turn
    id: str
    tokens: int
    family: str
    stems: tuple[str, ...]
    vector: Vector | None


def prepare(valid: Sequence[Turn], *, indexer: Indexer, new_id: Callable[[], str]) -> tuple[Prepared, ...]:
    """Does everything for valid turns of one user that needs no lock."""
    if len({turn.user for turn in valid}) > 1:
        raise InvalidInput("prepare takes the turns of one user")
    pieces = (valid[start : start + TOGETHER] for start in range(0, len(valid), TOGETHER))
    return tuple(chain.from_iterable(_prepared(piece, indexer=indexer, new_id=new_id) for piece in pieces))


def _prepared(valid: Sequence[Turn], *, indexer: Indexer, new_id: Callable[[], str]) -> tuple[Prepared, ...]:
    searchable = [words(turn.text, turn.parts or ()) for turn in valid]
    vectors = indexer.embed(searchable) if indexer.embed else [None] * len(valid)
    return tuple(
        Prepared(
            turn=turn,
            id=turn.id or new_id(),
            tokens=indexer.count(turn.text, turn.parts or ()),
            family=indexer.family,
            stems=tuple(indexer.stems(searched)),
            vector=vector,
        )
        for turn, searched, vector in zip(valid, searchable, vectors, strict=True)
    )


def words(text: str, parts: tuple[Part, ...]) -> str:
    """The part of a turn that is searched: its text and the captions of its media, not tool output or thinking."""
    captions = [part.caption for part in parts if part.kind == "media" and part.caption]
    return "\n".join([text, *captions]) if captions else text


async def record(
    store: UserStore,
    prepared: Sequence[Prepared],
    *,
    rule: sessions.Rule,
    now: datetime,
    also: Change | None = None,
) -> list[str]:
    """Writes one user's turns, durable on return; returns the ids in the order given. `also` is committed with them."""
    named = tuple(dict.fromkeys(entry.id for entry in prepared if entry.turn.id is not None))
    known, erased = TurnsById(ids=named), Erased(ids=named)
    personas = tuple(dict.fromkeys(entry.turn.persona for entry in prepared))
    newest = {persona: Window(persona=persona, lane=ANY, limit=1) for persona in personas}
    closed = {
        persona: RecordList(noun="session", persona=persona, statuses=("closed",), limit=8) for persona in personas
    }
    told = (known, erased) if named else ()  # an id that was made for this call is nobody's

    def decide(answers: Answers) -> Change:
        existing, gone = (answers[known], answers[erased]) if told else ((), frozenset[str]())
        there = {turn.id for turn in existing}
        wanted = [entry for entry in prepared if entry.id in there or entry.id not in gone]
        tails = {persona: _tail(answers[newest[persona]], answers[closed[persona]]) for persona in personas}
        change = _change(wanted, existing=existing, tails=tails, rule=rule, now=now)
        if also is None or not change.turns:
            return change
        return replace(change, records=change.records + also.records, notes=change.notes + also.notes)

    await store.write(decide, *told, *newest.values(), *closed.values())
    return [entry.id for entry in prepared]


def _tail(newest: Sequence[StoredTurn], closed: Sequence[Row]) -> sessions.Tail | None:
    if not newest:
        return None
    turn = newest[-1]
    return sessions.tail_of(turn, closed=any(session.id == turn.session for session in closed))


def _change(
    prepared: Sequence[Prepared],
    *,
    existing: Sequence[StoredTurn],
    tails: Mapping[str | None, sessions.Tail | None],
    rule: sessions.Rule,
    now: datetime,
) -> Change:
    seen = {turn.id: turn for turn in existing}
    ends = dict(tails)
    drafts: dict[str, TurnDraft] = {}
    opened: list[Session] = []
    for entry in prepared:
        turn = entry.turn
        before = seen.get(entry.id) or drafts.get(entry.id)
        if before is not None:
            _check_same(turn, before)
            continue
        assert turn.at is not None, "prepare fills it in"
        assert turn.origin is not None, "prepare fills it in"
        placed = sessions.place(ends[turn.persona], turn_id=entry.id, at=turn.at, persona=turn.persona, rule=rule)
        if placed.opens:
            opened.append(placed.opens)
        ends[turn.persona] = sessions.Tail(
            session=placed.session, position=placed.position, number=placed.number, at=turn.at
        )
        drafts[entry.id] = TurnDraft(
            id=entry.id,
            version=1,
            place=None,
            role=turn.role,
            text=turn.text,
            at=turn.at,
            recorded_at=now,
            persona=turn.persona,
            lane=turn.lane,
            conversation=turn.conversation,
            speaker=turn.speaker,
            reply_to=turn.reply_to,
            origin=turn.origin,
            parts=turn.parts or (),
            snapshot=turn.snapshot,
            session=placed.session,
            position=placed.position,
            number=placed.number,
            tokens=entry.tokens,
            family=entry.family,
            stems=entry.stems,
            vector=entry.vector,
        )
    return Change(turns=tuple(drafts.values()), records=tuple(nouns.draft(session, now=now) for session in opened))


def _check_same(turn: Turn, before: StoredTurn | TurnDraft) -> None:
    """A repeated delivery must say the same; its time is compared only if the caller gave one."""
    for field in ("role", "text", "persona", "lane", "conversation", "speaker", "reply_to"):
        if getattr(turn, field) != getattr(before, field):
            raise Conflict(
                f"turn {before.id!r} was recorded before with another {field}: "
                "use revise to change a turn, or another id for another turn"
            )
    if (turn.parts or ()) != before.parts:
        raise Conflict(f"turn {before.id!r} was recorded before with other parts")


async def revise(
    store: UserStore,
    *,
    turn: str,
    text: str,
    indexer: Indexer,
    now: datetime,
    parts: tuple[Part, ...] | None = None,
) -> StoredTurn:
    """Writes a new version of a turn at the same place in the conversation; the old one stays in the log."""
    validate.text(text, empty=bool(parts))
    query = TurnsById(ids=(turn,))
    found = (await store.read(query))[query]
    if not found:
        raise NotFound(f"there is no turn {turn!r} to revise")
    kept = found[0].parts if parts is None else parts
    searched = words(text, kept)
    vector = indexer.embed([searched])[0] if indexer.embed else None

    def decide(answers: Answers) -> Change:
        current = answers[query]
        if not current:
            raise NotFound(f"there is no turn {turn!r} to revise")
        old = current[0]
        if old.text == text and old.parts == kept:
            return Change()
        return Change(
            turns=(
                TurnDraft(
                    id=old.id,
                    version=old.version + 1,
                    place=old.place,
                    role=old.role,
                    text=text,
                    at=old.at,
                    recorded_at=now,
                    persona=old.persona,
                    lane=old.lane,
                    conversation=old.conversation,
                    speaker=old.speaker,
                    reply_to=old.reply_to,
                    origin=old.origin,
                    parts=kept,
                    snapshot=old.snapshot,
                    session=old.session,
                    position=old.position,
                    number=old.number,
                    tokens=indexer.count(text, kept),
                    family=indexer.family,
                    stems=tuple(indexer.stems(searched)),
                    vector=vector,
                ),
            )
        )

    await store.write(decide, query)
    return (await store.read(query))[query][0]


def by_user(turns: Sequence[Turn]) -> dict[str, list[int]]:
    """The positions of each user's turns."""
    places: dict[str, list[int]] = {}
    for place, turn in enumerate(turns):
        places.setdefault(turn.user, []).append(place)
    return places
