"""How long a context takes, and how that grows: by the user's turns and memories, by the users beside them, and when all ask
at once.

The peer in the same run is the bare reads of the same rows: one BM25 query over the user's full-text index and one scan of
the user's vectors with numpy. Warm is an open file, cold a new process's first context for that user, and talking is warm with
a message and an answer recorded before each context. The snapshot that a context leaves behind is written before the next one
begins, as in a conversation.

    python -m bench.assembly [--sizes 100 1000 10000 100000] [--memories 0 1000 10000] [--users 1 100 10000]
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter
from typing import Any

import apsw
import numpy as np

from bench.measuring import save, spread, table
from hitherto import Hitherto, Turn
from hitherto.store.catalog import UserKey
from hitherto.text.analyser import stems

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
SYLLABLES = ("gar", "tel", "mor", "vin", "sol", "ket", "bra", "lun", "pid", "rus", "den", "ling", "mer", "ka", "field")
WORDS = tuple(a + b + c + d for a in SYLLABLES for b in SYLLABLES for c in SYLLABLES for d in ("", "to", "vo", "nik"))
"""13,500 words, about what people use in years of talk once stop words are gone."""
HEAD = 30
QUESTIONS = 200
ASKING = 48


def sentence(rng: random.Random, *, words: int | None = None) -> str:
    """Words by Zipf's law without its head, which are stop words: the commonest is in about one turn of twenty."""
    count = words or rng.randint(4, 16)
    return " ".join(WORDS[int(HEAD * (len(WORDS) / HEAD) ** rng.random()) - 1] for _ in range(count))


async def fill(memory: Hitherto, user: str, *, turns: int, memories: int, rng: random.Random) -> None:
    for start in range(0, turns, 1000):
        await memory.record(
            [
                Turn(
                    user=user,
                    role="user" if n % 2 else "assistant",
                    text=sentence(rng),
                    persona="nikita",
                    at=START + timedelta(minutes=n),
                )
                for n in range(start, min(start + 1000, turns))
            ]
        )
    for n in range(memories):
        await memory.remember(user=user, text=sentence(rng), importance=n % 3, entities=(f"person:p{n % 50}",))


async def warm(memory: Hitherto, user: str, *, at: datetime, rng: random.Random, talking: bool = False) -> list[float]:
    seconds: list[float] = []
    for n in range(QUESTIONS + 20):
        if talking:
            at += timedelta(minutes=1)
            said = [Turn(user, role, sentence(rng), persona="nikita", at=at) for role in ("user", "assistant")]
            await memory.record(said)
        message = sentence(rng, words=5)
        begin = perf_counter()
        await memory.context(user=user, persona="nikita", message=message, at=at)
        if n >= 20:
            seconds.append(perf_counter() - begin)
        await memory.flush()
    return seconds


async def cold(folder: Path, user: str, *, at: datetime, rng: random.Random) -> list[float]:
    """The first context after opening: the file is closed, the operating system's cache is warm."""
    seconds: list[float] = []
    for _ in range(15):
        async with Hitherto(folder) as memory:
            await memory.context(user="nobody", message="hello", at=at)
            await memory.flush()
            begin = perf_counter()
            await memory.context(user=user, persona="nikita", message=sentence(rng, words=5), at=at)
            seconds.append(perf_counter() - begin)
    return seconds


def bare(folder: Path, user: str, *, rows: int, rng: random.Random) -> list[float]:
    """One full-text query and one vector scan of as many rows, by themselves."""
    digest = UserKey("default", user).digest
    db: Any = apsw.Connection(str(folder / "users" / digest[:2] / f"{digest}.db"), flags=apsw.SQLITE_OPEN_READONLY)
    [(fts,)] = db.execute("select name from sqlite_schema where sql like 'create virtual table%fts5%' limit 1")
    matrix = np.random.default_rng(1).standard_normal((max(rows, 1), 256), dtype=np.float32)
    seconds: list[float] = []
    for _ in range(QUESTIONS):
        query = " OR ".join(f'"{stem}"' for stem in dict.fromkeys(stems(sentence(rng, words=5))))
        vector = matrix[0]
        begin = perf_counter()
        list(db.execute(f"select rowid, rank from {fts} where {fts} match ? order by rank limit 50", (query,)))
        scores = matrix @ vector
        np.argpartition(scores, -min(50, len(scores)))[-50:]
        seconds.append(perf_counter() - begin)
    db.close()
    return seconds


