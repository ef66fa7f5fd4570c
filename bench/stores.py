"""The same work on both stores: recording, contexts and searches of one user while the store around them grows.

One user is measured (`--own` turns); around them stand more and more others (`--users` in steps, `--turns` each). A
store keeps its promise if the measured user does not notice: the last columns are the time, and the processor's time, in
the full store against those in the first step of the same run. `--big` adds a user of that many turns, measured in the
full store.

`head` is the smallest read there is, for scale: what a machine that is busy with other things adds to each call.
Times hold for the machine and the moment; the processor time of a call, here and in the server, holds longer, and is what
sizing needs. A context leaves its snapshot to be written behind the answer: that is over before the next call begins, as in
a conversation, so it is in the processor's time and not in the call's.
PostgreSQL is started on loopback with its data synced to disk; `HITHERTO_TEST_POSTGRES` names another server, or a cluster
by its coordinator; their processor time is not seen. After each step it is vacuumed and its statistics are taken at once, as
autovacuum does within a
minute of such a load: plans that were made while the tables were empty are made anew.

    python -m bench.stores [--users 100,1000 --turns 1000 --own 10000 --big 100000 --samples 200]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import sys
import tempfile
from collections.abc import Awaitable, Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter, process_time

import psycopg

from bench.measuring import Spread, save, spread, table
from hitherto import Hitherto, Turn
from hitherto.store import connect
from hitherto.store.protocol import Change, Store, UserKey, Vector
from hitherto.testing import put, turn_draft
from hitherto.text.analyser import stems
from tests.cluster import workers
from tests.postgres_server import SERVER_VARIABLE, PostgresServer
from tests.stores import made_database, made_store

BATCH = 1_000
WARMING = 60
"""Calls before the first that counts: every connection of a pool makes its plans once."""
PERSONA = "nikita"
DURABLE = {"shared_buffers": "512MB", "autovacuum": "on"}


@dataclass(frozen=True, slots=True)
class Sizes:
    users: tuple[int, ...]
    turns: int
    own: int
    big: int
    samples: int


@dataclass(frozen=True, slots=True)
class Cost:
    """What a call takes: its time, and the processor's time here and in the server, in milliseconds."""

    time: Spread
    here: float
    server: float


class Place:
    """Where a store is, and the server it runs on, if that was started here."""

    def __init__(self, url: str, server: PostgresServer | None = None) -> None:
        self.url = url
        self._server = server

    def settle(self) -> None:
        """Does what autovacuum would do within a minute, perhaps while something is measured."""
        if "://" in self.url:
            with psycopg.connect(self.url, autocommit=True) as owner:
                owner.execute("vacuum (analyze)")
                if workers(self.url):
                    owner.execute("select run_command_on_workers('vacuum (analyze)')")

    def server_time(self) -> float:
        """Seconds of processor time that the server's processes for its clients have taken so far."""
        if self._server is None:
            return 0.0
        pid = int((self._server.data / "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        ticks = 0
        for child in children:
            with suppress(FileNotFoundError, ProcessLookupError):
                if b"127.0.0.1" not in Path(f"/proc/{child}/cmdline").read_bytes():
                    continue
                fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
                ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")


class Talk:
    """Sentences whose words are as unevenly common as in real talk."""

    def __init__(self, seed: int = 7) -> None:
        self._random = random.Random(seed)
        syllables = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "ai", "ou")]
        self._words = ["".join(self._random.choices(syllables, k=self._random.randint(1, 3))) for _ in range(20_000)]
        total = 0.0
        self._weights = [total := total + 1 / (rank + 20) for rank in range(len(self._words))]
        self._now = datetime.now(UTC)

    def sentence(self, words: int = 14) -> str:
        return " ".join(self._random.choices(self._words, cum_weights=self._weights, k=words))

    def turns(self, user: str, count: int) -> Iterator[list[Turn]]:
        """A turn every ten minutes until now: 144 a day, as somebody would who never sleeps."""
        for start in range(0, count, BATCH):
            yield [
                Turn(
                    user,
                    "user" if n % 2 else "assistant",
                    self.sentence(),
                    persona=PERSONA,
                    at=self._now - timedelta(minutes=10 * (count - n)),
                )
                for n in range(start, min(start + BATCH, count))
            ]


@contextmanager
def place(backend: str) -> Generator[Place]:
    """An empty store of that kind."""
    with tempfile.TemporaryDirectory(prefix="hitherto-bench-") as folder:
        if backend == "sqlite":
            yield Place(str(Path(folder) / "memories"))
            return
        named = os.environ.get(SERVER_VARIABLE)
        if named:
            with made_store(named) as url:
                yield Place(url)
            return
        Path(folder).chmod(0o755)
        server = PostgresServer.create(Path(folder) / "server", config=DURABLE)
        try:
            with made_database(server.url()) as url:
                yield Place(url, server)
        finally:
            server.stop()


