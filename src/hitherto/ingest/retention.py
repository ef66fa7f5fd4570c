"""How long what is remembered is kept: days for each kind, for a tenant and for single users. Pure, but for the catalog.

A kind without a number is kept until it is forgotten. What is pinned is kept whatever its kind. A turn that is over its time
goes with its words and vectors; what was learnt from it stays for its own time.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, cast

from hitherto.errors import InvalidInput
from hitherto.store.catalog import Catalog, UserKey
from hitherto.types import Memory, Record

KIND: Final = "retention"
EVERYBODY: Final = "*"
KINDS: Final = ("turn", "memory", "episode", "loop", "thought", "summary", "snapshot")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Days by kind; a kind that is not named is kept."""

    days: Mapping[str, float] = field(default_factory=dict[str, float])

    def limits(self, now: datetime) -> dict[str, datetime]:
        """For each limited kind the moment before which it is over its time."""
        return {kind: now - timedelta(days=days) for kind, days in self.days.items()}


def checked(days: Mapping[str, float | None]) -> None:
    for kind, value in days.items():
        if kind not in KINDS:
            raise InvalidInput(f"there is no retention for {kind!r}; use one of {', '.join(KINDS)}")
        if value is not None and not 0 < value < 100_000:
            raise InvalidInput(f"{kind}={value!r} is no number of days")


async def policy(catalog: Catalog, key: UserKey) -> Policy:
    """The user's own numbers over the tenant's."""
    found = {d.name: _days(d.body) for d in await catalog.documents(key.tenant, KIND, [EVERYBODY, key.digest])}
    merged = {**found.get(EVERYBODY, {}), **found.get(key.digest, {})}
    return Policy(days={kind: days for kind, days in merged.items() if days is not None})


async def change(
    catalog: Catalog, tenant: str, name: str, days: Mapping[str, float | None], *, now: datetime
) -> Mapping[str, float | None]:
    """Sets these kinds and keeps the others. For a single user None means: kept, whatever the tenant's number is."""
    checked(days)
    found = await catalog.documents(tenant, KIND, [name])
    merged = {**(_days(found[0].body) if found else {}), **days}
    kept = {kind: value for kind, value in merged.items() if value is not None or name != EVERYBODY}
    body = json.dumps(kept, sort_keys=True)
    await catalog.put(tenant, KIND, name, body, at=now, expected=found[0].version if found else 0)
    return kept


def over(records: Iterable[Record], limit: datetime) -> list[Record]:
    """Those whose time is over."""
    return [r for r in records if r.at < limit and not (isinstance(r, Memory) and (r.pinned or r.standing))]


def _days(body: str) -> dict[str, float | None]:
    return cast("dict[str, float | None]", json.loads(body))
