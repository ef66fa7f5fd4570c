"""A log in memory with the manners of the engine: idempotent by id, a conflict for other content,
versions for edits.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from hitherto.errors import Conflict, NotFound
from hitherto.types import StoredTurn, Turn

COMPARED = ("role", "text", "persona", "lane", "conversation", "speaker", "reply_to")


class MemoryLog:
    """Turns by user and id, in the order of their recording."""

    def __init__(self) -> None:
        self.users: dict[str, dict[str, StoredTurn]] = {}
        self.links: dict[tuple[str, str], str] = {}
        self.seq = 0

    async def record(self, turn: Turn, /) -> list[str]:
        turns = self.users.setdefault(turn.user, {})
        assert turn.id is not None
        assert turn.text
        if (before := turns.get(turn.id)) is not None:
            if any(getattr(before, name) != getattr(turn, name) for name in COMPARED):
                raise Conflict(f"{turn.id!r} was recorded with other content")
            return [turn.id]
        self.seq += 1
        turns[turn.id] = self._stored(turn)
        return [turn.id]

    async def revise(self, *, user: str, turn: str, text: str) -> StoredTurn:
        turns = self.users.get(user, {})
        if turn not in turns:
            raise NotFound(f"no turn {turn!r}")
        turns[turn] = replace(turns[turn], text=text, version=turns[turn].version + 1)
        return turns[turn]

    async def forget(self, *, user: str, turn: str) -> None:
        if self.users.get(user, {}).pop(turn, None) is None:
            raise NotFound(f"no turn {turn!r}")

    async def turns(self, *, user: str, ids: Sequence[str]) -> list[StoredTurn]:
        return [turn for turn in self.users.get(user, {}).values() if turn.id in ids]

    async def link(self, user: str, channel: str, external_id: str) -> None:
        self.links[channel, external_id] = user

    async def resolve(self, channel: str, external_id: str) -> str | None:
        return self.links.get((channel, external_id))

    def lane(self, user: str, lane: str | None) -> list[StoredTurn]:
        return [turn for turn in self.users.get(user, {}).values() if turn.lane == lane]

    def _stored(self, turn: Turn) -> StoredTurn:
        at = turn.at or datetime(2026, 1, 1, tzinfo=UTC)
        return StoredTurn(
            seq=self.seq,
            place=self.seq,
            id=turn.id or "",
            version=1,
            role=turn.role,
            text=turn.text,
            at=at,
            recorded_at=at,
            retired=None,
            persona=turn.persona,
            lane=turn.lane,
            conversation=turn.conversation,
            speaker=turn.speaker,
            reply_to=turn.reply_to,
            origin=turn.origin or "user",
            parts=turn.parts or (),
            snapshot=turn.snapshot,
            session="",
            position=self.seq,
            number=self.seq,
            tokens=0,
            family="",
        )
