"""What the steps of the work see of a user before they decide whether they are due: a few short reads."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from hitherto import ids as keys
from hitherto.store import records as nouns
from hitherto.store.protocol import (
    ANY,
    Cursor,
    Cursors,
    Head,
    RecordList,
    RecordsById,
    TurnList,
    UserStore,
    Window,
)
from hitherto.types import Profile, Session, StoredTurn

DAY = timedelta(days=1)
LAST_RUN = "last_run_at"
"""Where the cursor of a daily step notes when it ran."""
LOOKED_AT = 200
"""How many of the newest sessions are looked at; an older one that is still open is closed on a later visit."""


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
    """Of each persona, the first turn whose day has not been summarised as a whole."""

    @property
    def messages(self) -> int:
        """How many messages there have been, with all personas."""
        return sum(tail.number for tail in self.tails.values())

    def position(self, cursor: str) -> int:
        return _position(self.cursors, cursor)

    def once_a_day(self, cursor: str) -> datetime:
        """A day after the step's last run, the first time after the first turn: however often somebody writes, it comes."""
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
    """The session that holds its persona's newest turn is as active as that; any other one has been left."""
    if newest and newest[-1].session == session.id:
        return replace(session, last_activity=newest[-1].at, turn_count=newest[-1].position)
    return replace(session, last_activity=session.at)
