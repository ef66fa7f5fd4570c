"""The heaps of a process that runs for weeks.

glibc gives threads heaps of their own, up to eight for each core, and memory that one thread frees in its heap is not there
for another. A store's threads open and close users' files all day, so each heap grows to its own high mark. With one heap
the process keeps what it needs once, and its threads, which Python runs one at a time, hardly wait for each other: small
pieces they have at hand anyway. It has to be said before there is a thread, for a heap that one has begun goes to others too.
What is free between two pieces in use stays with the process as well, unless it is asked for: every few seconds it is given
back. What is free at the heap's end waits for that as well, if it is little: glibc would give back at once what the next
context asks for again, page by page.

Small pieces that are in use for long must not come to lie in what large ones left behind, such as a network buffer or
SQLite's room for a connection, or the heap grows further with as much in use as before. So large pieces have memory of their
own, which goes when they go; glibc begins so as well, but moves them into the heap as soon as it has seen one go.

Python's collector looks through all that is held now and then, while everything waits. Most of it is what the process started
with, and none of that is ever garbage. Without it, so little is left that the collector hardly ever comes; but only then does
Python let go of what it keeps for the next ones of a kind, up to two thousand tuples of every size, which fill up for hours. So
once a minute the collector is called.
"""

import ctypes
import gc
import threading
import time
from functools import cache
from itertools import count
from typing import Final

HEAPS: Final = 1
LARGE: Final = 64 * 1024
AT_THE_END: Final = 1024 * 1024
"""About what the columns take in which ten thousand turns are ranked."""
_M_ARENA_MAX: Final = -8
_M_MMAP_THRESHOLD: Final = -3
_M_TRIM_THRESHOLD: Final = -1
_GIVES_BACK_SECONDS: Final = 10.0
_COLLECTS_EVERY: Final = 6
"""Times of giving back: once a minute."""


@cache
def lean() -> bool:
    """To be called before threads are started; False where the C library has no such settings."""
    library = _library()
    if not hasattr(library, "mallopt") or not hasattr(library, "malloc_trim"):
        return False
    settings = (_M_ARENA_MAX, HEAPS), (_M_MMAP_THRESHOLD, LARGE), (_M_TRIM_THRESHOLD, AT_THE_END)
    done = all(library.mallopt(*setting) for setting in settings)
    threading.Thread(target=_keep_giving_back, name="hitherto-heap", daemon=True).start()
    return done


def settled() -> None:
    """To be called once the process holds what it starts with: the collector leaves that alone from then on. A service holds
    so much of it that looking through it takes a tenth of a second."""
    gc.collect()
    gc.freeze()


def give_back() -> None:
    """Returns what is free in the heaps to the system."""
    _library().malloc_trim(0)


@cache
def _library() -> ctypes.CDLL:
    """One for the process: each that is made brings a class of its own."""
    return ctypes.CDLL(None)


def _keep_giving_back() -> None:
    for times in count(1):
        time.sleep(_GIVES_BACK_SECONDS)
        if times % _COLLECTS_EVERY == 0:
            gc.collect()
        give_back()
