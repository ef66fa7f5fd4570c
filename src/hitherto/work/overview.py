"""What is read about a user's work: by its steps, in a few short reads, before they decide whether they are due; and by
people."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from hitherto import ids as keys
from hitherto.store import records as nouns
from hitherto.store.protocol import (
    ANY,
    CurrentLease,
    Cursor,
    Cursors,
    Head,
    RecordList,
    RecordsById,
    RecordsByKey,
    TurnList,
    UserStore,
    Window,
)
from hitherto.types import Json, Profile, Session, StoredTurn, Summary
from hitherto.work.cursors import FAILED, REASON, SUCCEEDED

DAY = timedelta(days=1)
LAST_RUN = "last_run_at"
"""Where the cursor of a daily step records when it ran."""
LOOKED_AT = 200
"""How many of the newest sessions are examined; an older one that is still open is closed on a later visit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """Where a user's log and the work on it stand."""

    now: datetime
    head: int
    zone: str
    cursors: Mapping[str, Cursor]
    oldest: StoredTurn | None
    newest: StoredTurn | None
    open_sessions: tuple[Session, ...]
    """Each with its last activity, as far as the persona's newest turn tells it."""
    tails: Mapping[str | None, StoredTurn]
    """The newest turn of each persona."""
    unfinished: Mapping[str | None, StoredTurn]
    """For each persona, the first turn whose day has not been summarised as a whole."""

    @property
    def messages(self) -> int:
        """How many messages there have been, with all personas."""
        return sum(tail.number for tail in self.tails.values())

    def position(self, cursor: str) -> int:
        return _position(self.cursors, cursor)

    def next_daily_run(self, cursor: str) -> datetime:
        """A day after the step's last run, or after the first turn; however often somebody writes, it comes."""
        last = self.cursors[cursor].body.get(LAST_RUN) if cursor in self.cursors else None
        if last:
            return datetime.fromisoformat(str(last)) + DAY
        return (self.oldest.recorded_at if self.oldest else self.now) + DAY


async def overview(store: UserStore, *, now: datetime) -> Overview:
    head, current = Head(), Cursors()
    profile = RecordsById(ids=(keys.PROFILE,))
    oldest, newest = TurnList(limit=1), Window(persona=ANY, lane=ANY, limit=1)
    latest = RecordList(noun="session", limit=LOOKED_AT)
    opened = RecordList(noun="session", statuses=("open",), limit=LOOKED_AT)
    answers = await store.read(head, current, profile, oldest, newest, latest, opened)
    sessions = nouns.records(answers[opened], Session)
    personas = dict.fromkeys(row.persona for row in (*answers[latest], *answers[opened]))
    windows = {persona: Window(persona=persona, lane=ANY, limit=1) for persona in personas}
    cursors = {cursor.step: cursor for cursor in answers[current]}
    undone = {
        persona: TurnList(after=_position(cursors, daily_cursor(persona)), persona=persona, limit=1)
        for persona in personas
    }
    tails = await store.read(*windows.values(), *undone.values())
    profiles = nouns.records(answers[profile], Profile)
    return Overview(
        now=now,
        head=answers[head],
        zone=profiles[0].zone if profiles else "UTC",
        cursors=cursors,
        oldest=answers[oldest][0] if answers[oldest] else None,
        newest=answers[newest][-1] if answers[newest] else None,
        open_sessions=tuple(_active(session, tails[windows[session.persona]]) for session in sessions),
        tails={persona: tails[query][-1] for persona, query in windows.items() if tails[query]},
        unfinished={persona: tails[query][0] for persona, query in undone.items() if tails[query]},
    )


def daily_cursor(persona: str | None) -> str:
    """The cursor of a persona's finished days."""
    return f"daily:{persona or ''}"


def _position(cursors: Mapping[str, Cursor], name: str) -> int:
    return cursors[name].position if name in cursors else 0


def _active(session: Session, newest: tuple[StoredTurn, ...]) -> Session:
    """The session with its persona's newest turn is as active as that turn; any other one has been left."""
    if newest and newest[-1].session == session.id:
        return replace(session, last_activity=newest[-1].at, turn_count=newest[-1].position)
    return replace(session, last_activity=session.at)


# --- how far the conversation with one persona has come, and the bookkeeping of the work on it ---------------------------
# None of this is written for its own sake: the counts are the newest turn's own, the rest is in the cursors.

LONGEST_MESSAGE = 200
NEWEST_TURNS = 50
"""How many of the newest turns are searched for the user's last message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    reason: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Curation:
    """When the curator last ran, and how many memories there were then."""

    last_run: datetime | None
    memory_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """The state that a user and a persona share over all their sessions."""

    persona: str | None
    message_count: int
    last_interaction: datetime | None
    last_user_message: str
    curator: Curation
    last_rolling_attempt: datetime | None
    last_rolling_success: datetime | None
    last_rolling_error: Failure | None
    rolling_summary: str


async def session_state(store: UserStore, *, persona: str | None) -> SessionState:
    window, current = Window(persona=persona, lane=ANY, limit=NEWEST_TURNS), Cursors()
    rolling = RecordsByKey(noun="summary", keys=(keys.rolling(persona),))
    answers = await store.read(window, current, rolling)
    turns = answers[window]
    cursors = {cursor.step: cursor for cursor in answers[current]}
    curator = cursors.get("curate", Cursor(step="curate")).body
    roll = cursors.get(keys.rolling(persona), Cursor(step=keys.rolling(persona)))
    success, failure = _moment(roll.body, SUCCEEDED), _moment(roll.body, FAILED)
    summaries = nouns.records(answers[rolling], Summary)
    said = next((turn.text for turn in reversed(turns) if turn.role == "user"), "")
    return SessionState(
        persona=persona,
        message_count=turns[-1].number if turns else 0,
        last_interaction=turns[-1].at if turns else None,
        last_user_message=said if len(said) <= LONGEST_MESSAGE else said[: LONGEST_MESSAGE - 1] + "…",
        curator=Curation(
            last_run=_moment(curator, "last_run_at"), memory_count=int(str(curator.get("memory_count", 0)))
        ),
        last_rolling_attempt=max((at for at in (success, failure) if at), default=None),
        last_rolling_success=success,
        last_rolling_error=Failure(reason=str(roll.body.get(REASON, "")), detail=roll.error) if roll.error else None,
        rolling_summary=summaries[-1].text if summaries else "",
    )


def _moment(body: Mapping[str, Json], name: str) -> datetime | None:
    value = body.get(name)
    return datetime.fromisoformat(str(value)) if value else None


# --- where the work stands for one user: each step's cursor, how far behind it is, and what went wrong ---------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """`head` is the log's newest entry; `holder` is the worker now working on this user, if any; `capped` says which cap on
    model tokens was reached today ("user", "tenant"), so that rules do the work."""

    head: int
    cursors: tuple[Cursor, ...]
    holder: str | None
    capped: str | None = None

    @property
    def parked(self) -> tuple[Cursor, ...]:
        return tuple(cursor for cursor in self.cursors if cursor.parked)


async def status(store: UserStore, *, now: datetime, capped: str | None = None) -> Status:
    head, current, held = Head(), Cursors(), CurrentLease()
    answers = await store.read(head, current, held)
    lease = answers[held]
    return Status(
        head=answers[head],
        cursors=answers[current],
        holder=lease.holder if lease is not None and lease.expires > now else None,
        capped=capped,
    )
