"""Sessions as people see them: a closed one knows its activity, an open one's is read from its turns."""

from collections.abc import Sequence
from dataclasses import replace

from hitherto.store.base import TurnList, UserStore
from hitherto.types import Session, StoredTurn

LONGEST = 10_000


async def with_activity(store: UserStore, sessions: Sequence[Session]) -> list[Session]:
    queries = {s.id: TurnList(session=s.id, limit=LONGEST) for s in sessions if s.last_activity is None}
    answers = await store.read(*queries.values())
    return [_active(s, answers[queries[s.id]]) if s.id in queries else s for s in sessions]


def _active(session: Session, turns: Sequence[StoredTurn]) -> Session:
    if not turns:
        return session
    return replace(session, last_activity=max(turn.at for turn in turns), turn_count=len(turns))
