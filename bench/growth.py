"""What a growing conversation costs: tokens of context a turn, with Hitherto and with the whole transcript; the work's
speed; the time from a turn to its memories.

`python bench/growth.py [--turns 10000]` records a conversation made from templates (fixed seed), lets the work run after
every hundred turns, and builds contexts at 10, 100, 1,000 … turns with the recipes of companions and lanes. "Without" is
the whole transcript before each message, which is what an application without memory sends.
"""

import argparse
import asyncio
import random
import sys
import tempfile
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

from bench.measuring import save, spread, table  # noqa: E402
from hitherto import Hitherto, Turn  # noqa: E402
from hitherto.testing import FakeClock  # noqa: E402
from hitherto.types import Role  # noqa: E402

SEED = 20260302
BATCH = 100
PROBES = 5
THINGS = ("jazz", "tea", "hiking", "chess", "the sea", "old films", "bread", "trains", "maps", "ferns", "rain", "opera")
PEOPLE = ("Maria", "John", "Priya", "Omar", "Lena", "Noah", "Zoe", "Victor")
PLACES = ("Denver", "Lisbon", "Oslo", "Austin", "Kyoto", "Porto")
LINES = (
    "I love {thing}, it always calms me down after a long day at work.",
    "My friend {person} works at the library and told me a story about {thing} yesterday.",
    "I need to call {person} tomorrow about the trip to {place}.",
    "We went to {place} last weekend and it rained the whole time, but the food was good.",
    "I called {person}, all is arranged now.",
    "Do you remember what I said about {thing}?",
    "I'm working on a report about {thing} and it takes forever.",
    "lol yes",
)
ANSWERS = (
    "That sounds like you. What is it about {thing} that you like most?",
    "I'll ask you about {person} tomorrow, I promise.",
    "Nice! {place} must be lovely at this time of the year.",
    "Tell me more about {thing}.",
)


def line(chance: random.Random, role: Role) -> str:
    words = {"thing": chance.choice(THINGS), "person": chance.choice(PEOPLE), "place": chance.choice(PLACES)}
    return chance.choice(LINES if role == "user" else ANSWERS).format(**words)


async def growth(memory: Hitherto, clock: FakeClock, *, most: int) -> list[dict[str, object]]:
    chance = random.Random(SEED)
    rows: list[dict[str, object]] = []
    said = steps = 0
    seconds = 0.0
    marks = [10**n for n in range(1, 6) if 10**n <= most]
    while said < most:
        size = min(BATCH if said >= BATCH else 10, most - said)
        turns: list[Turn] = []
        for _ in range(size):
            role: Role = "assistant" if said % 2 else "user"
            turns.append(Turn("ana", role, line(chance, role), persona="nikita", at=clock()))
            said += 1
            clock.tick(minutes=40 if said % 40 == 0 else 1)
        await memory.record(turns)
        start = perf_counter()
        steps += (await memory.settle(user="ana"))["ana"].done
        seconds += perf_counter() - start
        if said in marks:
            newest = await memory.turns(user="ana", limit=most + 1)
            whole = sum(turn.tokens for turn in newest)
            costs = [
                (await memory.context(user="ana", persona="nikita", message=line(chance, "user"))).tokens
                for _ in range(PROBES)
            ]
            lane = await memory.context(user="ana", persona="nikita", message="where were we?", recipe="lanes")
            rows.append(
                {
                    "turns": said,
                    "companion tokens": sorted(costs)[PROBES // 2],
                    "most": max(costs),
                    "lanes tokens": lane.tokens,
                    "without": whole,
                    "work steps/s": f"{steps / seconds:.0f}",
                    "ms of work/turn": f"{seconds / said * 1000:.1f}",
                }
            )
    return rows


async def recallable(memory: Hitherto, clock: FakeClock) -> dict[str, object]:
    """From a recorded turn to its memory being found, with a worker beside."""
    waits: list[float] = []
    async with memory.working(idle=0.02):
        await asyncio.sleep(1)
        for n in range(20):
            start = perf_counter()
            await memory.record(Turn("bo", "user", f"I love pastime{n}.", at=clock()))
            clock.tick(seconds=1)
            while not any(m.text == f"Likes pastime{n}" for m in await memory.memories(user="bo", limit=20)):  # noqa: ASYNC110 -- as a caller would
                await asyncio.sleep(0.002)
            waits.append(perf_counter() - start)
    return {"turn to memory, ms": str(spread(waits)), "count": len(waits)}


async def run(most: int) -> None:
    clock = FakeClock()
    with tempfile.TemporaryDirectory() as folder:
        async with Hitherto(folder, clock=clock) as memory:
            rows = await growth(memory, clock, most=most)
            print(table(rows))
            found = await recallable(memory, clock)
            print(table([found]))
            print(f"appended to {save('growth', [*rows, found])}")


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--turns", type=int, default=10_000)
    asyncio.run(run(asked.parse_args().turns))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
