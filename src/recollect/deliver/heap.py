"""The C library's heaps in a process that runs for weeks.

glibc gives threads heaps of their own, up to eight for each core, and memory that one thread frees in its heap is not there
for another. A store's threads open and close users' files all day, so each heap grows to its own high mark. With two heaps
the process keeps what it needs once, and its threads, which Python runs one at a time, hardly wait for each other.
"""

import ctypes
from typing import Final

HEAPS: Final = 2
_M_ARENA_MAX: Final = -8


def few_heaps() -> bool:
    """To be called before threads are started; False where the C library has no such setting."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and bool(mallopt(_M_ARENA_MAX, HEAPS))
