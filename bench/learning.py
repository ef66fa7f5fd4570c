"""What is learnt from turns without a model, measured on development data.

`python bench/learning.py [--sample N]` reads the files of HITHERTO_EVAL_DATA (default `../shared/data`), prints one
table and appends it to `bench/results/learning.jsonl`. Secrets and quarantine are held against the figures that are
promised; supersession reports false closings apart, because a fact closed wrongly is lost. The rules were made while
looking at the development data and at our own examples marked `tuned`; those marked `unseen` were written afterwards
and changed nothing, so only they say how the rules do on new words. Tune to them and they must be replaced.
`--sample N` prints every n-th candidate found on LoCoMo, in the file's order, for someone to judge.
"""

import argparse
import gzip
import json
import os
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import process_time
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

from bench.measuring import save, table  # noqa: E402
from hitherto.learn.candidates import Candidate, Said  # noqa: E402
from hitherto.learn.closing import OpenLoop, closing  # noqa: E402
from hitherto.learn.decide import Learnt, decide  # noqa: E402
from hitherto.learn.rules.extracting import extract  # noqa: E402
from hitherto.learn.supersede import Statement, relation, valid_until  # noqa: E402
from hitherto.safety.quarantine import quarantine  # noqa: E402
from hitherto.safety.secrets import find_secrets, redact  # noqa: E402
from hitherto.text.analyser import stems  # noqa: E402
from hitherto.text.time.spans import TimeRange, ranges  # noqa: E402
from hitherto.types import Memory, Origin, StoredTurn  # noqa: E402

Row = dict[str, object]
PAIRS = ROOT / "tests" / "process" / "supersede_pairs.jsonl"
CLOSINGS = ROOT / "tests" / "process" / "loop_closing.jsonl"
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


def learnt(*, every: int) -> list[Row]:
    """Candidates on LoCoMo, and how many questions have a turn of evidence that became a memory."""
    found: list[tuple[Candidate, str]] = []
    remembered: set[tuple[str, str]] = set()
    count = 0
    start = process_time()
    for talk, turn in turns("locomo"):
        count += 1
        memories = extract(Said(text=turn["text"], role="user", now=moment(turn["time"]))).memories
        found.extend((memory, turn["text"]) for memory in memories)
        if memories:
            remembered.add((talk, turn["id"]))
    cost = (process_time() - start) / count * 1000
    asked = [(talk["id"], q) for talk in rows("locomo") for q in talk["questions"] if q["answerable"] and q["evidence"]]
    covered = sum(any((talk, turn) in remembered for turn in question["evidence"]) for talk, question in asked)
    if every:
        for memory, text in found[::every]:
            print(f"{memory.attribute[:40]:40} | {memory.text[:120]} || {text[:160]!r}")
    return [
        measure("rules: memories per LoCoMo turn", right=len(found), of=count, ms=cost),
        measure("rules: questions with evidence remembered", right=covered, of=len(asked)),
    ]


def superseded() -> list[Row]:
    data = rows("supersession")
    pairs = [(row, _replaces(row["p1"], row["p2"])) for row in data if row["set"] == "pair"]
    changed = [got for row, got in pairs if row["expected"] == "CONTRADICT"]
    kept = [got for row, got in pairs if row["expected"] != "CONTRADICT"]
    scenarios = [result for row in data if row["set"] == "scenario" for result in _scenario(row)]
    own = [row for split in ("tuned", "unseen") for row in _own_pairs(split)]
    found, wanted, wrong, open_pairs = _evolutions([row for row in data if row["set"] == "evolution"])
    return [
        measure("supersession: changes seen (pairs)", right=sum(changed), of=len(changed)),
        measure("supersession: FALSE CLOSINGS (pairs)", right=sum(kept), of=len(kept), asked="near 0"),
        measure("supersession: scenarios right", right=sum(scenarios), of=len(scenarios)),
        measure("supersession: changes seen (histories)", right=found, of=wanted),
        measure("supersession: FALSE CLOSINGS (histories)", right=wrong, of=open_pairs, asked="near 0"),
        *own,
    ]


def _own_pairs(split: str) -> list[Row]:
    pairs = [row for row in map(json.loads, PAIRS.read_text("utf-8").splitlines()) if row["split"] == split]
    changed = [_replaces(row["old"], row["new"]) for row in pairs if row["ends"]]
    kept = [_replaces(row["old"], row["new"]) for row in pairs if not row["ends"]]
    return [
        measure(f"supersession: changes seen (own, {split})", right=sum(changed), of=len(changed)),
        measure(f"supersession: FALSE CLOSINGS (own, {split})", right=sum(kept), of=len(kept), asked="near 0"),
    ]


