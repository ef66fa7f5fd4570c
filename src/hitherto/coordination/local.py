"""One process by itself: its own workers are woken at once, everything else is between it and the database."""

import asyncio
from typing import Final, Protocol

from hitherto.store.catalog import UserKey


class LocalCoordination:
    """Nobody beside the database."""

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


# What processes on one database may tell each other beside it.
#
# Nothing here is needed: the database holds every turn, cursor, lease and hint, and answers for them alone. A wake-up that is
# lost costs a worker's pause, a claim that is lost a transaction that finds the user leased, an exchanged value a number in a
# report. So no call here raises or waits long; what cannot be had is as if nobody else were there.

DEADLINE: Final = 0.1
"""Seconds that a call may take."""


class Coordination(Protocol):
    """Wake-ups, claims and small values between the processes of one memory."""

    async def ring(self, count: int = 1) -> None:
        """So many users have something due: as many waiting workers are woken."""
        ...

    async def rung(self, *, within: float) -> bool:
        """Returns when somebody rang, or after so many seconds; whether somebody did."""
        ...

    async def claim(self, key: UserKey, *, holder: str) -> bool:
        """Whether nobody else is at this user's work as far as is known here. The lease in the user's store decides."""
        ...

    async def release(self, key: UserKey, *, holder: str) -> None:
        """Ends the holder's claim; nothing if it is somebody else's."""
        ...

    async def exchange(self, name: str, value: bytes) -> bytes | None:
        """The value that any process last gave under this name, for some time; from now on it is this one."""
        ...

    @property
    def shares(self) -> bool:
        """Whether there is anybody to exchange values with; where not, making them can be spared."""
        ...

    async def problem(self) -> str | None:
        """What is wrong, in words for an operator."""
        ...

    async def close(self) -> None: ...
