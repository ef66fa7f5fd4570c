"""One process by itself: it wakes its own workers at once; everything else is between it and the database."""

import asyncio
from typing import Final, Protocol

from hitherto.store.catalog import UserKey


class LocalCoordination:
    """No other processes beside the database."""

    shares = False

    def __init__(self) -> None:
        self._bell = asyncio.Event()

    async def ring(self, count: int = 1) -> None:
        del count
        self._bell.set()

    async def rung(self, *, within: float) -> bool:
        try:
            await asyncio.wait_for(self._bell.wait(), within)
        except TimeoutError:
            return False
        self._bell.clear()
        return True

    async def claim(self, key: UserKey, *, holder: str) -> bool:
        del key, holder
        return True

    async def release(self, key: UserKey, *, holder: str) -> None:
        del key, holder

    async def exchange(self, name: str, value: bytes) -> bytes | None:
        del name, value
        return None

    async def problem(self) -> str | None:
        return None

    async def close(self) -> None:
        return None


# What processes on one database may tell each other outside it.
#
# None of it is needed: the database holds every turn, cursor, lease and hint, and answers for them alone. A lost wake-up
# costs a worker's pause, a lost claim a transaction that finds the user leased, a lost value a number in a report. So no
# call here raises or waits for long; if one fails, the process behaves as if it were alone.

DEADLINE: Final = 0.1
"""The longest a call may take, in seconds."""


class Coordination(Protocol):
    """Wake-ups, claims and small values shared by the processes of one memory."""

    async def ring(self, count: int = 1) -> None:
        """This many users have work due: wakes as many waiting workers."""
        ...

    async def rung(self, *, within: float) -> bool:
        """Waits for a wake-up for at most so many seconds; returns whether one came."""
        ...

    async def claim(self, key: UserKey, *, holder: str) -> bool:
        """Whether nobody else is known to be working on this user. The lease in the user's store decides."""
        ...

    async def release(self, key: UserKey, *, holder: str) -> None:
        """Ends the holder's claim; leaves anybody else's alone."""
        ...

    async def exchange(self, name: str, value: bytes) -> bytes | None:
        """Replaces the shared value under this name and returns the previous one, unless it has expired."""
        ...

    @property
    def shares(self) -> bool:
        """Whether there are other processes to share values with; if not, computing them can be skipped."""
        ...

    async def problem(self) -> str | None:
        """What is wrong, in words for an operator."""
        ...

    async def close(self) -> None: ...
