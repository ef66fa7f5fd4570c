"""Reads everything a recipe may want for one message from the user's store, in two or three short batches.

The first batch tells who answers, the state of things and the window, and asks whatever recall can ask before it knows
them. Recall then ranks with the message in the light of its anchor, and fetches the texts of its results together with what
some recipes want from further back. A last batch fetches the cards of the entities found. All batches are bounded by the
head that the first one saw, so they answer from one state of the log. Trouble in the store never fails a conversation: what
could not be read is left out and named.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from hitherto import ids as keys
from hitherto.assemble import personas, select
from hitherto.assemble.material import Material
from hitherto.assemble.personas import Resolved
from hitherto.assemble.select import Apart, Beyond, beyond, reached
from hitherto.errors import NotFound, StoreError
from hitherto.ingest import focus, sessions
from hitherto.ingest.short import is_question, is_short
from hitherto.recall import entities
from hitherto.recall.hits import Blending, Search
from hitherto.recall.query import Period
from hitherto.recall.rank import Boosts, Shares
from hitherto.recall.search import Ahead, Brought, UserRecall
from hitherto.recipes.recipe import Recipe
from hitherto.safety.quarantine import Verdicts
from hitherto.store import records as nouns
from hitherto.store.protocol import (
    ANY,
    Answers,
    Head,
    Query,
    RecordList,
    RecordsByEntity,
    RecordsById,
    RecordsByKey,
    Row,
    TenantDocuments,
    TurnsById,
    UserStore,
    Window,
)
from hitherto.text.analyser import stems
from hitherto.types import (
    Card,
    Entity,
    Loop,
    Memory,
    Origin,
    Profile,
    Recalled,
    Session,
    Slot,
    State,
    StoredTurn,
    Summary,
    Thought,
)

_VERDICTS = Verdicts()

LOOPS = 200
"""How many open loops are considered; a user with more has the oldest left out."""
SESSIONS = 12
CARDS = 8
"""For how many entities cards are looked up, best found first."""
CARD_FACTS = 100
RESTING = 12
"""For how many newest turns the lane of a record is looked up."""
_ROOM = 5
"""Characters per token, roughly: what is found beyond that many has no room in any case."""
GREETING = 2
"""A first message with this few stems does not yet say what it is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One call of `context`, resolved: whose, where, with which recipe and at what time."""

    user: str
    persona: str | None
    lane: str | None
    recipe: Recipe
    now: datetime
    message: str | None
    turn: str | None
    inputs: Mapping[str, str]
    known: int | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """The queries of the first batch, kept to read their answers."""

    head: Head
    profile: RecordsById
    state: RecordsByKey
    window: Window
    sessions: RecordList
    summaries: RecordsByKey
    past: RecordList
    days: RecordList
    loops: RecordList
    thoughts: RecordList
    marked: RecordsByEntity
    slot: RecordsByKey

    def queries(self) -> tuple[Query[object], ...]:
        return (
            self.head,
            self.profile,
            self.state,
            self.window,
            self.sessions,
            self.summaries,
            self.past,
            self.days,
            self.loops,
            self.thoughts,
            self.marked,
            self.slot,
        )


async def gather(store: UserStore, request: Request, recall: UserRecall) -> Material:
    """The material for one context; without a working store, whatever the call itself brings."""
    seen = await _seen(store, request, recall)
    if isinstance(seen, _Unreadable):
        return _bare(request, await _who_alone(store, request), seen)
    try:
        state = await _state(store, request, seen)
    except StoreError as error:
        return _bare(request, seen.who, _Unreadable(error, seen.message))
    brought = await _brought(store, request, seen, state, recall)
    problems = (*state.material.problems, *((brought.problem,) if brought.problem else ()))
    further = {} if brought.read is None else reached(state.material, request.recipe, state.beyond, brought.read)
    if brought.apart is not None:
        further |= _told(request, state, brought.apart)
    if brought.periods and _exchanges(request):
        further |= select.asked_for(state.material.loops, brought.periods, zone=state.material.profile.zone)
    return replace(state.material, recalled=brought.recalled, cards=brought.cards, problems=problems, **further)


@dataclass(frozen=True, slots=True)
class _Unreadable:
    """The store's error, and the message if it could still be read."""

    error: StoreError
    message: StoredTurn | None = None


