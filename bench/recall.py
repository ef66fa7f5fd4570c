"""What recall costs for one user: the query path (embed, search, rank) and indexing, by the number of turns.

Coordination it, in the same run and interleaved with it: BM25 alone (SQLite's own, best fifty), a scan of as many vectors by
numpy, and the embedder alone. Milliseconds are by the wall clock; `cpu` is the main thread's.

    python -m bench.recall [--sizes 10000 100000] [--questions 200]
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import tracemalloc
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from time import perf_counter, thread_time
from typing import Any

import apsw
import numpy as np

from bench.assembly import START, fill, sentence
from bench.measuring import save, spread, table
from hitherto import Hitherto
from hitherto.recall.embed import open_embedder
from hitherto.store.catalog import UserKey
from hitherto.text.analyser import stems

USER = "ana"


async def by_size(sizes: Sequence[int], *, questions: int, rng: random.Random) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for turns in sizes:
        with tempfile.TemporaryDirectory() as name:
            async with Hitherto(Path(name)) as memory:
                begin = perf_counter()
                await fill(memory, USER, turns=turns, memories=0, rng=rng)
                rate = turns / (perf_counter() - begin)
                held = await held_bytes(memory, turns=turns)
                rows.append(
                    {
                        "turns": turns,
                        **await queries(memory, Path(name), turns=turns, questions=questions, rng=rng),
                        "indexed turns/s": round(rate),
                        "MB per 10k turns": round(held / turns * 10_000 / 1e6, 1),
                    }
                )
    return rows


async def held_bytes(memory: Hitherto, *, turns: int) -> int:
    """What the first search of a user adds to the process, and the next ones keep."""
    tracemalloc.start()
    await memory.search(user=USER, query="anything at all", at=START + timedelta(minutes=turns))
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return held


async def queries(
    memory: Hitherto, folder: Path, *, turns: int, questions: int, rng: random.Random
) -> dict[str, object]:
    at = START + timedelta(minutes=turns)
    digest = UserKey("default", USER).digest
    db: Any = apsw.Connection(str(folder / "users" / digest[:2] / f"{digest}.db"), flags=apsw.SQLITE_OPEN_READONLY)
    matrix = np.random.default_rng(1).standard_normal((turns, 256), dtype=np.float32)
    embedder = open_embedder(None)
    taken: dict[str, list[float]] = {"recall": [], "cpu": [], "BM25 alone": [], "numpy scan": [], "embedder": []}
    for n in range(questions + 20):
        query = sentence(rng, words=5)
        cpu, begin = thread_time(), perf_counter()
        await memory.search(user=USER, query=query, kinds=["turn"], at=at)
        found = [perf_counter() - begin, thread_time() - cpu]
        words = " OR ".join(f'"{stem}"' for stem in dict.fromkeys(stems(query)))
        begin = perf_counter()
        list(db.execute("select rowid, rank from turn_words where turn_words match ? order by rank limit 50", (words,)))
        found.append(perf_counter() - begin)
        begin = perf_counter()
        scores = matrix @ matrix[n % turns]
        np.argpartition(scores, -50)[-50:]
        found.append(perf_counter() - begin)
        begin = perf_counter()
        embedder.embed([query], purpose="query")
        found.append(perf_counter() - begin)
        if n >= 20:
            for seconds, value in zip(taken.values(), found, strict=True):
                seconds.append(value)
    db.close()
    cells: dict[str, object] = {}
    for name, seconds in taken.items():
        measured = spread(seconds)
        cells[f"{name} p50"], cells[f"{name} p95"] = round(measured.p50, 3), round(measured.p95, 3)
    return cells


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args(arguments)
    rows = asyncio.run(by_size(options.sizes, questions=options.questions, rng=random.Random(options.seed)))
    for row in rows:
        sys.stdout.write(table([{"measure": name, "": value} for name, value in row.items()]) + "\n\n")
    save("recall", rows)


if __name__ == "__main__":
    main()
