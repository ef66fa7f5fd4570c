"""Keeps the heaps of a long-running process small.

glibc gives threads heaps of their own, up to eight per core, and memory that one thread frees in its heap is not available
to another. A store's threads open and close users' files all day, so each heap grows to its own high-water mark. With one
heap the process keeps what it needs once, and its threads, which Python runs one at a time, hardly wait for each other:
small pieces come from their own caches anyway. The setting has to be made before there is a thread, because a heap that one
has begun is passed on. Free memory between two pieces in use stays with the process as well unless it is asked for, so it
is returned every few seconds. A little free memory at the heap's end waits for that too: glibc would otherwise return at
once what the next context asks for again, page by page.

Small long-lived pieces must not end up in the space that large ones left behind, such as a network buffer or SQLite's room
for a connection, or the heap keeps growing at constant use. So large pieces have mappings of their own, which are released
with them; glibc starts out the same way, but moves them into the heap once it has seen one freed.

Python's collector occasionally scans everything, while the process waits. Most of it is what the process started with, and
none of that is ever garbage. Excluding it leaves so little that the collector hardly ever runs; but only then does Python
release its free lists, up to two thousand tuples of every size, which fill up over hours. So the collector is called once a
minute.
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
"""Roughly the size of the columns in which ten thousand turns are ranked."""
_M_ARENA_MAX: Final = -8
_M_MMAP_THRESHOLD: Final = -3
_M_TRIM_THRESHOLD: Final = -1
_GIVES_BACK_SECONDS: Final = 10.0
_COLLECTS_EVERY: Final = 6
"""Memory is returned this many times between collections, which makes one collection a minute."""


@cache
def lean() -> bool:
    """Call before threads are started; returns False if the C library has no such settings."""
    library = _library()
    if not hasattr(library, "mallopt") or not hasattr(library, "malloc_trim"):
        return False
    settings = (_M_ARENA_MAX, HEAPS), (_M_MMAP_THRESHOLD, LARGE), (_M_TRIM_THRESHOLD, AT_THE_END)
    done = all(library.mallopt(*setting) for setting in settings)
    threading.Thread(target=_keep_giving_back, name="hitherto-heap", daemon=True).start()
    return done


def settled() -> None:
    """Call once the process holds what it starts with: the collector ignores that from then on. A service holds so much of
    it that scanning it takes a tenth of a second."""
    gc.collect()
    gc.freeze()


def give_back() -> None:
    """Returns free heap memory to the system."""
    _library().malloc_trim(0)


@cache
def _library() -> ctypes.CDLL:
    """Loaded once per process, because each load creates a class of its own."""
    return ctypes.CDLL(None)


def _keep_giving_back() -> None:
    for times in count(1):
        time.sleep(_GIVES_BACK_SECONDS)
        if times % _COLLECTS_EVERY == 0:
            gc.collect()
        give_back()