async def by_size(sizes: Sequence[int], memories: Sequence[int], *, rng: random.Random) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for turns in sizes:
            for facts in memories:
                user = f"u-{turns}-{facts}"
                at = START + timedelta(minutes=turns)
                async with Hitherto(folder) as memory:
                    await fill(memory, user, turns=turns, memories=facts, rng=rng)
                    ours = spread(await warm(memory, user, at=at, rng=rng))
                first = spread(await cold(folder, user, at=at, rng=rng))
                peer = spread(bare(folder, user, rows=turns + facts, rng=rng))
                async with Hitherto(folder) as memory:
                    talk = spread(await warm(memory, user, at=at, rng=rng, talking=True))
                rows.append(
                    {
                        "turns": turns,
                        "memories": facts,
                        "context p50 ms": ours.p50,
                        "p95": ours.p95,
                        "talking p50": talk.p50,
                        "talking p95": talk.p95,
                        "cold p50": first.p50,
                        "bare reads p50": peer.p50,
                        "bare p95": peer.p95,
                        "times bare": round(ours.p50 / peer.p50, 1),
                    }
                )
    return rows


async def by_users(counts: Sequence[int], *, rng: random.Random) -> list[dict[str, object]]:
    """The same user's context with more and more users in the folder, each with ten turns and a context of their own."""
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as name:
        async with Hitherto(Path(name)) as memory:
            await fill(memory, "ana", turns=1000, memories=100, rng=rng)
            there = 1
            for count in counts:
                for n in range(there, count):
                    await fill(memory, f"other-{n}", turns=10, memories=0, rng=rng)
                    await memory.context(user=f"other-{n}", persona="nikita", message=sentence(rng), keep=False)
                there = count
                found = spread(await warm(memory, "ana", at=START + timedelta(minutes=1000), rng=rng))
                rows.append({"users": count, "context p50 ms": found.p50, "p95": found.p95})
    return rows


async def at_once(*, rng: random.Random) -> list[dict[str, object]]:
    """Users with a hundred turns each, who ask one after the other and then all in the same moment, in turns."""
    seconds: dict[str, list[float]] = {"one after the other": [], "all at once": []}
    with tempfile.TemporaryDirectory() as name:
        async with Hitherto(Path(name)) as memory:

            async def ask(number: int) -> None:
                await memory.context(user=f"u-{number}", persona="nikita", message=sentence(rng, words=5))

            for number in range(ASKING):
                await fill(memory, f"u-{number}", turns=100, memories=0, rng=rng)
                await ask(number)
            for _ in range(10):
                for how, times in seconds.items():
                    begin = perf_counter()
                    for together in [range(ASKING)] if how == "all at once" else [[number] for number in range(ASKING)]:
                        await asyncio.gather(*(ask(number) for number in together))
                    await memory.flush()
                    times.append((perf_counter() - begin) / ASKING)
    return [{"asked": how, "contexts/s": round(1000 / spread(times).p50)} for how, times in seconds.items()]


def growth(rows: Sequence[dict[str, object]]) -> str:
    """How much more the largest user costs than the smallest, beside the bare reads of the same rows."""
    first, last = rows[0], rows[-1]
    ours = float(str(last["context p50 ms"])) / float(str(first["context p50 ms"]))
    peer = float(str(last["bare reads p50"])) / float(str(first["bare reads p50"]))
    return f"growth: context x{ours:.1f}, bare reads x{peer:.1f}, ratio {ours / peer:.2f} (limit 2)"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1_000, 10_000, 100_000])
    parser.add_argument("--memories", type=int, nargs="+", default=[0, 1_000, 10_000])
    parser.add_argument("--users", type=int, nargs="+", default=[1, 100, 10_000])
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args(arguments)
    rng = random.Random(options.seed)
    rows = asyncio.run(by_size(options.sizes, options.memories, rng=rng))
    sys.stdout.write(table(rows) + "\n" + growth(rows) + "\n")
    users = asyncio.run(by_users(options.users, rng=rng))
    sys.stdout.write("\n" + table(users) + "\n")
    asked = asyncio.run(at_once(rng=rng))
    sys.stdout.write("\n" + table(asked) + "\n")
    save("assembly", [*rows, *users, *asked])


if __name__ == "__main__":
    main()
