"""The rule that divides one persona's turns into sessions. Pure: it is applied under the user's lock, to each new turn.

A silence of 30 minutes ends a session. Someone who comes back within 12 hours continues: the new session is linked to the
previous one, and the window and the focus anchor reach back over such links. A clock that jumps backwards counts as a
silence of that length; order never depends on it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Protocol, Self, TypeVar

from hitherto.store.protocol import TurnList, UserStore
from hitherto.types import Session, StoredTurn


class SessionNumbers(Protocol):
    """The source of the rule's numbers: a recipe."""

    @property
    def gap_minutes(self) -> float: ...

    @property
    def chain_hours(self) -> float: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A silence longer than `gap` ends a session; one shorter than `chain` links the next session to it."""

    gap: timedelta = timedelta(minutes=30)
    chain: timedelta = timedelta(hours=12)

    @classmethod
    def of(cls, numbers: SessionNumbers) -> Self:
        return cls(gap=timedelta(minutes=numbers.gap_minutes), chain=timedelta(hours=numbers.chain_hours))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """Where a persona's conversation stands: its newest turn's session, its counters and its time."""

    session: str
    position: int
    number: int
    at: datetime
    closed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A turn's place in its session, and the session that it opens, if any."""

    session: str
    position: int
    number: int
    opens: Session | None


def tail_of(turn: StoredTurn, *, closed: bool = False) -> Tail:
    return Tail(session=turn.session, position=turn.position, number=turn.number, at=turn.at, closed=closed)


def place(tail: Tail | None, *, turn_id: str, at: datetime, persona: str | None, rule: Rule) -> Placed:
    """Places a turn in the running session or in a new one."""
    if tail is not None and not tail.closed and abs(at - tail.at) <= rule.gap:
        return Placed(session=tail.session, position=tail.position + 1, number=tail.number + 1, opens=None)
    session_id = f"s-{turn_id}"
    continues = tail.session if tail is not None and abs(at - tail.at) < rule.chain else None
    session = Session(id=session_id, persona=persona, at=at, key=session_id, continues=continues, status="open")
    return Placed(session=session_id, position=1, number=tail.number + 1 if tail else 1, opens=session)


def chain(sessions: Iterable[Session], newest: str | None) -> tuple[str, ...]:
    """The ids of the sessions that `newest` continues, itself first."""
    by_id: Mapping[str, Session] = {session.id: session for session in sessions}
    linked: list[str] = []
    while newest is not None and newest not in linked:
        linked.append(newest)
        session = by_id.get(newest)
        newest = session.continues if session else None
    return tuple(linked)


def within_chain(turns: Sequence[StoredTurn], linked: Sequence[str]) -> tuple[StoredTurn, ...]:
    """The newest turns, oldest first, that belong to the chain without a break."""
    members = frozenset(linked)
    cut = len(turns)
    while cut and turns[cut - 1].session in members:
        cut -= 1
    return tuple(turns[cut:])


# Sessions as people see them: the activity of a closed one is known, that of an open one is read from its turns.

LONGEST = 10_000


async def with_activity(store: UserStore, sessions: Sequence[Session]) -> list[Session]:
    queries = {s.id: TurnList(session=s.id, limit=LONGEST) for s in sessions if s.last_activity is None}
    answers = await store.read(*queries.values())
    return [_active(s, answers[queries[s.id]]) if s.id in queries else s for s in sessions]


def _active(session: Session, turns: Sequence[StoredTurn]) -> Session:
    if not turns:
        return session
    return replace(session, last_activity=max(turn.at for turn in turns), turn_count=len(turns))


# Lanes: which strand of a chat a message belongs to, by name alone.
#
# A lane is stable and deterministic: the same place in a chat always has the same name. A forum topic is the
# strongest boundary, then a reply chain, then the chat itself. Callers who do not use lanes pass none: the lane
# `None` is their root lane, and no name made here is equal to it.

Chat = int | str
Message = TypeVar("Message", int, str)
_TOPIC: Final = "topic:"
_REPLY: Final = "reply:"
_ROOT: Final = "root:"


def session_id(chat: Chat) -> str:
    """The chat's external id: the scope of its summaries, stored as a turn's `conversation`."""
    return f"telegram:chat:{chat}"


def lane(chat: Chat, *, topic: int | str | None = None, reply_root: int | str | None = None) -> str:
    """The lane of a message: its topic, else its reply chain, else the chat's root lane.

    `reply_root` is the first message of the reply chain (see `chain_root`), not the message replied to.
    """
    if topic is not None:
        return f"{_TOPIC}{chat}:{topic}"
    if reply_root is not None:
        return f"{_REPLY}{chat}:{reply_root}"
    return f"{_ROOT}{chat}"


def shows(home: str | None, lane: str | None) -> bool:
    """Whether what belongs to `lane` may be shown in `home` unasked: its own, what was said in the main lane of everything
    or of a chat, and in a chat's main lane its topics and replies. One topic's matters stay out of another.
    """
    if lane is None or lane == home or lane.startswith(_ROOT):
        return True
    chat = home.removeprefix(_ROOT) if home is not None and home.startswith(_ROOT) else None
    return chat is not None and lane.startswith((f"{_TOPIC}{chat}:", f"{_REPLY}{chat}:"))


def chain_root(message: Message, *, parent: Callable[[Message], Message | None]) -> Message:
    """The first message of the reply chain that contains `message`; `parent` says what a message replies to.

    A chain that loops (two merged exports, reused ids) still has one root, wherever it is entered: the smallest message of
    the loop.
    """
    visited: dict[Message, None] = {}
    current = message
    while (above := parent(current)) is not None:
        visited[current] = None
        if above in visited:
            order = list(visited)
            return min(order[order.index(above) :])
        current = above
    return current
