"""Many users, one after the other, in one process: does anything of those who went stay behind?

Each one says two things and is given one context. The store keeps a few files open, caches hold the last users; what a process
takes after the first thousand should be what it takes after all. A user whose file is closed is then opened again, cold, which
is what the first message of a day waits for.

    python -m bench.visits [--users 10000] [--stores sqlite,postgres]
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from bench.measuring import save, spread, table
from bench.stores import PERSONA, Place, Talk, place
from hitherto import Hitherto, Turn

LOOKS = 10
COLD = 100


def descriptors() -> int:
    """How many files and sockets this process has open now."""
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def memory_kb() -> int:
    """What this process holds in memory now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024


async def visited(at: Place, *, users: int) -> list[dict[str, object]]:
    talk = Talk()
    rows: list[dict[str, object]] = []
    async with Hitherto(at.url) as memory:
        begun = perf_counter()
        for number in range(1, users + 1):
            name = f"visitor {number}"
            await memory.record([Turn(name, role, talk.sentence(), persona=PERSONA) for role in ("user", "assistant")])
            await memory.context(user=name, persona=PERSONA, message=talk.sentence(8))
            if number % (users // LOOKS) == 0:
                await memory.flush()
                gc.collect()
                rows.append(
                    {
                        "users": number,
                        "memory MB": round(memory_kb() / 1024, 1),
                        "descriptors": descriptors(),
                        "ms a user": round((perf_counter() - begun) * 1000 / number, 2),
                    }
                )
        cold: list[float] = []
        for number in range(1, COLD + 1):
            start = perf_counter()
            await memory.context(user=f"visitor {number}", persona=PERSONA, message=talk.sentence(8), keep=False)
            cold.append(perf_counter() - start)
    taken = spread(cold)
    print(f"a context of a user whose file was closed: {taken.p50:.1f} ms (p95 {taken.p95:.1f})", file=sys.stderr)
    return [*rows, {"users": f"{COLD} again, cold", "ms a user": taken.p50}]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--stores", default="sqlite,postgres")
    parser.add_argument("--users", type=int, default=10_000)
    given = parser.parse_args(arguments)
    for backend in given.stores.split(","):
        with place(backend) as at:
            rows = asyncio.run(visited(at, users=given.users))
        print(backend)
        print(table(rows))
        save("visits", [{"store": backend}, *rows])


if __name__ == "__main__":
    main()