@dataclass(frozen=True, slots=True)
class _Seen:
    """The first batch with its answers."""

    who: Resolved
    message: StoredTurn | None
    text: str
    plan: _Plan
    named: RecordsByEntity
    """Asks for the entities that the message may name."""
    search: Search
    """What recall asks, as far as it is known before the answers."""
    ahead: Ahead
    answers: Answers


@dataclass(frozen=True, slots=True)
class _State:
    """The material except what is asked next: what lies beyond the window, the question to recall, and the entities that
    the message names."""

    material: Material
    beyond: Beyond
    ask: Search
    named: tuple[str, ...]
    past: tuple[Summary, ...]
    days: tuple[Summary, ...]


@dataclass(frozen=True, slots=True)
class _Brought:
    """What recall and the entities contribute, and what went wrong, if anything."""

    recalled: tuple[Recalled, ...] = ()
    cards: tuple[Card, ...] = ()
    problem: str = ""
    read: Answers | None = None
    """What else was read in the same batch."""
    apart: Apart | None = None
    """What stays out because it belongs to another lane; None if no other lane is closed to this one."""
    periods: tuple[Period, ...] = ()
    """The times that the message names."""


async def _seen(store: UserStore, request: Request, recall: UserRecall) -> _Seen | _Unreadable:
    try:
        message = await _message(store, request)
    except StoreError as error:
        if request.message is None:
            raise
        return _Unreadable(error)
    text = message.text if message else request.message or ""
    plan = _plan(request, before=message.place if message else None)
    named = RecordsByEntity(noun="entity", refs=entities.marks(text), limit=CARDS, known=request.known)
    search = _search(request, text)
    ahead, asking = recall.ahead(search, anchored=True), personas.asking(request.persona)
    reading = asyncio.create_task(store.read(*plan.queries(), named, *ahead.queries, *asking))
    try:
        await asyncio.sleep(0)  # the read begins
        recall.prepare(ahead)
        answers = await reading
    except StoreError as error:
        return _Unreadable(error, message)
    finally:
        reading.cancel()  # one that is done stays done
    return _Seen(_who(request, asking, answers), message, text, plan, named, search, ahead, answers)


def _who(request: Request, asking: tuple[TenantDocuments, ...], answers: Answers) -> Resolved:
    return personas.resolved(request.persona, answers[asking[0]] if asking else ())


async def _who_alone(store: UserStore, request: Request) -> Resolved:
    """The persona if the user's memory cannot be read; the catalog may be stored elsewhere."""
    asking = personas.asking(request.persona)
    try:
        return _who(request, asking, await store.read(*asking) if asking else Answers({}))
    except StoreError as error:
        return personas.resolved(request.persona, error)


def _exchanges(request: Request) -> bool:
    return request.recipe.long_term.form == "exchanges"


def _search(request: Request, text: str) -> Search:
    found = request.recipe.recall
    everywhere = found.other_lanes == "always" or (found.other_lanes == "named_or_confident" and _exchanges(request))
    return Search(
        text=text,
        limit=request.recipe.recall.candidates,
        turns=request.recipe.long_term.turns,
        persona=request.persona,
        lane=ANY if everywhere else request.lane,
        home=ANY if found.other_lanes == "always" or not everywhere else request.lane,
        elsewhere=found.confidence,
        kinds=("turn", "memory", "episode"),
        blending=blending(request.recipe),
        now=request.now,
        known=request.known,
        room=_ROOM * request.recipe.total.target if _exchanges(request) else None,
        around=_exchanges(request),
    )


async def _brought(store: UserStore, request: Request, seen: _Seen, state: _State, recall: UserRecall) -> _Brought:
    try:
        brought = await recall.recall(store, state.ask, seen.ahead, seen.answers, beside=state.beyond.queries)
        recalled = _held_back(brought.hits)
        facts = await _facts(store, request, recalled, named=state.named, known=state.material.known)
        apart = await _apart(store, request, state, brought, facts)
    except StoreError as error:
        return _Brought(problem=f"recall failed: {error}")
    cards = select.cards(facts.refs, facts.memories, now=request.now, recipe=request.recipe)
    if "memories" in request.recipe.order:
        return _Brought(recalled, cards, brought.problem, brought.read, periods=brought.periods)
    together = (*recalled, *select.beside(recalled, cards))
    if apart is not None:
        together = tuple(_kept_apart(hit, apart) for hit in together)
    return _Brought(together, (), brought.problem, brought.read, apart, brought.periods)


