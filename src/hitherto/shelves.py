"""What is remembered, listed: the read-only half of the engine's calls, each one query of the user's store."""

from abc import ABC, abstractmethod
from datetime import datetime
from typing import TypeVar

from hitherto.ingest import sessions as listing
from hitherto.store import records as nouns
from hitherto.store.protocol import ANY, RecordList, RecordsByEntity, RecordsById, Scope, UserStore
from hitherto.types import Entity, Episode, Loop, Memory, Record, Session, Summary, SummaryKind, Thought

N = TypeVar("N", bound=Record)

Place = tuple[datetime, int]
"""Where a record stands in a listing: its `at` and `seq`."""

LISTED = 1_000
"""How many rows a listing gives unless told otherwise."""


class Shelves(ABC):
    """Lists of a user's records, newest first; None as a persona means all."""

    @abstractmethod
    def _user(self, user: str) -> UserStore: ...

    async def memories(
        self,
        *,
        user: str,
        persona: str | None = None,
        status: str | None = "ACTIVE",
        entity: str | None = None,
        limit: int = LISTED,
        after: Place | None = None,
        known: int | None = None,
    ) -> list[Memory]:
        """Memories, newest first; with a persona, its own and everybody's. `after` continues a listing (not one by entity)."""
        return await self._list(
            Memory,
            user=user,
            persona=persona,
            status=status,
            entity=entity,
            limit=limit,
            after=after,
            known=known,
            shared=True,
        )

    async def episodes(
        self, *, user: str, persona: str | None = None, limit: int = LISTED, after: Place | None = None
    ) -> list[Episode]:
        return await self._list(Episode, user=user, persona=persona, limit=limit, after=after, shared=True)

    async def loops(
        self,
        *,
        user: str,
        persona: str | None = None,
        status: str | None = "open",
        limit: int = LISTED,
        after: Place | None = None,
    ) -> list[Loop]:
        """Loops, newest first; `status` None gives the closed ones too."""
        return await self._list(Loop, user=user, persona=persona, status=status, limit=limit, after=after)

    async def thoughts(
        self, *, user: str, persona: str | None = None, limit: int = LISTED, after: Place | None = None
    ) -> list[Thought]:
        return await self._list(Thought, user=user, persona=persona, limit=limit, after=after)

    async def summaries(
        self,
        *,
        user: str,
        persona: str | None = None,
        kind: SummaryKind | None = None,
        limit: int = LISTED,
        after: Place | None = None,
    ) -> list[Summary]:
        """The newest versions, newest first; `kind` filters what the limit let through."""
        found = await self._list(Summary, user=user, persona=persona, limit=limit, after=after)
        return [summary for summary in found if kind is None or summary.kind == kind]

    async def sessions(
        self, *, user: str, persona: str | None = None, limit: int = LISTED, after: Place | None = None
    ) -> list[Session]:
        """Sessions, newest first, with their last activity and number of turns."""
        found = await self._list(Session, user=user, persona=persona, limit=limit, after=after)
        return await listing.with_activity(self._user(user), found)

    async def entities(self, *, user: str, limit: int = LISTED, after: Place | None = None) -> list[Entity]:
        return await self._list(Entity, user=user, limit=limit, after=after)

    async def history(self, *, user: str, id: str) -> list[Record]:
        """Every version of a record, oldest first."""
        query = RecordsById(ids=(id,), history=True)
        return [nouns.record(row) for row in (await self._user(user).read(query))[query]]

    async def _list(
        self,
        noun: type[N],
        *,
        user: str,
        persona: str | None = None,
        status: str | None = None,
        entity: str | None = None,
        limit: int,
        after: Place | None = None,
        known: int | None = None,
        shared: bool = False,
    ) -> list[N]:
        statuses = (status,) if status else ()
        query = (
            RecordsByEntity(
                noun=noun.noun,
                refs=(entity,),
                persona=everything_or(persona),
                shared=shared,
                statuses=statuses,
                limit=limit,
                known=known,
            )
            if entity
            else RecordList(
                noun=noun.noun,
                persona=everything_or(persona),
                shared=shared,
                statuses=statuses,
                limit=limit,
                after=after,
                known=known,
            )
        )
        return list(nouns.records((await self._user(user).read(query))[query], noun))


def everything_or(value: str | None) -> Scope:
    """In lists and searches None means all."""
    return ANY if value is None else value
