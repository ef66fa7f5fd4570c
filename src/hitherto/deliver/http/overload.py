"""Whether a process has had more to do than it can for a while, and whether its processor is what it is short of.

Several requests at once are worth it while each of them waits for something else: a disk, a database. Once one processor is
all that they share, two at once are each twice as late and no more of them are done.
"""

import math
import time
from collections.abc import Callable

LASTS_BELOW = math.exp(-3)
"""Overload lasts once there was room for one more request in less than this share of the time lately,"""
ENDS_ABOVE = 0.35
"""and is over once there was in more than this."""
PROCESSOR_IS_SHORT = (0.7, 1.2)
"""Seconds of processor time a second between which one processor is what limits the process. With less it waits for
something else; with more it uses several."""

Now = Callable[[], float]


def at_once(number: int, *, processor: float) -> int:
    """How many of at most `number` requests are worth working on at once, by processor seconds a second."""
    least, most = PROCESSOR_IS_SHORT
    return 1 if least <= processor <= most else number


class Overload:
    """Lasts after so many seconds without room. Told at every change whether there is room from now on."""

    def __init__(self, seconds: float, *, now: Now = time.monotonic, processor: Now = time.process_time) -> None:
        self._lately = seconds / 3
        self._now = now
        self._processor = processor
        self._seen = self._measured = now()
        self._used = processor()
        self._room = True
        self._ease = 1.0
        self.processor = 0.0
        self.lasts = False

    def see(self) -> float:
        """Takes in the time since the last look; the time it is."""
        now = self._now()
        kept = math.exp((self._seen - now) / self._lately)
        self._ease = self._ease * kept + (1 - kept) * self._room
        self._seen = now
        if self._ease <= LASTS_BELOW:
            self.lasts = True
        elif self._ease > ENDS_ABOVE:
            self.lasts = False
        if now - self._measured >= self._lately:
            used = self._processor()
            self.processor = (used - self._used) / (now - self._measured)
            self._used, self._measured = used, now
        return now

    def leave(self, *, room: bool) -> None:
        """Whether there is room for one more until the next look."""
        self.see()
        self._room = room
