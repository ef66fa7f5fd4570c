"""Who may run a user's work. A lease is one row in the user's own store, taken by compare-and-set under the user's lock.

A worker that was paused beyond its lease cannot do harm: the next holder has a higher fence, and a step commits only if its
own fence is still the newest. A lease that ends later than any taken now could counts as expired: its holder's clock was
ahead, or has since gone back, and the work would wait that long.
"""

from datetime import datetime, timedelta

from hitherto.errors import Fenced
from hitherto.store.protocol import Answers, Change, CurrentLease, Head, Lease, UserStore

DURATION = timedelta(seconds=60)


async def take(
    store: UserStore, *, holder: str, now: datetime, duration: timedelta = DURATION, seen: int = 0
) -> Lease | None:
    """A new lease, or None while another holder's has not expired. Also None if the log ends before entry `seen`: the user
    was forgotten in the meantime."""
    query, head = CurrentLease(), Head()
    taken: Lease | None = None

    def decide(answers: Answers) -> Change:
        nonlocal taken
        current = answers[query]
        others = current is not None and current.holder != holder and now < current.expires <= now + 2 * duration
        if others or answers[head] < seen:
            taken = None
            return Change()
        taken = Lease(holder=holder, fence=(current.fence if current else 0) + 1, expires=now + duration)
        return Change(lease=taken)

    await store.write(decide, query, head)
    return taken


async def renew(store: UserStore, lease: Lease, *, now: datetime, duration: timedelta = DURATION) -> Lease:
    """The same lease, extended; Fenced if someone else has taken over."""
    query = CurrentLease()
    renewed = Lease(holder=lease.holder, fence=lease.fence, expires=now + duration)

    def decide(answers: Answers) -> Change:
        check(answers[query], lease)
        return Change(lease=renewed)

    await store.write(decide, query)
    return renewed


async def prolong(store: UserStore, lease: Lease, *, now: datetime, duration: timedelta = DURATION) -> Lease:
    """The same lease, renewed once less than half of it is left: a write for each short step would be most of its cost."""
    return lease if lease.expires - now > duration / 2 else await renew(store, lease, now=now, duration=duration)


async def release(store: UserStore, lease: Lease, *, now: datetime) -> None:
    """Ends the lease now; does nothing if someone else has taken over already."""
    query = CurrentLease()

    def decide(answers: Answers) -> Change:
        current = answers[query]
        if not _is(current, lease):
            return Change()
        return Change(lease=Lease(holder=lease.holder, fence=lease.fence, expires=now))

    await store.write(decide, query)


def check(current: Lease | None, mine: Lease) -> None:
    """Raises Fenced unless the newest lease is mine."""
    if not _is(current, mine):
        raise Fenced(f"{mine.holder!r} lost the lease of this user; the step's result was discarded")


def _is(current: Lease | None, mine: Lease) -> bool:
    """Compares the holder as well: for a user who was forgotten and is back, fences start anew."""
    return current is not None and (current.fence, current.holder) == (mine.fence, mine.holder)
