"""What an engine is made of: store, clock, tokenizer, recipes, recall and reader, opened and closed together.

`Hitherto` adds the public calls. Snapshots are written a moment after a context has been returned, each in a task of its own;
`close` waits for them.
"""

import asyncio
import copy
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from pathlib import Path
from secrets import token_hex
from types import TracebackType
from typing import Final, Self

from hitherto import coordination
from hitherto import store as stores
from hitherto.assemble import snapshot
from hitherto.assemble.diff import Prefixes
from hitherto.assemble.personas import Personas
from hitherto.assemble.sections.application import Sources
from hitherto.calls import in_process
from hitherto.clock import Clock, instant, system_clock
from hitherto.ids import new_id
from hitherto.ingest import edit as editing
from hitherto.ingest import record as recording
from hitherto.ingest import sessions
from hitherto.ingest import validation as validate
from hitherto.ingest.record import Indexer
from hitherto.learn import steps
from hitherto.learn.cost import Caps
from hitherto.learn.notes import Reader
from hitherto.learn.services import Pace, Receipts, Services, Vectors
from hitherto.learn.steps import STEPS
from hitherto.plugins import Section
from hitherto.privacy import open_keyring, open_ledger
from hitherto.privacy.rights import Privacy
from hitherto.recall.embed import Embedder, open_embedder
from hitherto.recall.rerank import Reranker, open_reranker
from hitherto.recall.search import Recaller
from hitherto.recipes import book
from hitherto.recipes.book import Chosen, SavedRecipes
from hitherto.recipes.recipe import Recipe
from hitherto.store.catalog import Catalog, UserKey
from hitherto.store.protocol import Change, Store, UserStore
from hitherto.text import names
from hitherto.text.analyser import stems
from hitherto.text.languages import language_name
from hitherto.tokens import tokenizer as open_tokenizer
from hitherto.types import Turn
from hitherto.work.hints import Hints
from hitherto.work.worker import Worker

LATER_SECONDS: Final = 0.5
"""How long after a context its snapshot is taken, unless someone asks for it sooner: longer than a burst of contexts takes."""
MOST_LATER: Final = 64
"""The most snapshots that may wait at once; each holds on to its material until it is written."""


