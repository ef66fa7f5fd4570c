"""Turns and lines as readers are shown them, for tests of what needs no store."""

from datetime import UTC, datetime, timedelta

from hitherto.learn.notes import Line
from hitherto.types import Role, StoredTurn

NOW = datetime(2026, 3, 3, 19, 0, tzinfo=UTC)


def turn(id: str, text: str, *, role: Role = "user", minutes: float = 0, persona: str | None = "nika") -> StoredTurn:
    at = NOW + timedelta(minutes=minutes)
    return StoredTurn(
        seq=int(minutes) + 1, place=int(minutes) + 1, id=id, version=1, role=role, text=text, at=at, recorded_at=at,
        retired=None, persona=persona, lane=None, conversation=None, speaker=None, reply_to=None,
        origin="assistant" if role == "assistant" else "user", parts=(), snapshot=None, session="s1", position=1, number=1,
        tokens=1, family="o200k",
    )  # fmt: skip


def line(id: str, text: str, *, role: Role = "user", minutes: float = 0) -> Line:
    return Line(turn=turn(id, text, role=role, minutes=minutes), speaker="Ana" if role == "user" else "Nika", text=text)
