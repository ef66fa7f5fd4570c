"""The telephone line of a memory: rings are answered from prompts kept in this process, ended calls are recorded.

A ring must not wait for anything that can be slow, so what it needs is prepared: when the service starts, after every call
and after text from the same person, and now and then for all, because other processes write as well. Only a caller without
a prepared prompt costs a read of the store, and no longer than the deadline.
"""

import asyncio
import logging
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from hitherto.assemble.sections.situation import span
from hitherto.clock import Clock, day_bounds, local_day
from hitherto.deliver.voice import lookups, prompts
from hitherto.deliver.voice.lookups import Allowance, Asked
from hitherto.deliver.voice.prompts import CachedPrompt, Spoken
from hitherto.deliver.voice.transcripts import Call, turns
from hitherto.errors import Conflict, HithertoError
from hitherto.recipes import book
from hitherto.recipes.recipe import Recipe

if TYPE_CHECKING:
    from hitherto.engine import Hitherto

LOG = logging.getLogger("hitherto.voice")

CHANNEL: Final = "phone"
RECIPE: Final = "companion-voice"
OPENING: Final = "Hello?"
"""What the memory is asked before anybody has said a word."""
PHONE: Final = "voice:user:"
"""The user name of an unlinked number: this and the number."""
NOBODY: Final = "voice:nobody"
MOST_KEPT: Final = 10_000
MOST_WARMED: Final = 500


@dataclass(frozen=True, slots=True)
class Kept:
    """A person's prompt, and the log's head it was made at."""

    prompt: CachedPrompt
    head: int


