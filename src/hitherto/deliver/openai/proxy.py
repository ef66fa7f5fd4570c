"""One request: found in the user's lanes, what is new of it recorded, given its context, and its answer recorded.

The user's message is stored before the upstream server is asked. A store that cannot answer costs the memory, not the
conversation: the request then passes as it came.
"""

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from hitherto.deliver.openai import places
from hitherto.deliver.openai.formats import Entry, Format, Message, attached
from hitherto.deliver.openai.places import Place, Said
from hitherto.deliver.openai.upstream import Answer
from hitherto.deliver.untrusted import mapping, text
from hitherto.errors import HithertoError, NotFound, StoreError
from hitherto.recipes.recipe import Recipe
from hitherto.store.protocol import Answers, Change, Note, Notes, TurnsById, UserStore, Window
from hitherto.tokens import Tokenizer
from hitherto.types import Context, StoredTurn, ToolCall, Turn

if TYPE_CHECKING:
    from hitherto import Hitherto

LOG = logging.getLogger("hitherto.openai")
FAR: Final = 1_000
"""How many turns of a lane a request is laid along when it does not lie at the lane's end."""
NEAR: Final = 12
"""How many are read at least: pictures in them are shown again."""
DEEPEST: Final = 8
"""Branches of branches that are followed."""
MOST_NEW: Final = 2_000
"""Messages of an unknown conversation that are recorded, the newest."""
ITEM: Final = "openai:"
"""Before the upstream server's id of an answer or a part of it: the name of the note that says which turn it is."""
ITEM_LIFE: Final = timedelta(days=30)
"""As long as OpenAI keeps an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Who:
    """Whose conversation a request belongs to."""

    memory: "Hitherto"
    user: str
    now: datetime
    persona: str | None = None
    lane: str | None = None
    conversation: str | None = None


@dataclass(slots=True, kw_only=True)
class FoundExchange:
    """Where a request lies: in `lane` after turn `after`, with `new` messages; `ids` are the turns of all its messages.

    `leaves` when its answer takes another way than the one that is there, which is `earlier`; `at_end` when it goes on where
    the lane ends.
    """

    lane: str | None
    after: str
    ids: list[str | None] = field(default_factory=list[str | None])
    new: Sequence[Said] = ()
    leaves: bool = False
    at_end: bool = True
    earlier: StoredTurn | None = None
    turns: Sequence[StoredTurn] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamState:
    """What the upstream server keeps and a request names: what was said in it, and the turn after which it goes on."""

    known: bool = True
    """Whether all of it was given to this user: the upstream server, which knows our one key, cannot tell."""
    said: dict[str, Said] = field(default_factory=dict[str, Said])
    last: StoredTurn | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A request on its way: the body for the upstream server, and where its answer belongs."""

    body: Message
    who: Who
    found: FoundExchange | None = None
    context: Context | None = None
    again: bool = False

    async def answered(self, answer: Answer, *, cut: bool = False) -> None:
        """Records the answer; one of a request that memory had no part in is not. `cut` says that it broke off."""
        found, said = self.found, answer.said
        if found is None:
            return
        try:
            turn = None if said is None else await self._recorded(found, said, cut=cut)
            await self._noted(answer, turn, found)
        except HithertoError as error:
            LOG.error("the answer to user %r was not recorded: %s", self.who.user, error)

    async def _recorded(self, found: FoundExchange, said: Said, *, cut: bool) -> str:
        """The turn that the answer is now."""
        earlier, memory = found.earlier, self.who.memory
        if earlier is not None:
            told = places.meaning(earlier.role, earlier.text, earlier.parts)
            if told == said.meaning:
                return earlier.id
            if self.again and not earlier.parts and not said.parts:
                # The client gave up on the earlier answer and never showed it.
                return (await memory.revise(user=self.who.user, turn=earlier.id, text=said.text)).id
        lane = places.branch(found.lane, turn=found.after, first=said) if found.leaves else found.lane
        name = places.turn_id(lane, persona=self.who.persona, after=found.after, number=0, said=said)
        name += places.CUT if cut else ""
        turn = _turn(self.who, said, lane=lane, name=name)
        await memory.record(replace(turn, snapshot=self.context.snapshot if self.context else None))
        return name

    async def _noted(self, answer: Answer, turn: str | None, found: FoundExchange) -> None:
        """Keeps which turn the upstream server's ids mean, for clients that send them in place of what was said, or where the
        answer belongs that will be there later."""
        if not answer.items:
            return
        until = self.who.now + ITEM_LIFE
        place = {"lane": found.lane, "after": found.after} if turn is None else {"turn": turn}
        notes = tuple(
            Note(name=ITEM + item, body=json.dumps({**place, **part}), expires=until)
            for item, part in answer.items.items()
        )

        def put(_: Answers) -> Change:
            return Change(notes=notes)

        await self.who.memory.user_store(self.who.user).write(put)


