"""The audit log: who did what to whose memory, and when. It holds hashes, ids and numbers, never content.

Entries are catalog documents named by time, so that neither store needs another table. A user is identified by the digest
of tenant and name, which says nothing to anyone who does not already know the name.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from hitherto.ids import new_id
from hitherto.store.catalog import Catalog
from hitherto.types import Json

KIND: Final = "audit"
Deed = Literal["forget", "export", "load", "retain", "retention", "key", "review", "restore", "scrub"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One entry. `by` is who did it (the library, the command line, `key:` and a key's id); `about` holds numbers and
    hashes."""

    id: str
    at: datetime
    deed: Deed
    by: str
    user: str | None
    about: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class Journal:
    """The audit log of one tenant, written by one actor."""

    catalog: Catalog
    tenant: str
    by: str

    async def note(self, deed: Deed, *, user: str | None, at: datetime, **about: Json) -> None:
        body = json.dumps({"deed": deed, "by": self.by, "user": user, "about": about}, sort_keys=True)
        await self.catalog.put(self.tenant, KIND, new_id(at), body, at=at, expected=0, about=user)

    async def events(self, *, user: str | None = None, limit: int, before: str | None = None) -> list[Event]:
        """The newest first, of one user by digest or of all; `before` continues after the event with that id."""
        found = await self.catalog.last(self.tenant, KIND, limit=limit, before=before, about=user)
        return [Event(id=each.name, at=each.recorded_at, **json.loads(each.body)) for each in found]
