"""Where the work stands for one user, for people: each step's cursor, how far behind it is, and what went wrong."""

from dataclasses import dataclass
from datetime import datetime

from hitherto.store.protocol import CurrentLease, Cursor, Cursors, Head, UserStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """`head` is the log's newest entry; `holder` works on this user at the moment, if anybody does; `capped` says which cap on
    a model's tokens is reached for today ("user", "tenant"), so that rules do the work."""

    head: int
    cursors: tuple[Cursor, ...]
    holder: str | None
    capped: str | None = None

    @property
    def parked(self) -> tuple[Cursor, ...]:
        return tuple(cursor for cursor in self.cursors if cursor.parked)


async def status(store: UserStore, *, now: datetime, capped: str | None = None) -> Status:
    head, current, held = Head(), Cursors(), CurrentLease()
    answers = await store.read(head, current, held)
    lease = answers[held]
    return Status(
        head=answers[head],
        cursors=answers[current],
        holder=lease.holder if lease is not None and lease.expires > now else None,
        capped=capped,
    )