async def remembered(
    who: Who, body: Message, *, form: Format, recipe: Recipe, tokenizer: Tokenizer, again: bool = False
) -> Exchange:
    """The request with its memory. ImpossibleBudget when not even the message fits. `again` says that the client repeats a
    request that it gave up on."""
    try:
        upkept = await _upstream_state(who, form.references(body), continues=form.continues(body))
    except StoreError as error:
        return _without(who, body, error)
    entries = form.entries(body, kept=upkept.said)
    if not upkept.known:
        raise NotFound("a response or an item that the request names")
    said = places.in_order([one for entry in entries if (one := entry.said) is not None])
    current = max((place for place, one in enumerate(said) if one.role == "user"), default=None)
    if not said or (current is None and not form.keeps(body)):
        return Exchange(body=body, who=who)
    now = max((place for place, entry in enumerate(entries) if entry.said and entry.said.role == "user"), default=0)
    stated = [raw for entry in entries[:now] if entry.stated for raw in entry.raws]
    try:
        found = await _found(who, said, last=upkept.last, again=again)
        await _record(who, found)
        context = await _context(who, found, said, current, recipe=recipe, inputs=await _inputs(who, body, entries))
    except StoreError as error:
        return _without(who, body, error)
    if context is None:
        return Exchange(body=body, who=who, found=found)
    past: Sequence[Message] = ()
    if not form.keeps(body):
        own = found.at_end or (again and not entries[:now])
        past = (
            _window(context, entries[:now], found, form=form)
            if own
            else _trimmed(entries[:now], recipe=recipe, tokenizer=tokenizer)
        )
    between = [] if current is None else context.messages[len(context.history) : -1]
    kept = [raw for entry in entries[now:] for raw in entry.raws]
    tail = [item for message in between for item in form.shown(message)]
    whole = form.with_memory(body, own=stated, system=context.system, messages=[*past, *tail, *kept])
    return Exchange(body=whole, who=who, found=found, context=context, again=again)


def _without(who: Who, body: Message, error: StoreError) -> Exchange:
    LOG.warning("a request of user %r passes without memory: %s", who.user, error)
    return Exchange(body=body, who=who)


async def answer_place(who: Who, item: str) -> Exchange:
    """The exchange that the upstream server's id of an answer belongs to. NotFound if it is none of this user's."""
    query = Notes(names=(ITEM + item,))
    notes = (await who.memory.user_store(who.user).read(query))[query]
    if not notes:
        raise NotFound
    place = mapping(json.loads(notes[0].body))
    after = text(place, "after")
    return Exchange(body={}, who=who, found=FoundExchange(lane=text(place, "lane"), after=after) if after else None)


async def _upstream_state(who: Who, named: Sequence[str], *, continues: str | None) -> UpstreamState:
    if not named:
        return UpstreamState()
    store = who.memory.user_store(who.user)
    notes = Notes(names=tuple(ITEM + item for item in named))
    parts = {note.name.removeprefix(ITEM): mapping(json.loads(note.body)) for note in (await store.read(notes))[notes]}
    query = TurnsById(ids=tuple({turn for part in parts.values() if (turn := text(part, "turn"))}))
    turns = {turn.id: turn for turn in (await store.read(query))[query]} if query.ids else {}
    said: dict[str, Said] = {}
    for item, part in parts.items():
        turn = turns.get(text(part, "turn") or "")
        if turn is None:
            continue
        call = text(part, "call")
        calls = tuple(one for one in turn.parts if isinstance(one, ToolCall) and one.id == call)
        if calls or part.get("words"):
            said[item] = Said(turn.role, turn.text if part.get("words") else "", calls)
    last = parts.get(continues or "")
    before = turns.get(text(last, "turn") or "") if last else None
    return UpstreamState(known=parts.keys() >= set(named), said=said, last=before)


async def _found(who: Who, said: Sequence[Said], *, last: StoredTurn | None, again: bool) -> FoundExchange:
    store = who.memory.user_store(who.user)
    lane, rest = (last.lane if last else who.lane), said

    def lay(turns: Sequence[StoredTurn]) -> Place | None:
        return places.after(rest, turns, last=last.id) if last else places.place(rest, turns, again=again)

    near = max(len(said) + 4, NEAR)
    turns = await _newest(store, who, lane, near)
    place = lay(turns)
    sure = place is not None and (place.at == len(turns) - 1 or (last is None and place.known >= len(said) - 1))
    if (len(said) > 1 or last) and not sure and len(turns) == near:
        turns = await _newest(store, who, lane, FAR)
        place = lay(turns)
    found = FoundExchange(lane=lane, after=turns[-1].id if turns else "", turns=turns)
    for _ in range(DEEPEST):
        if place is None:
            found.at_end = found.at_end and (len(rest) == 1 or not turns)
            break
        found.ids += [_id(turns, place.pairs.get(number)) for number in range(place.known)]
        rest = rest[place.known :]
        found.after = turns[place.at].id
        if place.at == len(turns) - 1:
            break
        found.at_end = False
        if not rest:
            found.leaves = True
            follows = turns[place.at + 1]
            found.earlier = follows if follows.role == "assistant" else None
            break
        lane = found.lane = places.branch(lane, turn=found.after, first=rest[0])
        turns = await _newest(store, who, lane, FAR)
        place = places.along(rest, turns)
    found.new = rest[-MOST_NEW:]
    found.ids += [None] * (len(rest) - len(found.new))
    return found