def ended_in_memory() -> list[Row]:
    """The same pairs the way they really go: extracted, decided on under their keys. What no rule reads ends nothing."""
    pairs = [json.loads(line) for line in PAIRS.read_text("utf-8").splitlines()]
    results = [(row["ends"], _ended(row["old"], row["new"])) for row in pairs]
    return [
        measure(
            "memory: changes that ended a memory (own pairs)",
            right=sum(g for e, g in results if e),
            of=sum(e for e, _ in results),
        ),
        measure(
            "memory: FALSE CLOSINGS (own pairs)",
            right=sum(g for e, g in results if not e),
            of=sum(not e for e, _ in results),
            asked="0",
        ),
    ]


def _ended(old: str, new: str) -> bool:
    known: tuple[Memory, ...] = ()
    for place, text in enumerate((old, new)):
        turn = stored_turn(text, place=place + 1)
        found = extract(Said(text=text, role="user", now=turn.at)).memories
        learnt_now = [Learnt(candidate=candidate, turn=turn) for candidate in found]
        changed = {m.id: m for m in decide(learnt_now, known, stems=stems, now=turn.at)}
        known = tuple({**{m.id: m for m in known}, **changed}.values())
    return any(memory.valid_to is not None for memory in known)


def stored_turn(text: str, *, place: int) -> StoredTurn:
    at = datetime(2024, 1, place, tzinfo=UTC)
    return StoredTurn(
        seq=place, place=place, id=f"t{place}", version=1, role="user", text=text, at=at, recorded_at=at, retired=None,
        persona=None, lane=None, conversation=None, speaker=None, reply_to=None, origin="user", parts=(), snapshot=None,
        session="s", position=place, number=place, tokens=0, family="",
    )  # fmt: skip


def _replaces(old: str, new: str) -> bool:
    return relation(Statement(text=new), Statement(text=old), stems=stems) == "replaces"


def _scenario(row: dict[str, Any]) -> Iterator[bool]:
    stated = row["propositions"]
    if len(stated) == 2:
        yield _replaces(stated[0]["text"], stated[1]["text"])
        return
    until = valid_until(stated[0]["text"], stated=moment(stated[0]["asserted_at"]), zone="UTC")
    for question in row["questions"]:
        yield (until is None or moment(question["at_time"]) < until) == question["expected_valid"]


def _evolutions(histories: Sequence[dict[str, Any]]) -> tuple[int, int, int, int]:
    """Statements in order; only one that is still open can be closed, rightly or wrongly."""
    found = wanted = wrong = judged = 0
    for row in histories:
        texts = [stated["text"] for stated in row["propositions"]]
        expected = {tuple(pair) for question in row["questions"] for pair in question["expected_supersessions"]}
        wanted += len(expected)
        live: list[int] = []
        for place, text in enumerate(texts):
            closed = [old for old in live if _replaces(texts[old], text)]
            judged += len(live)
            found += sum((old, place) in expected for old in closed)
            wrong += sum((old, place) not in expected for old in closed)
            live = [old for old in live if old not in closed] + [place]
    return found, wanted, wrong, judged - wanted


def closed() -> list[Row]:
    measured: list[Row] = []
    examples = [json.loads(line) for line in CLOSINGS.read_text("utf-8").splitlines()]
    for split in ("tuned", "unseen"):
        answers = [
            (row["expected"], closing(_loop(row), row["message"], stems=stems) or "no")
            for row in examples
            if row["split"] == split
        ]
        told = [(expected, got) for expected, got in answers if got != "no"]
        right = sum(expected == got for expected, got in told)
        due = sum(expected != "no" for expected, _ in answers)
        measured.append(measure(f"loop closing: precision ({split})", right=right, of=len(told)))
        measured.append(measure(f"loop closing: recall ({split})", right=right, of=due))
    return measured


def _loop(row: dict[str, Any]) -> OpenLoop:
    return OpenLoop(kind=row["kind"], text=row["loop"], asked=row["asked"])


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
    asked.add_argument("--sample", type=int, default=0, metavar="N", help="print every n-th candidate found on LoCoMo")
    every: int = asked.parse_args().sample
    if not (folder() / "secrets-dev.jsonl.gz").exists():
        print(f"no evaluation data in {folder()}; set HITHERTO_EVAL_DATA", file=sys.stderr)
        return 1
    measured = [*secrets(), *held_back(), *learnt(every=every), *superseded(), *ended_in_memory(), *closed(), *times()]
    print(table(measured))
    print(f"appended to {save('learning', measured)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
