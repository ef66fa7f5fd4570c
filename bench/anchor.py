"""Which earlier message does a message answer? hit@1 and hit@5 on IRC logs with annotated reply links.

`python bench/anchor.py` reads `irc-dev.jsonl.gz` from HITHERTO_EVAL_DATA (default `../shared/data`).
A hit is any of the annotated antecedents; messages that begin a talk have none and are left out.
"""

import gzip
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from hitherto.ingest.antecedent import WINDOW, candidates  # noqa: E402
from hitherto.types import StoredTurn  # noqa: E402

DAY = datetime(2024, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Case:
    """One annotated message: what stood before it, and which of that it answers."""

    message: StoredTurn
    window: Sequence[StoredTurn]
    answers: frozenset[str]


Ranking = Callable[[Case], Sequence[StoredTurn]]


def data_file() -> Path:
    return Path(os.environ.get("HITHERTO_EVAL_DATA", ROOT.parent / "shared" / "data")) / "irc-dev.jsonl.gz"


def turn(row: dict[str, Any], *, at: datetime) -> StoredTurn:
    return StoredTurn(
        seq=row["i"], place=row["i"], id=str(row["i"]), version=1, role="user", text=row["text"], at=at,
        recorded_at=at, retired=None, persona=None, lane=None, conversation=None, speaker=row["speaker"],
        reply_to=None, origin="import", parts=(), snapshot=None, session="", position=1, number=1, tokens=0,
        family="",
    )  # fmt: skip


def turns_of(log: dict[str, Any]) -> list[StoredTurn]:
    """The spoken lines. Clocks have minutes only and no day: one that jumps back by hours has passed
    midnight.
    """
    turns: list[StoredTurn] = []
    day = DAY
    for row in log["messages"]:
        if row["system"]:
            continue
        hours, minutes = (int(part) for part in row["clock"].split(":"))
        at = day + timedelta(hours=hours, minutes=minutes)
        if turns and at < turns[-1].at - timedelta(hours=12):
            day += timedelta(days=1)
            at += timedelta(days=1)
        turns.append(turn(row, at=at))
    return turns


def cases(path: Path) -> Iterator[Case]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            log = cast("dict[str, Any]", json.loads(line))
            turns = turns_of(log)
            place = {one.id: at for at, one in enumerate(turns)}
            answers: dict[str, set[str]] = {}
            for earlier, later in log["links"]:
                if earlier != later and str(later) in place:
                    answers.setdefault(str(later), set()).add(str(earlier))
            for later, gold in answers.items():
                at = place[later]
                yield Case(turns[at], turns[max(0, at - WINDOW) : at], frozenset(gold))


def previous(case: Case) -> Sequence[StoredTurn]:
    return case.window[::-1]


def addressee(case: Case) -> Sequence[StoredTurn]:
    """Turns of people whom the message names, newest first, then all others."""
    text = case.message.text.casefold()
    named = [one for one in previous(case) if (one.speaker or "").casefold() in text]
    return [*named, *(one for one in previous(case) if (one.speaker or "").casefold() not in text)]


def ranked(case: Case) -> Sequence[StoredTurn]:
    found = candidates(case.message.text, speaker=case.message.speaker, window=case.window, at=case.message.at)
    return [candidate.turn for candidate in found]


def hits(ranking: Ranking, measured: Sequence[Case], *, k: int) -> float:
    return statistics.mean(any(one.id in case.answers for one in ranking(case)[:k]) for case in measured)


def main() -> None:
    path = data_file()
    if not path.exists():
        raise SystemExit(f"no evaluation data at {path}; set HITHERTO_EVAL_DATA to the folder that holds it")
    measured = list(cases(path))
    inside = statistics.mean(any(one.id in case.answers for one in case.window) for case in measured)
    print(f"{len(measured)} answers; {inside:.1%} of them within the last {WINDOW} messages")
    rankings: dict[str, Ranking] = {
        "previous message": previous,
        "addressee + recency": addressee,
        "candidates": ranked,
    }
    for name, ranking in rankings.items():
        began = time.perf_counter()
        print(
            f"{name:22} hit@1 {hits(ranking, measured, k=1):.3f}   hit@5 {hits(ranking, measured, k=5):.3f}",
            end="",
        )
        print(f"   {(time.perf_counter() - began) / len(measured) / 2 * 1e3:.2f} ms a message")


if __name__ == "__main__":
    main()
