"""Hitherto: the two calls that are the product, `record` and `context`, and everything around them. Wiring only.

The engine owns the store, the clock, the tokenizer and the recipe; every rule lives in the package that is named for it.
Snapshots are written behind the answer by one task a user; `close` waits for them.
"""

import asyncio
import copy
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

from hitherto import coordination
from hitherto import store as stores
from hitherto.assemble import gather, personas
from hitherto.assemble import replay as replaying
from hitherto.assemble import snapshot as snapshots
from hitherto.assemble.assemble import assemble
from hitherto.assemble.diff import Difference, Prefixes, diff
from hitherto.assemble.replay import Trial
from hitherto.clock import Clock, bound, instant, system_clock
from hitherto.custody import Custody
from hitherto.errors import InvalidInput
from hitherto.ids import new_id
from hitherto.ingest import edit as editing
from hitherto.ingest import links as linking
from hitherto.ingest import profiles, sessions
from hitherto.ingest import record as recording
from hitherto.ingest import validation as validate
from hitherto.ingest.record import Indexer
from hitherto.learn import thoughts, wiring
from hitherto.learn.resuming import resume
from hitherto.privacy import open_keyring, open_ledger
from hitherto.recall.embed import Embedder, open_embedder
from hitherto.recall.found import Search
from hitherto.recall.rerank import Reranker, open_reranker
from hitherto.recall.search import Recaller
from hitherto.recipes import book as recipe_book
from hitherto.recipes import saved as saved_recipes
from hitherto.recipes.model import Recipe
from hitherto.shelves import LISTED, everything_or
from hitherto.store import export as exported
from hitherto.store import export as exporting
from hitherto.store.catalog import Catalog, UserKey
from hitherto.store.protocol import (
    Change,
    Head,
    Health,
    SnapshotList,
    SnapshotsById,
    Store,
    StoredSnapshot,
    TurnList,
    TurnsById,
    UserStore,
    Window,
)
from hitherto.text.analyser import stems
from hitherto.tokens import tokenizer as open_tokenizer
from hitherto.types import (
    Context,
    Hit,
    HitKind,
    Json,
    Loop,
    Memory,
    Persona,
    Profile,
    Record,
    RecordKind,
    State,
    StoredTurn,
    Turn,
)
from hitherto.work.hints import Hints


