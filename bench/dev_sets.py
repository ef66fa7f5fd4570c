"""The development conversations with gold evidence, as the benches read them."""

import gzip
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast

SETS: Final = ("locomo-dev", "longmemeval-dev", "beam-100k-dev")


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    id: str
    session: int
    speaker: str
    role: str | None
    text: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    id: str
    text: str
    category: str
    evidence: frozenset[int]
    """Places in the conversation's turns."""
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    id: str
    turns: tuple[Said, ...]
    questions: tuple[Asked, ...]
    """The answerable ones with evidence."""


def folder() -> Path:
    return Path(os.environ.get("RECOLLECT_EVAL_DATA", Path(__file__).parents[1] / ".." / "shared" / "data"))


def conversations(name: str) -> Iterator[Conversation]:
    path = folder() / f"{name}.jsonl.gz"
    if not path.is_file():
        raise SystemExit(f"no evaluation data at {path}: set RECOLLECT_EVAL_DATA to the folder that holds it")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield _conversation(cast(dict[str, Any], json.loads(line)))


def _conversation(entry: dict[str, Any]) -> Conversation:
    turns = tuple(
        Said(
            id=turn["id"],
            session=number,
            speaker=turn["speaker"],
            role=turn["role"],
            text=turn["text"],
            at=_time(turn["time"] or session["time"]),
        )
        for number, session in enumerate(entry["sessions"])
        for turn in session["turns"]
    )
    places = {turn.id: place for place, turn in enumerate(turns)}
    questions = (
        Asked(
            id=question["id"],
            text=question["text"],
            category=question["category"],
            evidence=frozenset(places[turn] for turn in question["evidence"] if turn in places),
            at=_time(question["asked_at"]),
        )
        for question in entry["questions"]
        if question["answerable"]
    )
    return Conversation(id=entry["id"], turns=turns, questions=tuple(q for q in questions if q.evidence))


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
