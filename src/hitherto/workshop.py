"""The work after the turn, as calls of the engine: running it, watching it, correcting what it learnt."""

import asyncio
from abc import abstractmethod
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from secrets import token_hex
from typing import Self

from hitherto.assemble import snapshot
from hitherto.assemble.personas import Personas
from hitherto.clock import Clock
from hitherto.coordination.local import Coordination
from hitherto.ingest.record import Indexer
from hitherto.learn import auditing, embed, seeding, who, wiring
from hitherto.learn.auditing import Audit
from hitherto.learn.services import Receipts, Services, Vectors
from hitherto.learn.steps import STEPS
from hitherto.recall.search import Recaller
from hitherto.recipes.model import Recipe
from hitherto.shelves import Shelves
from hitherto.store.protocol import Store, UserKey
from hitherto.text import names
from hitherto.types import Entity, Memory, Profile
from hitherto.work import cursors
from hitherto.work.hints import Hints
from hitherto.work.progress import SessionState, session_state
from hitherto.work.status import Status, status
from hitherto.work.worker import Settled, Worker


class Workshop(Shelves):
    """Settling, workers, who is who, and how well everything is remembered."""

    _store: Store
    _recipe: Recipe
    _clock: Clock
    _tenant: str
    _recaller: Recaller
    _personas: Personas
    _models: wiring.Models
    _hints: Hints
    _coordination: Coordination

    @abstractmethod
    def _indexer(self) -> Indexer: ...

    @abstractmethod
    async def users(self) -> list[str]: ...

    @abstractmethod
    async def user(self, user: str) -> Profile: ...

    async def settle(self, *, user: str | None = None) -> dict[str, Settled]:
        """Runs all work that is due now, for one user or for every user of the tenant."""
        worker = await self.worker()
        users = [user] if user is not None else await self.users()
        return {name: await worker.settle(UserKey(self._tenant, name)) for name in users}

    async def worker(self, *, name: str | None = None) -> Worker[Services]:
        """A worker on this memory's store, for `hitherto work` and for running beside an application."""
        named = name or f"worker-{token_hex(4)}"
        return Worker(
            self._store, STEPS, self._services, clock=self._clock, name=named, coordination=self._coordination
        )

    @asynccontextmanager
    async def working(self, *, idle: float = 0.5, sweep_every: float = 3_600.0) -> AsyncGenerator[Self]:
        """Work goes on in this process while the block runs: `async with memory.working(): …`."""
        stop = asyncio.Event()
        worker = await self.worker()
        task = asyncio.create_task(worker.run(stop=stop, idle=idle, sweep_every=sweep_every))
        try:
            yield self
        finally:
            stop.set()
            await task

    async def work_status(self, *, user: str) -> Status:
        """Where each step of the work stands for a user, with what failed and why."""
        return await status(self._user(user), now=self._clock())

    async def retry(self, *, user: str, step: str | None = None) -> int:
        """Makes parked steps due again; how many there were."""
        count = await cursors.retry(self._user(user), step=step, now=self._clock())
        if count:
            self._hints.note(UserKey(self._tenant, user), self._clock())
        return count

    async def progress(self, *, user: str, persona: str | None = None) -> SessionState:
        """How far the conversation with a persona has come: counts, last message, rolling summary, upkeep."""
        return await session_state(self._user(user), persona=persona)

    async def seed(self, *, user: str, facts: Sequence[str]) -> list[Memory]:
        """A profile that is known beforehand, a fact a line; the memories that were new, marked as `seeded_profile`."""
        profile = await self.user(user)
        made = await seeding.seed(
            self._user(user), facts, zone=profile.zone, index=self._indexer(), alike=names.alike, now=self._clock()
        )
        return list(made)

    async def merge(self, *, user: str, entities: Sequence[str]) -> Entity:
        """Makes these entities one, the first of them; every memory, card and alias follows."""
        return await who.merge(self._user(user), entities, index=self._indexer(), now=self._clock())

    async def split(self, *, user: str, entity: str, name: str, memories: Sequence[str] | None = None) -> Entity:
        """Makes a name of an entity somebody of their own, with these memories, or those whose turns use the name."""
        return await who.split(
            self._user(user), entity, name=name, memories=memories, index=self._indexer(), now=self._clock()
        )

    async def reindex(
        self, *, user: str | None = None, progress: Callable[[int, int], None] | None = None
    ) -> dict[str, int]:
        """Writes every vector that the embedder has not made yet, for one user or all; how many each. It can be stopped
        and started again."""
        vectors = self._vectors()
        users = [user] if user is not None else await self.users()
        return {
            name: await embed.reindex(
                self._user(name), embedder=vectors.embedder, embed=vectors.embed, progress=progress
            )
            for name in users
        }

    async def audit(self, *, user: str) -> Audit:
        """What share of a user's memory is doubled, unsupported, stale, held back, or secret."""
        return await auditing.audit(self._user(user), stems=self._indexer().stems, now=self._clock())

    async def _services(self, key: UserKey) -> Services:
        """What the steps are given for a user: the tenant's personas as they are named now."""
        known = await Personas(self._store.catalog, tenant=key.tenant).all()
        return wiring.services(
            self._models,
            indexer=self._indexer(),
            recipe=self._recipe,
            alike=names.alike,
            similarity=self._recaller.similarity,
            personas={persona.id: persona.name for persona in known if persona.id},
            vectors=self._vectors(),
            receipts=Receipts(thinned=snapshot.thinned, blobs=snapshot.blob_names),
        )

    def _vectors(self) -> Vectors:
        return Vectors(embedder=self._recaller.version, at_once=self._recaller.at_once, embed=self._recaller.vectors)
