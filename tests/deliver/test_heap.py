from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from recollect.deliver.heap import HEAPS

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
from recollect.deliver.heap import give_back

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

only_glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has heaps for threads")


@only_glibc
def test_threads_share_a_few_heaps() -> None:
    assert heaps("from recollect.deliver.heap import lean; assert lean()") <= HEAPS
    assert heaps("") > HEAPS


@only_glibc
def test_what_is_free_between_pieces_in_use_is_given_back() -> None:
    done = subprocess.run([sys.executable, "-c", HOLES], capture_output=True, text=True, check=True)
    most, left, after = map(float, done.stdout.split())
    assert left > most - 5, "freed, and still the process's"
    assert after < most - 30
