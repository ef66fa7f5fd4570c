"""What a context costs beside an earlier version's: processor time of the same questions on the same texts, in turns.

    HITHERTO_EVAL_DATA=… python -m bench.versions FOLDER SOURCES:PACKAGE:RECIPE … [--rounds 3]
    python -m bench.versions /tmp/versions /tmp/0.1.0/src:NAME:companion src:hitherto:companion src:hitherto:continuity

`SOURCES` is a folder that holds the package, under the name it had in that version; its class is called like it. Each package
has 10,000 turns of the development sets and 10,000 memories in FOLDER, made when they are not there, and a process of its own;
the first one named is what the others are compared with.
"""

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import Any, Final

from bench.measuring import table

TURNS: Final = 10_000
MEMORIES: Final = 10_000
QUESTIONS: Final = 40
TOGETHER: Final = 20
START: Final = datetime(2026, 1, 2, 9, 0, tzinfo=UTC)


def texts() -> dict[str, list[str]]:
    """Turns, memories and questions, the same every time."""
    from bench.dev_sets import SETS, conversations

    rng = random.Random(5)
    turns: list[str] = []
    questions: list[str] = []
    for held in sorted((list(conversations(name)) for name in SETS), key=_turns):  # the smaller sets whole
        questions += rng.sample([asked.text for one in held for asked in one.questions], QUESTIONS)
        turns += [turn.text for one in held for turn in one.turns if turn.text.strip()]
    rng.shuffle(questions)
    lines = [line.strip() for text in turns for line in text.split("\n") if 20 < len(line.strip()) <= 200]
    return {"turns": turns[:TURNS], "memories": rng.sample(lines, MEMORIES), "questions": questions}


def _turns(held: Sequence[Any]) -> int:
    return sum(len(one.turns) for one in held)


def said_at(place: int) -> datetime:
    return START + timedelta(minutes=place % 25, hours=5 * (place // 25))


async def answer(package: str, folder: Path, data: dict[str, list[str]], *, filled: bool) -> None:
    """Answers `RECIPE BEGIN COUNT` lines with the seconds and tokens of each context."""
    product: Any = import_module(package)
    async with getattr(product, package.capitalize())(folder) as memory:
        if not filled:
            roles = ("user", "assistant")
            made = [
                product.Turn(user="ana", role=roles[n % 2], text=text, at=said_at(n))
                for n, text in enumerate(data["turns"])
            ]
            for start in range(0, TURNS, 1000):
                await memory.record(made[start : start + 1000])
            for n, text in enumerate(data["memories"]):
                await memory.remember(user="ana", text=text, importance=n % 3, entities=(f"person:p{n % 50}",))
        print("ready", flush=True)
        for line in sys.stdin:
            recipe, begin, count = line.split()
            found: list[tuple[float, int]] = []
            for question in data["questions"][int(begin) : int(begin) + int(count)]:
                before = process_time()
                context = await memory.context(
                    user="ana", message=question, at=said_at(TURNS), keep=False, recipe=recipe
                )
                found.append((process_time() - before, context.tokens))
            print(json.dumps(found), flush=True)


class Version:
    """One package's process."""

    def __init__(self, sources: str, package: str, folder: Path) -> None:
        alone = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        path = os.pathsep.join([sources, str(Path(__file__).parent.parent)])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.versions", str(folder), package, "--answer"],
            env={**os.environ, **alone, "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        if self._line() != "ready":
            raise SystemExit(f"{package} in {sources} did not start")

    def ask(self, recipe: str, begin: int) -> list[tuple[float, int]]:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{recipe} {begin} {TOGETHER}\n")
        self._process.stdin.flush()
        return json.loads(self._line())

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


def compare(named: Sequence[str], folder: Path, *, rounds: int) -> list[dict[str, object]]:
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "texts.json").is_file():
        (folder / "texts.json").write_text(json.dumps(texts()), encoding="utf-8")
    sides = {name: name.split(":") for name in named}
    running = {(where, package): Version(where, package, folder) for where, package, _ in sides.values()}
    found: dict[str, list[tuple[float, int]]] = {name: [] for name in sides}
    for turn in range(rounds + 1):
        for begin in range(0, len(json.loads((folder / "texts.json").read_text())["questions"]), TOGETHER):
            for name, (where, package, recipe) in list(sides.items())[:: -1 if (turn + begin // TOGETHER) % 2 else 1]:
                asked = running[where, package].ask(recipe, begin)
                found[name] += asked if turn else []  # the first round warms up
    rows: list[dict[str, object]] = []
    first = spread(found[named[0]])
    for name, contexts in found.items():
        middle, high = spread(contexts)
        rows.append(
            {
                "version": name,
                "p50 ms": round(middle * 1e3, 1),
                "p95 ms": round(high * 1e3, 1),
                "times p50": round(middle / first[0], 2),
                "times p95": round(high / first[1], 2),
                "tokens": round(sum(tokens for _, tokens in contexts) / len(contexts)),
            }
        )
    return rows


def spread(contexts: Sequence[tuple[float, int]]) -> tuple[float, float]:
    seconds = sorted(taken for taken, _ in contexts)
    return seconds[len(seconds) // 2], seconds[int(len(seconds) * 0.95)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("versions", nargs="+", metavar="SOURCES:PACKAGE:RECIPE")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--answer", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.answer:
        [package] = options.versions
        data = json.loads((options.folder / "texts.json").read_text(encoding="utf-8"))
        own = options.folder / package
        asyncio.run(answer(package, own, data, filled=own.exists()))
    else:
        print(table(compare(options.versions, options.folder, rounds=options.rounds)))


if __name__ == "__main__":
    main()
