"""What keeps secrets and orders out of memory, how times are read, and what the work by rules costs a turn.

`python bench/learning.py` reads the files of HITHERTO_EVAL_DATA (default `../shared/data`), prints one table and appends it to
`bench/results/learning.jsonl`. Secrets and quarantine are held against the figures that are promised. How well notes are
taken is measured by `bench/statements.py` for the classifier.
"""

import argparse
import asyncio
import gzip
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import process_time
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

from bench.measuring import save, table  # noqa: E402
from hitherto import Hitherto, Turn  # noqa: E402
from hitherto.safety.quarantine import quarantine  # noqa: E402
from hitherto.safety.secrets import find_secrets, redact  # noqa: E402
from hitherto.text.time.spans import TimeRange, ranges  # noqa: E402
from hitherto.types import Origin  # noqa: E402

Row = dict[str, object]
TIMED = ("date", "datetime", "daterange", "datetimerange", "time", "timerange")


def folder() -> Path:
    return Path(os.environ.get("HITHERTO_EVAL_DATA", ROOT.parent / "shared" / "data"))


def rows(name: str) -> list[dict[str, Any]]:
    with gzip.open(folder() / f"{name}-dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def turns(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for talk in rows(name):
        for session in talk["sessions"]:
            for turn in session["turns"]:
                yield talk["id"], turn


def moment(text: str | None) -> datetime:
    found = datetime.fromisoformat(text) if text else datetime(2024, 1, 1, tzinfo=UTC)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def measure(what: str, *, right: int, of: int, asked: str = "", ms: float | None = None) -> Row:
    share = right / of if of else 0.0
    return {
        "what": what,
        "share": share,
        "count": f"{right}/{of}",
        "asked": asked,
        "ms": "" if ms is None else f"{ms:.3f}",
    }


def secrets() -> list[Row]:
    groups = {
        "own_card": "cards",
        "own_nl_password": "spoken passwords",
        "own_seed": "seed phrases",
        "own_ssn": "social security",
    }
    wanted = {"cards": ">= .95", "spoken passwords": ">= .70", "structured tokens": ">= .85"}
    found: dict[str, list[bool]] = {}
    for row in rows("secrets"):
        group = groups.get(row["source"], "structured tokens")
        found.setdefault(group, []).append(row["secret"] not in redact(row["text"]))
    measured = [
        measure(f"secrets: {group} kept out", right=sum(hits), of=len(hits), asked=wanted.get(group, ""))
        for group, hits in sorted(found.items())
    ]
    texts = [turn["text"] for name in ("locomo", "longmemeval") for _, turn in turns(name)]
    start = process_time()
    alarms = sum(bool(find_secrets(text)) for text in texts)
    cost = (process_time() - start) / len(texts) * 1000
    return [*measured, measure("secrets: false alarms on turns", right=alarms, of=len(texts), asked="<= .001", ms=cost)]


def held_back() -> list[Row]:
    sets = {
        "LoCoMo turns": ([turn["text"] for _, turn in turns("locomo")], "<= .001"),
        "benign": ([row["text"] for row in rows("benign")], "<= .05"),
        "attacks": ([row["text"] for row in rows("attacks")], "no promise"),
    }
    origins: tuple[Origin, ...] = ("user", "tool")
    measured: list[Row] = []
    for name, (texts, asked) in sets.items():
        for origin in origins:
            start = process_time()
            hits = sum(quarantine(text, origin) is not None for text in texts)
            cost = (process_time() - start) / len(texts) * 1000
            measured.append(measure(f"quarantine: {name} as {origin}", right=hits, of=len(texts), asked=asked, ms=cost))
    return measured


def worked(name: str = "companion-1") -> list[Row]:
    """All work on a conversation by rules, for each turn, beside recording it; each in processor time."""
    return asyncio.run(_worked(json.loads((folder() / "notebooks" / f"{name}.json").read_text("utf-8"))))


async def _worked(book: dict[str, Any]) -> list[Row]:
    said = [dict(turn, at=datetime.fromisoformat(turn["at"])) for turn in book["turns"]]
    now = [said[0]["at"]]
    spent = {"record": 0.0, "work": 0.0}
    with tempfile.TemporaryDirectory() as place:
        async with Hitherto(place, clock=lambda: now[0]) as memory:
            await memory.set_user(book["user"]["id"], zone=book["zone"], name=book["user"]["name"])
            for turn, after in zip(said, [*said[1:], None], strict=True):
                now[0] = turn["at"]
                start = process_time()
                await memory.record(Turn(user=book["user"]["id"], **{k: v for k, v in turn.items() if v is not None}))
                spent["record"] += process_time() - start
                if after is None or after["at"] - turn["at"] > timedelta(minutes=31):
                    now[0] += timedelta(minutes=31)
                    start = process_time()
                    await memory.settle(user=book["user"]["id"])
                    spent["work"] += process_time() - start
    return [
        measure(f"turns: {what}", right=len(said), of=len(said), ms=seconds / len(said) * 1000)
        for what, seconds in spent.items()
    ]


def times() -> list[Row]:
    right = count = 0
    seconds = 0.0
    sentences = [row for row in rows("temporal") if row["ref"]]
    for row in sentences:
        start = process_time()
        found = ranges(row["text"], now=moment(row["ref"]), zone="UTC")
        seconds += process_time() - start
        for span in row["spans"]:
            given: list[dict[str, str]] = span["values"] or []
            values = [value for value in given if value.get("value") != "not resolved"]
            if span["type"] in TIMED and values:
                count += 1
                right += any(_same(one, value, span["type"]) for one in found for value in values)
    return [measure("times: resolved right", right=right, of=count, ms=seconds / len(sentences) * 1000)]


def _same(found: TimeRange, value: dict[str, str], kind: str) -> bool:
    if kind == "date":
        return found.start == moment(value["value"]) and found.end - found.start == timedelta(days=1)
    if kind == "datetime":
        return abs(found.start - moment(value["value"])) < timedelta(minutes=1)
    if kind == "time":
        return f"{found.start:%H:%M:%S}" == value["value"]
    if kind == "timerange":
        ends = (("start", found.start), ("end", found.end))
        return all(name not in value or f"{at:%H:%M:%S}" == value[name] for name, at in ends)
    starts = found.start == moment(value["start"]) if "start" in value else found.start.year <= 1000
    ends_right = (
        abs(found.end - moment(value["end"])) < timedelta(seconds=2) if "end" in value else found.end.year >= 9000
    )
    return starts and ends_right


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.parse_args()
    if not (folder() / "secrets-dev.jsonl.gz").exists():
        print(f"no evaluation data in {folder()}; set HITHERTO_EVAL_DATA", file=sys.stderr)
        return 1
    measured = [*secrets(), *held_back(), *times(), *worked()]
    print(table(measured))
    print(f"appended to {save('learning', measured)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
