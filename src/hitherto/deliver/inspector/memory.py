"""What is remembered about a user: facts with their validity, entities, loops, summaries, state; and the ways to correct it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from itertools import combinations, pairwise
from typing import Any, Literal, get_args
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from hitherto import ids as keys
from hitherto import pages
from hitherto.deliver.http.models import next_cursor
from hitherto.deliver.http.paths import ROOT
from hitherto.deliver.http.service import Channels, Service, Subject, caller_of, subject_of
from hitherto.deliver.inspector.charts import ChartSpan, Timeline, graph
from hitherto.deliver.inspector.conversation import personas
from hitherto.deliver.inspector.views import (
    Form,
    Links,
    Page,
    excerpt,
    form,
    in_zone_of,
    is_piece,
    looking,
    page,
    shown,
)
from hitherto.errors import InvalidInput, NotFound
from hitherto.learn import cost
from hitherto.learn.people import follow
from hitherto.text.names import slug
from hitherto.types import Entity, Json, Loop, Memory, Record, State

router = APIRouter(route_class=Page, include_in_schema=False)

Tab = Literal["facts", "today", "entities", "loops", "episodes", "thoughts", "summaries", "state"]
TABS: tuple[Tab, ...] = get_args(Tab)
LISTED = 30
MANY = 500
OFFERED = 100
"""With how many of its type an entity can be merged here; each stands in the choices of all the others."""
CHANGES: dict[str, dict[str, Any]] = {
    "pin": {"pinned": True},
    "unpin": {"pinned": False},
    "archive": {"status": "ARCHIVED", "pinned": False},
    "restore": {"status": "ACTIVE"},
    "done": {"status": "done"},
    "drop": {"status": "dropped"},
    "reopen": {"status": "open"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """An earlier text of a fact, with when it was believed."""

    text: str
    span: ChartSpan
    when: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A memory on the timeline."""

    memory: Memory
    span: ChartSpan
    versions: tuple[Version, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A change of the relationship's state: fields with their values before and after."""

    at: datetime
    changes: tuple[tuple[str, Json, Json], ...]


@router.get(f"{ROOT}/memory")
async def memory(
    request: Request,
    user: str | None = None,
    tab: Tab = "facts",
    status: str = "ACTIVE",
    persona: str = "",
    entity: str = "",
    day: date | None = None,
    cursor: str | None = None,
) -> Response:
    subject = await looking(request, user)
    shown: dict[str, Any]
    match tab:
        case "facts":
            shown = await _facts(request, subject, status=status, persona=persona, entity=entity, cursor=cursor)
        case "today":
            shown = await _today(request, subject, day)
        case "episodes":
            listed = await subject.memory.episodes(user=subject.user, limit=LISTED, after=pages.place(cursor))
            shown = {"episodes": listed, "more": next_cursor(listed, limit=LISTED)}
        case "thoughts":
            thoughts = await subject.memory.thoughts(user=subject.user, limit=LISTED, after=pages.place(cursor))
            shown = {"thoughts": thoughts, "more": next_cursor(thoughts, limit=LISTED)}
        case "entities":
            shown = await _entities(subject)
        case "loops":
            shown = await _loops(request, subject, cursor=cursor)
        case "summaries":
            found = await subject.memory.summaries(user=subject.user, limit=LISTED, after=pages.place(cursor))
            shown = {"summaries": found, "more": next_cursor(found, limit=LISTED)}
        case "state":
            shown = {"states": await _states(subject)}
    usual: dict[str, Any] = {"more": None, "status": status, "entity": entity, "persona": persona}
    return page(request, f"memory_{tab}.html", user=subject.user, tab=tab, tabs=TABS, **(usual | shown))


@router.post(f"{ROOT}/memory/change")
async def change(request: Request) -> Response:
    """Corrects, pins, archives, restores, reviews or rejects a fact; closes, opens or rejects a loop. The old version stays."""
    filled = await form(request)
    subject = subject_of(request, user=filled.get("user"), scope="write")
    await in_zone_of(subject)
    action, name = filled["action"], filled["id"]
    done = await _changed(subject, action, name, filled)
    if not is_piece(request):
        tab = "loops" if isinstance(done, Loop) else "facts"
        return RedirectResponse(Links(subject.user)("memory", tab=tab), status_code=303)
    if isinstance(done, Loop):
        return page(request, "loop.html", user=subject.user, one=done, now=_now(request))
    axis = Timeline.over([done.valid_from or done.at, done.valid_to or _now(request)])
    fact = await _fact(subject, _as_memory(done), axis)
    return page(request, "fact.html", user=subject.user, fact=fact, changed=True)


@router.post(f"{ROOT}/memory/forget")
async def forget(request: Request) -> Response:
    """Forgets a memory, an entity or a turn for good, and shows the receipt."""
    filled = await form(request)
    subject = subject_of(request, user=filled.get("user"), scope="forget")
    what, name = filled["what"], filled["id"]
    if what not in ("memory", "entity", "turn"):
        raise InvalidInput("what: a memory, an entity or a turn can be forgotten here")
    receipt = await subject.memory.forget(
        user=subject.user,
        memory=name if what == "memory" else None,
        entity=name if what == "entity" else None,
        turn=name if what == "turn" else None,
    )
    Channels.of(request).forgot(tenant=caller_of(request).tenant, user=subject.user)
    template = "receipt.html" if is_piece(request) else "receipt_page.html"
    return page(request, template, user=subject.user, receipt=receipt, tab="facts", tabs=TABS, more=None)


@router.post(f"{ROOT}/memory/merge")
async def merge(request: Request) -> Response:
    """Says that two entities are one; the first is kept."""
    filled = await form(request)
    subject = subject_of(request, user=filled.get("user"), scope="write")
    await subject.memory.merge(user=subject.user, entities=[filled["keep"], filled["other"]])
    return RedirectResponse(Links(subject.user)("memory", tab="entities"), status_code=303)


@router.post(f"{ROOT}/memory/split")
async def split(request: Request) -> Response:
    """Says that a name is somebody else's."""
    filled = await form(request)
    subject = subject_of(request, user=filled.get("user"), scope="write")
    await subject.memory.split(user=subject.user, entity=filled["entity"], name=filled["name"])
    return RedirectResponse(Links(subject.user)("memory", tab="entities"), status_code=303)


async def _facts(
    request: Request, subject: Subject, *, status: str, persona: str, entity: str, cursor: str | None
) -> dict[str, Any]:
    found = await subject.memory.memories(
        user=subject.user,
        persona=persona or None,
        status=None if status == "any" else status,
        entity=entity or None,
        limit=LISTED,
        after=None if entity else pages.place(cursor),
    )
    now = _now(request)
    moments = [moment for one in found for moment in (one.valid_from or one.at, one.valid_to or one.at)]
    axis = Timeline.over([*moments, min(now, max(moments))] if moments else [now])
    return {
        "facts": [await _fact(subject, one, axis) for one in found],
        "axis": axis,
        "status": status,
        "entity": entity,
        "more": None if entity else next_cursor(found, limit=LISTED),
    }


async def _today(request: Request, subject: Subject, day: date | None) -> dict[str, Any]:
    """What was learnt on one day in the user's zone, what is waiting for review, and what was left out and why. Without a
    `day`, the last one on which something was learnt."""
    memory, user, now = subject.memory, subject.user, _now(request)
    zone = ZoneInfo((await memory.user(user)).zone)
    today = now.astimezone(zone).date()

    def learnt_on(record: Record) -> date:
        return min((record.recorded_at or record.at).astimezone(zone).date(), today)

    memories = await memory.memories(user=user, status=None, limit=MANY)
    loops = await memory.loops(user=user, status=None, limit=MANY)
    days = {learnt_on(one) for one in (*memories, *loops)}
    day = day or max(days, default=today)
    axis = Timeline.over([datetime.combine(day, time(), zone), now])
    facts = [await _fact(subject, one, axis) for one in memories if learnt_on(one) == day][:LISTED]
    dropped = Counter[str]()
    for one in await cost.spent(memory.user_store(user), since=day):
        if one.day == day:
            dropped.update(one.dropped)
    return {
        "day": day,
        "is_today": day == today,
        "earlier": max((one for one in days if one < day), default=None),
        "later": min((one for one in days | {today} if one > day), default=None),
        "facts": [fact for fact in facts if fact.memory.status != "QUARANTINED"],
        "held_back": [fact for fact in facts if fact.memory.status == "QUARANTINED"],
        "loops": [one for one in loops if learnt_on(one) == day][:LISTED],
        "dropped": dropped.most_common(),
        "now": now,
    }


async def _fact(subject: Subject, one: Memory, axis: Timeline) -> Fact:
    versions: list[Version] = []
    if one.version > 1:
        told = await subject.memory.history(user=subject.user, id=one.id)
        for before, after in pairwise(told):
            if before.text != after.text:
                began = before.valid_from or before.at
                ended = before.valid_to or before.retired_at
                versions.append(Version(text=before.text, span=axis.span(began, ended), when=began))
    return Fact(memory=one, span=axis.span(one.valid_from or one.at, one.valid_to), versions=tuple(versions[-5:]))


async def _entities(subject: Subject) -> dict[str, Any]:
    memory, user = subject.memory, subject.user
    everyone = await memory.entities(user=user, limit=MANY)
    facts = await memory.memories(user=user, limit=MANY)
    episodes = await memory.episodes(user=user, limit=MANY)
    loops = await memory.loops(user=user, status=None, limit=MANY)
    named = [record.entities for record in (*facts, *episodes, *loops)]
    counted = {entity.key: sum(entity.key in refs for refs in named) for entity in everyone}
    live = [entity for entity in everyone if entity.merged_into is None]
    by_ref = {entity.key: entity for entity in everyone if entity.key}
    return {
        "entities": live,
        "offered": offered(live, counted),
        "merged": [(entity, follow(entity.merged_into, by_ref)) for entity in everyone if entity.merged_into],
        "counted": counted,
        "graph": graph(everyone, named),
        "alike": alike(everyone),
    }


def offered(live: Sequence[Entity], counted: Mapping[str | None, int]) -> dict[str, list[tuple[str, str]]]:
    """Of each type, the entities that others can be merged with: the most often remembered ones, each with its reference
    and its name, by name."""
    found: dict[str, list[tuple[str, str]]] = {}
    for entity in sorted(live, key=lambda one: -counted.get(one.key, 0)):
        ref = entity.key or entity.id
        found.setdefault(entity.type, []).append((ref, excerpt(shown(entity.label or ref).striptags(), 40)))
    return {kind: sorted(ones[:OFFERED], key=lambda one: one[1].casefold()) for kind, ones in found.items()}


def alike(entities: list[Entity]) -> list[tuple[Entity, Entity]]:
    """Entities of one type whose names may be the same person's: one the beginning of the other, or spelt nearly alike."""
    from rapidfuzz.distance import DamerauLevenshtein

    found: list[tuple[Entity, Entity]] = []
    open_ones = [entity for entity in entities if entity.merged_into is None and entity.label]
    for a, b in combinations(open_ones[:200], 2):
        if a.type != b.type or (b.key or "") in a.apart_from or (a.key or "") in b.apart_from:
            continue
        one, other = slug(a.label), slug(b.label)
        near = len(one) > 3 and len(other) > 3 and DamerauLevenshtein.distance(one, other) <= 1
        if near or one in other.split("_") or other in one.split("_"):
            found.append((a, b))
    return found[:20]


async def _loops(request: Request, subject: Subject, *, cursor: str | None) -> dict[str, Any]:
    now = _now(request)
    open_ones = await subject.memory.loops(user=subject.user, limit=MANY) if cursor is None else []
    every = await subject.memory.loops(user=subject.user, status=None, limit=LISTED, after=pages.place(cursor))
    return {
        "open_loops": sorted(open_ones, key=lambda loop: (loop.due is None, loop.due or loop.at)),
        "closed": [loop for loop in every if loop.status != "open"],
        "now": now,
        "more": next_cursor(every, limit=LISTED),
    }


async def _states(subject: Subject) -> list[tuple[str, State, list[Step]]]:
    """The state with each persona, and how it came about, newest change first."""
    found: list[tuple[str, State, list[Step]]] = []
    for persona in ["", *await personas(subject.memory, subject.user)]:
        told = await subject.memory.history(user=subject.user, id=keys.state(persona or None))
        versions = [version for version in told if isinstance(version, State)]
        if versions:
            found.append((persona or "(unnamed)", versions[-1], list(reversed(steps(versions)))))
    return found


def steps(versions: list[State]) -> list[Step]:
    """What each version of a state changed."""
    found: list[Step] = []
    before: dict[str, Json] = {}
    for version in versions:
        after = dict(version.fields)
        names = [*after, *(name for name in before if name not in after)]
        changes = tuple(
            (name, before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)
        )
        if changes:
            found.append(Step(at=version.recorded_at or version.at, changes=changes))
        before = after
    return found


async def _changed(subject: Subject, action: str, name: str, filled: Form) -> Record:
    match action:
        case "approve" | "reject":
            return await subject.memory.review(name, user=subject.user, approve=action == "approve")
        case "wrong":
            return await subject.memory.reject(name, user=subject.user)
        case _:
            return await subject.memory.update(name, user=subject.user, **_changes(filled))


def _changes(filled: Form) -> dict[str, Any]:
    action = filled["action"]
    if action == "correct":
        return {"text": filled["text"].strip()}
    if action not in CHANGES:
        raise InvalidInput(f"there is no action {action!r}")
    return CHANGES[action]


def _as_memory(record: Record) -> Memory:
    if not isinstance(record, Memory):
        raise NotFound
    return record


def _now(request: Request) -> datetime:
    return Service.of(request).clock()
