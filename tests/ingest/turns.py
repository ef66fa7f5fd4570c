"""Turns as the store would hand them out, for tests of pure functions."""

from datetime import UTC, datetime, timedelta

from hitherto.types import Role, StoredTurn

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def stored(
    number: int, text: str, *, role: Role = "user", speaker: str | None = None, lane: str | None = None
) -> StoredTurn:
    """The turn with this number in the conversation, one minute after the one before."""
    at = START + timedelta(minutes=number)
    return StoredTurn(
        seq=number,
        place=number,
        id=f"t{number}",
        version=1,
        role=role,
        text=text,
        at=at,
        recorded_at=at,
        retired=None,
        persona=None,
        lane=lane,
        conversation=None,
        speaker=speaker,
        reply_to=None,
        origin="assistant" if role == "assistant" else "user",
        parts=(),
        snapshot=None,
        session="s1",
        position=number,
        number=number,
        tokens=len(text) // 4,
        family="o200k",
    )
