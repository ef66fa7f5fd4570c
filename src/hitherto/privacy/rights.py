"""Privacy requests of one tenant: forget, forget again after a restore, apply retention, and show who did what.

What is forgotten is noted in the ledger before anything is removed, so that no old backup brings it back; every request
leaves an entry in the audit log, without content.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from hitherto.clock import Clock
from hitherto.errors import InvalidInput, NotFound
from hitherto.ingest import edit as editing
from hitherto.ingest import profiles
from hitherto.ingest.record import Indexer
from hitherto.privacy import forget as forgetting
from hitherto.privacy import retention
from hitherto.privacy.audit import Event, Journal
from hitherto.privacy.forget import Receipt, What
from hitherto.privacy.ledger import Forgotten, Ledger
from hitherto.store.catalog import UserKey
from hitherto.store.protocol import Scrubbed, Store
from hitherto.types import Json, Memory, Record

if TYPE_CHECKING:
    from hitherto.privacy.keyring import Keyring

EVENTS = 100
"""How many entries of the audit log a call returns by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Privacy:
    """The store, with everything else a request has to reach. `dropped` empties the caches of a user whose memory changed."""

    store: Store
    tenant: str
    actor: str
    clock: Clock
    indexer: Indexer
    ledger: Ledger | None
    keyring: "Keyring | None"
    dropped: Callable[[UserKey], None]

    @property
    def journal(self) -> Journal:
        return Journal(self.store.catalog, self.tenant, self.actor)

    async def forget(self, key: UserKey, what: What, *, dry_run: bool) -> Receipt:
        """Removes one thing and everything derived from it."""
        store, now = self.store.user(key), self.clock()
        counted = await forgetting.forget(store, what, indexer=self.indexer, now=now, dry_run=True)
        if what.everything:
            counted = replace(counted, links=await profiles.count_links(self.store.catalog, key))
        if dry_run:
            return counted
        self._note_forgotten(key, counted, life=await forgetting.life(store) if what.everything else None)
        if what.everything:
            await self._forget_user(key)
            receipt = replace(counted, dry_run=False)
        else:
            receipt = await forgetting.forget(store, what, indexer=self.indexer, now=now)
        self.dropped(key)
        await self._note_receipt("forget", key, receipt)
        return receipt

    async def forget_again(self, ledger: str | Path | None) -> dict[str, Receipt]:
        """Removes what a restored backup brought back."""
        book = Ledger(Path(ledger)) if ledger is not None else self.ledger
        if book is None:
            raise InvalidInput("this memory has no ledger of what was forgotten; name the file")
        lines = book.read()
        done: dict[str, Receipt] = {}
        for key in await self.store.catalog.users(self.tenant):
            gone = lines.get(key.digest, ())
            receipt = await forgetting.reapply(self.store.user(key), gone, indexer=self.indexer, now=self.clock())
            if receipt is not None:
                if receipt.what == forgetting.EVERYTHING:
                    await self._forget_user(key)
                done[key.user] = receipt
                self.dropped(key)
                await self._note_receipt("restore", key, receipt)
        return done

    async def scrub(self, *, progress: Callable[[int, int], None] | None) -> Scrubbed:
        """Rewrites what may still hold bytes of something forgotten."""
        scrubbed = await self.store.scrub(progress=progress)
        await self.journal.note("scrub", user=None, at=self.clock(), files=scrubbed.files, left=len(scrubbed.left))
        return scrubbed

    async def set_retention(self, key: UserKey | None, days: dict[str, float | None]) -> dict[str, float | None]:
        """Days for each kind, for one user or, without a key, for the tenant."""
        name = retention.EVERYBODY if key is None else key.digest
        kept = await retention.change(self.store.catalog, self.tenant, name, days, now=self.clock())
        whose = None if key is None else name
        await self.journal.note("retention", user=whose, at=self.clock(), days=dict(kept))
        return dict(kept)

    async def retain(self, users: Iterable[str], *, dry_run: bool) -> dict[str, Receipt]:
        """Removes what is older than its retention allows; receipts by user."""
        done: dict[str, Receipt] = {}
        for name in users:
            key, now = UserKey(self.tenant, name), self.clock()
            limits = (await retention.policy(self.store.catalog, key)).limits(now)
            receipt = await retention.retain(self.store.user(key), limits, now=now, dry_run=True) if limits else None
            if receipt is None:
                continue
            if not dry_run:
                self._note_forgotten(key, receipt)
                receipt = await retention.retain(self.store.user(key), limits, now=now) or receipt
                self.dropped(key)
                await self._note_receipt("retain", key, receipt)
            done[name] = receipt
        return done

    async def review(self, desk: editing.Desk, key: UserKey, waiting: Sequence[Record], *, approve: bool) -> Memory:
        """Uses a quarantined memory from now on, or archives it."""
        if not waiting:
            raise NotFound("no memory with this id is waiting for review")
        changes: dict[str, Json] = (
            {"status": "ACTIVE", "reason": None} if approve else {"status": "ARCHIVED", "reason": "rejected"}
        )
        reviewed = cast(Memory, await editing.update(desk, waiting[0].id, changes))
        await self.journal.note("review", user=key.digest, at=self.clock(), memory=reviewed.id, approved=approve)
        return reviewed

    async def events(self, key: UserKey | None, *, limit: int, before: str | None) -> list[Event]:
        """The audit log, newest first."""
        digest = None if key is None else key.digest
        return await self.journal.events(user=digest, limit=limit, before=before)

    async def _forget_user(self, key: UserKey) -> None:
        """The key goes first: from then on nothing of the user can be read, in any copy."""
        if self.keyring is not None and self.keyring.destroy(key.digest):
            await self.journal.note("key", user=key.digest, at=self.clock(), what="destroyed")
        await profiles.unlink_all(self.store.catalog, key)
        await self.store.user(key).wipe()

    def _note_forgotten(self, key: UserKey, receipt: Receipt, *, life: str | None = None) -> None:
        """With a `life`, everything of it went."""
        if self.ledger is None:
            return
        if life is not None:
            self.ledger.add(Forgotten(user=key.digest, at=receipt.at, life=life))
        elif receipt.hashes:
            self.ledger.add(Forgotten(user=key.digest, at=receipt.at, hashes=receipt.hashes))

    async def _note_receipt(self, deed: forgetting.Deed, key: UserKey, receipt: Receipt) -> None:
        """If a whole user went, the numbers are enough: a hash of each turn would be megabytes for some users."""
        await self.journal.note(
            deed,
            user=key.digest,
            at=receipt.at,
            what=receipt.what,
            turns=receipt.turns,
            records=dict(receipt.records),
            hashes=[] if receipt.what == forgetting.EVERYTHING else list(receipt.hashes),
        )
