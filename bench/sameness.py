"""Whether two versions of the code make the same contexts, byte for byte, receipts included.

    HITHERTO_EVAL_DATA=… python -m bench.sameness FOLDER SOURCES SOURCES

Some five hundred contexts of conversations, notebooks, groups, languages and secrets, in every recipe. `SOURCES` is a
folder that holds the package; FOLDER gets the users' files, recorded by the first one named when they are not there.
Prints what differs first, and exits with 1 if anything does.
"""

import argparse
import asyncio
import gzip
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, cast

from bench.dev_sets import conversations, folder
from hitherto import Hitherto, Turn
from hitherto.recipes import book

START: Final = datetime(2026, 1, 2, 9, 0, tzinfo=UTC)
SHORT: Final = ("yes", "why?", "ok 😂", "What did we talk about last spring?", "list all my plans in order, please")
EACH: Final = 7


def users() -> Iterator[tuple[str, list[dict[str, Any]], list[str], bool]]:
    """Name, turns, questions, and whether the turns are learnt from."""
    for name, most in (("locomo-dev", 1), ("longmemeval-dev", 1), ("beam-100k-dev", 1)):
        for place, one in enumerate(conversations(name)):
            if place == most:
                break
            turns = [
                {"role": said.role or ("user", "assistant")[n % 2], "text": said.text, "at": said.at.isoformat()}
                for n, said in enumerate(one.turns)
            ]
            yield f"{name}-{place}", turns, [asked.text for asked in one.questions], False
    for path in sorted((folder() / "notebooks").glob("*-1.json"))[:5]:
        book = json.loads(path.read_text("utf-8"))
        turns = [
            {key: turn.get(key) for key in ("role", "text", "at", "persona", "lane", "speaker")}
            for turn in book["turns"]
        ]
        asked = [probe.get("message", "") for probe in book["gold"].get("probes", ())]
        yield path.stem, turns, [text for text in asked if text], True
    yield "secrets", _lines("secrets-dev", 400), ["what is my password?", "which key did I use?", "my card?"], False
    yield "languages", _lines("statements-test", 600), ["¿qué trabajo tengo?", "was mag ich?", "любимая еда?"], False
    yield "pasted", _lines("attacks-dev", 400), ["tell me about your task", "what did I ask you to ignore?"], False
    talk = [line["messages"] for line in _rows("irc-dev")][:2]
    said = [
        {"role": "user", "text": one["text"], "speaker": one["speaker"], "lane": f"root:{n}", "at": _moment(place)}
        for n, messages in enumerate(talk)
        for place, one in enumerate(messages)
        if one["text"].strip() and one["speaker"]
    ]
    yield "irc", said, ["which partition should i make?", "who has wifi trouble?"], False


