"""How fast turns become durable: singly, in batches, from one and four processes, beside what the disk itself allows.

`fsync` alone is the floor of a single durable write, a plain SQLite insert of the same bytes with `synchronous=FULL` the
peer. Every ratio is within one run.

    python -m bench.record [--turns 2000]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from time import perf_counter
from typing import Any

import apsw

from bench.measuring import save, spread, table
from hitherto import Hitherto, Turn

TEXT = "I think we should move the picnic to Sunday, because Mukesh is only back from Oslo on Saturday night."


def turns(count: int, *, user: str = "ana", start: int = 0) -> list[Turn]:
    return [Turn(user=user, role="user", text=f"{TEXT} {n}", persona="nikita") for n in range(start, start + count)]


def fsync_alone(folder: Path, count: int) -> list[float]:
    """Append the same bytes to a file and sync it, nothing else."""
    seconds: list[float] = []
    with (folder / "plain.log").open("ab", buffering=0) as file:
        for _ in range(count):
            begin = perf_counter()
            file.write(TEXT.encode())
            os.fdatasync(file.fileno())
            seconds.append(perf_counter() - begin)
    return seconds


class Bare:
    """One row of the same bytes a turn, durable, no index."""

    def __init__(self, path: Path) -> None:
        self.db: Any = apsw.Connection(str(path))
        for setting in ("pragma journal_mode=wal", "pragma synchronous=full"):
            self.db.execute(setting).fetchall()
        self.db.execute("create table turns(seq integer primary key, text text)")

    def insert(self, batch: int) -> None:
        self.db.execute("begin immediate")
        self.db.executemany("insert into turns(text) values(?)", [(TEXT,)] * batch)
        self.db.execute("commit")


async def beside_bare(folder: Path, count: int, batch: int) -> tuple[list[float], list[float]]:
    """Seconds a turn of the bare insert and of `record`, in turns, so that both have the same machine."""
    plain: list[float] = []
    ours: list[float] = []
    folder.mkdir()  # noqa: ASYNC240 - nothing else runs here
    bare = Bare(folder / "plain.db")
    async with Hitherto(folder / "memories") as memory:
        await memory.record(turns(1))
        for start in range(0, count, batch):
            some = turns(batch, start=start)
            begin = perf_counter()
            bare.insert(batch)
            between = perf_counter()
            await memory.record(some)
            plain.append((between - begin) / batch)
            ours.append((perf_counter() - between) / batch)
    bare.db.close()
    return plain, ours


async def hitherto(folder: Path, count: int, batch: int, *, user: str = "ana") -> None:
    async with Hitherto(folder) as memory:
        await memory.record(turns(1, user=user))
        for start in range(0, count, batch):
            await memory.record(turns(batch, user=user, start=start))


async def concurrent(folder: Path, count: int, tasks: int) -> float:
    """Turns a second when many callers write one user's turns at the same time."""
    async with Hitherto(folder) as memory:
        await memory.record(turns(1))
        begin = perf_counter()
        for start in range(0, count, tasks):
            await asyncio.gather(*(memory.record(turn) for turn in turns(tasks, start=start)))
        return count / (perf_counter() - begin)


def process(arguments: tuple[str, int, str]) -> float:
    folder, count, user = arguments
    begin = perf_counter()
    asyncio.run(hitherto(Path(folder), count, 1, user=user))
    return perf_counter() - begin


def processes(folder: Path, count: int, workers: int, *, shared: bool) -> float:
    """Turns a second of several processes on one folder, writing one user's file or each its own."""
    jobs = [(str(folder), count // workers, "ana" if shared else f"user-{n}") for n in range(workers)]
    with ProcessPoolExecutor(workers) as pool:
        begin = perf_counter()
        list(pool.map(process, jobs))
        return count / (perf_counter() - begin)


def row(name: str, seconds: Sequence[float], *, peer: float | None = None) -> dict[str, object]:
    found = spread(seconds)
    return {
        "what": name,
        "ms a turn p50": found.p50,
        "p95": found.p95,
        "turns/s": round(1000 / found.p50),
        "times the peer": round(found.p50 / peer, 2) if peer else "",
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--turns", type=int, default=2000)
    count = parser.parse_args(arguments).turns
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows.append(row("fsync alone", fsync_alone(folder, count)))
        for batch in (1, 100, 1000):
            plain, ours = asyncio.run(beside_bare(folder / f"batch-{batch}", max(count, batch * 5), batch))
            rows.append(row(f"plain SQLite, batches of {batch}", plain))
            rows.append(row(f"record, batches of {batch}", ours, peer=spread(plain).p50))
        rates = {
            "16 callers of one user, one process": asyncio.run(concurrent(folder / "callers", count, 16)),
            "4 processes, one user": processes(folder / "shared", count, 4, shared=True),
            "4 processes, a user each": processes(folder / "apart", count, 4, shared=False),
        }
        rows.extend(
            {"what": what, "ms a turn p50": 1000 / rate, "p95": "", "turns/s": round(rate), "times the peer": ""}
            for what, rate in rates.items()
        )
    sys.stdout.write(table(rows) + "\n")
    save("record", rows)


if __name__ == "__main__":
    main()
