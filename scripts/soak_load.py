"""Endurance: mixed load for hours on the service, its workers and a store, with memory, descriptors, log and latency watched.

    python scripts/soak_load.py --minutes 120                 an embedded store
    python scripts/soak_load.py --minutes 120 --store postgres

The service runs as it does in production, in a process of its own, with a worker process beside it. Every few seconds both are
measured from outside. Plots go to `soak-load-<store>.svg`; the exit status is 1 if memory grew by more than 1 MB an hour after
the first quarter, descriptors grew, the write-ahead log was not bounded, or anything but 429/503 was answered with an error.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
USERS = 40
CLIENTS = 4
EVERY_SECONDS = 5.0
PROGRAM = (sys.executable, "-c", "from recollect.deliver.cli import main; main()")
GROWTH_MB_PER_HOUR = 1.0
WAL_MB = 8.0
"""For each open file: the log is copied into the file at half of that."""
WORDS = (
    "river", "garden", "bread", "music", "sister", "work", "train", "rain", "book", "friend", "summer", "office",
    "dinner", "dog", "holiday", "piano",
)  # fmt: skip


@dataclass(slots=True)
class Sample:
    """One look at the processes."""

    seconds: float
    memory_mb: float
    descriptors: int
    wal_mb: float
    p50_ms: float
    p95_ms: float


@dataclass(slots=True)
class Load:
    """What the clients did since the last look, and altogether."""

    spans: list[float] = field(default_factory=list[float])
    answers: Counter[int] = field(default_factory=Counter[int])


def resident_mb(pid: int) -> float:
    """The memory of a process and its children."""
    return sum(_kib(each) for each in _family(pid)) / 1024


def _kib(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return 0
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")), 0)


def _family(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except FileNotFoundError:
        return [pid]
    return [pid, *(found for child in children for found in _family(int(child)))]


def descriptors(pid: int) -> int:
    total = 0
    for each in _family(pid):
        try:
            total += len(os.listdir(f"/proc/{each}/fd"))  # noqa: PTH208 - only counted
        except FileNotFoundError:
            continue
    return total


def wal_mb(folder: Path) -> float:
    sizes = [path.stat().st_size for path in folder.rglob("*-wal") if path.exists()]
    return sum(sizes) / 1e6


async def client(http: httpx.AsyncClient, chance: random.Random, load: Load, until: float) -> None:
    """One of several who talk, ask, search, read, and now and then forget."""
    number = 0
    while time.monotonic() < until:
        number += 1
        user = f"soak{chance.randrange(USERS)}"
        text = " ".join(chance.choices(WORDS, k=chance.randint(3, 14)))
        turn = {"user": user, "role": chance.choice(["user", "assistant"]), "text": text, "persona": "nikita"}
        kind = chance.random()
        begun = time.perf_counter()
        try:
            if kind < 0.45:
                answer = await http.post("/v1/turns", json=turn)
            elif kind < 0.8:
                answer = await http.post("/v1/context", json={"user": user, "persona": "nikita", "message": text[:40]})
            elif kind < 0.97:
                answer = await http.post("/v1/search", json={"user": user, "query": text[:30]})
            elif kind < 0.995:
                answer = await http.get(f"/v1/users/{user}/memories")
            else:
                answer = await http.delete(f"/v1/users/{user}")
        except httpx.TransportError:
            load.answers[0] += 1
            continue
        load.spans.append(time.perf_counter() - begun)
        load.answers[answer.status_code] += 1


@contextmanager
def running(data: str, folder: Path, port: int) -> Generator[tuple[int, int, str]]:
    """The service and a worker, as they run in production: their process ids and a key."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "RECOLLECT_DATA": data, "RECOLLECT_RATE": "0"}
    token = _token(environment)
    with (folder / "service.log").open("wb") as log:
        service = subprocess.Popen([*PROGRAM, "serve", "--port", str(port)], env=environment, stdout=log, stderr=log)
        worker = subprocess.Popen([*PROGRAM, "work"], env=environment, stdout=log, stderr=log)
        try:
            yield service.pid, worker.pid, token
        finally:
            for process in (service, worker):
                process.send_signal(signal.SIGTERM)
                process.wait(30)


async def run(arguments: argparse.Namespace, folder: Path, data: str) -> list[Sample]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    samples: list[Sample] = []
    load = Load()
    with running(data, folder, port) as (service, worker, token):
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=30) as http:
            await _ready(http)
            begun = time.monotonic()
            until = begun + arguments.minutes * 60
            clients = [
                asyncio.create_task(client(http, random.Random(f"{arguments.seed}:{n}"), load, until))
                for n in range(CLIENTS)
            ]
            while time.monotonic() < until:
                await asyncio.sleep(min(EVERY_SECONDS, max(until - time.monotonic(), 0.1)))
                samples.append(_look(begun, service, worker, folder, load))
            await asyncio.gather(*clients)
    print(f"answers by status: {dict(sorted(load.answers.items()))}")
    bad = {status: n for status, n in load.answers.items() if status == 0 or (status >= 500 and status != 503)}
    if bad:
        raise SystemExit(f"FAILED: answered {bad}")
    return samples


