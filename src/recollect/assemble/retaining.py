"""What is over its time goes, kind by kind, for good. What was learnt from an old turn has a time of its own."""

from collections.abc import Mapping
from datetime import datetime

from recollect.assemble import snapshot
from recollect.assemble.forgetting import ALL, BATCH, Receipt, all_records, all_turns, receipt_of, tells
from recollect.ingest import retention
from recollect.store import nouns
from recollect.store.base import Answers, Change, Erasure, Notes, SnapshotList, TurnList, UserStore
from recollect.types import Record


async def retain(
    store: UserStore, limits: Mapping[str, datetime], *, now: datetime, dry_run: bool = False
) -> Receipt | None:
    """Removes what is older than its kind's limit; None when nothing is."""
    turns: list[str] = []
    if limit := limits.get("turn"):
        turns = [turn.id for turn in await all_turns(store, TurnList(until=limit, limit=BATCH))]
    records: dict[str, Record] = {}
    for noun in nouns.NOUNS:
        if limit := limits.get(noun):
            records |= {record.id: record for record in retention.over(await all_records(store, noun), limit)}
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