async def _apart(store: UserStore, request: Request, state: _State, brought: Brought, facts: "_Facts") -> Apart | None:
    """Where each known thing was said, if the user talks in lanes that are closed to this one, or to several personas."""
    persona, home = request.persona, request.lane
    alone = set(brought.personas) <= {persona} and all(sessions.shows(home, lane) for lane in brought.lanes)
    if state.ask.home is ANY or alone:
        return None
    known = (hit.what for hit in brought.hits if not isinstance(hit.what, StoredTurn))
    resting = (*known, *facts.memories, *state.past, *state.days)
    sources = dict.fromkeys(source for record in resting for source in record.sources[-RESTING:])
    query = TurnsById(ids=tuple(sources), known=state.material.known)
    said_in = {turn.id: turn for turn in (await store.read(query))[query]} if sources else {}
    return Apart(persona=persona, home=home, named=brought.named, said_in=said_in, sure=brought.sure)


def _kept_apart(hit: Recalled, apart: Apart) -> Recalled:
    out = "" if hit.reason or isinstance(hit.what, StoredTurn) else apart.keeps_out(hit.what)
    return replace(hit, reason=out) if out else hit


def _told(request: Request, state: _State, apart: Apart) -> dict[str, Any]:
    """The last session and today in the form that this lane may read, by the material's field names."""
    zone, now = state.material.profile.zone, request.now
    days = apart.told(state.days)
    past = apart.told(state.past)
    return {
        "today": select.today(days, now=now, zone=zone),
        "last_time": select.last_time(past, days, running=state.material.session, now=now, zone=zone),
    }


async def _message(store: UserStore, request: Request) -> StoredTurn | None:
    if request.turn is None:
        return None
    query = TurnsById(ids=(request.turn,), known=request.known)
    found = (await store.read(query))[query]
    if not found:
        raise NotFound(f"there is no turn {request.turn!r} of this user")
    return found[0]


def _bare(request: Request, who: Resolved, unreadable: _Unreadable) -> Material:
    message = unreadable.message
    return Material(
        user=request.user,
        now=request.now,
        known=request.known or 0,
        persona=who.persona,
        profile=Profile(id=keys.PROFILE, at=request.now),
        message=message.text if message else request.message or "",
        message_id=request.turn,
        message_turn=message,
        lane=request.lane,
        inputs=request.inputs,
        problems=(*who.warnings, *request.warnings, f"the store could not be read: {unreadable.error}"),
    )


def _plan(request: Request, *, before: int | None = None) -> _Plan:
    return _planned(request.persona, request.lane, request.recipe.history.window, before=before, known=request.known)


@lru_cache(maxsize=256)
def _planned(persona: str | None, lane: str | None, window: int, *, before: int | None, known: int | None) -> _Plan:
    """Contexts of one conversation ask the same again and again."""
    return _Plan(
        head=Head(),
        profile=RecordsById(ids=(keys.PROFILE,), known=known),
        state=RecordsByKey(noun="state", keys=(keys.state(persona),), known=known),
        window=Window(persona=persona, lane=lane, limit=window + 1, before=before, known=known),
        sessions=RecordList(noun="session", persona=persona, limit=SESSIONS, known=known),
        summaries=RecordsByKey(
            noun="summary", keys=(keys.SPINE, keys.rolling(persona), keys.lane(persona, lane)), known=known
        ),
        past=RecordList(noun="summary", persona=persona, key_prefix="session:", limit=4, known=known),
        days=RecordList(noun="summary", persona=persona, key_prefix="daily:", limit=4, known=known),
        loops=RecordList(noun="loop", persona=persona, statuses=("open",), limit=LOOPS, known=known),
        thoughts=RecordList(noun="thought", persona=persona, statuses=("ACTIVE",), limit=LOOPS, known=known),
        marked=RecordsByEntity(
            noun="memory",
            refs=(nouns.PINNED, nouns.CORE, nouns.STANDING),
            persona=persona,
            shared=True,
            statuses=("ACTIVE",),
            limit=LOOPS,
            known=known,
        ),
        slot=RecordsByKey(noun="slot", keys=(keys.slot(persona, lane),), known=known),
    )


