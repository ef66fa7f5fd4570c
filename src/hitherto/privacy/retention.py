"""Removes what has outlived its retention period, kind by kind, for good. What was learnt from an old turn has a period of
its own."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, cast

from hitherto.assemble import snapshot
from hitherto.errors import InvalidInput
from hitherto.privacy.forget import ALL, BATCH, Receipt, receipt_of, tells
from hitherto.store import records as nouns
from hitherto.store.catalog import Catalog, UserKey
from hitherto.store.codec import dump
from hitherto.store.protocol import Answers, Change, Erasure, Log, Notes, Row, SnapshotList, UserStore
from hitherto.types import Memory, Record


async def retain(
    store: UserStore, limits: Mapping[str, datetime], *, now: datetime, dry_run: bool = False
) -> Receipt | None:
    """Removes what is older than its kind's limit; None if nothing is."""
    turns, records = await _over(store, limits)
    gone = {*turns, *records}
    taken, cached = SnapshotList(limit=ALL), Notes(prefix="")
    receipt: Receipt | None = None

    def decide(answers: Answers) -> Change:
        nonlocal receipt
        oldest = limits.get("snapshot")
        expired = [s for s in answers[taken] if oldest is not None and s.at < oldest]
        kept = [s for s in answers[taken] if s not in expired]
        shared = {name for s in kept for name in snapshot.blob_names(s)}
        shown = {name for s in kept for name in snapshot.blobs_of(s, gone)}
        alone = {name for s in expired for name in snapshot.blob_names(s)} - shared
        receipt = receipt_of("retention", turns, records.values(), len(expired), now=now, dry_run=dry_run)
        if dry_run or not (gone or expired):
            return Change()
        return Change(
            erase=Erasure(
                turns=tuple(turns),
                records=tuple(sorted(records)),
                snapshots=tuple(s.id for s in expired),
                blobs=tuple(sorted(shown | alone)),
                notes=tuple(note.name for note in answers[cached] if gone and tells(note.name, gone)),
            ),
            retired_at=now,
        )

    await store.write(decide, taken, cached)
    assert receipt is not None, "write calls the decision or raises"
    return receipt if receipt.turns or receipt.records or receipt.snapshots else None


async def _over(store: UserStore, limits: Mapping[str, datetime]) -> tuple[list[str], dict[str, Record]]:
    """The turns and records past their limit, judged by their last version: ended ones are kept no longer than the rest."""
    turns: dict[str, datetime] = {}
    rows: dict[str, Row] = {}
    query = Log(limit=BATCH)
    while entries := (await store.read(query))[query]:
        turns |= {entry.id: entry.turn.at for entry in entries if entry.turn is not None}
        rows |= {entry.id: entry.row for entry in entries if entry.row is not None and entry.row.noun in limits}
        query = replace(query, after=entries[-1].seq)
    over = [record for row in rows.values() for record in overdue([nouns.record(row)], limits[row.noun])]
    oldest = limits.get("turn")
    return [name for name, at in turns.items() if oldest and at < oldest], {record.id: record for record in over}


# Retention periods: days for each kind, for a tenant and for single users. Pure, except for the catalog.
#
# A kind without a number is kept until it is forgotten. Pinned records are kept whatever their kind. A turn past its limit
# goes with its words and vectors; what was learnt from it stays for its own period.

KIND: Final = "retention"
EVERYBODY: Final = "*"
KINDS: Final = ("turn", "memory", "episode", "loop", "thought", "summary", "snapshot")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Days by kind; a kind that is not named is kept."""

    days: Mapping[str, float] = field(default_factory=dict[str, float])

    def limits(self, now: datetime) -> dict[str, datetime]:
        """For each limited kind, the moment before which it has expired."""
        return {kind: now - timedelta(days=days) for kind, days in self.days.items()}


def checked(days: Mapping[str, float | None]) -> None:
    for kind, value in days.items():
        if kind not in KINDS:
            raise InvalidInput(f"there is no retention for {kind!r}; use one of {', '.join(KINDS)}")
        if isinstance(value, str) or (value is not None and not 0 < value < 100_000):
            raise InvalidInput(f"{kind}={value!r} is not a number of days; write {kind}=365, or {kind}=null to keep it")


async def policy(catalog: Catalog, key: UserKey) -> Policy:
    """The user's own numbers, which override the tenant's."""
    found = {d.name: _days(d.body) for d in await catalog.documents(key.tenant, KIND, [EVERYBODY, key.digest])}
    merged = {**found.get(EVERYBODY, {}), **found.get(key.digest, {})}
    return Policy(days={kind: days for kind, days in merged.items() if days is not None})


async def change(
    catalog: Catalog, tenant: str, name: str, days: Mapping[str, float | None], *, now: datetime
) -> Mapping[str, float | None]:
    """Sets these kinds and leaves the others. For a single user, None means kept, whatever the tenant's number is."""
    checked(days)
    found = await catalog.documents(tenant, KIND, [name])
    merged = {**(_days(found[0].body) if found else {}), **days}
    kept = {kind: value for kind, value in merged.items() if value is not None or name != EVERYBODY}
    body = dump(kept)
    await catalog.put(tenant, KIND, name, body, at=now, expected=found[0].version if found else 0)
    return kept


def overdue(records: Iterable[Record], limit: datetime) -> list[Record]:
    """The records past the limit."""
    return [r for r in records if r.at < limit and not (isinstance(r, Memory) and (r.pinned or r.standing))]


def _days(body: str) -> dict[str, float | None]:
    return cast("dict[str, float | None]", json.loads(body))
