"""Writers killed at random moments; run as a program, because it forks.

    python kill_rounds.py FOLDER SEED ROUNDS

It imports the store once and forks every writer and every check from there, so that a round costs no start-up. A writer
tells of each acknowledged turn by a line in a pipe, which survives its death. What breaks a promise is printed.
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
from pathlib import Path

from hitherto.store.catalog import UserKey
from hitherto.store.protocol import Answers, Change, Head
from hitherto.store.sqlite.store import SqliteStore
from hitherto.testing import row_draft, turn_draft
from tests.faults.checks import damage_in, log_is_gapless, turns_of

WRITERS = 4
KEYS = [UserKey("default", name) for name in ("ana", "bob")]
ROUNDS_PER_FOLDER = 10


async def write_forever(folder: Path, name: str, tell: Callable[[str], None], chance: random.Random) -> None:
    store = SqliteStore(folder)
    await store.open()
    number = 0

    async def one(key: UserKey, first: int, size: int) -> None:
        drafts = tuple(turn_draft(f"{name}-{first + n}", "word " * chance.choice((1, 50))) for n in range(size))

        def decide(answers: Answers) -> Change:
            return Change(turns=drafts, records=(row_draft(f"m-{drafts[0].id}", f"at {answers[Head()]}"),))

        await store.user(key).write(decide, Head())
        for draft in drafts:
            tell(f"{key.user} {draft.id}\n")

    while True:
        sizes = [chance.randint(1, 3) for _ in range(chance.randint(1, 6))]
        starts = [number + sum(sizes[:n]) for n in range(len(sizes))]
        number += sum(sizes)
        await asyncio.gather(
            *(one(chance.choice(KEYS), start, size) for start, size in zip(starts, sizes, strict=True))
        )


def fork(work: Callable[[int], None]) -> tuple[int, int]:
    """Runs `work` in a child, with the end of a pipe to write to; its pid and the end to read from."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return pid, reading
    status = 1
    try:
        os.close(reading)
        work(writing)
        status = 0
    finally:
        os._exit(status)


def run_round(folder: Path, name: str, chance: random.Random) -> dict[str, list[str]]:
    """Four writers at once, all killed; what they had acknowledged, by user."""

    def writer(number: int) -> Callable[[int], None]:
        seed = chance.random()

        def work(pipe: int) -> None:
            def tell(line: str) -> None:
                os.write(pipe, line.encode())

            asyncio.run(write_forever(folder, f"{name}-{number}", tell, random.Random(seed)))

        return work

    children = [fork(writer(number)) for number in range(WRITERS)]
    told = {pipe: b"" for _, pipe in children}
    select.select(list(told), [], [], 20)
    end = time.monotonic() + chance.uniform(0.0, 0.25)
    while (rest := end - time.monotonic()) > 0:
        for pipe in select.select(list(told), [], [], rest)[0]:
            told[pipe] += os.read(pipe, 1 << 20)
    for pid, _ in chance.sample(children, k=WRITERS):
        os.kill(pid, signal.SIGKILL)
        time.sleep(chance.choice((0.0, 0.01)))
    for pid, pipe in children:
        os.waitpid(pid, 0)
        while chunk := os.read(pipe, 1 << 20):
            told[pipe] += chunk
        os.close(pipe)
    acknowledged: dict[str, list[str]] = {key.user: [] for key in KEYS}
    for lines in told.values():
        for line in lines.decode().splitlines(keepends=True):
            if line.endswith("\n"):
                user, turn = line.split()
                acknowledged[user].append(turn)
    return acknowledged


async def problems(folder: Path, acknowledged: dict[str, list[str]]) -> list[str]:
    """What is wrong with a folder after its writers were killed."""
    found: list[str] = []
    for key in KEYS:
        there = [turn.id for turn in await turns_of(folder, key)]
        found += [f"lost {turn}" for turn in sorted(set(acknowledged[key.user]) - set(there))]
        if len(set(there)) != len(there):
            found.append(f"doubled turns of {key.user}")
        if not await log_is_gapless(folder, key):
            found.append(f"gaps in the log of {key.user}")
    return found + damage_in(folder)


def check(folder: Path, acknowledged: dict[str, list[str]]) -> list[str]:
    def work(pipe: int) -> None:
        os.write(pipe, json.dumps(asyncio.run(problems(folder, acknowledged))).encode())

    pid, pipe = fork(work)
    answer = b""
    while chunk := os.read(pipe, 1 << 20):
        answer += chunk
    os.close(pipe)
    _, status = os.waitpid(pid, 0)
    return json.loads(answer) if status == 0 else [f"the check itself failed ({status})"]


def main(root: Path, seed: str, rounds: int) -> None:
    chance = random.Random(seed)
    everything: dict[str, list[str]] = {}
    for number in range(rounds):
        folder = root / f"f{number // ROUNDS_PER_FOLDER}"
        if number % ROUNDS_PER_FOLDER == 0:
            everything = {key.user: [] for key in KEYS}
        for user, turns in run_round(folder, f"r{number}", chance).items():
            everything[user] += turns
        found = check(folder, everything)
        count = sum(map(len, everything.values()))
        print(json.dumps({"round": number, "acknowledged": count, "problems": found}), flush=True)  # noqa: T201 - its result


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