async def _state(store: UserStore, request: Request, seen: _Seen) -> _State:
    message, text, plan, answers = seen.message, seen.text, seen.plan, seen.answers
    known = request.known if request.known is not None else answers[plan.head]
    profile = _profile(answers[plan.profile], now=request.now)
    turns = tuple(turn for turn in answers[plan.window] if turn.id != request.turn and turn.role != "system")
    rule = sessions.Rule.of(request.recipe.sessions)
    running = select.running_session(
        turns,
        nouns.records(answers[plan.sessions], Session),
        now=message.at if message else request.now,
        rule=rule,
    )
    window = sessions.within_chain(turns, running.chain)[-request.recipe.history.window :]
    if not window and request.recipe.history.returning:
        window = _last_said(turns, most=request.recipe.history.returning)
    sure = select.certain(window, request.recipe, message=text) if _exchanges(request) else window
    lasting, earlier = await _lasting(store, request, plan, answers, window)
    quoted = await _quoted(store, request, message, window)
    pending = [slot for slot in nouns.records(answers[plan.slot], Slot) if slot.status == "ACTIVE"]
    anchor = focus.anchor(text, reply_to=quoted, window=turns, slot=pending[0] if pending else None)
    summaries = {summary.key: summary for summary in nouns.records(earlier[lasting.summaries], Summary)}
    days = nouns.records(earlier[lasting.days], Summary)
    past = nouns.records(earlier[lasting.past], Summary)
    marked = nouns.records(earlier[lasting.marked], Memory)
    states = nouns.records(answers[plan.state], State)
    material = Material(
        user=request.user,
        now=request.now,
        known=known,
        persona=seen.who.persona,
        profile=profile,
        message=text,
        message_id=request.turn,
        message_turn=message,
        lane=request.lane,
        quoted=quoted,
        anchor=anchor.turn,
        session=running.id,
        slot=anchor.slot.id if anchor.slot else None,
        window=window,
        certain=frozenset(turn.id for turn in sure),
        last_interaction=turns[-1].at if turns else None,
        state=states[0] if states else None,
        today=select.today(days, now=request.now, zone=profile.zone),
        last_time=select.last_time(
            past,
            days,
            running=running.id,
            now=request.now,
            zone=profile.zone,
        ),
        rolling=summaries.get(keys.rolling(request.persona)),
        lane_summary=summaries.get(keys.lane(request.persona, request.lane)),
        spine=summaries.get(keys.SPINE),
        loops=select.surfacing(
            nouns.records(answers[plan.loops], Loop),
            now=request.now,
            fade=timedelta(days=request.recipe.loops.fade_days),
        ),
        thoughts=select.unspent(nouns.records(answers[plan.thoughts], Thought), now=request.now),
        foundation=select.foundation(marked, now=request.now, limit=request.recipe.limits.foundation),
        requests=select.standing(marked, now=request.now),
        inputs=request.inputs,
        problems=(*seen.who.warnings, *request.warnings),
    )
    ask = replace(
        seen.search,
        anchor=anchor.turn.text if anchor.turn else _opening(text, material.last_time),
        zone=profile.zone,
        known=known,
        open_session=running.id if request.recipe.secrets == "session" else None,
        skip=frozenset(turn.seq for turn in (*sure, *([message] if message else []))),
    )
    further = beyond(material, request.recipe, running=running, known=request.known)
    return _State(material, further, ask, entities.meant(text, nouns.records(answers[seen.named], Entity)), past, days)


async def _lasting(
    store: UserStore, request: Request, plan: _Plan, answers: Answers, window: Sequence[StoredTurn]
) -> tuple[_Plan, Answers]:
    """Where lasting content is read from: its current state or, for a recipe that moves in steps, its state when the step
    began."""
    step = request.recipe.history.step
    if not step or not window:
        return plan, answers
    then = _plan(replace(request, known=select.step_begin(window, step=step)))
    return then, await store.read(then.summaries, then.past, then.days, then.marked)


