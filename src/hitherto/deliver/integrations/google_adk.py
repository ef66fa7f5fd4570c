"""Google's Agent Development Kit: a memory service.

    runner = Runner(app_name="app", agent=agent, session_service=…, memory_service=AdkMemory(memory))

Sessions that are added become turns in a lane of their own; `search_memory` (the tool `load_memory`) finds turns, facts and
episodes of that user.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from google.adk.events.event import Event
from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions.session import Session
from google.genai import types

from hitherto import Hitherto, Turn


class AdkMemory(BaseMemoryService):
    """A memory for every user of every app: an app's users are its own."""

    def __init__(self, memory: Hitherto, *, limit: int = 10) -> None:
        self._memory = memory
        self._limit = limit

    async def add_session_to_memory(self, session: Session) -> None:
        await self._record(session.app_name, session.user_id, session.id, session.events)

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        await self._record(app_name, user_id, session_id, events)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        hits = await self._memory.search(user=_whose(app_name, user_id), query=query, limit=self._limit)
        return SearchMemoryResponse(
            memories=[
                MemoryEntry(
                    id=hit.id,
                    content=types.Content(role="user", parts=[types.Part(text=hit.text)]),
                    author=hit.kind,
                    timestamp=hit.at.isoformat(),
                )
                for hit in hits
            ]
        )

    async def _record(self, app: str, user: str, session: str | None, events: Sequence[Event]) -> None:
        turns = [turn for event in events if (turn := _turn(_whose(app, user), session, event)) is not None]
        if turns:
            await self._memory.record(turns)


def _whose(app: str, user: str) -> str:
    return f"{app}/{user}"


def _turn(user: str, session: str | None, event: Event) -> Turn | None:
    """What an event says. Its id makes a session that is added again add only what is new."""
    parts = (event.content.parts if event.content else None) or []
    said = " ".join(part.text for part in parts if part.text and not part.thought)
    if not said.strip():
        return None
    role = "user" if event.author == "user" else "assistant"
    at = datetime.fromtimestamp(event.timestamp, UTC)
    speaker = None if role == "user" else event.author
    return Turn(
        user, role, said, id=f"adk:{session}:{event.id}", at=at, lane=session, conversation=session, speaker=speaker
    )
