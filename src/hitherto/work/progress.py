"""How far the conversation with one persona has come, and the bookkeeping of the work on it.

Nothing of this is written for its own sake: the counts are the newest turn's own, the rest stands in the cursors."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from hitherto import ids as keys
from hitherto.store import records as nouns
from hitherto.store.protocol import ANY, Cursor, Cursors, RecordsByKey, UserStore, Window
from hitherto.types import Json, Summary
from hitherto.work.cursors import FAILED, REASON, SUCCEEDED

LONGEST_MESSAGE = 200
LOOKED_AT = 50
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
    window, current = Window(persona=persona, lane=ANY, limit=LOOKED_AT), Cursors()
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
