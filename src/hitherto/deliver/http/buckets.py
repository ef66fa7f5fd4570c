"""How often a key may call: a bucket of tokens for each, filled at its rate up to its burst."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from hitherto.errors import RateLimited

MOST_KEPT = 100_000


@dataclass(slots=True)
class Bucket:
    level: float
    at: float


class Buckets:
    """The buckets of one process. With several processes each gets its share of the rate, since requests spread over them."""

    def __init__(self, *, rate: float, burst: int, share: int = 1, now: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._burst = max(1.0, burst / share)
        self._share = share
        self._now = now
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def take(self, name: str, *, rate: float | None = None) -> None:
        """Takes one token, or RateLimited with the time until there is one. A rate of 0 sets no limit."""
        per_second = (self._rate if rate is None else rate) / self._share
        if per_second <= 0:
            return
        now = self._now()
        bucket = self._buckets.get(name) or Bucket(level=self._burst, at=now)
        level = min(self._burst, bucket.level + (now - bucket.at) * per_second)
        allowed = level >= 1
        self._buckets[name] = Bucket(level=level - 1 if allowed else level, at=now)
        self._buckets.move_to_end(name)
        while len(self._buckets) > MOST_KEPT:
            self._buckets.popitem(last=False)
        if not allowed:
            raise RateLimited(retry_after=(1 - level) / per_second)