def _last_said(turns: Sequence[StoredTurn], *, most: int) -> tuple[StoredTurn, ...]:
    """The final turns of the newest session, for a returning user."""
    return tuple(turn for turn in turns if turn.session == turns[-1].session)[-most:]


def _opening(text: str, last_time: Summary | None) -> str | None:
    """What a greeting after a long silence is read with: the previous topic. A question of its own, however brief, is not a
    greeting."""
    if last_time is None:
        return None
    return last_time.text if is_short(text) or (len(stems(text)) <= GREETING and not is_question(text)) else None


def blending(recipe: Recipe) -> Blending:
    """The recipe's way of ordering memories."""
    found, blend = recipe.recall, recipe.recall.blend
    shares = Shares(
        similarity=blend.similarity,
        recency=blend.recency,
        frequency=blend.frequency,
        half_life_days=blend.half_life_days,
    )
    boosts = Boosts(
        limit=found.top_k,
        threshold=found.threshold,
        recency=blend.recent_boost,
        recent_days=blend.recent_days,
        importance=blend.importance,
    )
    return Blending(
        lexical_first=found.first == "lexical",
        top_k=found.top_k,
        threshold=found.threshold,
        confidence=found.confidence,
        shares=shares,
        boosts=boosts if blend.recent_boost > 1 else None,
    )


def _profile(rows: tuple[Row, ...], *, now: datetime) -> Profile:
    profiles = nouns.records(rows, Profile)
    return profiles[0] if profiles else Profile(id=keys.PROFILE, at=now)


async def _quoted(
    store: UserStore, request: Request, message: StoredTurn | None, window: Sequence[StoredTurn]
) -> StoredTurn | None:
    """The turn that the message replies to, wherever it is."""
    if message is None or message.reply_to is None:
        return None
    for turn in window:
        if turn.id == message.reply_to:
            return turn
    query = TurnsById(ids=(message.reply_to,), known=request.known)
    found = (await store.read(query))[query]
    return found[0] if found else None


def _held_back(found: Sequence[Recalled]) -> tuple[Recalled, ...]:
    """Long after it was said, an order from a tool, an import or the model itself is not shown again; within the current
    conversation, it is shown as a turn like any other."""
    said: dict[int, tuple[str, Origin]] = {
        place: (hit.what.text, hit.what.origin)
        for place, hit in enumerate(found)
        if isinstance(hit.what, StoredTurn) and hit.what.origin != "user" and not hit.reason
    }
    verdicts = dict(zip(said, _VERDICTS.give_orders(list(said.values())), strict=True))
    return tuple(replace(hit, reason="quarantined") if verdicts.get(place) else hit for place, hit in enumerate(found))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Facts:
    """What is known about the entities that matter to a message, best entities first."""

    refs: tuple[str, ...] = ()
    memories: tuple[Memory, ...] = ()


async def _facts(
    store: UserStore, request: Request, recalled: Sequence[Recalled], *, named: Sequence[str], known: int
) -> _Facts:
    """Facts about the entities that the message names, those one hop away and, for cards, those of found memories."""
    refs = tuple(named)
    if "memories" in request.recipe.order:
        found = [hit.what for hit in recalled if isinstance(hit.what, Memory) and not hit.reason]
        refs = tuple(dict.fromkeys((*named, *(ref for memory in found for ref in memory.entities))))[:CARDS]
    if not refs:
        return _Facts()
    facts = await _about(store, request, refs, known=known)
    near = entities.one_hop(named, facts)[: CARDS - len(refs)]
    if near:
        facts = tuple({fact.id: fact for fact in (*facts, *await _about(store, request, near, known=known))}.values())
    return _Facts(refs=(*refs, *near), memories=facts)


async def _about(store: UserStore, request: Request, refs: tuple[str, ...], *, known: int) -> tuple[Memory, ...]:
    query = RecordsByEntity(
        noun="memory",
        refs=refs,
        persona=request.persona,
        shared=True,
        statuses=("ACTIVE",),
        limit=CARD_FACTS,
        known=known,
    )
    return nouns.records((await store.read(query))[query], Memory)