async def _record(who: Who, found: FoundExchange) -> None:
    """Records what is new; afterwards the request lies at the lane's end."""
    turns: list[Turn] = []
    for number, (one, count) in enumerate(places.as_turns(found.new)):
        name = places.turn_id(found.lane, persona=who.persona, after=found.after, number=number, said=one)
        turns.append(_turn(who, one, lane=found.lane, name=name))
        found.ids += [name] * count
    if turns:
        await who.memory.record(turns)
        found.after = turns[-1].id or found.after


async def _inputs(who: Who, body: Message, entries: Sequence[Entry]) -> dict[str, str]:
    """Who answers is the client's to say, unless a persona is defined: none of ours is made up beside its instructions."""
    if who.persona is None:
        return {"persona": ""}
    if not any(entry.stated for entry in entries) and not body.get("instructions"):
        return {}
    defined = {persona.id for persona in await who.memory.personas()}
    return {} if who.persona in defined else {"persona": ""}


async def _context(
    who: Who, found: FoundExchange, said: Sequence[Said], current: int | None, *, recipe: Recipe, inputs: dict[str, str]
) -> Context | None:
    """The context of the request's message; of one that only brings a tool's results, of the message that they serve. None
    where there is no such message."""
    turn, message = None, ""
    if current is not None:
        turn, message = found.ids[current], said[current].text or "(no words)"
    else:
        turn = next((one.id for one in reversed(found.turns) if one.role == "user"), None)
        if turn is None:
            return None
    asked: dict[str, Any] = {"turn": turn} if turn is not None else {"message": message}
    return await who.memory.context(
        user=who.user, persona=who.persona, lane=found.lane, recipe=recipe, inputs=inputs, **asked
    )


def _window(context: Context, entries: Sequence[Entry], found: FoundExchange, *, form: Format) -> list[Message]:
    """The memory's own window, with what the client attached to its messages, or what is known of it by its address."""
    sent = [entry.media for entry in entries if entry.said is not None and entry.said.role == "user"]
    known = [attached(Said(turn.role, turn.text, turn.parts), form) for turn in found.turns if turn.role == "user"]
    if len(entries) <= 1 or not sent:
        # The turn at hand is the newest of them, if it was there before.
        sent = known[:-1] if found.turns and not found.new else known
    if not any(sent):
        return [item for message in context.history for item in form.shown(message)]
    shown: list[Message] = []
    for message in reversed(context.history):
        media = sent.pop() if message["role"] == "user" and sent else []
        shown[:0] = form.shown(message, media=media)
    return shown


def _trimmed(entries: Sequence[Entry], *, recipe: Recipe, tokenizer: Tokenizer) -> list[Message]:
    """The newest of the request's own messages that the history's budget holds, beginning with one of the user's: reasoning
    stays with the answer that it belongs to."""
    left, first = recipe.history_group.cap, len(entries)
    for place in range(len(entries) - 1, max(-1, len(entries) - 1 - recipe.history.window), -1):
        left -= tokenizer.message_overhead + tokenizer.count(str(entries[place].raws))
        if left < 0:
            break
        first = place
    shown = [entry for entry in entries[first:] if not entry.stated]
    while shown and (shown[0].said is None or shown[0].said.role != "user"):
        shown.pop(0)
    return [raw for entry in shown for raw in entry.raws]


async def _newest(store: UserStore, who: Who, lane: str | None, limit: int) -> Sequence[StoredTurn]:
    query = Window(persona=who.persona, lane=lane, limit=limit)
    return places.in_order([turn for turn in (await store.read(query))[query] if turn.role != "system"])


def _id(turns: Sequence[StoredTurn], place: int | None) -> str | None:
    return None if place is None or place < 0 else turns[place].id


def _turn(who: Who, said: Said, *, lane: str | None, name: str) -> Turn:
    return Turn(
        who.user,
        said.role,
        said.text,
        id=name,
        persona=who.persona,
        lane=lane,
        conversation=who.conversation,
        speaker=said.speaker,
        parts=said.parts or None,
    )
