"""One process by itself: its own workers are woken at once, everything else is between it and the database."""

import asyncio

from hitherto.store.catalog import UserKey


class Alone:
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
