"""For tests: small builders of what a store is given, with plain values for everything a test does not care about; a clock
that stands still until it is moved; and asking for an error without a test framework, since the suite runs under any.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Protocol

from hitherto.store.protocol import Answers, Change, Decide, RowDraft, TurnDraft, UserStore, Vector, Written
from hitherto.types import Origin, Part, RecordKind, Role


def moment(minutes: float = 0) -> datetime:
    """A time this many minutes after the start of the fake clock."""
    return START + timedelta(minutes=minutes)


def always(change: Change) -> Decide:
    """The decision that does not depend on what is stored."""

    def decide(_: Answers) -> Change:
        return change

    return decide


def words(text: str) -> tuple[str, ...]:
    """Stems for tests: the lower-case words."""
    return tuple(text.lower().split())


def turn_draft(
    id: str,
    text: str = "hello there",
    *,
    at: datetime | None = None,
    role: Role = "user",
    version: int = 1,
    place: int | None = None,
    persona: str | None = None,
    lane: str | None = None,
    conversation: str | None = None,
    speaker: str | None = None,
    reply_to: str | None = None,
    origin: Origin = "user",
    parts: tuple[Part, ...] = (),
    snapshot: str | None = None,
    session: str = "session-1",
    position: int = 1,
    number: int = 1,
    stems: tuple[str, ...] | None = None,
    vector: Vector | None = None,
) -> TurnDraft:
    """A turn to write; its stems are its words unless given."""
    at = at or moment()
    return TurnDraft(
        id=id,
        version=version,
        place=place,
        role=role,
        text=text,
        at=at,
        recorded_at=at,
        persona=persona,
        lane=lane,
        conversation=conversation,
        speaker=speaker,
        reply_to=reply_to,
        origin=origin,
        parts=parts,
        snapshot=snapshot,
        session=session,
        position=position,
        number=number,
        tokens=len(text) // 4,
        family="o200k",
        stems=words(text) if stems is None else stems,
        vector=vector,
    )


def row_draft(
    id: str,
    text: str = "likes tea",
    *,
    noun: RecordKind = "memory",
    at: datetime | None = None,
    version: int = 1,
    persona: str | None = None,
    lane: str | None = None,
    key: str | None = None,
    status: str = "ACTIVE",
    origin: Origin = "application",
    sources: tuple[str, ...] = (),
    entities: tuple[str, ...] = (),
    due: datetime | None = None,
    valid_from: datetime | None = None,
    valid_to: datetime | None = None,
    body: str = "{}",
    recorded_at: datetime | None = None,
    stems: tuple[str, ...] | None = None,
    vector: Vector | None = None,
) -> RowDraft:
    """A record version to write; its stems are its words unless given."""
    at = at or moment()
    return RowDraft(
        noun=noun,
        id=id,
        version=version,
        text=text,
        persona=persona,
        lane=lane,
        key=key,
        status=status,
        origin=origin,
        sources=sources,
        entities=entities,
        at=at,
        due=due,
        valid_from=valid_from,
        valid_to=valid_to,
        tokens=len(text) // 4,
        family="o200k",
        body=body,
        recorded_at=recorded_at or at,
        stems=words(text) if stems is None else stems,
        vector=vector,
    )


async def put(user: UserStore, change: Change) -> Written:
    """Writes this change, whatever is stored."""
    return await user.write(always(change))


START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


class FakeClock:
    """Give it to whatever takes a `Clock`. `clock()` reads it; `tick` and `set` move it, also backwards."""

    def __init__(self, start: datetime = START) -> None:
        self._now = start

    def __call__(self) -> datetime:
        return self._now

    def tick(self, *, seconds: float = 0, minutes: float = 0, hours: float = 0, days: float = 0) -> datetime:
        """Moves forward (or back) by this much and returns the new time."""
        self._now += timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        return self._now

    def set(self, now: datetime) -> datetime:
        self._now = now
        return now


@contextmanager
def failing(error: type[Exception]) -> Generator[None]:
    """Passes if its block raises `error`."""
    try:
        yield
    except error:
        return
    raise AssertionError(f"nothing raised {error.__name__}")


class _HasId(Protocol):
    @property
    def id(self) -> str: ...


def ids(found: Sequence[_HasId]) -> list[str]:
    return [one.id for one in found]
