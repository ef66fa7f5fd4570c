"""What a call costs on a cluster beside one server: the same conversation on both, call by call in turns.

`HITHERTO_TEST_POSTGRES` names the coordinator (`docs/scaling.md`); the server is started on loopback with its data synced to
disk, or is the one that `--server` names. Times hold for the machine and the moment, their ratio holds longer. On one machine
that bears coordinator and workers, the ratio is one of work: it leaves out the network between them, and what they do at the
same time.

    HITHERTO_TEST_POSTGRES=postgresql://… python -m bench.cluster [--server postgresql://…] [--turns 3000 --samples 100]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
from collections.abc import Generator, Sequence
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from time import perf_counter
from typing import Final

from bench.measuring import save, spread, table
from bench.stores import DURABLE, PERSONA, WARMING, Place, Talk
from hitherto import Hitherto, Turn
from tests.cluster import made_sharded_database, workers
from tests.postgres_server import SERVER_VARIABLE, PostgresServer
from tests.stores import made_database

USER: Final = "ana"
CALLS: Final = ("head", "record", "context", "search")


@contextmanager
def one_server(named: str | None) -> Generator[Place]:
    """An empty database on a single server."""
    if named:
        with made_database(named) as url:
            yield Place(url)
        return
    with tempfile.TemporaryDirectory(prefix="hitherto-bench-") as folder:
        Path(folder).chmod(0o755)
        server = PostgresServer.create(Path(folder) / "server", config=DURABLE)
        try:
            with made_database(server.url()) as url:
                yield Place(url, server)
        finally:
            server.stop()


async def called(memory: Hitherto, call: str, text: str) -> float:
    """Seconds of one call; what it leaves to be written is over before the next."""
    begin = perf_counter()
    match call:
        case "head":
            await memory.head(user=USER)
        case "record":
            await memory.record(Turn(USER, "user", text, persona=PERSONA))
        case "context":
            await memory.context(user=USER, persona=PERSONA, message=text)
        case _:
            await memory.search(user=USER, query=text)
    taken = perf_counter() - begin
    await memory.flush()
    return taken


async def bench(places: Sequence[Place], *, turns: int, samples: int) -> list[dict[str, object]]:
    talk = Talk()
    batches = list(talk.turns(USER, turns))
    async with AsyncExitStack() as open_ones:
        memories = [await open_ones.enter_async_context(Hitherto(place.url)) for place in places]
        for place, memory in zip(places, memories, strict=True):
            for batch in batches:
                await memory.record(batch)
            place.settle()
        seconds: dict[tuple[str, int], list[float]] = {(call, at): [] for call in CALLS for at in range(len(places))}
        for number in range(WARMING + samples):
            for call in CALLS:
                text = talk.sentence(8)
                for at in sorted(range(len(places)), reverse=number % 2 == 1):
                    taken = await called(memories[at], call, text)
                    if number >= WARMING:
                        seconds[call, at].append(taken)
    rows: list[dict[str, object]] = []
    for call in CALLS:
        server, cluster = (spread(seconds[call, at]) for at in range(2))
        rows.append(
            {
                "call": call,
                "server p50 ms": server.p50,
                "p95": server.p95,
                "cluster p50 ms": cluster.p50,
                "p95 ms": cluster.p95,
                "times": cluster.p50 / server.p50,
            }
        )
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", help="the URL of a single server; without it one is started")
    parser.add_argument("--turns", type=int, default=3_000, help="turns of the user that is measured")
    parser.add_argument("--samples", type=int, default=100)
    given = parser.parse_args(arguments)
    coordinator = os.environ.get(SERVER_VARIABLE)
    if not coordinator or not workers(coordinator):
        parser.error(f"{SERVER_VARIABLE} has to name the coordinator of a cluster")
    with one_server(given.server) as server, made_sharded_database(coordinator) as url:
        rows = asyncio.run(bench((server, Place(url)), turns=given.turns, samples=given.samples))
    print(table(rows))
    print(f"saved to {save('cluster', rows)}")


if __name__ == "__main__":
    main()
