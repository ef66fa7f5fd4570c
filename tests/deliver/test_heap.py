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


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has heaps for threads")
def test_threads_share_a_few_heaps() -> None:
    assert heaps("from recollect.deliver.heap import few_heaps; assert few_heaps()") <= HEAPS
    assert heaps("") > HEAPS
