"""F4 with real processes: four that serve and four that work, on one folder and on one database.

Every user's turns arrive by all four services, some of them twice at once, while all four workers take what is due. What
came of it must be what one process alone makes of the same turns: nothing lost, nothing doubled.
"""

from __future__ import annotations

import asyncio
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path

import httpx

from hitherto import Hitherto, Turn
from hitherto.clock import system_clock
from hitherto.store.protocol import Log, RecordList, UserKey
from hitherto.types import RecordKind
from tests.deliver.http.server import PATIENCE, Server, command, serving
from tests.effort import count
from tests.faults.test_f04_worker_kills import TALK

PROCESSES = 4
USERS = count(test=6, soak=100)
LEARNT: tuple[RecordKind, ...] = ("memory", "loop", "entity", "episode")
OPEN = {"HITHERTO_RATE": "0", "HITHERTO_WAITING": "1000", "HITHERTO_PATIENCE_SECONDS": "120"}


@contextmanager
def working(folder: Path, data: str) -> Generator[None]:
    """Workers as an operator starts them; told to stop, each ends well."""
    workers: list[subprocess.Popen[str]] = []
    for number in range(PROCESSES):
        (folder / f"worker-{number}").mkdir()
        workers.append(command("work", "run", "--idle", "0.05", folder=folder / f"worker-{number}", data=data))
    try:
        for number in range(PROCESSES):
            _at_work(folder / f"worker-{number}" / "stderr")
        yield
        for worker in workers:
            worker.send_signal(signal.SIGTERM)
        ended = [worker.wait(PATIENCE) for worker in workers]
        assert ended == [0] * PROCESSES, [path.read_text() for path in folder.glob("worker-*/stderr")]
    finally:
        for worker in workers:
            worker.kill()
            worker.wait(PATIENCE)
            assert worker.stdout is not None
            worker.stdout.close()


def _at_work(said: Path) -> None:
    """Waits until a worker says so: one that is still being loaded ends at a signal like any program."""
    end = time.monotonic() + PATIENCE
    while "working on" not in said.read_text():
        assert time.monotonic() < end, said.read_text()
        time.sleep(0.05)


async def say(server: Server, user: str, rng: random.Random) -> None:
    """One user's turns, each after the last was acknowledged; any process may be the one that answers."""
    headers = {"Authorization": f"Bearer {server.token()}", "Connection": "close"}
    async with httpx.AsyncClient(base_url=server.url, headers=headers, timeout=PATIENCE) as client:
        for place, text in enumerate(TALK):
            turn = {"id": f"t{place}", "user": user, "role": "assistant" if place % 2 else "user", "text": text}
            body = {**turn, "persona": "coach"}
            answers = await asyncio.gather(*(client.post("/v1/turns", json=body) for _ in range(rng.choice((1, 1, 2)))))
            assert {answer.status_code for answer in answers} <= {200, 201}, [answer.text for answer in answers]
            assert {tuple(answer.json()["ids"]) for answer in answers} == {(f"t{place}",)}
            await asyncio.sleep(rng.uniform(0, 0.2))


async def learnt(memory: Hitherto, user: str) -> Counter[tuple[object, ...]]:
    """What is remembered of a user, however often, but for what depends on how many turns were read at once: which of them
    names an entity, and loops that open and close within one reading and so never were."""
    store = memory._store.user(UserKey("default", user))  # pyright: ignore[reportPrivateUsage] -- rows as they are stored
    queries = [RecordList(noun=noun, limit=10_000) for noun in LEARNT]
    answers = await store.read(*queries)
    rows = [row for query in queries for row in answers[query] if row.noun != "loop" or row.status == "open"]
    return Counter(
        (row.noun, row.key, row.text, row.status, () if row.noun == "entity" else row.sources) for row in rows
    )


async def idle(memory: Hitherto) -> None:
    """Returns when no user is due, now or in a moment."""
    async with asyncio.timeout(PATIENCE):
        while await memory.catalog.due(now=system_clock() + timedelta(seconds=1), limit=1):  # noqa: ASYNC110 -- others work
            await asyncio.sleep(0.2)


async def test_f4_four_services_and_four_workers(store_url: str, tmp_path: Path, rng: random.Random) -> None:
    users = [f"user-{number}" for number in range(USERS)]
    with ExitStack() as stack:
        server = stack.enter_context(serving(tmp_path, "--workers", str(PROCESSES), data=store_url, **OPEN))
        stack.enter_context(working(tmp_path, store_url))
        await asyncio.gather(*(say(server, user, random.Random(rng.random())) for user in users))
        async with Hitherto(store_url) as memory:
            await asyncio.sleep(0.5)  # hints are written behind the answer
            await idle(memory)
    async with Hitherto(store_url) as memory:
        alone = [
            Turn("alone", "assistant" if place % 2 else "user", text, id=f"t{place}", persona="coach")
            for place, text in enumerate(TALK)
        ]
        for turn in alone:
            await memory.record(turn)
            await memory.settle(user="alone")
        expected = await learnt(memory, "alone")
        assert expected.total() > 5
        for user in users:
            assert (await memory.settle(user=user))[user].done == 0, "no work was left or lost"
            assert [turn.id for turn in await memory.turns(user=user)] == [turn.id for turn in alone]
            assert await learnt(memory, user) == expected
            assert not [cursor for cursor in (await memory.work_status(user=user)).cursors if cursor.attempts]
            log = Log(limit=100_000)
            store = memory._store.user(UserKey("default", user))  # pyright: ignore[reportPrivateUsage] -- as above
            entries = (await store.read(log))[log]
            assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
