"""One request: found in the user's lanes, what is new of it recorded, given its context, and its answer recorded.

The user's message is stored before the upstream server is asked. A store that cannot answer costs the memory, not the
conversation: the request then passes as it came.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from hitherto import Hitherto
from hitherto.deliver.openai import recognise
from hitherto.deliver.openai.formats import Entry, Format, Message
from hitherto.deliver.openai.recognise import Said
from hitherto.errors import HithertoError, StoreError
from hitherto.recipes.model import Recipe
from hitherto.store.protocol import UserStore, Window
from hitherto.tokens import Tokenizer
from hitherto.types import Context, StoredTurn, Turn

LOG = logging.getLogger("hitherto.openai")
FAR: Final = 1_000
"""How many turns of a lane a request is laid along when it does not lie at the lane's end."""
DEEPEST: Final = 8
"""Branches of branches that are followed."""
MOST_NEW: Final = 2_000
"""Messages of an unknown conversation that are recorded, the newest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Who:
    """Whose conversation a request belongs to."""

    memory: Hitherto
    user: str
    persona: str | None = None
    lane: str | None = None
    conversation: str | None = None


@dataclass(slots=True, kw_only=True)
class Found:
    """Where a request lies: in `lane` after turn `after`, with `new` messages; `ids` are the turns of all its messages.

    `leaves` when its answer takes another way than the one that is there; `at_end` when it goes on where the lane ends.
    """

    lane: str | None
    after: str
    ids: list[str | None] = field(default_factory=list[str | None])
    new: Sequence[Said] = ()
    leaves: bool = False
    at_end: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A request on its way: the body for the upstream server, and where its answer belongs."""

    body: Message
    who: Who
    found: Found | None = None
    context: Context | None = None

    async def answered(self, said: Said | None) -> None:
        """Records the answer; one of a request that memory had no part in is not."""
        if said is None or self.found is None:
            return
        found = self.found
        lane = recognise.branch(found.lane, turn=found.after, first=said) if found.leaves else found.lane
        turn = _turn(self.who, said, lane=lane, name=recognise.turn_id(lane, after=found.after, number=0, said=said))
        try:
            await self.who.memory.record(replace(turn, snapshot=self.context.snapshot if self.context else None))
        except HithertoError as error:
            LOG.error("the answer to user %r was not recorded: %s", self.who.user, error)


async def remembered(who: Who, body: Message, *, form: Format, recipe: Recipe, tokenizer: Tokenizer) -> Remembered:
    """The request with its memory. ImpossibleBudget when not even the message fits."""
    entries = form.entries(body)
    said = [entry.said for entry in entries if entry.said is not None]
    current = max((place for place, one in enumerate(said) if one.role == "user"), default=None)
    if current is None:
        return Remembered(body=body, who=who)
    try:
        found = await _found(who, said)
        await _record(who, found)
        context = await _context(who, found, said[current], turn=found.ids[current], recipe=recipe)
    except StoreError as error:
        LOG.warning("a request of user %r passes without memory: %s", who.user, error)
        return Remembered(body=body, who=who)
    spoken = [place for place, entry in enumerate(entries) if entry.said is not None]
    now = spoken[current]
    past: Sequence[Message | Entry] = context.history
    if not found.at_end:
        past = _trimmed(entries[:now], recipe=recipe, tokenizer=tokenizer)
    if body.get("previous_response_id"):
        past = ()
    between = context.messages[len(context.history) : -1]
    kept = [entry for entry in entries[now:] if entry.said is not None or entry.raw.get("role") is None]
    stated = [entry.raw for entry in entries if entry.raw.get("role") in ("system", "developer")]
    whole = form.with_memory(body, own=stated, system=context.system, messages=[*past, *between, *kept])
    return Remembered(body=whole, who=who, found=found, context=context)


async def _found(who: Who, said: Sequence[Said]) -> Found:
    store = who.memory.user_store(who.user)
    lane, rest = who.lane, said
    turns = await _newest(store, who, lane, len(said) + 4)
    place = recognise.place(rest, turns)
    if len(said) > 1 and (place is None or place.at < len(turns) - 1) and len(turns) == len(said) + 4:
        turns = await _newest(store, who, lane, FAR)
        place = recognise.place(rest, turns)
    found = Found(lane=lane, after=turns[-1].id if turns else "")
    for _ in range(DEEPEST):
        if place is None:
            found.at_end = found.at_end and (len(rest) == 1 or not turns)
            break
        found.ids += [_id(turns, place.at - place.known + 1 + number) for number in range(place.known)]
        rest = rest[place.known :]
        found.after = turns[place.at].id
        if place.at == len(turns) - 1:
            break
        found.at_end = False
        if not rest:
            found.leaves = True
            break
        lane = found.lane = recognise.branch(lane, turn=found.after, first=rest[0])
        turns = await _newest(store, who, lane, FAR)
        place = recognise.along(rest, turns)
    found.new = rest[-MOST_NEW:]
    found.ids += [None] * (len(rest) - len(found.new))
    return found


async def _record(who: Who, found: Found) -> None:
    """Records what is new; afterwards the request lies at the lane's end."""
    turns: list[Turn] = []
    for number, one in enumerate(found.new):
        name = recognise.turn_id(found.lane, after=found.after, number=number, said=one)
        turns.append(_turn(who, one, lane=found.lane, name=name))
        found.ids.append(name)
    if turns:
        await who.memory.record(turns)
        found.after = turns[-1].id or found.after


async def _context(who: Who, found: Found, message: Said, *, turn: str | None, recipe: Recipe) -> Context:
    memory = who.memory
    if turn is not None:
        return await memory.context(user=who.user, persona=who.persona, lane=found.lane, turn=turn, recipe=recipe)
    text = message.text or "(no words)"
    return await memory.context(user=who.user, persona=who.persona, lane=found.lane, message=text, recipe=recipe)


def _trimmed(entries: Sequence[Entry], *, recipe: Recipe, tokenizer: Tokenizer) -> list[Message | Entry]:
    """The newest of the request's own messages that the history's budget holds, beginning with one of the user's."""
    left, first = recipe.history_group.cap, len(entries)
    for place in range(len(entries) - 1, max(-1, len(entries) - 1 - recipe.history.window), -1):
        left -= tokenizer.message_overhead + tokenizer.count(str(entries[place].raw))
        if left < 0:
            break
        first = place
    spoken = [entry for entry in entries[first:] if entry.said is not None]
    while spoken and spoken[0].said is not None and spoken[0].said.role != "user":
        spoken.pop(0)
    return list(spoken)


async def _newest(store: UserStore, who: Who, lane: str | None, limit: int) -> Sequence[StoredTurn]:
    query = Window(persona=who.persona, lane=lane, limit=limit)
    return [turn for turn in (await store.read(query))[query] if turn.role != "system"]


def _id(turns: Sequence[StoredTurn], place: int) -> str | None:
    return turns[place].id if place >= 0 else None


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