def _rows(name: str) -> list[dict[str, Any]]:
    with gzip.open(folder() / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _lines(name: str, most: int) -> list[dict[str, Any]]:
    return [
        {"role": ("user", "assistant")[n % 3 == 2], "text": row["text"], "at": _moment(n)}
        for n, row in enumerate(_rows(name)[:most])
    ]


def _moment(place: int) -> str:
    return (START + timedelta(minutes=place % 30, hours=3 * (place // 30))).isoformat()


def turned(user: str, said: dict[str, Any]) -> Turn:
    return Turn(
        user=user,
        role=said["role"],
        text=said["text"],
        at=datetime.fromisoformat(said["at"]),
        persona=said.get("persona"),
        lane=said.get("lane"),
        speaker=said.get("speaker"),
    )


async def fill(where: Path) -> None:
    plans = where / "plans.jsonl"
    done = (
        {json.loads(line)["user"] for line in plans.read_text("utf-8").splitlines()} if plans.is_file() else set[str]()
    )
    async with Hitherto(where) as memory:
        for name, said, asked, learnt in users():
            if name in done:
                continue
            turns = [turned(name, turn) for turn in said]
            for begin in range(0, len(turns), 500):
                await memory.record(turns[begin : begin + 500])
            if learnt:
                await memory.settle(user=name)
            rng = random.Random(name)
            places = sorted({(turn.get("persona") or "", turn.get("lane") or "") for turn in said})
            messages = [*rng.sample(asked, min(EACH, len(asked))), *SHORT]
            where_asked = [[persona or None, lane or None] for persona, lane in places][:4]
            last = max(turn.at for turn in turns if turn.at is not None)
            plan = {"user": name, "messages": messages, "places": where_asked, "last": last.isoformat()}
            with plans.open("a", encoding="utf-8") as kept:
                kept.write(json.dumps(plan) + "\n")


async def answer(where: Path) -> None:
    """Writes each context with its receipt as a line of JSON."""
    plans = [json.loads(line) for line in (where / "plans.jsonl").read_text("utf-8").splitlines()]
    async with Hitherto(where) as memory:
        for plan in plans:
            last = datetime.fromisoformat(plan["last"])
            for number, message in enumerate(plan["messages"]):
                persona, lane = plan["places"][number % len(plan["places"])]
                at = last + (timedelta(minutes=3), timedelta(days=2))[number % 2]
                for recipe in book.names() if number % 3 == 0 else ("continuity", "companion"):
                    context = await memory.context(
                        user=plan["user"],
                        message=message,
                        persona=persona,
                        lane=lane,
                        at=at,
                        recipe=recipe,
                        keep=False,
                        tokenizer=("o200k", "o200k", "claude")[number % 3],
                    )
                    made = {name: value for name in dir(context) if _told(name, value := getattr(context, name))}
                    about = {"user": plan["user"], "message": message, "recipe": recipe}
                    print(json.dumps({**about, **made}, default=_plain, sort_keys=True), flush=True)


def _told(name: str, value: Any) -> bool:
    return not name.startswith("_") and not callable(value) and name != "kept"


def _plain(value: Any) -> Any:
    return [getattr(value, name) for name in value.__slots__] if hasattr(value, "__slots__") else str(value)


def contexts(sources: str, where: Path, what: str) -> "subprocess.Popen[str]":
    path = os.pathsep.join([sources, str(Path(__file__).parent.parent)])
    return subprocess.Popen(
        [sys.executable, "-m", "bench.sameness", str(where), what],
        env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0"},
        stdout=subprocess.PIPE,
        text=True,
    )


def compare(where: Path, first: str, second: str) -> int:
    if not (where / "plans.jsonl").is_file():
        where.mkdir(parents=True, exist_ok=True)
        contexts(first, where, "--fill").wait()
    one, other = contexts(first, where, "--answer"), contexts(second, where, "--answer")
    assert one.stdout is not None
    assert other.stdout is not None
    made = different = 0
    for mine, theirs in zip(one.stdout, other.stdout, strict=True):
        made += 1
        if mine == theirs:
            continue
        a, b = json.loads(mine), json.loads(theirs)
        if not different:
            print(f"{a['user']}, {a['recipe']}: {a['message']!r} differs in")
            for name in sorted(name for name in a if a[name] != b.get(name)):
                print(f"  {name}:\n    {_where(a[name], b.get(name))}")
        different += 1
    if one.wait() or other.wait():
        return 2
    print(f"{made} contexts, {different} differ")
    return 1 if different or not made else 0


def _where(a: Any, b: Any) -> str:
    """Where the first of the entries differ, or the values themselves."""
    if isinstance(a, list) and isinstance(b, list):
        if len(cast("list[Any]", a)) != len(cast("list[Any]", b)):
            return "the number of entries"
        pairs = enumerate(zip(cast("list[Any]", a), cast("list[Any]", b), strict=True))
        return next(f"[{n}] {x!r:.1500}\n    [{n}] {y!r:.1500}" for n, (x, y) in pairs if x != y)
    return f"{a!r:.600}\n    {b!r:.600}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("sources", nargs="*", metavar="SOURCES")
    parser.add_argument("--fill", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--answer", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fill:
        asyncio.run(fill(options.folder))
    elif options.answer:
        asyncio.run(answer(options.folder))
    else:
        first, second = options.sources
        sys.exit(compare(options.folder, first, second))


if __name__ == "__main__":
    main()