class VoiceLine:
    """One persona's line to the users of one tenant."""

    def __init__(
        self,
        memory: "Hitherto",
        *,
        clock: Clock,
        persona: str | None = None,
        deadline: float = 0.25,
        lookups: int = 5,
        lookup_seconds: float = 1.0,
    ) -> None:
        self._memory = memory
        self._clock = clock
        self._persona = persona
        self._deadline = deadline
        self._allowance = Allowance(lookups)
        self._lookup_seconds = lookup_seconds
        self._recipe = _deferred(book.load(RECIPE))
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self._users: dict[str, str] = {}
        self._preparing: dict[str, asyncio.Task[None]] = {}
        self._reading: dict[str, set[object]] = {}
        """Prompts in the making, by user. One that was removed from here was made from something forgotten."""

    async def ring(self, caller: str | None) -> Spoken:
        """What to tell the platform about this caller, at once."""
        if caller is None:
            return prompts.unknown()
        kept = None
        try:
            async with asyncio.timeout(self._deadline):
                kept = await self._known(caller)
        except (TimeoutError, HithertoError) as error:
            LOG.warning("a call was answered without memory", extra={"fields": {"reason": type(error).__name__}})
        if kept is None:
            return prompts.unknown()
        return prompts.deliver(kept.prompt, now=self._clock(), span=span)

    async def _known(self, caller: str) -> Kept | None:
        """The caller's prompt. One that has to be made first is finished for the next ring, if this one cannot wait."""
        user = self._users.get(caller) or await self._owner(caller)
        if user not in self._kept:
            await asyncio.shield(self._soon(user))
        kept = self._kept.get(user)
        if kept is not None:
            self._kept.move_to_end(user)
            self._users[caller] = user
        return kept

    async def look_up(self, asked: Asked) -> str:
        """What the memory says to a question during a call. There is always an answer, so that the call continues."""
        if asked.query is None:
            return lookups.UNKNOWN
        if asked.caller is None:
            return lookups.NOTHING
        if not self._allowance.take(asked.call or asked.caller, now=self._clock()):
            return lookups.ENOUGH
        try:
            async with asyncio.timeout(self._lookup_seconds):
                return await self._found(await self._owner(asked.caller), asked.query[: lookups.LONGEST_QUERY])
        except (TimeoutError, HithertoError) as error:
            LOG.warning("a look-up found no memory", extra={"fields": {"reason": type(error).__name__}})
            return lookups.TOO_LATE

    async def _found(self, user: str, query: str) -> str:
        hits = await self._memory.search(user=user, query=query, limit=lookups.HITS, persona=self._persona)
        return lookups.result_text(hits, zone=(await self._memory.user(user)).zone)

    async def hang_up(self, call: Call) -> None:
        """Records a call that has ended, closes its session and prepares the next ring. Repeating it changes nothing."""
        user = await self._owner(call.person) if call.person else f"voice:call:{call.key}"
        said = turns(lookups.without_own_answers(call), user=user, persona=self._persona)
        if said:
            try:
                ids = await self._memory.record(said)
            except Conflict:
                # The platform may send a corrected transcript later: what was recorded first stays.
                ids = [turn.id for turn in said if turn.id]
            await self._close(user, ids, ended=call.ended)
        if call.person:
            await self._prepare(user)

    def touched(self, user: str) -> None:
        """This user's memory has changed: their prompt, if there is one, is remade soon."""
        if user in self._kept:
            self._soon(user)

    def drop(self, user: str) -> None:
        """Something of this user was forgotten: nothing that was made before is said again."""
        self._kept.pop(user, None)
        self._reading.pop(user, None)
        for caller in [caller for caller, known in self._users.items() if known == user]:
            del self._users[caller]  # The link may have gone as well.

    def linked(self, caller: str) -> None:
        """This number belongs to somebody else from now on."""
        self._users.pop(caller, None)

    async def warm(self) -> None:
        """Makes the prompts of likely callers, so that a service that has just started knows them."""
        await self._memory.context(user=NOBODY, message=OPENING, recipe=self._recipe, keep=False)
        people = [
            *await self._memory.linked(),
            *(name for name in await self._memory.users() if name.startswith(PHONE)),
        ]
        for user in people[:MOST_WARMED]:
            if user not in self._kept:
                await self._refresh(user)

    async def refresh(self) -> None:
        """Remakes the prompts of users whose log has grown or whose day is over."""
        now = self._clock()
        for user, kept in list(self._kept.items()):
            if now >= kept.prompt.valid_until or not await self._is_current(user, kept):
                await self._refresh(user)
        for caller, user in list(self._users.items()):
            if user not in self._kept or await self._owner(caller) != user:
                self._users.pop(caller, None)

    async def _is_current(self, user: str, kept: Kept) -> bool:
        """Whether nothing was written since. The head alone does not tell: a user who was forgotten entirely and is back
        may have said as much as before. The prompt's snapshot is gone then."""
        if await self._memory.head(user=user) != kept.head:
            return False
        return bool(await self._memory.snapshots(user=user, ids=[kept.prompt.snapshot or ""]))

    async def settled(self) -> None:
        """Returns when no prompt is being made."""
        while self._preparing:
            await asyncio.gather(*self._preparing.values(), return_exceptions=True)

    def _soon(self, user: str) -> "asyncio.Task[None]":
        """The task that makes this user's prompt, started unless it is running."""
        task = self._preparing.get(user)
        if task is None:
            task = self._preparing[user] = asyncio.get_running_loop().create_task(self._refresh(user))
            task.add_done_callback(lambda _: self._preparing.pop(user, None))
        return task

    async def _refresh(self, user: str) -> None:
        try:
            await self._prepare(user)
        except HithertoError as error:
            LOG.warning("a prompt could not be made anew", extra={"fields": {"reason": type(error).__name__}})

    async def _owner(self, person: str) -> str:
        return await self._memory.resolve(CHANNEL, person) or f"{PHONE}{person}"

    async def _prepare(self, user: str) -> None:
        """Makes and keeps the user's prompt; there is none for a user about whom nothing is known."""
        kept = await self._made(user)
        if kept is None:
            self._kept.pop(user, None)
            return
        self._kept[user] = kept
        self._kept.move_to_end(user)
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)

    async def _made(self, user: str) -> Kept | None:
        """The user's prompt as of now. If something is forgotten in the meantime, it is remade from what is left."""
        reading = object()
        self._reading.setdefault(user, set()).add(reading)
        try:
            head = await self._memory.head(user=user)
            kept = Kept(prompt=await self._render(user), head=head) if head else None
            if reading in self._reading.get(user, ()):
                return kept
        finally:
            others = self._reading.get(user, set())
            others.discard(reading)
            if not others:
                self._reading.pop(user, None)
        return await self._made(user)

    async def _render(self, user: str) -> CachedPrompt:
        now = self._clock()
        built = await self._memory.context(
            user=user, persona=self._persona, message=OPENING, recipe=self._recipe, at=now
        )
        profile = await self._memory.user(user)
        loops = await self._memory.loops(user=user, persona=self._persona)
        sessions = await self._memory.sessions(user=user, persona=self._persona, limit=1)
        midnight = day_bounds(local_day(now, profile.zone), profile.zone)[1]
        due = [loop.due for loop in loops if loop.due is not None and loop.due > now]
        return CachedPrompt(
            system=built.system,
            zone=profile.zone,
            valid_until=min([midnight, *due]),
            last_interaction=sessions[0].last_activity if sessions else None,
            snapshot=built.snapshot,
            name=profile.name,
        )

    async def _close(self, user: str, ids: list[str], *, ended: datetime) -> None:
        """Ends the session that the call was; anything said later opens another."""
        recorded = await self._memory.turns(user=user, ids=ids[-1:])
        if not recorded:
            return
        history = await self._memory.history(user=user, id=recorded[-1].session)
        if history and history[-1].status != "closed":
            last = max(ended, recorded[-1].at)
            await self._memory.update(history[-1].id, user=user, status="closed", ended_at=last)


def _deferred(recipe: Recipe) -> Recipe:
    """The recipe with placeholders for what changes, filled at delivery."""
    return recipe.model_copy(update={"situation": recipe.situation.model_copy(update={"deferred": True})})


PAUSE: Final = timedelta(seconds=15)


async def keep_fresh(line: VoiceLine, *, pause: timedelta = PAUSE) -> None:
    """Makes a line's prompts when the process starts and refreshes them for as long as it serves."""
    due = line.warm
    while True:
        try:
            await due()
        except HithertoError as error:
            LOG.warning("prompts could not be refreshed", extra={"fields": {"reason": type(error).__name__}})
        due = line.refresh
        await asyncio.sleep(pause.total_seconds())