class Parts:
    """An open memory, as one tenant sees it."""

    def __init__(
        self,
        url: str | Path,
        *,
        recipe: str | Recipe = "continuity",
        model: object = None,
        model_seconds: float = 60.0,
        notes_language: str | None = None,
        reader: str | Reader | None = None,
        pace: Pace = "pause",
        user_tokens: int | None = None,
        tenant_tokens: int | None = None,
        embedder: str | Embedder | None = None,
        reranker: str | Reranker | None = None,
        tokenizer: str = "o200k",
        sections: Mapping[str, Section] | None = None,
        clock: Clock | None = None,
        tenant: str = "default",
        work: bool = False,
        forgotten: str | Path | None = None,
        master_key: str | None = None,
        keys: str | Path | None = None,
        actor: str = "library",
        redis: str | None = None,
    ) -> None:
        """`model_seconds` is how long the model may take to answer, `notes_language` the language that it writes notes in
        (the conversation's, unless given), `pace` when it is asked; `user_tokens` and `tenant_tokens` cap what it is
        asked and answers in a day (docs/learning.md). A `reader` reads instead of a model, `sections` are functions that
        recipes name as sources (docs/howto/section.md). A `reranker` ("onnx" with that extra) ranks search results a
        second time (docs/recall.md). `forgotten` is the file that records what was forgotten (docs/privacy.md). With a
        `master_key`, each user's data is encrypted with a key of its own, wrapped in the folder `keys` outside the data.
        `redis` is the URL of a Redis shared by the processes on this memory (docs/scaling.md)."""
        self._keyring = open_keyring(str(url), master=master_key, folder=keys)
        self._store: Store = stores.connect(str(url), keys=self._keyring)
        self._coordination = coordination.connect(redis, memory=str(url))
        self._ledger = open_ledger(str(url), forgotten)
        self._actor = actor
        self._recipe = recipe if isinstance(recipe, Recipe) else book.load(recipe)
        self._sections = Sources(sections)
        self._sections.check(self._recipe)
        self._tokenizer = open_tokenizer(tokenizer)
        self._clock = clock or system_clock
        self._tenant = validate.name(tenant, what="tenant")
        self._recaller = Recaller(open_embedder(embedder), reranker=open_reranker(reranker))
        self._models = steps.Models.of(
            model,
            reader=reader,
            stems=stems,
            seconds=model_seconds,
            language=None if notes_language is None else language_name(notes_language),
            pace=pace,
            caps=Caps(user=user_tokens, tenant=tenant_tokens),
        )
        self._hints = Hints(self._store.catalog, self._coordination)
        self._works = work
        self._background = AsyncExitStack()
        self._personas = Personas(self._store.catalog, tenant=self._tenant)
        self._prefixes = Prefixes(self._coordination)
        self._recipes = SavedRecipes(self._store.catalog, tenant=self._tenant)
        self._flushing: dict[asyncio.Task[None], tuple[UserKey, asyncio.Event]] = {}

    # --- opening and closing ---------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @in_process("the life of an engine")
    async def open(self) -> None:
        """Opens the store; with `work=True`, starts the work in the background."""
        await self._store.open()
        if self._works:
            await self._background.enter_async_context(self.working())

    @in_process("the life of an engine")
    async def close(self) -> None:
        """Stops background work, writes pending snapshots and closes the store."""
        await self._background.aclose()
        await self.flush()
        await self._hints.close()
        await self._coordination.close()
        await self._models.close()
        await self._store.close()

    @in_process("the life of an engine")
    async def flush(self) -> None:
        """Returns when every snapshot made so far is durable."""
        await self._flushed(None)

    @in_process("the key says which tenant")
    def for_tenant(self, tenant: str) -> Self:
        """The same open memory for another tenant's users and personas; closing either closes both."""
        other = copy.copy(self)
        other._tenant = validate.name(tenant, what="tenant")
        other._personas = Personas(self._store.catalog, tenant=other._tenant)
        other._recipes = SavedRecipes(self._store.catalog, tenant=other._tenant)
        return other

    @in_process("the key says who acts")
    def acting(self, actor: str) -> Self:
        """The same open memory, with this name in the audit log."""
        other = copy.copy(self)
        other._actor = actor
        return other

    @property
    def learning(self) -> Mapping[str, int]:
        """What learning has cost in this process so far: questions, tokens, notes kept and dropped."""
        return self._models.meter.totals

    @in_process("a transaction does not leave its process")
    def user_store(self, user: str) -> UserStore:
        """The user's own log and records, for an adapter that needs to read and write in one transaction."""
        return self._user(user)

    @property
    def catalog(self) -> Catalog:
        """What belongs to no single user; the service keeps its keys there."""
        return self._store.catalog

    @in_process("a worker is a process: hitherto work")
    async def worker(self, *, name: str | None = None) -> Worker[Services]:
        """A worker on this memory's store, for `hitherto work` and for running inside an application."""
        self._models.check_installed()
        named = name or f"worker-{token_hex(4)}"
        return Worker(
            self._store, STEPS, self._services, clock=self._clock, name=named, coordination=self._coordination
        )

    @in_process("work beside an application, in its own process")
    @asynccontextmanager
    async def working(self, *, idle: float = 0.5, sweep_every: float = 3_600.0) -> AsyncGenerator[Self]:
        """Runs background work while the block runs: `async with memory.working(): …`."""
        stop = asyncio.Event()
        worker = await self.worker()
        task = asyncio.create_task(worker.run(stop=stop, idle=idle, sweep_every=sweep_every))
        try:
            yield self
        finally:
            stop.set()
            await task

    # --- inside ----------------------------------------------------------------------------------------------------

    def _key(self, user: str) -> UserKey:
        return UserKey(self._tenant, user)

    def _user(self, user: str) -> UserStore:
        return self._store.user(self._key(validate.name(user, what="user")))

    async def _these(self, user: str | None) -> list[str]:
        """This user, or all users of the tenant."""
        return [user] if user is not None else [key.user for key in await self._store.catalog.users(self._tenant)]

    def _now(self, at: datetime | None) -> datetime:
        return self._clock() if at is None else instant(at)

    async def _chosen(self, recipe: str | Recipe | None) -> Chosen:
        if recipe is None or isinstance(recipe, Recipe):
            return Chosen(recipe or self._recipe)
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

    def _privacy(self) -> Privacy:
        return Privacy(
            store=self._store,
            tenant=self._tenant,
            actor=self._actor,
            clock=self._clock,
            indexer=self._indexer(),
            ledger=self._ledger,
            keyring=self._keyring,
            dropped=self._recaller.forget,
        )

    async def _services(self, key: UserKey) -> Services:
        """What the steps of the work need for a user."""
        known = await Personas(self._store.catalog, tenant=key.tenant).all()
        return steps.services(
            self._models,
            indexer=self._indexer(),
            recipe=self._recipe,
            alike=names.alike,
            personas={persona.id: persona.name for persona in known if persona.id},
            vectors=self._vectors(),
            receipts=Receipts(thinned=snapshot.thinned, blobs=snapshot.blob_names),
            tenant=key.tenant,
            capped=await self._capped(key),
        )

    async def _capped(self, key: UserKey) -> str | None:
        """The cap on model tokens that a user has reached today, if any."""

        async def everyone() -> list[UserStore]:
            return [self._store.user(each) for each in await self._store.catalog.users(key.tenant)]

        return await self._models.meter.over(key.tenant, self._store.user(key), now=self._clock(), everyone=everyone)

    def _vectors(self) -> Vectors:
        recaller = self._recaller
        return Vectors(embedder=recaller.version, at_once=recaller.at_once, embed=recaller.vectors, stems=stems)

    async def _stored(self, turns: Sequence[Turn]) -> list[str]:
        """Records turns of any users and returns their ids in the same order."""
        now = self._clock()
        ids: dict[int, str] = {}
        valid = validate.turns(turns, now=now)
        for user, places in recording.by_user(valid).items():
            batch = [valid[place] for place in places]
            prepared = recording.prepare(batch, indexer=self._indexer(), new_id=lambda: new_id(now))
            also = await self._consequences(user, batch)
            done = await recording.record(
                self._user(user), prepared, rule=sessions.Rule.of(self._recipe.sessions), now=now, also=also
            )
            ids.update(zip(places, done, strict=True))
            self._hints.note(self._key(user), now)
        return [ids[place] for place in range(len(turns))]

    async def _consequences(self, user: str, batch: Sequence[Turn]) -> Change | None:
        """Marks thoughts as used once an answer that was given them is recorded."""
        named = [turn.snapshot for turn in batch if turn.snapshot]
        if not named:
            return None
        await self._flushed(self._key(user))
        return await snapshot.marks(self._user(user), named, now=self._clock())

    def _later(self, key: UserKey, work: Callable[[], Awaitable[None]]) -> None:
        """Runs something for a user shortly after the context has been returned, so that a burst of callers is served first."""
        at_once = asyncio.Event()
        task = asyncio.get_running_loop().create_task(_later(at_once, work))
        self._flushing[task] = (key, at_once)
        task.add_done_callback(self._flushing.pop)
        for _, oldest in list(self._flushing.values())[:-MOST_LATER]:
            oldest.set()

    async def _flushed(self, key: UserKey | None) -> None:
        """Waits until everything pending for that user, or for all users, is done."""
        # All callers wait for the same tasks, so cancelling one of them leaves the tasks running.
        while tasks := [task for task, (whose, _) in self._flushing.items() if key in (None, whose)]:
            for task in tasks:
                self._flushing[task][1].set()
            await asyncio.wait(tasks)


async def _later(at_once: asyncio.Event, work: Callable[[], Awaitable[None]]) -> None:
    timer = asyncio.get_running_loop().call_later(LATER_SECONDS, at_once.set)
    try:
        await at_once.wait()
    finally:
        timer.cancel()
    await work()