def _token(environment: dict[str, str]) -> str:
    command = [*PROGRAM, "keys", "create", "--label", "soak"]
    scopes = [word for scope in ("read", "write", "forget") for word in ("--scope", scope)]
    made = subprocess.run([*command, *scopes], env=environment, check=True, capture_output=True, text=True)
    return made.stdout.strip()


async def _ready(http: httpx.AsyncClient) -> None:
    for _ in range(300):
        try:
            if (await http.get("/readyz")).status_code == 200:
                return
        except httpx.TransportError:
            pass
        await asyncio.sleep(0.1)
    raise SystemExit("FAILED: the service did not start")


def _look(begun: float, service: int, worker: int, folder: Path, load: Load) -> Sample:
    spans, load.spans = sorted(load.spans) or [0.0], []
    return Sample(
        seconds=time.monotonic() - begun,
        memory_mb=resident_mb(service) + resident_mb(worker),
        descriptors=descriptors(service) + descriptors(worker),
        wal_mb=wal_mb(folder),
        p50_ms=statistics.median(spans) * 1000,
        p95_ms=spans[int(len(spans) * 0.95)] * 1000,
    )


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Growth per hour, by least squares."""
    if len(points) < 3:
        return 0.0
    return statistics.linear_regression([x for x, _ in points], [y for _, y in points]).slope * 3600


CHARTS = (
    ("memory_mb", "memory, MB"),
    ("descriptors", "descriptors"),
    ("wal_mb", "write-ahead log, MB"),
    ("p95_ms", "p95, ms"),
)
WIDTH, HEIGHT, LEFT, RIGHT = 900, 150, 70, 880


def svg(samples: Sequence[Sample]) -> str:
    """Four curves, one below the other, without any library."""
    last = max((sample.seconds for sample in samples), default=1.0)
    size = f'width="{WIDTH}" height="{HEIGHT * len(CHARTS)}"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">']
    for row, (name, title) in enumerate(CHARTS):
        values = [float(getattr(sample, name)) for sample in samples] or [0.0]
        top, base = max(*values, 1e-9) * 1.1, (row + 1) * HEIGHT - 25
        spots = " ".join(
            f"{LEFT + sample.seconds / last * (RIGHT - LEFT):.1f},{base - value / top * (HEIGHT - 50):.1f}"
            for sample, value in zip(samples, values, strict=False)
        )
        words = f"{title}: last {values[-1]:.1f}, most {max(values):.1f}"
        parts.append(f'<text x="8" y="{row * HEIGHT + 18}">{words}</text>')
        parts.append(f'<line x1="{LEFT}" y1="{base}" x2="{RIGHT}" y2="{base}" stroke="#999"/>')
        parts.append(f'<text x="{RIGHT - 70}" y="{base + 16}">{last / 60:.0f} min</text>')
        parts.append(f'<polyline fill="none" stroke="#246" stroke-width="1.5" points="{spots}"/>')
    return "\n".join([*parts, "</svg>", ""])


def verdict(samples: Sequence[Sample]) -> list[str]:
    """What is wrong; growth is judged after the first quarter, when caches are full."""
    settled = samples[len(samples) // 4 :]
    hours = (settled[-1].seconds - settled[0].seconds) / 3600 if len(settled) > 1 else 0.0
    growth = slope([(sample.seconds, sample.memory_mb) for sample in settled])
    opened = slope([(sample.seconds, float(sample.descriptors)) for sample in settled])
    largest = max(sample.wal_mb for sample in samples)
    print(f"memory {growth:+.2f} MB/h, descriptors {opened:+.1f}/h, log at most {largest:.1f} MB, over {hours:.2f} h")
    if hours < 1:
        print("shorter than an hour after the warm-up: growth is shown, not judged")
        growth = opened = 0.0
    problems = [f"memory grew by {growth:.2f} MB an hour"] if growth > GROWTH_MB_PER_HOUR else []
    problems += ["descriptors grew"] if opened > 5 else []
    return problems + (["the write-ahead log was not bounded"] if largest > WAL_MB * (USERS + 1) else [])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=120.0)
    parser.add_argument("--store", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, default=Path())
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="recollect-soak-") as name:
        folder = Path(name)
        if arguments.store == "postgres":
            from tests.postgres_server import PostgresServer

            folder.chmod(0o755)
            server = PostgresServer.create(folder / "server")
            try:
                samples = asyncio.run(run(arguments, folder, server.url()))
            finally:
                server.stop("immediate")
        else:
            samples = asyncio.run(run(arguments, folder, str(folder / "memories")))
    target = arguments.output / f"soak-load-{arguments.store}.svg"
    target.write_text(svg(samples), "utf-8")
    print(f"seed {arguments.seed}; plotted to {target}")
    problems = verdict(samples)
    for problem in problems:
        print(f"FAILED: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
