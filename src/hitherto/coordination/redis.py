"""A Redis beside the database: one list that wakes workers, short claims, and small values that expire.

Everything in it may vanish at any moment. Each call has a deadline, and after a failure Redis is left alone for a while, so
that a hanging server costs one deadline now and then rather than one per call. It holds no user's text, only names that are
hashes.
"""

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from hitherto.coordination.local import DEADLINE
from hitherto.errors import InvalidInput, MissingExtra
from hitherto.store.catalog import UserKey

if TYPE_CHECKING:
    pass

LOG = logging.getLogger("hitherto.work")

SILENCE: Final = 5.0
"""Seconds during which Redis is not asked after it failed to answer."""
CLAIMED: Final = 10.0
"""Seconds that a claim lasts. If it ends before the work does, the lease in the database still keeps others away."""
KEPT: Final = 3_600
"""Seconds that a shared value lasts: as long as providers keep a prompt at most."""
CONNECTIONS: Final = 8
MOST_RINGS: Final = 64
"""The most wake-ups that wait for workers; more than there are workers would wake nobody."""

_RELEASE: Final = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"

R = TypeVar("R")


class RedisCoordination:
    """The processes of one memory that can be reached through a Redis."""

    shares = True

    def __init__(self, url: str, *, memory: str, deadline: float = DEADLINE, silence: float = SILENCE) -> None:
        """`memory` is the place of the memory; others in the same Redis are kept apart from it."""
        try:
            from redis.asyncio import BlockingConnectionPool, Redis
            from redis.asyncio.retry import Retry
            from redis.backoff import NoBackoff
            from redis.exceptions import RedisError
        except ImportError as error:
            raise MissingExtra("Redis support needs an extra: pip install 'hitherto[redis]'") from error
        self._deadline = deadline
        self._silence = silence
        self._prefix = f"hitherto:{blake2b(memory.encode(), digest_size=8).hexdigest()}"
        self._errors = (RedisError, OSError, TimeoutError)
        self._silent_until = -math.inf
        self._lost: str | None = None
        pools: Any = BlockingConnectionPool  # its keywords have no types
        # One more attempt covers connections that a restarted server has forgotten.
        options = {"max_connections": CONNECTIONS, "retry": Retry(NoBackoff(), 1), "socket_connect_timeout": deadline}
        try:
            self._redis: Redis = Redis(connection_pool=pools.from_url(url, timeout=deadline, **options))
            self._bell: Redis = Redis(connection_pool=pools.from_url(url, **options))
        except ValueError as error:
            raise InvalidInput(f"the Redis URL cannot be used: {error}") from error

    async def ring(self, count: int = 1) -> None:
        """One entry wakes one worker; entries that nobody takes expire with a claim."""
        rings = min(count, MOST_RINGS)
        if rings < 1:
            return
        name = self._name("rings")

        async def push() -> None:
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.rpush(name, *[b"1"] * rings)
                pipe.ltrim(name, -MOST_RINGS, -1)
                pipe.pexpire(name, int(CLAIMED * 1000))
                await pipe.execute()

        await self._ask(push, otherwise=None)

    async def rung(self, *, within: float) -> bool:
        """Waits in Redis; while Redis is away, sleeps for as long."""
        begun = time.monotonic()

        async def pop() -> bool:
            found = await cast("Awaitable[object]", self._bell.blpop([self._name("rings")], timeout=within))
            return found is not None

        if await self._ask(pop, otherwise=False, within=within):
            return True
        await asyncio.sleep(max(0.0, begun + within - time.monotonic()))
        return False

    async def claim(self, key: UserKey, *, holder: str) -> bool:
        name = self._name("claim", key.digest)

        async def take() -> bool:
            if await self._redis.set(name, holder, nx=True, px=int(CLAIMED * 1000)):
                return True
            return await self._redis.get(name) in (None, holder.encode())

        return await self._ask(take, otherwise=True)

    async def release(self, key: UserKey, *, holder: str) -> None:
        name = self._name("claim", key.digest)

        async def let_go() -> None:
            await cast("Awaitable[object]", self._redis.eval(_RELEASE, 1, name, holder))

        await self._ask(let_go, otherwise=None)

    async def exchange(self, name: str, value: bytes) -> bytes | None:
        whole = self._name("value", blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest())

        async def swap() -> bytes | None:
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.get(whole)
                pipe.set(whole, value, ex=KEPT)
                before, _ = await pipe.execute()
            return before

        return await self._ask(swap, otherwise=None)

    async def problem(self) -> str | None:
        async def ping() -> bool:
            await self._redis.exists(self._prefix)
            return True

        if await self._ask(ping, otherwise=False):
            return None
        return f"Redis does not answer ({self._lost}); everything works without it, workers wake later"

    async def close(self) -> None:
        for client in (self._redis, self._bell):
            await client.aclose()
            await client.connection_pool.disconnect()

    def _name(self, *parts: str) -> str:
        return ":".join((self._prefix, *parts))

    async def _ask(self, call: Callable[[], Awaitable[R]], *, otherwise: R, within: float = 0.0) -> R:
        """What Redis answers in time (`within` is added to the deadline), or `otherwise`."""
        if time.monotonic() < self._silent_until:
            return otherwise
        try:
            async with asyncio.timeout(self._deadline + within):
                answer = await call()
        except self._errors as error:
            if self._lost is None:
                LOG.warning("Redis does not answer (%s); going on without it", type(error).__name__)
            self._lost = type(error).__name__
            self._silent_until = time.monotonic() + self._silence
            return otherwise
        if self._lost is not None:
            LOG.info("Redis answers again")
        self._lost = None
        return answer
