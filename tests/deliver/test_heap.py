from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hitherto.deliver.heap import HEAPS

THREADS = """
import ctypes, threading
{first}
libc = ctypes.CDLL(None)
start = threading.Barrier(8)

def busy():
    start.wait()
    for _ in range(300):
        kept = [bytes(2_000) for _ in range(200)]
        ctypes.create_string_buffer(50_000)
        del kept

threads = [threading.Thread(target=busy) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
libc.malloc_info(0, ctypes.c_void_p.in_dll(libc, "stdout"))
"""


def heaps(first: str) -> int:
    """How many heaps a process has after eight threads were busy."""
    done = subprocess.run(
        [sys.executable, "-c", THREADS.format(first=first)], capture_output=True, text=True, check=True
    )
    return done.stdout.count("<heap nr=")


HOLES = """
import ctypes
from pathlib import Path
from hitherto.deliver.heap import give_back

def megabytes():
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("RssAnon")) / 1024

kept = [ctypes.create_string_buffer(50_000) for _ in range(2_000)]
most = megabytes()
del kept[::2]
left = megabytes()
give_back()
print(most, left, megabytes())
"""

APART = """
import ctypes
{first}
libc = ctypes.CDLL(None)
ctypes.create_string_buffer(5_000_000)
libc.malloc_info(0, ctypes.c_void_p.in_dll(libc, "stdout"))
kept = [ctypes.create_string_buffer(200_000) for _ in range(10)]
libc.malloc_info(0, ctypes.c_void_p.in_dll(libc, "stdout"))
"""

AGAIN = """
import ctypes, resource
{first}

def work():
    return [ctypes.create_string_buffer(50_000) for _ in range(16)]

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

work()
before = faults()
for _ in range(20):
    work()
print(faults() - before)
"""

FREED = """
import gc, sys, time
from hitherto.deliver import heap

gc.disable()
heap._GIVES_BACK_SECONDS = 0.02
kept = [tuple(range(n % 18 + 2)) for n in range(100_000)]
del kept
left = sys.getallocatedblocks()
{first}
ends = time.monotonic() + {seconds}
while sys.getallocatedblocks() > left - 20_000 and time.monotonic() < ends:
    time.sleep(0.02)
print(left - sys.getallocatedblocks())
"""

FROZEN = """
import asyncio, gc
from hitherto.deliver.http.server import application

async def main():
    app = application()
    before = len(gc.get_objects())
    async with app.router.lifespan_context(app):
        print(before, len(gc.get_objects()), gc.get_freeze_count())

asyncio.run(main())
"""

only_glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has heaps for threads")


@only_glibc
def test_threads_share_one_heap() -> None:
    assert heaps("from hitherto.deliver.heap import lean; assert lean()") == HEAPS
    assert heaps("") > HEAPS


@only_glibc
def test_what_is_free_between_pieces_in_use_is_given_back() -> None:
    done = subprocess.run([sys.executable, "-c", HOLES], capture_output=True, text=True, check=True)
    most, left, after = map(float, done.stdout.split())
    assert left > most - 5, "freed, and still the process's"
    assert after < most - 30


@only_glibc
def test_large_pieces_stay_out_of_the_heap() -> None:
    """Even after a still larger one has gone, which glibc would take for a sign to keep them there."""

    def apart(first: str) -> int:
        script = APART.format(first=first)
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        before, after = map(int, re.findall(r'^<total type="mmap" count="(\d+)"', done.stdout, re.MULTILINE))
        return after - before

    assert apart("from hitherto.deliver.heap import lean; assert lean()") >= 8, "the heap may have room for one"
    assert apart("") == 0


@only_glibc
def test_memory_that_is_asked_for_again_at_once_is_not_given_back_between() -> None:
    """As the columns in which turns are ranked are, at every message."""

    def pages(first: str) -> int:
        script = AGAIN.format(first=first)
        return int(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout)

    assert pages("from hitherto.deliver.heap import lean; assert lean()") < 500
    assert pages("") > 2_000


@only_glibc
def test_what_python_keeps_for_the_next_ones_is_let_go() -> None:
    def let_go(first: str, *, seconds: float) -> int:
        script = FREED.format(first=first, seconds=seconds)
        return int(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout)

    assert let_go("heap.lean()", seconds=30) >= 20_000
    assert let_go("", seconds=0.5) < 5_000


def test_the_collector_leaves_alone_what_a_service_starts_with(tmp_path: Path) -> None:
    environment = {**os.environ, "HITHERTO_DATA": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", FROZEN], capture_output=True, text=True, check=True, env=environment)
    before, looked_through, left_alone = map(int, done.stdout.split())
    assert left_alone > before * 0.9
    assert looked_through < before / 100
