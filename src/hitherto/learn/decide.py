"""What becomes of what was found: stored, merged, refined, ended, held back or left out. Pure.

A statement is stored when it is new, stated by the one it is about, important enough and safe. Said again, it reinforces the
memory that is there; more exactly, it refines it; to the contrary, it ends it: the old memory keeps its words and gets an
end to its validity, the new one begins there. Nothing is ever deleted here, and a pinned memory is never ended. A turn that
is read again changes nothing that it has stated before, whatever became of that since.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from hitherto.ids import derived_id
from hitherto.learn.candidates import Candidate
from hitherto.learn.folding import fold_of, taken_out
from hitherto.learn.supersede import Relation, Statement, Stems, relation
from hitherto.safety.quarantine import quarantine
from hitherto.safety.secrets import find_secrets
from hitherto.types import Memory, StoredTurn

LEAST_CONFIDENCE = 0.5
LEAST_IMPORTANCE = 1
GROWTH = ((10, 3), (3, 2))
"""How often a thing must be said to count as this important."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Learnt:
    """A candidate and the turn that states it."""

    candidate: Candidate
    turn: StoredTurn


def decide(learnt: Iterable[Learnt], known: Sequence[Memory], *, stems: Stems, now: datetime) -> tuple[Memory, ...]:
    """The memories to write, each a new one or the next version of a known one."""
    laid_by = [memory for memory in known if memory.status != "ACTIVE"]
    held: dict[str, Memory] = {memory.id: memory for memory in known if memory.status == "ACTIVE" or fold_of(memory)}
    changed: dict[str, Memory] = {}
    for one in learnt:
        if any(_stated(memory, one, stems=stems) for memory in laid_by):
            continue
        for memory in _outcome(one, held, stems=stems, now=now):
            changed[memory.id] = memory
            if memory.status == "ACTIVE":
                held[memory.id] = memory
    return tuple(changed.values())


def _outcome(one: Learnt, held: Mapping[str, Memory], *, stems: Stems, now: datetime) -> tuple[Memory, ...]:
    candidate, turn = one.candidate, one.turn
    if not worth_keeping(one):
        return ()
    reason = quarantine(candidate.text, turn.origin)
    if reason is not None:
        return (replace(_memory(one, now=now), status="QUARANTINED", standing=False, reason=reason.kind),)
    same = [m for m in held.values() if _comparable(m, one) and (m.valid_to is None or m.valid_to > turn.at)]
    ended: list[Memory] = []
    for old in same:
        how = _relation(one, old, stems=stems)
        if how == "apart" or (how == "replaces" and (old.pinned or not _same_thing(old, one))):
            continue
        alone, *fold = _by_itself(old, held)
        match how:
            case "duplicate":
                return (*fold, reinforced(alone, turn))
            case "refines":
                return (*fold, _refined(alone, one))
            case "replaces":
                ended += [*fold, replace(alone, valid_to=turn.at)]
    begins = _memory(one, now=now)
    return (*ended, replace(begins, valid_from=turn.at) if ended else begins)


def _relation(one: Learnt, old: Memory, *, stems: Stems) -> Relation:
    """What a statement does to an earlier one; one that its own turn has made already is only said again."""
    candidate = one.candidate
    if old.id == memory_id(one.turn, candidate):
        return "duplicate"
    new = Statement(text=candidate.text, attribute=candidate.attribute, value=candidate.value)
    return relation(new, Statement(text=old.text, attribute=old.attribute, value=old.value), stems=stems)


def _stated(memory: Memory, one: Learnt, *, stems: Stems) -> bool:
    """Whether this turn has said so before, and it was archived or held back since."""
    if one.turn.id not in memory.sources or not _comparable(memory, one):
        return memory.id == memory_id(one.turn, one.candidate)
    return _relation(one, memory, stems=stems) == "duplicate"


def _by_itself(memory: Memory, held: Mapping[str, Memory]) -> list[Memory]:
    """A memory that is about to change, taken out of its fold if it is in one."""
    fold = fold_of(memory)
    return taken_out(memory, held.get(fold)) if fold else [memory]


def _same_thing(memory: Memory, one: Learnt) -> bool:
    """Only a statement under the whole key of another may end it; anything less sure stands beside it."""
    return memory.key is not None and memory.key == one.candidate.key


def worth_keeping(one: Learnt) -> bool:
    """Stated by the one it is about, sure and important enough, and free of secrets."""
    candidate, turn = one.candidate, one.turn
    if candidate.subject == "user" and turn.role != "user":
        return False
    if candidate.confidence < LEAST_CONFIDENCE or candidate.importance < LEAST_IMPORTANCE:
        return False
    return not find_secrets(candidate.text)


def reinforced(memory: Memory, turn: StoredTurn) -> Memory:
    """Said again: its count and sources grow, and with them its importance. The same turn counts once."""
    if turn.id in memory.sources:
        return memory
    mentions = memory.mentions + 1
    grown = next((level for count, level in GROWTH if mentions >= count), 0)
    return replace(
        memory,
        mentions=mentions,
        sources=(*memory.sources, turn.id),
        importance=max(memory.importance, grown),
    )


def _comparable(memory: Memory, one: Learnt) -> bool:
    """Only what is about the same thing, for the same readers, can say the same or the contrary."""
    candidate = one.candidate
    if memory.subject != candidate.subject or memory.persona != _scope(one):
        return False
    if memory.standing != candidate.standing:
        return False
    if memory.key == candidate.key:
        return True
    return bool(set(memory.entities) & set(candidate.entities)) and memory.attribute == candidate.attribute


def _refined(old: Memory, one: Learnt) -> Memory:
    candidate = one.candidate
    return replace(
        reinforced(old, one.turn),
        text=candidate.text,
        value=candidate.value or old.value,
        entities=tuple(dict.fromkeys((*old.entities, *candidate.entities))),
        importance=max(old.importance, candidate.importance),
        confidence=max(old.confidence, candidate.confidence),
    )


def memory_id(turn: StoredTurn, candidate: Candidate) -> str:
    """The same turn stating the same thing is the same memory, however often it is read."""
    return derived_id("memory", turn.id, candidate.key, candidate.text)


def _scope(one: Learnt) -> str | None:
    """What the persona says of itself is its own, and so is what it was told in confidence; other facts are everybody's."""
    return one.turn.persona if one.candidate.subject == "persona" or one.candidate.private else None


def _memory(one: Learnt, *, now: datetime) -> Memory:
    candidate, turn = one.candidate, one.turn
    return Memory(
        id=memory_id(turn, candidate),
        text=candidate.text,
        persona=_scope(one),
        key=candidate.key,
        origin=turn.origin,
        sources=(turn.id,),
        entities=candidate.entities,
        at=turn.at,
        valid_from=candidate.time.start if candidate.time and candidate.category != "EVENT" else None,
        type=candidate.type,
        category=candidate.category,
        entity_label=candidate.label or None,
        entity_type=candidate.entity_type,
        fact_type=candidate.fact_type,
        attribute=candidate.attribute,
        value=candidate.value,
        importance=candidate.importance,
        confidence=candidate.confidence,
        source="shadow_extraction",
        subject=candidate.subject,
        standing=candidate.standing,
    )
