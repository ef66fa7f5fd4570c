"""A profile that an application knows before the first message: its lines become memories marked as `seeded_profile`.

A line may be said as the user would ("I live in Austin"), told ("Lives in Austin"), or filled in ("home: Austin"). Rules read
it like a turn, so that it gets the same type, entities and key, and a later word of the user can end it; what no rule reads is
kept as it stands. A profile is older than anything the user said: it ends only what an earlier profile had stated.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from hitherto.errors import InvalidInput
from hitherto.ids import derived_id
from hitherto.learn import entities
from hitherto.learn.candidates import Candidate, Said
from hitherto.learn.decide import Learnt, decide
from hitherto.learn.rules.extracting import extract
from hitherto.learn.services import Alike, Finding
from hitherto.store import records as nouns
from hitherto.store.protocol import Answers, Change, RecordList, RecordsByEntity, RecordsByKey, UserStore
from hitherto.store.records import Index
from hitherto.text.names import slug
from hitherto.types import Entity, Memory, Record, StoredTurn

MOST = 1_000
LONGEST = 500
KNOWN = 2_000
SURE = 0.9
_FILLED_IN = re.compile(r"(?P<name>[A-Za-z][\w -]{0,30}?)\s*[:=]\s*(?P<value>\S.*)")
_SAID = {"home": "I live in {}", "city": "I live in {}", "location": "I live in {}", "employer": "I work at {}",
         "company": "I work at {}", "job": "I work as {}", "occupation": "I work as {}", "likes": "I like {}",
         "dislikes": "I don't like {}", "allergies": "I'm allergic to {}", "allergy": "I'm allergic to {}"}  # fmt: skip
_IRREGULAR = {"is": "am", "has": "have", "does": "do", "goes": "go"}


async def seed(
    store: UserStore, facts: Sequence[str], *, zone: str, index: Index, alike: Alike, now: datetime
) -> tuple[Memory, ...]:
    """Writes what is new in these lines; the memories that were written. The same lines again write nothing."""
    findings = [_finding(line, zone=zone, now=now) for line in _lines(facts)]
    candidates = [candidate for finding in findings for candidate in finding.memories]
    refs = tuple(dict.fromkeys(ref for candidate in candidates for ref in candidate.entities))
    known = RecordList(noun="entity", limit=KNOWN)
    by_key = RecordsByKey(noun="memory", keys=tuple(dict.fromkeys(candidate.key for candidate in candidates)))
    by_entity = RecordsByEntity(noun="memory", refs=refs, statuses=("ACTIVE", "QUARANTINED"), limit=KNOWN)
    written: list[Memory] = []

    def decided(answers: Answers) -> Change:
        written.clear()
        held = {memory.id: memory for memory in nouns.records((*answers[by_key], *answers[by_entity]), Memory)}
        resolved = entities.resolve(findings, nouns.records(answers[known], Entity), alike=alike, now=now)
        for finding in resolved.findings:
            for memory in _new(finding, held, index=index, now=now):
                held[memory.id] = memory
                written.append(memory)
        made: list[Record] = [replace(entity, sources=()) for entity in resolved.entities]
        return Change(records=tuple(nouns.indexed(one, index=index, now=now) for one in (*made, *written)))

    await store.write(decided, known, by_key, by_entity)
    return tuple(written)


def _new(finding: Finding, held: dict[str, Memory], *, index: Index, now: datetime) -> Iterator[Memory]:
    """What a line adds: nothing if it is known, or if the user has said otherwise."""
    for candidate in finding.memories:
        changed = decide(
            [Learnt(candidate=candidate, turn=finding.turn)], tuple(held.values()), stems=index.stems, now=now
        )
        if any(one.id in held and held[one.id].source != "seeded_profile" for one in changed):
            continue
        fresh = [one for one in changed if one.id not in held]
        if fresh:
            yield from (one for one in changed if one.id in held)
            yield from (replace(one, source="seeded_profile", origin="import", sources=()) for one in fresh)


def _lines(facts: Sequence[str]) -> list[str]:
    lines = [" ".join(fact.split()).lstrip("-*• ") for fact in facts]
    lines = list(dict.fromkeys(line for line in lines if line))
    if len(lines) > MOST:
        raise InvalidInput(f"a profile has at most {MOST} lines; this one has {len(lines)}")
    long = next((line for line in lines if len(line) > LONGEST), None)
    if long is not None:
        raise InvalidInput(
            f"a line of a profile has at most {LONGEST} characters; this one has {len(long)}: {long[:40]!r}…"
        )
    return lines


def _finding(line: str, *, zone: str, now: datetime) -> Finding:
    turn = _as_turn(line, now=now)
    for said in _ways(line):
        found = extract(Said(text=said, role="user", now=now, zone=zone)).memories
        if found:
            return Finding(turn=turn, memories=tuple(replace(one, confidence=SURE) for one in found))
    plain = Candidate(text=line, entities=("person:user",), attribute=slug(line)[:60], importance=2, confidence=SURE)
    return Finding(turn=turn, memories=(plain,))


def _ways(line: str) -> Iterator[str]:
    """The line as the user might have said it."""
    ended = line if line[-1] in ".!?" else f"{line}."
    yield ended
    filled = _FILLED_IN.fullmatch(ended)
    if filled is not None:
        name = filled["name"].strip().lower()
        yield _SAID.get(name, f"My {name} is {{}}").format(filled["value"])
        return
    first, _, rest = ended.partition(" ")
    verb = _IRREGULAR.get(first.lower()) or (first[:-1].lower() if first.endswith("s") else None)
    if verb and rest:
        yield f"I {verb} {rest}"
    yield f"I'm {ended[0].lower()}{ended[1:]}"


def _as_turn(line: str, *, now: datetime) -> StoredTurn:
    """What decisions are made on: a statement of the user's that came by import, under an id that its words give."""
    return StoredTurn(
        seq=0, place=0, id=derived_id("seed", line), version=1, role="user", text=line, at=now, recorded_at=now, retired=None,
        persona=None, lane=None, conversation=None, speaker=None, reply_to=None, origin="import", parts=(), snapshot=None,
        session="", position=0, number=0, tokens=0, family="",
    )  # fmt: skip
