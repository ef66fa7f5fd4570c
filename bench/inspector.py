"""How long the inspector's pages take and how large they are in a long conversation, beside the API's answer to the same
question (the newest turns as JSON), in one run. Server time: the whole application, no network. Processor time stands
beside it: on a machine that is busy with other things it is the number that says something.

    python -m bench.inspector [--turns 100000] [--rounds 15]
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter, process_time

import httpx

from bench.measuring import save, spread, table
from hitherto import Hitherto, Turn
from hitherto.clock import system_clock
from hitherto.deliver.apikeys import SCOPES, Keys
from hitherto.deliver.http import create_app
from hitherto.deliver.http.paths import COOKIE
from hitherto.settings import Settings
from hitherto.types import Role

BATCH = 2_000
GOAL_MS, GOAL_KB = 200, 300
WORDS = (
    "I think we should move the picnic to Sunday, because Mukesh is only back from Oslo on Saturday night.",
    "Did you ask Lea about the flights to Lisbon? The lemon cake place closes early on Mondays.",
    "My knee is better after the band exercises, nine kilometres today and not a sound from it.",
    "Remind me to call the landlord tomorrow, the heating in the small room makes that noise again.",
)


def turns(count: int) -> list[Turn]:
    """Days of twenty turns, two lanes, alternating between user and persona."""
    made: list[Turn] = []
    at = datetime(2026, 1, 1, tzinfo=UTC)
    for number in range(count):
        at += timedelta(hours=9) if number % 20 == 0 else timedelta(minutes=1)
        role: Role = "assistant" if number % 2 else "user"
        lane = "trip" if number // 20 % 5 == 0 else None
        text = f"{WORDS[number % len(WORDS)]} ({number})"
        made.append(Turn("ana", role, text, id=f"t{number}", at=at, persona="nikita", lane=lane))
    return made


def pages(count: int) -> dict[str, str]:
    """Each page with its address; turns are named so that both kinds of context are there."""
    answered, middle = f"t{count - 1}", f"t{count // 2 + 1}"
    return {
        "API: 50 newest turns as JSON": "/v1/users/ana/turns?limit=50&before=9000000000",
        "conversation, newest": "/inspect/conversation?user=ana",
        "conversation, the middle": f"/inspect/conversation?user=ana&around={middle}",
        "context, replayed": f"/inspect/context?user=ana&turn={answered}",
        "context, candidates": f"/inspect/context?user=ana&turn={answered}&view=candidates",
        "context, as of then": f"/inspect/context?user=ana&turn={middle}",
        "replay": f"/inspect/replay?user=ana&place={count // 2}",
        "replay, what changed": f"/inspect/replay/since?user=ana&turn=t{count // 2 + 2}",
        "memory": "/inspect/memory?user=ana",
        "work": "/inspect/health?user=ana",
    }


async def furnish(memory: Hitherto, count: int) -> None:
    said = turns(count)
    for start in range(0, count - 2, BATCH):
        await memory.record(said[start : min(start + BATCH, count - 2)])
    question, answer = said[-2:]
    await memory.record(question)
    context = await memory.context(user="ana", turn=question.id, persona="nikita", lane=question.lane, at=question.at)
    await memory.record(
        Turn("ana", "assistant", answer.text, id=answer.id, at=answer.at, persona="nikita", snapshot=context.snapshot)
    )
    await memory.flush()


async def measure(folder: Path, *, count: int, rounds: int) -> list[dict[str, object]]:
    async with Hitherto(folder) as memory:
        await furnish(memory, count)
        app = create_app(memory, Settings(rate=0))
        _, token = await Keys(memory.catalog, clock=system_clock).create(scopes=SCOPES)
        seconds: dict[str, list[float]] = {name: [] for name in pages(count)}
        busy: dict[str, list[float]] = {name: [] for name in pages(count)}
        sizes: dict[str, int] = {}
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app),
            base_url="http://bench",
            headers={"Authorization": f"Bearer {token}"},
            cookies={COOKIE: token},
        ) as http:
            for number in range(rounds + 1):
                for name, path in pages(count).items():
                    begin, worked = perf_counter(), process_time()
                    answer = await http.get(path)
                    taken, worked = perf_counter() - begin, process_time() - worked
                    assert answer.status_code == 200, (path, answer.text)
                    if number:  # The first round opens files and loads the tokenizer.
                        seconds[name].append(taken)
                        busy[name].append(worked)
                    sizes[name] = len(answer.content)
    return [row(name, seconds[name], busy[name], sizes[name]) for name in seconds]


def row(name: str, taken: list[float], worked: list[float], size: int) -> dict[str, object]:
    found, cpu = spread(taken), spread(worked)
    goal = "" if name.startswith("API") else "yes" if found.p95 < GOAL_MS and size < GOAL_KB * 1000 else "NO"
    return {
        "page": name,
        "p50 ms": found.p50,
        "p95 ms": found.p95,
        "processor ms": cpu.p50,
        "kB": size / 1000,
        "goal": goal,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = asyncio.run(measure(Path(folder) / "memories", count=given.turns, rounds=given.rounds))
    print(f"{given.turns:,} turns of one user; goal: under {GOAL_MS} ms and {GOAL_KB} kB")
    print(table(rows))
    save("inspector", rows)


if __name__ == "__main__":
    main()