class Hitherto(Custody):
    """The memory of many users, embedded in a folder or on PostgreSQL.

    `model` is the extractor's (a PydanticAI model or its name, or several to fall back on), `tokenizer` the family of the
    model that will answer. With `work` the work after the turn is done in this process, while the memory is open.
    """

    def __init__(
        self,
        url: str | Path,
        *,
        recipe: str | Recipe = "companion",
        model: object = None,
        embedder: str | Embedder | None = None,
        reranker: str | Reranker | None = None,
        tokenizer: str = "o200k",
        clock: Clock | None = None,
        tenant: str = "default",
        work: bool = False,
        forgotten: str | Path | None = None,
        master_key: str | None = None,
        keys: str | Path | None = None,
        actor: str = "library",
        redis: str | None = None,
    ) -> None:
        """A `reranker` ("onnx" with that extra) looks at what `search` found again, at a cost of milliseconds for each
        of forty texts (docs/recall.md). `forgotten` is the file that notes what was forgotten (docs/privacy.md). With a
        `master_key`, everything of a user is encrypted with a key of their own, which lies wrapped in the folder
        `keys`, outside the data. `redis` is the URL of a Redis that the processes on this memory share, if there are
        several (docs/scaling.md)."""
        self._keyring = open_keyring(str(url), master=master_key, folder=keys)
        self._store: Store = stores.connect(str(url), keys=self._keyring)
        self._coordination = coordination.connect(redis, memory=str(url))
        self._ledger = open_ledger(str(url), forgotten)
        self._actor = actor
        self._recipe = _recipe(recipe)
        self._tokenizer = open_tokenizer(tokenizer)
        self._clock = clock or system_clock
        self._tenant = validate.name(tenant, what="tenant")
        self._recaller = Recaller(open_embedder(embedder), reranker=open_reranker(reranker))
        self._models = wiring.Models.of(model, stems=stems)
        self._hints = Hints(self._store.catalog, self._coordination)
        self._works = work
        self._background = AsyncExitStack()
        self._personas = personas.Personas(self._store.catalog, tenant=self._tenant)
        self._prefixes = Prefixes(self._coordination)
        self._recipes = saved_recipes.SavedRecipes(self._store.catalog, tenant=self._tenant)
        self._flushing: set[asyncio.Task[None]] = set()

    # --- life ------------------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def open(self) -> None:
        await self._store.open()
        if self._works:
            await self._background.enter_async_context(self.working())

    async def close(self) -> None:
        """Ends the work beside, writes the snapshots that are still pending and closes the store."""
        await self._background.aclose()
        await self.flush()
        await self._hints.close()
        await self._coordination.close()
        await self._models.close()
        await self._store.close()

    async def flush(self) -> None:
        """Returns when every snapshot made so far is durable. All callers wait for the same tasks, so one that is cancelled
        leaves them running."""
        while self._flushing:
            await asyncio.wait(self._flushing)

    def for_tenant(self, tenant: str) -> "Hitherto":
        """The same open memory, for the users and personas of another tenant; closing either closes both."""
        other = copy.copy(self)
        other._tenant = validate.name(tenant, what="tenant")
        other._personas = personas.Personas(self._store.catalog, tenant=other._tenant)
        other._recipes = saved_recipes.SavedRecipes(self._store.catalog, tenant=other._tenant)
        return other

    def acting(self, actor: str) -> "Hitherto":
        """The same open memory, whose audit log names this actor."""
        other = copy.copy(self)
        other._actor = actor
        return other

    def user_store(self, user: str) -> UserStore:
        """The user's own log and records, for an adapter that has to read and write in one transaction."""
        return self._user(user)

    @property
    def catalog(self) -> Catalog:
        """What belongs to no single user; the service keeps its keys there."""
        return self._store.catalog

    # --- turns -----------------------------------------------------------------------------------------------------

    async def record(self, turn: Turn | Iterable[Turn]) -> list[str]:
        """Stores one turn or many, durable on return; their ids, in the order given."""
        turns = [turn] if isinstance(turn, Turn) else list(turn)
        now = self._clock()
        ids: dict[int, str] = {}
        for user, places in _by_user(validate.turns(turns, now=now)).items():
            batch = [turns[place] for place in places]
            prepared = recording.prepare(batch, indexer=self._indexer(), now=now, new_id=lambda: new_id(now))
            also = await self._consequences(user, batch)
            done = await recording.record(
                self._user(user), prepared, rule=sessions.Rule.of(self._recipe.sessions), now=now, also=also
            )
            ids.update(zip(places, done, strict=True))
            self._hints.note(UserKey(self._tenant, user), now)
        return [ids[place] for place in range(len(turns))]

    async def revise(self, *, user: str, turn: str, text: str) -> StoredTurn:
        """A new version of a turn; the old one stays in the log."""
        return await recording.revise(
            self._user(user), turn=turn, text=text, indexer=self._indexer(), now=self._clock()
        )

    async def turns(
        self,
        *,
        user: str,
        ids: Sequence[str] | None = None,
        persona: str | None = None,
        lane: str | None = None,
        session: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        after: int = 0,
        limit: int = LISTED,
        known: int | None = None,
        before: int | None = None,
    ) -> list[StoredTurn]:
        """Turns in the conversation's order; None means all. `after` continues from a turn's `place`; `before` gives the
        newest ones that stand before a place, and takes neither session nor times."""
        whose, where = everything_or(persona), everything_or(lane)
        query: TurnsById | Window | TurnList
        if ids is not None:
            query = TurnsById(ids=tuple(ids), known=known)
        elif before is not None:
            if session is not None or since is not None or until is not None or after:
                raise InvalidInput("before= lists the newest turns; it goes with persona, lane, limit and known alone")
            query = Window(before=before, limit=limit, persona=whose, lane=where, known=known)
        else:
            query = TurnList(
                after=after,
                limit=limit,
                session=session,
                since=since and bound(since, name="since"),
                until=until and bound(until, name="until"),
                persona=whose,
                lane=where,
                known=known,
            )
        return list((await self._user(user).read(query))[query])

    # --- contexts --------------------------------------------------------------------------------------------------

    async def context(
        self,
        *,
        user: str,
        message: str | None = None,
        turn: str | None = None,
        persona: str | None = None,
        lane: str | None = None,
        recipe: str | Recipe | None = None,
        at: datetime | None = None,
        tokenizer: str | None = None,
        inputs: Mapping[str, str] | None = None,
        known: int | None = None,
        keep: bool = True,
    ) -> Context:
        """What the model should see for this message: no model call, and the same bytes for the same state. Without
        `keep` it leaves no snapshot, for a context that is only looked at."""
        if (message is None) == (turn is None):
            raise InvalidInput("pass either message= (not recorded yet) or turn= (the id of a recorded one)")
        if message is not None:
            validate.text(message, what="message")
        chosen = await self._chosen(recipe)
        request = gather.Request(
            user=validate.name(user, what="user"),
            persona=validate.optional_name(persona, what="persona"),
            lane=validate.optional_name(lane, what="lane"),
            recipe=chosen.recipe,
            now=self._clock() if at is None else instant(at),
            message=message,
            turn=turn,
            inputs=dict(inputs or {}),
            known=known,
            warnings=chosen.warnings,
        )
        recall = self._recaller.of(UserKey(self._tenant, user))
        material = await gather.gather(self._user(user), request, recall)
        counter = open_tokenizer(tokenizer) if tokenizer else self._tokenizer
        assembled = assemble(request.recipe, material, counter)
        if keep:
            self._behind(replaying.keep(self._user(user), assembled, request.recipe, material))
        conversation = (self._tenant, user, request.persona, request.lane, counter.family)
        return assembled.context(kept=await self._prefixes.kept(conversation, assembled, counter))

    async def search(
        self,
        *,
        user: str,
        query: str,
        limit: int = 10,
        kinds: Sequence[HitKind] | None = None,
        persona: str | None = None,
        lane: str | None = None,
        at: datetime | None = None,
        explain: bool = False,
        known: int | None = None,
    ) -> list[Hit]:
        """The turns, memories, episodes and summaries that answer best, best first."""
        validate.text(query, what="query")
        ask = Search(
            text=query,
            limit=limit,
            kinds=tuple(kinds or ("turn", "memory", "episode", "summary")),
            persona=everything_or(persona),
            lane=everything_or(lane),
            now=self._clock() if at is None else instant(at),
            known=known,
        )
        return await self._recaller.search(UserKey(self._tenant, user), self._user(user), ask)

    async def snapshots(
        self,
        *,
        user: str,
        ids: Sequence[str] | None = None,
        limit: int = 50,
        before: datetime | None = None,
    ) -> list[StoredSnapshot]:
        """The newest snapshots, newest first, or those with these ids; `before` gives only those taken earlier."""
        await self.flush()
        query = (
            SnapshotList(limit=limit, before=before and bound(before, name="before"))
            if ids is None
            else SnapshotsById(ids=tuple(ids))
        )
        return list((await self._user(user).read(query))[query])

    async def replay(self, *, user: str, snapshot: str) -> Context:
        """The context of that snapshot again, byte for byte; what was forgotten since is shown as forgotten."""
        await self.flush()
        return await replaying.replay(self._user(user), snapshot)

    async def diff(self, a: Context, b: Context) -> Difference:
        """What changed from one context to another."""
        return diff(a, b)

    async def backtest(
        self,
        *,
        user: str,
        recipe: str | Recipe,
        persona: str | None = None,
        lane: str | None = None,
        limit: int = LISTED,
    ) -> list[Trial]:
        """Another recipe over a recorded conversation: for each of the user's turns, the context it would have had."""

        async def build(turn: StoredTurn, recipe: Recipe) -> Context:
            return await self.context(
                user=user,
                turn=turn.id,
                persona=turn.persona,
                lane=turn.lane,
                recipe=recipe,
                at=turn.at,
                known=turn.seq,
            )

        trials = replaying.backtest(
            self._user(user),
            build,
            recipe=(await self._chosen(recipe)).recipe,
            persona=everything_or(persona),
            lane=everything_or(lane),
            limit=limit,
        )
        return [trial async for trial in trials]

    # --- recipes -----------------------------------------------------------------------------------------------------

    async def define_recipe(self, recipe: Recipe) -> Recipe:
        """Keeps a recipe of the application's own under its name; every definition is a version."""
        return await self._recipes.define(recipe, now=self._clock())

    async def recipes(self) -> list[Recipe]:
        """Every recipe that can be named: those that come with the package, then the application's own."""
        return [*map(recipe_book.load, recipe_book.names()), *await self._recipes.all()]

    # --- who -------------------------------------------------------------------------------------------------------

    async def define_persona(
        self, id: str, *, name: str, text: str, boundaries: str = "", style: str = "", **extra: Json
    ) -> Persona:
        """Who answers; every definition is a version. Over the recipe's cap is an error here, not later."""
        persona = Persona(id=id, name=name, text=text, boundaries=boundaries, style=style, extra=extra)
        personas.check(persona, recipe=self._recipe, tokenizer=self._tokenizer)
        return await self._personas.define(persona, now=self._clock())

    async def personas(self) -> list[Persona]:
        return await self._personas.all()

    async def set_user(self, user: str, **fields: Any) -> Profile:
        """What the application knows of the user: zone, name, locale, stage, and anything else as `extra`."""
        return await profiles.set_profile(self._desk(user), fields)

    async def user(self, user: str) -> Profile:
        return await profiles.profile(self._user(user), now=self._clock())

    async def link(self, user: str, channel: str, external_id: str) -> None:
        """From now on this phone number, chat or account id means this user."""
        await linking.link(self._store.catalog, UserKey(self._tenant, user), channel, external_id, now=self._clock())

    async def resolve(self, channel: str, external_id: str) -> str | None:
        """The user who is linked to it, if any."""
        return await linking.resolve(self._store.catalog, self._tenant, channel, external_id)

    async def linked(self) -> list[str]:
        """The users that something is linked to, those linked last first."""
        return await linking.linked(self._store.catalog, self._tenant)

    async def head(self, *, user: str) -> int:
        """The newest entry of the user's log; 0 for a user of whom nothing was ever written."""
        query = Head()
        return (await self._user(user).read(query))[query]

    async def users(self) -> list[str]:
        return [key.user for key in await self._store.catalog.users(self._tenant)]

    async def state(self, *, user: str, persona: str | None = None) -> State:
        """The relationship's state; with none set, an empty one."""
        return await profiles.state(self._user(user), persona=persona, now=self._clock())

    async def set_state(self, *, user: str, persona: str | None = None, **fields: Json) -> State:
        """Changes these fields (None removes one) and keeps the others."""
        return await profiles.set_state(self._desk(user), persona=persona, changes=fields)

    # --- what is remembered ------------------------------------------------------------------------------------------

    async def remember(self, *, user: str, text: str, **fields: Any) -> Memory:
        """A memory by hand."""
        return cast(Memory, await self.add("memory", user=user, text=text, **fields))

    async def add(self, kind: RecordKind, /, *, user: str, id: str | None = None, **fields: Any) -> Record:
        """Any record by hand: a memory, episode, loop, thought, summary …; one with a key that exists is a new version.
        With an `id` and no key, adding it again changes nothing."""
        return await editing.add(self._desk(user), kind, fields, id=id)

    async def update(self, id: str, *, user: str, **changes: Any) -> Record:
        """A new version with these fields changed: close a loop (status="done"), pin or archive a memory …"""
        changed = await editing.update(self._desk(user), id, changes)
        if isinstance(changed, Loop) and changed.status != "open":
            await thoughts.let_go(self._user(user), changed, now=self._clock())
        return changed

    # --- out and in ------------------------------------------------------------------------------------------------

    async def export(self, *, user: str) -> AsyncIterator[str]:
        """The user's whole memory as JSON lines."""
        digest = UserKey(self._tenant, user).digest
        await self._journal().note("export", user=digest, at=self._clock())
        async for line in exporting.export(self._user(user), key=UserKey(self._tenant, user)):
            yield line

    async def load(self, file: str | Path, *, user: str | None = None) -> int:
        """Reads an export back, under its own user or another; the number of entries."""
        whose = validate.name(exported.user_of(Path(file)) if user is None else user, what="user")
        count = await exporting.load(self._user(whose), file, stems=stems)
        await resume(self._user(whose))
        await self.reindex(user=whose)
        key = UserKey(self._tenant, whose)
        await self._journal().note("load", user=key.digest, at=self._clock(), entries=count)
        self._hints.note(key, self._clock())
        return count

    async def health(self) -> Health:
        health, problem = await self._store.health(), await self._coordination.problem()
        return health if problem is None else replace(health, problems=(*health.problems, problem))

    async def backup(self, target: str | Path, *, progress: Callable[[int, int], None] | None = None) -> int:
        return await self._store.backup(str(target), progress=progress)

    # --- inside ----------------------------------------------------------------------------------------------------

    def _user(self, user: str) -> UserStore:
        return self._store.user(UserKey(self._tenant, validate.name(user, what="user")))

    async def _chosen(self, recipe: str | Recipe | None) -> saved_recipes.Chosen:
        if recipe is None or isinstance(recipe, Recipe):
            return saved_recipes.Chosen(recipe or self._recipe)
        return await self._recipes.chosen(recipe, usual=self._recipe)

    def _indexer(self) -> Indexer:
        return Indexer(
            count=self._tokenizer.turn,
            family=self._tokenizer.family,
            stems=stems,
            embed=recording.forgiving(self._recaller.vectors) if self._recaller.at_once else None,
        )

    def _desk(self, user: str) -> editing.Desk:
        now = self._clock()
        return editing.Desk(store=self._user(user), indexer=self._indexer(), now=now, new_id=lambda: new_id(now))

    async def _consequences(self, user: str, batch: Sequence[Turn]) -> Change | None:
        """What recording these turns marks besides: thoughts that an answer was given are used."""
        named = [turn.snapshot for turn in batch if turn.snapshot]
        if not named:
            return None
        await self.flush()
        return await snapshots.marks(self._user(user), named, now=self._clock())

    def _behind(self, work: Coroutine[Any, Any, None]) -> None:
        """Does something behind the answer."""
        task = asyncio.get_running_loop().create_task(work)
        self._flushing.add(task)
        task.add_done_callback(self._flushing.discard)


def _recipe(recipe: str | Recipe) -> Recipe:
    return recipe if isinstance(recipe, Recipe) else recipe_book.load(recipe)


def _by_user(turns: Sequence[Turn]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for place, turn in enumerate(turns):
        places.setdefault(turn.user, []).append(place)
    return places
