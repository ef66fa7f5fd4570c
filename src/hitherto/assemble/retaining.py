"""What is over its time goes, kind by kind, for good. What was learnt from an old turn has a time of its own."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from hitherto.assemble import snapshot
from hitherto.assemble.forgetting import ALL, BATCH, Receipt, receipt_of, tells
from hitherto.ingest import retention
from hitherto.store import nouns
from hitherto.store.base import Answers, Change, Erasure, Log, Notes, Row, SnapshotList, UserStore
from hitherto.types import Record


async def retain(
    store: UserStore, limits: Mapping[str, datetime], *, now: datetime, dry_run: bool = False
) -> Receipt | None:
    """Removes what is older than its kind's limit; None when nothing is."""
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
    """The turns and records that are over their time, by their last version: what was ended is kept no longer than the rest."""
    turns: dict[str, datetime] = {}
    rows: dict[str, Row] = {}
    query = Log(limit=BATCH)
    while entries := (await store.read(query))[query]:
        turns |= {entry.id: entry.turn.at for entry in entries if entry.turn is not None}
        rows |= {entry.id: entry.row for entry in entries if entry.row is not None and entry.row.noun in limits}
        query = replace(query, after=entries[-1].seq)
    over = [record for row in rows.values() for record in retention.over([nouns.record(row)], limits[row.noun])]
    oldest = limits.get("turn")
    return [name for name, at in turns.items() if oldest and at < oldest], {record.id: record for record in over}
