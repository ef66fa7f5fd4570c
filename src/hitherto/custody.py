"""What people may ask of their memory, as calls of the engine: forget it, keep it only so long, see who did what to it."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

from hitherto.clock import bound
from hitherto.errors import InvalidInput, NotFound
from hitherto.ingest import edit as editing
from hitherto.ingest import links as linking
from hitherto.privacy import forget as forgetting
from hitherto.privacy import retention
from hitherto.privacy import retention as retaining
from hitherto.privacy.audit import Event, Journal
from hitherto.privacy.forget import Receipt, Source, What
from hitherto.privacy.ledger import Forgotten, Ledger
from hitherto.store.catalog import UserKey
from hitherto.store.protocol import Scrubbed
from hitherto.types import Memory, Origin
from hitherto.workshop import Workshop

if TYPE_CHECKING:
    from hitherto.privacy.keyring import Keyring

EVENTS = 100


class Custody(Workshop):
    """Forgetting, retention, review and the audit log."""

    _ledger: Ledger | None
    _keyring: "Keyring | None"
    _actor: str

    @abstractmethod
    async def flush(self) -> None: ...

    @abstractmethod
    def _desk(self, user: str) -> editing.Desk: ...

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
        """Removes one thing and all that rests on it, for good; a receipt of counts and hashes.

        `origin`, `conversation` and `speaker` together name a source: everything that came from it goes.
        `dry_run` only counts.
        """
        what = What(
            turn=turn,
            memory=memory,
            entity=entity,
            lane=lane,
            persona=persona,
            before=before and bound(before, name="before"),
            source=Source.of(origin=origin, conversation=conversation, speaker=speaker),
            everything=everything,
        )
        await self.flush()
        key, now = UserKey(self._tenant, user), self._clock()
        counted = await forgetting.forget(self._user(user), what, indexer=self._indexer(), now=now, dry_run=True)
        if everything:
            counted = replace(counted, links=await linking.count(self._store.catalog, key))
        if dry_run:
            return counted
        # Noted outside the memory first: whatever happens from here on, no old backup brings it back.
        self._note_forgotten(key, counted, everything=everything)
        if everything:
            await self._forget_user(key)
            receipt = replace(counted, dry_run=False)
        else:
            receipt = await forgetting.forget(self._user(user), what, indexer=self._indexer(), now=now)
        self._recaller.forget(key)
        self._hints.note(key, now)
        await self._noted("forget", key, receipt)
        return receipt

    async def _forget_user(self, key: UserKey) -> None:
        """The key goes first: from that moment nothing of the user can be read, in no copy."""
        if self._keyring is not None and self._keyring.destroy(key.digest):
            await self._journal().note("key", user=key.digest, at=self._clock(), what="destroyed")
        await linking.unlink_all(self._store.catalog, key)
        await self._store.user(key).wipe()

    async def forget_again(self, ledger: str | Path | None = None) -> dict[str, Receipt]:
        """After a restore: forgets once more what the ledger says was forgotten since; what it found, by user."""
        book = Ledger(Path(ledger)) if ledger is not None else self._ledger
        if book is None:
            raise InvalidInput("there is no ledger of what was forgotten: name the file")
        lines = book.read()
        done: dict[str, Receipt] = {}
        for key in await self._store.catalog.users(self._tenant):
            receipt = await forgetting.again(
                self._store.user(key), _before(lines.get(key.digest, ())), indexer=self._indexer(), now=self._clock()
            )
            if receipt is not None:
                if receipt.what == forgetting.EVERYTHING:
                    await self._forget_user(key)
                done[key.user] = receipt
                self._recaller.forget(key)
                await self._noted("restore", key, receipt)
        return done

    async def scrub(self, *, progress: Callable[[int, int], None] | None = None) -> Scrubbed:
        """Rewrites what may still hold bytes of something forgotten: needed on PostgreSQL, for all users at once."""
        scrubbed = await self._store.scrub(progress=progress)
        await self._journal().note("scrub", user=None, at=self._clock(), files=scrubbed.files, left=len(scrubbed.left))
        return scrubbed

    # --- retention ---------------------------------------------------------------------------------------------------

    async def retention(self, *, user: str) -> dict[str, float]:
        """For how many days each kind is kept for this user; a kind that is missing is kept."""
        return dict((await retention.policy(self._store.catalog, UserKey(self._tenant, user))).days)

    async def set_retention(self, *, user: str | None = None, **days: float | None) -> dict[str, float | None]:
        """Days for each kind (turn, memory, episode, loop, thought, summary, snapshot), for the tenant or for one user;
        None keeps it. Nothing goes before `retain` is called."""
        name = retention.EVERYBODY if user is None else UserKey(self._tenant, user).digest
        kept = await retention.change(self._store.catalog, self._tenant, name, days, now=self._clock())
        whose = None if user is None else name
        await self._journal().note("retention", user=whose, at=self._clock(), days=dict(kept))
        return dict(kept)

    async def retain(self, *, user: str | None = None, dry_run: bool = False) -> dict[str, Receipt]:
        """Removes what is over its time, of one user or of all; with `dry_run` it only counts. Receipts by user."""
        await self.flush()
        done: dict[str, Receipt] = {}
        for name in [user] if user is not None else await self.users():
            key, now = UserKey(self._tenant, name), self._clock()
            limits = (await retention.policy(self._store.catalog, key)).limits(now)
            receipt = await retaining.retain(self._user(name), limits, now=now, dry_run=True) if limits else None
            if receipt is None:
                continue
            if not dry_run:
                self._note_forgotten(key, receipt, everything=False)
                receipt = await retaining.retain(self._user(name), limits, now=now) or receipt
                self._recaller.forget(key)
                await self._noted("retain", key, receipt)
            done[name] = receipt
        return done

    # --- what was held back ----------------------------------------------------------------------------------------------

    async def review(self, id: str, *, user: str, approve: bool) -> Memory:
        """A person's word on a memory that is held back (`memories(status="QUARANTINED")`): used from now on, or archived."""
        found = [m for m in await self.memories(user=user, status="QUARANTINED") if m.id == id]
        if not found:
            raise NotFound(f"there is no memory {id!r} that waits for a review")
        changes = {"status": "ACTIVE", "reason": None} if approve else {"status": "ARCHIVED", "reason": "rejected"}
        reviewed = cast(Memory, await editing.update(self._desk(user), id, changes))
        digest = UserKey(self._tenant, user).digest
        await self._journal().note("review", user=digest, at=self._clock(), memory=id, approved=approve)
        return reviewed

    # --- who did what ------------------------------------------------------------------------------------------------------

    async def events(self, *, user: str | None = None, limit: int = EVENTS, before: str | None = None) -> list[Event]:
        """The audit log, newest first: who forgot, exported, loaded or changed what, without content. `before` goes on
        behind the event of that id."""
        digest = None if user is None else UserKey(self._tenant, user).digest
        return await self._journal().events(user=digest, limit=limit, before=before)

    def _journal(self) -> Journal:
        return Journal(self._store.catalog, self._tenant, self._actor)

    async def _noted(self, deed: "forgetting.Deed", key: UserKey, receipt: Receipt) -> None:
        """Where everything of a user went, the numbers say all: a hash of each turn would be megabytes of some users."""
        await self._journal().note(
            deed,
            user=key.digest,
            at=receipt.at,
            what=receipt.what,
            turns=receipt.turns,
            records=dict(receipt.records),
            hashes=[] if receipt.what == forgetting.EVERYTHING else list(receipt.hashes),
        )

    def _note_forgotten(self, key: UserKey, receipt: Receipt, *, everything: bool) -> None:
        if self._ledger is not None:
            hashes = () if everything else receipt.hashes
            if hashes or everything:
                self._ledger.add(Forgotten(user=key.digest, at=receipt.at, hashes=hashes))


def _before(lines: Iterable[Forgotten]) -> Sequence[tuple[datetime, frozenset[str]]]:
    return [(line.at, frozenset(line.hashes)) for line in lines]
