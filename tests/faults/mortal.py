"""Workers that die: a store that ends its user at a chosen boundary, before a write or just after its commit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hitherto.ingest.record import Indexer
from hitherto.learn import steps
from hitherto.learn.notes import Line, Method, Passage, PlainReader, Reading, Sitting, SittingNotes
from hitherto.learn.readers.rules import RuleReader
from hitherto.learn.services import Services
from hitherto.learn.steps import STEPS
from hitherto.recipes import book
from hitherto.store.protocol import (
    Answers,
    Catalog,
    Decide,
    Health,
    LogEntry,
    Query,
    Scrubbed,
    Store,
    UserKey,
    UserStore,
    Written,
)
from hitherto.testing import FakeClock
from hitherto.text import names
from hitherto.text.analyser import stems
from hitherto.tokens import tokenizer
from hitherto.work.worker import Worker


class Killed(BaseException):
    """The process is gone; nothing that it would have done after this happens."""


@dataclass(slots=True)
class Death:
    """Comes after so many boundaries; None never."""

    after: int | None = None
    passed: int = 0

    def boundary(self) -> None:
        self.passed += 1
        if self.after is not None and self.passed > self.after:
            raise Killed


@dataclass(slots=True)
class MortalUser:
    inner: UserStore
    death: Death

    async def read(self, *queries: Query[Any]) -> Answers:
        return await self.inner.read(*queries)

    async def write(self, decide: Decide, *queries: Query[Any]) -> Written:
        self.death.boundary()
        written = await self.inner.write(decide, *queries)
        self.death.boundary()
        return written

    async def restore(self, entries: Sequence[LogEntry]) -> None:
        await self.inner.restore(entries)

    async def wipe(self) -> None:
        await self.inner.wipe()


@dataclass(slots=True)
class Mortal:
    """A store whose user's writes may be the last thing that happens."""

    inner: Store
    death: Death

    @property
    def catalog(self) -> Catalog:
        return self.inner.catalog

    async def open(self) -> None:
        await self.inner.open()

    async def close(self) -> None:
        await self.inner.close()

    def user(self, key: UserKey) -> UserStore:
        return MortalUser(self.inner.user(key), self.death)

    async def health(self) -> Health:
        return await self.inner.health()

    async def backup(self, target: str, *, progress: Callable[[int, int], None] | None = None) -> int:
        return await self.inner.backup(target, progress=progress)

    async def scrub(self, *, progress: Callable[[int, int], None] | None = None) -> Scrubbed:
        return await self.inner.scrub(progress=progress)


def services(*, recipe: str = "personas", reader: PlainReader | None = None) -> Services:
    """The rules' services, without vectors."""
    counter = tokenizer("o200k")
    made = steps.services(
        steps.Models.of(None, stems=stems),
        indexer=Indexer(count=counter.turn, family=counter.family, stems=stems),
        recipe=book.load(recipe),
        alike=names.alike,
        personas={},
    )
    return made if reader is None else replace(made, plain=reader)


def worker(store: Store, given: Services, *, clock: FakeClock, name: str) -> Worker[Services]:
    async def provide(key: UserKey) -> Services:
        del key
        return given

    return Worker(store, STEPS, provide, clock=clock, name=name)


class DyingReader:
    """Dies while it reads: before it has begun, or when it is done and nothing is stored yet."""

    method: Method = "rules"

    def __init__(self, death: Death) -> None:
        self._rules = RuleReader()
        self._death = death

    def small_talk(self, lines: Sequence[Line]) -> bool:
        return self._rules.small_talk(lines)

    async def read(self, passage: Passage) -> Reading:
        self._death.boundary()
        reading = await self._rules.read(passage)
        self._death.boundary()
        return reading

    async def close(self, sitting: Sitting) -> SittingNotes:
        self._death.boundary()
        notes = await self._rules.close(sitting)
        self._death.boundary()
        return notes