async def crowd(store: Store, talk: Talk, *, start: int, end: int, turns: int) -> None:
    """More users with as many turns each, written straight to the store; all say the same."""
    sentences = [talk.sentence() for _ in range(turns)]
    vector = Vector(embedder="crowd", data=bytes(256))
    drafts = tuple(
        turn_draft(f"t{n}", text, persona=PERSONA, stems=tuple(stems(text)), vector=vector)
        for n, text in enumerate(sentences)
    )
    for number in range(start, end):
        user = store.user(UserKey("default", f"crowd {number}"))
        for first in range(0, turns, BATCH):
            await put(user, Change(turns=drafts[first : first + BATCH]))


async def sampled(where: Place, memory: Hitherto, count: int, call: Callable[[], Awaitable[object]]) -> Cost:
    for _ in range(WARMING):
        await call()
    await memory.flush()
    seconds: list[float] = []
    here, server = process_time(), where.server_time()
    for _ in range(count):
        begin = perf_counter()
        await call()
        seconds.append(perf_counter() - begin)
        await memory.flush()
    here, server = process_time() - here, where.server_time() - server
    return Cost(spread(seconds), here * 1000 / count, server * 1000 / count)


async def measured(where: Place, memory: Hitherto, talk: Talk, *, user: str, samples: int) -> dict[str, Cost]:
    def head() -> Awaitable[object]:
        return memory.head(user=user)

    def record() -> Awaitable[object]:
        return memory.record(Turn(user, "user", talk.sentence(), persona=PERSONA))

    def context() -> Awaitable[object]:
        return memory.context(user=user, persona=PERSONA, message=talk.sentence(8))

    def search() -> Awaitable[object]:
        return memory.search(user=user, query=talk.sentence(5))

    calls = {"head": head, "record": record, "context": context, "search": search}
    return {name: await sampled(where, memory, samples, call) for name, call in calls.items()}


async def bench(backend: str, where: Place, sizes: Sizes) -> list[dict[str, object]]:
    talk = Talk()
    store = connect(where.url)
    await store.open()
    rows: list[dict[str, object]] = []
    async with Hitherto(where.url) as memory:
        for batch in talk.turns("ana", sizes.own):
            await memory.record(batch)
        first: dict[str, Cost] = {}
        for before, users in zip((0, *sizes.users), sizes.users, strict=False):
            await crowd(store, talk, start=before, end=users, turns=sizes.turns)
            where.settle()
            if not first:
                await measured(
                    where, memory, talk, user="ana", samples=sizes.samples
                )  # every connection makes its plans
            now = await measured(where, memory, talk, user="ana", samples=sizes.samples)
            total = users * sizes.turns + sizes.own
            size = (await store.health()).bytes
            for call, taken in now.items():
                rows.append(_row(backend, call, sizes.own, total, taken, size, first.setdefault(call, taken)))
            print(table(rows[-len(now) :]), file=sys.stderr)
        if sizes.big:
            for batch in talk.turns("big", sizes.big):
                await memory.record(batch)
            now = await measured(where, memory, talk, user="big", samples=sizes.samples)
            total = sizes.users[-1] * sizes.turns + sizes.own + sizes.big
            size = (await store.health()).bytes
            rows += [_row(backend, call, sizes.big, total, taken, size, None) for call, taken in now.items()]
    await store.close()
    return rows


def _row(
    backend: str, call: str, own: int, total: int, taken: Cost, size: int, first: Cost | None
) -> dict[str, object]:
    return {
        "store": backend,
        "call": call,
        "turns of the user": own,
        "of all": total,
        "p50 ms": taken.time.p50,
        "p95 ms": taken.time.p95,
        "cpu here": taken.here,
        "cpu server": taken.server,
        "bytes a turn": size // total,
        "growth": taken.time.p50 / first.time.p50 if first else None,
        "growth of cpu": (taken.here + taken.server) / (first.here + first.server) if first else None,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stores", default="sqlite,postgres")
    parser.add_argument("--users", default="10,100", help="how many others, in steps")
    parser.add_argument("--turns", type=int, default=100, help="turns of each of them")
    parser.add_argument("--own", type=int, default=1_000, help="turns of the measured user")
    parser.add_argument("--big", type=int, default=0, help="turns of a big user, measured last")
    parser.add_argument("--samples", type=int, default=100)
    given = parser.parse_args(arguments)
    users = tuple(int(number) for number in given.users.split(","))
    sizes = Sizes(users=users, turns=given.turns, own=given.own, big=given.big, samples=given.samples)
    rows: list[dict[str, object]] = []
    for backend in given.stores.split(","):
        with place(backend) as where:
            rows += asyncio.run(bench(backend, where, sizes))
    print(table(rows))
    print(f"saved to {save('stores', rows)}")


if __name__ == "__main__":
    main()
