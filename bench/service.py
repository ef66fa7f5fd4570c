"""What the service takes on: its knee under open-loop load, its times at half of it beside the library's own calls in the
same run, and what happens at five times the knee.

Service and generator get a core each where there are two. The knee is the highest rate, of those tried, that is answered
whole with a p99 of at most `KNEE` times the library's own, counted from when each request was due: a bound that moves with
the machine and what else runs on it. On a busy machine the knee says little; what the service takes of the processor for a
request holds longer, and a second divided by it is what a core could serve at most.

    python -m bench.service [--memories 10000] [--turns 1000] [--users 4] [--seconds 4] [--stores sqlite,postgres]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, perf_counter, sleep
from typing import Any
from urllib.request import urlopen

from bench.assembly import fill, sentence
from bench.load import Connections, Load, Request, quantile, run
from bench.measuring import save, table
from bench.stores import place
from hitherto import Hitherto, Turn

SOURCE = Path(__file__).resolve().parents[1] / "src"
START = "import sys; sys.argv[0] = 'hitherto'; from hitherto.deliver.cli import main; sys.exit(main())"
TOKEN = re.compile(r"rck_[0-9a-f]{12}_[\w-]{43}")
KNEE = 5.0
FIRST_RATE, STEP, MOST_STEPS = 10.0, 1.35, 16
CALLS = 300
PATHS = ("/v1/context", "/v1/turns")
SETTLED = 1.0
"""Seconds in which the receipts of the last contexts are written."""


def pin(core: int, process: int = 0) -> None:
    """Keeps a process on one core, if there is more than one."""
    cores = sorted(os.sched_getaffinity(0 if process == 0 else process))
    if len(cores) > 1:
        os.sched_setaffinity(process, {cores[core % len(cores)]})


async def prepare(data: str, *, users: int, turns: int, memories: int, folder: Path) -> None:
    """The first user is filled by hand, the others are copies."""
    async with Hitherto(data) as memory:
        await fill(memory, "user-0", turns=turns, memories=memories, rng=random.Random(7))
        export = folder / "user-0.jsonl"
        with export.open("w", encoding="utf-8") as lines:
            async for line in memory.export(user="user-0"):
                lines.write(f"{line}\n")
        for number in range(1, users):
            await memory.load(export, user=f"user-{number}")


def requests(users: int, *, only: str | None = None) -> Callable[[int], Request]:
    """Contexts and turns in turn, over all users."""
    rng = random.Random(11)

    def make(number: int) -> Request:
        user = f"user-{rng.randrange(users)}"
        path = only or PATHS[number % 2]
        if path == "/v1/context":
            return Request(path, {"user": user, "persona": "nikita", "message": sentence(rng, words=6)})
        return Request(path, {"user": user, "persona": "nikita", "role": "user", "text": sentence(rng)})

    return make


async def library(data: str, *, users: int) -> dict[str, list[float]]:
    """The same two calls without a service, one after the other."""
    rng = random.Random(13)
    async with Hitherto(data) as memory:
        for number in range(users):
            await memory.context(user=f"user-{number}", persona="nikita", message="warm up")
        times: dict[str, list[float]] = {path: [] for path in PATHS}
        for _ in range(CALLS):
            user = f"user-{rng.randrange(users)}"
            calls: tuple[Coroutine[Any, Any, object], ...] = (
                memory.context(user=user, persona="nikita", message=sentence(rng, words=6)),
                memory.record(Turn(user, "user", sentence(rng), persona="nikita")),
            )
            for path, call in zip(PATHS, calls, strict=True):
                start = perf_counter()
                await call
                times[path].append(perf_counter() - start)
        return times


@contextmanager
def service(data: str, folder: Path) -> Generator[tuple[Connections, int]]:
    """The service as an operator starts it, with no limit to the key's rate, and its process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "HITHERTO_RATE": "0", "HITHERTO_LOG_LEVEL": "warning"}
    errors = folder / "stderr"
    with errors.open("w") as log:
        command = [sys.executable, "-c", START, "serve", "--data", data, "--port", str(port)]
        process = subprocess.Popen(command, env=environment, stderr=log, stdout=subprocess.DEVNULL)
    try:
        pin(0, process.pid)
        until = monotonic() + 60
        while not _is_ready(port):
            if process.poll() is not None or monotonic() > until:
                raise SystemExit(f"the service did not start:\n{errors.read_text()}")
            sleep(0.1)
        found = TOKEN.search(errors.read_text())
        if found is None:
            raise SystemExit("the service printed no key; does this data have keys of its own?")
        connections = Connections("127.0.0.1", port, token=found[0])
        yield connections, process.pid
        connections.close()
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def processor(process: int) -> float:
    """Seconds of the processor's time that a process has taken so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _is_ready(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as answer:
            return answer.status == 200
    except OSError:
        return False


def shown(load: Load, name: str) -> dict[str, object]:
    every = load.every()
    return {
        "load": name,
        "offered/s": round(load.offered, 1),
        "answered/s": round(load.accepted, 1),
        "p50 ms": round(quantile(every, 0.5), 2),
        "p95 ms": round(quantile(every, 0.95), 2),
        "p99 ms": round(quantile(every, 0.99), 2),
        "statuses": " ".join(f"{status}:{count}" for status, count in sorted(load.statuses.items())),
    }


async def knee(connections: Connections, *, users: int, seconds: float, bound: float) -> tuple[Load, list[Load]]:
    """The highest rate that is answered whole and in time, and all that were tried: one that is not is tried again, since a
    single pause of the machine is no knee."""

    async def load_at(rate: float) -> tuple[Load, bool]:
        load = await run(connections, rate=rate, seconds=seconds, request=requests(users))
        tried.append(load)
        return load, set(load.statuses) == {200} and quantile(load.every(), 0.99) <= bound

    await run(connections, rate=FIRST_RATE, seconds=2, request=requests(users))
    best: Load | None = None
    tried: list[Load] = []
    rate = FIRST_RATE
    for _ in range(MOST_STEPS):
        load, held = await load_at(rate)
        if not held:
            load, held = await load_at(rate)
        if not held:
            break
        best, rate = load, rate * STEP
    return best or tried[0], tried


async def measure(data: str, folder: Path, *, users: int, seconds: float) -> list[dict[str, object]]:
    pin(0)
    alone = await library(data, users=users)
    pin(1)
    with service(data, folder) as (connections, process):
        bound = KNEE * quantile(alone["/v1/context"], 0.99)
        best, tried = await knee(connections, users=users, seconds=seconds, bound=bound)
        half: dict[str, Load] = {}
        spent: dict[str, float] = {}
        for path in PATHS:
            before = processor(process)
            half[path] = await run(
                connections, rate=best.offered / 2, seconds=seconds, request=requests(users, only=path)
            )
            await asyncio.sleep(SETTLED)
            spent[path] = (processor(process) - before) / max(half[path].statuses.total(), 1)
        over = await run(connections, rate=best.offered * 5, seconds=seconds, request=requests(users))
        after = await run(connections, rate=best.offered / 2, seconds=seconds, request=requests(users))
    print(table([shown(load, f"step {number}") for number, load in enumerate(tried, 1)]))
    rows: list[dict[str, object]] = [
        {
            "call": path,
            **{f"{name} {part}": round(quantile(times, q), 2) for name, times in columns for part, q in QUANTILES},
            "processor ms": round(spent[path] * 1000, 2),
        }
        for path in PATHS
        for columns in [(("library", alone[path]), ("half knee", half[path].times.get(path, [])))]
    ]
    print(f"\nknee: {best.offered:.0f} requests/s; milliseconds of the library's call and of the service at half of it")
    print(table(rows))
    print(
        f"by the processor's time a core could serve at most {len(spent) / sum(spent.values()):.0f} mixed requests/s\n"
    )
    print(table([shown(best, "at the knee"), shown(over, "5 x knee"), shown(after, "half, afterwards")]))
    strange = set(over.statuses) - {200, 429, 503}
    print(f"\nother than 200, 429 and 503 at five times the knee: {sorted(strange) or 'nothing'}")
    return [*rows, shown(best, "knee"), shown(over, "5 x knee"), shown(after, "half, afterwards")]


QUANTILES = (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--turns", type=int, default=1_000)
    parser.add_argument("--users", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--stores", default="sqlite,postgres")
    options = parser.parse_args()
    for backend in options.stores.split(","):
        with place(backend) as where, tempfile.TemporaryDirectory(prefix="hitherto-bench-") as temporary:
            folder, users = Path(temporary), options.users
            asyncio.run(prepare(where.url, users=users, turns=options.turns, memories=options.memories, folder=folder))
            load = os.getloadavg()[0]
            size = f"{options.memories:,} memories and {options.turns:,} turns"
            print(f"{backend}: {users} users, each {size}; load average {load:.1f}")
            rows = asyncio.run(measure(where.url, folder, users=users, seconds=options.seconds))
        about = {"store": backend, "memories": options.memories, "turns": options.turns, "load average": load}
        save("service", [about, *rows])


if __name__ == "__main__":
    main()
