"""What the steps of the work see of a user before they decide whether they are due: a few short reads."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from recollect import keys
from recollect.store import nouns
from recollect.store.base import (
    ANY,
    Cursor,
    Cursors,
    Head,
    RecordList,
    RecordsById,
    UserStore,
    Window,
)
from recollect.types import Profile, Progress, Session, StoredTurn

OPEN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """Where a user's log and the work on it stand. `open_sessions` carry their newest turn's time and position."""

    now: datetime
    head: int
    zone: str
    cursors: Mapping[str, Cursor]
    newest: StoredTurn | None
    open_sessions: tuple[Session, ...]
    tails: Mapping[str | None, StoredTurn]
    """The newest turn of each persona that has an open session."""
    progress: Mapping[str | None, Progress]


async def overview(store: UserStore, *, now: datetime) -> Overview:
    head, current = Head(), Cursors()
    profile = RecordsById(ids=(keys.PROFILE,))
    opened = RecordList(noun="session", statuses=("open",), limit=OPEN)
    newest = Window(persona=ANY, lane=ANY, limit=1)
    noted = RecordList(noun="progress", limit=OPEN)
    answers = await store.read(head, current, profile, opened, newest, noted)
    sessions = nouns.records(answers[opened], Session)
    personas = tuple(dict.fromkeys(session.persona for session in sessions))
    windows = {persona: Window(persona=persona, lane=ANY, limit=1) for persona in personas}
    tails = await store.read(*windows.values())
    profiles = nouns.records(answers[profile], Profile)
    return Overview(
        now=now,
        head=answers[head],
        zone=profiles[0].zone if profiles else "UTC",
        cursors={cursor.step: cursor for cursor in answers[current]},
        newest=answers[newest][-1] if answers[newest] else None,
        open_sessions=tuple(_with_tail(session, tails[windows[session.persona]][-1:]) for session in sessions),
        tails={persona: tails[query][-1] for persona, query in windows.items() if tails[query]},
        progress={entry.persona: entry for entry in nouns.records(answers[noted], Progress)},
    )


def _with_tail(session: Session, newest: tuple[StoredTurn, ...]) -> Session:
    """An open session's activity, from the persona's newest turn if it belongs to it; an earlier one has ended."""
    if newest and newest[0].session == session.id:
        return replace(session, last_activity=newest[0].at, turn_count=newest[0].position)
    return replace(session, last_activity=session.at)
