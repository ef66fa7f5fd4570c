"""The text seed's ceilings, as shares of them: reading the history (50 ms), counting its tokens (10 ms), a whole context
(200 ms). 1 would be the ceiling itself.

    python -m bench.ceilings [--sizes 100 10000] [--memories 1000] [--rounds 60]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import tempfile
from collections.abc import Awaitable, Callable
from time import perf_counter

from bench.assembly import fill, sentence
from bench.measuring import save, spread, table
from hitherto import Hitherto
from hitherto.tokens import tokenizer

CEILINGS = {"history": 50.0, "counting": 10.0, "context": 200.0}
"""Milliseconds."""
WINDOW = 80
LAST = 2**62


async def measure(memory: Hitherto, user: str, *, rounds: int) -> dict[str, list[float]]:
    """Seconds of each, in turn."""
    rng = random.Random(5)
    counter = tokenizer()
    times: dict[str, list[float]] = {name: [] for name in CEILINGS}

    async def history() -> object:
        return await memory.turns(user=user, persona="nikita", before=LAST, limit=WINDOW)

    async def context() -> object:
        return await memory.context(
            user=user, persona="nikita", message=sentence(rng, words=6), recipe="companion-text"
        )

    built = await memory.context(user=user, persona="nikita", message="warm up", recipe="companion-text")

    async def counting() -> object:
        return counter.count(built.system) + sum(counter.count(str(entry["content"])) for entry in built.messages)

    calls: dict[str, Callable[[], Awaitable[object]]] = {"history": history, "counting": counting, "context": context}
    for _ in range(rounds):
        for name, call in calls.items():
            start = perf_counter()
            await call()
            times[name].append(perf_counter() - start)
    return times


async def run(sizes: list[int], *, memories: int, rounds: int) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory(prefix="hitherto-bench-") as folder:
        async with Hitherto(folder) as memory:
            for size in sizes:
                user = f"user-{size}"
                await fill(memory, user, turns=size, memories=memories, rng=random.Random(7))
                for name, seconds in (await measure(memory, user, rounds=rounds)).items():
                    found, ceiling = spread(seconds), CEILINGS[name]
                    rows.append(
                        {
                            "turns": size,
                            "what": name,
                            "ms": str(found),
                            "p50 / ceiling": round(found.p50 / ceiling, 3),
                            "p95 / ceiling": round(found.p95 / ceiling, 3),
                        }
                    )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 10_000])
    parser.add_argument("--memories", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=60)
    options = parser.parse_args()
    load = os.getloadavg()[0]
    rows = asyncio.run(run(options.sizes, memories=options.memories, rounds=options.rounds))
    print(f"{options.memories:,} memories; load average {load:.1f}")
    print(table(rows))
    save("ceilings", [{"memories": options.memories, "load average": load}, *rows])


if __name__ == "__main__":
    main()
