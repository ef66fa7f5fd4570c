"""What encryption costs: recording and contexts, plain and encrypted, beside each other in one run.

The two take turns, call by call, so that whatever else the machine does weighs on both; the figure is the ratio of medians.

    python -m bench.encryption [--turns 2000] [--pairs 200] [--postgres postgresql://…]
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

from bench.measuring import table
from hitherto import Hitherto, Turn

MASTER = "5a" * 32
TEXT = "I think we should move the picnic to Sunday, because Mukesh is only back from Oslo on Saturday night."


async def _timed(memory: Hitherto, number: int) -> tuple[float, float]:
    """Seconds for one durable turn and for one context."""
    begun = perf_counter()
    await memory.record(Turn(user="ana", role="user", text=f"{TEXT} {number}", persona="nikita"))
    recorded = perf_counter()
    await memory.context(user="ana", persona="nikita", message="when is the picnic with Mukesh?")
    built = perf_counter()
    await memory.flush()
    return recorded - begun, built - recorded


async def measure(data: str, *, turns: int, pairs: int, keys: Path) -> dict[str, list[tuple[float, float]]]:
    """Pairs of measurements; on a database the two memories are two tenants."""
    found: dict[str, list[tuple[float, float]]] = {"plain": [], "encrypted": []}
    places = {"plain": data, "encrypted": data if "://" in data else f"{data}-encrypted"}
    async with (
        Hitherto(places["plain"], tenant="plain") as plain,
        Hitherto(places["encrypted"], tenant="encrypted", master_key=MASTER, keys=keys) as encrypted,
    ):
        memories = {"plain": plain, "encrypted": encrypted}
        told = [Turn(user="ana", role="user", text=f"{TEXT} {n}", persona="nikita") for n in range(turns)]
        for memory in memories.values():
            for start in range(0, turns, 500):
                await memory.record(told[start : start + 500])
            await _timed(memory, -1)
        for number in range(pairs):
            for name, memory in memories.items():
                found[name].append(await _timed(memory, number))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=2_000)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--postgres", help="measure this server as well")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for data in filter(None, (f"{folder}/memories", arguments.postgres)):
            keys = Path(folder) / "keys"
            found = asyncio.run(measure(data, turns=arguments.turns, pairs=arguments.pairs, keys=keys))
            rows: list[dict[str, object]] = []
            for place, what in enumerate(("record", "context")):
                plain = sorted(seconds[place] for seconds in found["plain"])
                sealed = sorted(seconds[place] for seconds in found["encrypted"])
                ratio = median(sealed) / median(plain)
                row = {"call": what, "plain, ms": _spread(plain), "encrypted, ms": _spread(sealed)}
                rows.append({**row, "ratio": f"{ratio:.2f}"})
            print("PostgreSQL" if "://" in data else "embedded", f"({arguments.turns} turns, {arguments.pairs} pairs)")
            print(table(rows))


def _spread(seconds: list[float]) -> str:
    quarter = len(seconds) // 4
    return f"{median(seconds) * 1000:.2f} ({seconds[quarter] * 1000:.2f}–{seconds[-quarter - 1] * 1000:.2f})"


if __name__ == "__main__":
    main()
