"""What people may ask of their memory, over HTTP: forget it, keep it only so long, see who did what to it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from hitherto import pages
from hitherto.client.paths import of_user, present
from hitherto.client.transport import Transport
from hitherto.privacy.audit import Event
from hitherto.privacy.forget import Receipt
from hitherto.store.protocol import Scrubbed
from hitherto.types import Memory, Origin

EVENTS = 100


class Custody(ABC):
    """Forgetting, retention, review and the audit log."""

    _service: Transport

    @abstractmethod
    async def _pieces(
        self, path: str, kind: Any, filters: Mapping[str, object], *, limit: int | None, cursor: str | None = None
    ) -> list[Any]: ...

    async def forget(
        self,
        *,
        user: str,
        turn: str | None = None,
        memory: str | None = None,
        entity: str | None = None,
        lane: str | None = None,
        persona: str | None = None,
        before: datetime | None = None,
        origin: Origin | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        everything: bool = False,
        dry_run: bool = False,
    ) -> Receipt:
        """Removes one thing and all that rests on it, for good; a receipt of counts and hashes."""
        named = {"turn": turn, "memory": memory, "entity": entity, "lane": lane, "persona": persona, "before": before}
        source = {"origin": origin, "conversation": conversation, "speaker": speaker}
        switches = {"everything": everything, "dry_run": dry_run}
        body = present({**named, **source}) | {name: True for name, is_set in switches.items() if is_set}
        return await self._service.ask("POST", of_user(user, "forget"), Receipt, json=body, retry=False)

    async def scrub(self) -> Scrubbed:
        """Rewrites what may still hold bytes of something forgotten, of all tenants."""
        return await self._service.ask("POST", "/v1/scrub", Scrubbed, retry=False)

    async def retention(self, *, user: str) -> dict[str, float]:
        """For how many days each kind is kept for this user; a kind that is missing is kept."""
        return await self._service.ask("GET", of_user(user, "retention"), dict[str, float])

    async def set_retention(self, *, user: str | None = None, **days: float | None) -> dict[str, float | None]:
        """Days for each kind, for the tenant or for one user; None keeps it. Nothing goes before `retain` is called."""
        path = "/v1/retention" if user is None else of_user(user, "retention")
        return await self._service.ask("PATCH", path, dict[str, float | None], json=days)

    async def retain(self, *, user: str | None = None, dry_run: bool = False) -> dict[str, Receipt]:
        """Removes what is over its time, of one user or of all; with `dry_run` it only counts. Receipts by user."""
        path = "/v1/retain" if user is None else of_user(user, "retain")
        params = {"dry_run": dry_run}
        return await self._service.ask("POST", path, dict[str, Receipt], params=params, retry=False)

    async def review(self, id: str, *, user: str, approve: bool) -> Memory:
        """A person's word on a memory that is held back: used from now on, or archived."""
        path = of_user(user, "memories", id, "review")
        return await self._service.ask("POST", path, Memory, json={"approve": approve}, retry=False)

    async def events(self, *, user: str | None = None, limit: int = EVENTS, before: str | None = None) -> list[Event]:
        """The audit log, newest first, of one user or of the tenant; `before` goes on behind the event of that id."""
        path = "/v1/events" if user is None else of_user(user, "events")
        cursor = None if before is None else pages.pack(before)
        return await self._pieces(path, Event, {}, limit=limit, cursor=cursor)
