"""Workers killed at random moments in the middle of their work; run as a program, because it forks.

    python work_rounds.py URL SEED KILLS

A round is one conversation recorded for two users. The work on one is done in peace; the other's worker is a process that
is killed, and the next one goes on, until one of them gets through. Then both must have the same effects, each once.
"""

import asyncio
import json
import os
import random
import select
import signal
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from hitherto import Hitherto
from hitherto.clock import Clock
from hitherto.learn.readers.classifier import classifier
from hitherto.learn.readers.rules import RuleReader
from hitherto.store import connect
from hitherto.store.protocol import UserKey
from hitherto.testing import START, FakeClock
from tests.faults.kill_rounds import fork
from tests.faults.learning import TALK, effects, say

LEASE = timedelta(seconds=61)
"""What the next worker waits for, on its own clock: the dead one's lease to run out."""


def later(by: timedelta) -> Clock:
    """A clock that runs from the time when every session of the talk is over."""
    began = datetime.now(UTC)
    return lambda: START + timedelta(hours=2) + by + (datetime.now(UTC) - began)


async def prepared(url: str, users: tuple[UserKey, UserKey]) -> None:
    store = connect(url)
    await store.open()
    for key in users:
        await say(store, key, FakeClock(), TALK)
    await store.close()


async def settled(url: str, key: UserKey, *, life: int, tell: Callable[[str], None]) -> None:
    async with Hitherto(url, clock=later(LEASE * life)) as memory:
        worker = await memory.worker(name=f"worker-{life}")
        tell("began\n")
        visit = await worker.settle(key)
        tell("busy\n" if visit.busy else "done\n")


async def compared(url: str, users: tuple[UserKey, UserKey]) -> tuple[int, list[str]]:
    store = connect(url)
    await store.open()
    calm, killed = [await effects(store, key) for key in users]
    await store.close()
    return len(calm), [f"{name}: {row}" for name, these, those in (("lost", calm, killed), ("doubled", killed, calm))
                       for row in these if these.count(row) > those.count(row)]  # fmt: skip


def answer(work: Callable[[Callable[[str], None]], None], *, until: float | None = None) -> str:
    """What a child says until it ends, or until it is killed so many seconds after its first word."""

    def child(pipe: int) -> None:
        def tell(word: str) -> None:
            os.write(pipe, word.encode())

        work(tell)

    pid, pipe = fork(child)
    said = os.read(pipe, 1 << 20)
    if until is not None:
        end = time.monotonic() + until
        while (rest := end - time.monotonic()) > 0 and select.select([pipe], [], [], rest)[0]:
            if not (chunk := os.read(pipe, 1 << 20)):
                break
            said += chunk
        os.kill(pid, signal.SIGKILL)
    while chunk := os.read(pipe, 1 << 20):
        said += chunk
    os.close(pipe)
    _, status = os.waitpid(pid, 0)
    if until is None and status:
        raise SystemExit(f"a process that nobody killed ended with {status}")
    return said.decode()


def run_round(url: str, number: int, chance: random.Random) -> dict[str, object]:
    calm, mortal = UserKey("default", f"calm-{number}"), UserKey("default", f"mortal-{number}")
    answer(lambda _: asyncio.run(prepared(url, (calm, mortal))))
    start = time.monotonic()
    answer(lambda tell: asyncio.run(settled(url, calm, life=0, tell=tell)))
    whole = time.monotonic() - start
    kills = 0
    while True:
        patience = chance.uniform(0, whole)
        said = answer(lambda tell: asyncio.run(settled(url, mortal, life=kills, tell=tell)), until=patience)  # noqa: B023 -- it runs at once
        if "done" in said:
            break
        kills += 1
    count, problems = json.loads(
        answer(lambda tell: tell(json.dumps(asyncio.run(compared(url, (calm, mortal))), default=str)))
    )
    return {"round": number, "kills": kills, "effects": count, "problems": problems}


def main(url: str, seed: str, kills: int) -> None:
    chance = random.Random(seed)
    RuleReader().small_talk(())  # what is loaded once is loaded before processes are made and killed
    classifier()
    done = number = 0
    while done < kills:
        result = run_round(url, number, chance)
        print(json.dumps(result), flush=True)  # noqa: T201 - its result
        done += int(str(result["kills"]))
        number += 1


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
