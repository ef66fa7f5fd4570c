"""Conversations with gold evidence, one a line: sessions of turns, and questions that name the turns that answer them.

    {"id", "sessions": [{"id", "time", "turns": [{"id", "speaker", "role", "text", "time"}]}],
     "questions": [{"id", "text", "category", "evidence": [turn ids], "asked_at", "answerable"}]}

Times are ISO, in UTC unless they say otherwise; a turn without one has its session's. Questions that cannot be answered
are left out: they have no evidence to find.
"""

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from hitherto.errors import InvalidInput
from hitherto.types import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidTurn:
    id: str
    session: int
    speaker: str
    role: Role | None
    """None where two people talk and neither is the persona."""
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
    turns: tuple[SaidTurn, ...]
    questions: tuple[Asked, ...]
    """The answerable ones with evidence."""


def read(path: Path) -> Iterator[Conversation]:
    """The conversations of a JSONL file, plain or gzipped."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                yield _conversation(cast(dict[str, Any], json.loads(line)))
            except (KeyError, TypeError, ValueError) as error:
                raise InvalidInput(
                    f"{path}, line {number}: not a conversation with gold evidence ({type(error).__name__}: {error})"
                ) from error


def _conversation(entry: dict[str, Any]) -> Conversation:
    turns = tuple(
        SaidTurn(
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
    read = datetime.fromisoformat(text)
    return read if read.tzinfo else read.replace(tzinfo=UTC)
