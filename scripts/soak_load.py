"""Endurance: mixed load for hours on the service, its workers and a store, with memory, descriptors, log and latency watched.

    python scripts/soak_load.py --minutes 120                 an embedded store
    python scripts/soak_load.py --minutes 120 --store postgres
    python scripts/soak_load.py --minutes 5 --users 8         fewer users reach the size that they keep sooner
    python scripts/soak_load.py --rate 20                     twenty requests a second, where others need the machine too

Users are forgotten in turn, so that what is stored grows to a size and stays there: what grows after that is a leak.
The service runs as it does in production, in a process of its own, with a worker process beside it. Every few seconds both are
measured from outside. Plots go to `soak-load-<store>.svg`; the exit status is 1 if memory grew by more than 1 MB an hour after
the first quarter, descriptors grew, the write-ahead log was not bounded, nobody was served for half a minute, or
anything but 429/503 was answered with an error.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import math
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
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
CLIENTS = 4
EVERY_SECONDS = 5.0
TOLD_EVERY = 24
"""Looks after which one is printed: two minutes."""
PROGRAM = (sys.executable, "-c", "import sys; from hitherto.deliver.cli import main; sys.exit(main())")
GROWTH_MB_PER_HOUR = 1.0
IDLE_SECONDS = 30.0
"""Clients ask many times in so long: a service that serves none of them for so long has lost its turns."""
WAL_MB_PER_FILE, WAL_MB_OF_SERVER = 8.0, 2_400.0
"""Embedded, a file's log is copied into it at half of that. The server's may pass `max_wal_size` a little."""
WORDS = (
    "river", "garden", "bread", "music", "sister", "work", "train", "rain", "book", "friend", "summer", "office",
    "dinner", "dog", "holiday", "piano",
)  # fmt: skip


@dataclass(slots=True)
class Sample:
    """One look at the processes."""

    seconds: float
    service_mb: float
    worker_mb: float
    descriptors: int
    wal_mb: float
    p50_ms: float
    p95_ms: float
    served: int = 0
    """Requests answered since the last look that were not refused."""

    @property
    def memory_mb(self) -> float:
        return self.service_mb + self.worker_mb

    def __str__(self) -> str:
        memory = f"service {self.service_mb:.1f} MB, worker {self.worker_mb:.1f} MB, {self.descriptors} descriptors"
        return f"{self.seconds / 60:.0f} min: {memory}, log {self.wal_mb:.0f} MB, p95 {self.p95_ms:.0f} ms"


@dataclass(slots=True)
class Load:
    """What the clients did since the last look, and altogether."""

    spans: list[float] = field(default_factory=list[float])
    served: int = 0
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
    """The write-ahead logs of users' files, or of the server."""
    total = 0
    for path in (*folder.rglob("*-wal"), *folder.glob("server/data/pg_wal/0*")):
        try:
            total += path.stat().st_size
        except FileNotFoundError:
            continue
    return total / 1e6


async def client(
    http: httpx.AsyncClient,
    chance: random.Random,
    load: Load,
    *,
    users: int,
    oldest: Iterator[int],
    until: float,
    rate: float,
) -> None:
    """One of several who talk, ask, search, read, and now and then forget; `rate` is theirs together, 0 without a pause."""
    while time.monotonic() < until:
        if rate:
            await asyncio.sleep(chance.expovariate(rate / CLIENTS))
        user = f"soak{chance.randrange(users)}"
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
                answer = await http.delete(f"/v1/users/soak{next(oldest)}")
        except httpx.TransportError:
            load.answers[0] += 1
            continue
        load.spans.append(time.perf_counter() - begun)
        load.served += answer.status_code < 429
        load.answers[answer.status_code] += 1


@contextmanager
def running(data: str, folder: Path, port: int) -> Generator[tuple[int, int, str]]:
    """The service and a worker, as they run in production: their process ids and a key."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "HITHERTO_DATA": data, "HITHERTO_RATE": "0"}
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
            oldest = itertools.cycle(range(arguments.users))
            clients = [
                asyncio.create_task(
                    client(
                        http,
                        random.Random(f"{arguments.seed}:{n}"),
                        load,
                        users=arguments.users,
                        oldest=oldest,
                        until=until,
                        rate=arguments.rate,
                    )
                )
                for n in range(CLIENTS)
            ]
            while time.monotonic() < until:
                await asyncio.sleep(min(EVERY_SECONDS, max(until - time.monotonic(), 0.1)))
                samples.append(_look(begun, service, worker, folder, load))
                if len(samples) % TOLD_EVERY == 0:
                    print(samples[-1], file=sys.stderr, flush=True)
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
    served, load.served = load.served, 0
    return Sample(
        seconds=time.monotonic() - begun,
        service_mb=resident_mb(service),
        worker_mb=resident_mb(worker),
        descriptors=descriptors(service) + descriptors(worker),
        wal_mb=wal_mb(folder),
        p50_ms=statistics.median(spans) * 1000,
        p95_ms=spans[int(len(spans) * 0.95)] * 1000,
        served=served,
    )


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Growth per hour, by least squares."""
    if len(points) < 3:
        return 0.0
    return statistics.linear_regression([x for x, _ in points], [y for _, y in points]).slope * 3600


CHARTS = (
    (("service_mb", "worker_mb"), "memory, MB: service and worker"),
    (("descriptors",), "open descriptors"),
    (("wal_mb",), "write-ahead log, MB"),
    (("p50_ms", "p95_ms"), "answers, ms: p50 and p95"),
    (("served",), f"served in {EVERY_SECONDS:.0f} s, not refused"),
)
COLOURS = ("#246", "#b40")
WIDTH, HEIGHT, LEFT, RIGHT, HEAD, FOOT = 900, 170, 60, 880, 36, 26


def svg(samples: Sequence[Sample], *, title: str) -> str:
    """Four charts, one below the other, without any library."""
    size = f'width="{WIDTH}" height="{HEIGHT * len(CHARTS) + 30}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">'
    parts = [
        head,
        '<rect width="100%" height="100%" fill="#fff"/>',
        f'<text x="8" y="20" font-size="14">{title}</text>',
    ]
    for row, (names, words) in enumerate(CHARTS):
        parts += _chart(samples, names, words, top=30 + row * HEIGHT)
    return "\n".join([*parts, "</svg>", ""])


def _chart(samples: Sequence[Sample], names: Sequence[str], words: str, *, top: int) -> list[str]:
    """Values upwards from zero, minutes to the right."""
    last = max((sample.seconds for sample in samples), default=1.0)
    curves = {name: [float(getattr(sample, name)) for sample in samples] or [0.0] for name in names}
    most = _round_up(max(max(values) for values in curves.values()))
    base, high = top + HEIGHT - FOOT, HEIGHT - FOOT - HEAD
    ends = "; ".join(f"{_word(v[-1])} at the end, at most {_word(max(v))}" for v in curves.values())
    parts = [f'<text x="8" y="{top + 20}">{words}: {ends}</text>']
    for part in range(3):
        y = base - high * part / 2
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{RIGHT}" y2="{y:.1f}" stroke="#ccc"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{_word(most * part / 2)}</text>')
    for part in range(5):
        x = LEFT + (RIGHT - LEFT) * part / 4
        parts.append(f'<text x="{x:.1f}" y="{base + 16}" text-anchor="middle">{last * part / 240:.1f} min</text>')
    for values, colour in zip(curves.values(), COLOURS, strict=False):
        spots = " ".join(
            f"{LEFT + sample.seconds / last * (RIGHT - LEFT):.1f},{base - value / most * high:.1f}"
            for sample, value in zip(samples, values, strict=False)
        )
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="1.5" points="{spots}"/>')
    return parts


def _round_up(value: float) -> float:
    """The next number with one digit that is not zero, so that an axis ends on something readable."""
    if value <= 0:
        return 1.0
    unit = 10.0 ** math.floor(math.log10(value))
    return math.ceil(value / unit) * unit


def _word(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def longest_idle(samples: Sequence[Sample]) -> float:
    """For how long in one piece every request was refused."""
    idle = longest = last = 0.0
    for sample in samples:
        idle = 0.0 if sample.served else idle + sample.seconds - last
        longest, last = max(longest, idle), sample.seconds
    return longest


def verdict(samples: Sequence[Sample], *, most_wal_mb: float) -> list[str]:
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
    idle = longest_idle(samples)
    problems = [f"nothing was served for {idle:.0f} s"] if idle > IDLE_SECONDS else []
    problems += [f"memory grew by {growth:.2f} MB an hour"] if growth > GROWTH_MB_PER_HOUR else []
    problems += ["descriptors grew"] if opened > 5 else []
    return problems + (["the write-ahead log was not bounded"] if largest > most_wal_mb else [])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=120.0)
    parser.add_argument("--store", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--users", type=int, default=40)
    parser.add_argument("--rate", type=float, default=0.0, help="requests a second; 0: as fast as they are answered")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, default=Path(), help="the folder for the plot")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)  # now, not after two hours
    with tempfile.TemporaryDirectory(prefix="hitherto-soak-") as name:
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
    pace = f"{arguments.rate:g} requests a second" if arguments.rate else "without a pause"
    minutes = (
        f"{arguments.minutes:g} minutes, {CLIENTS} clients, {pace}, {arguments.users} users, seed {arguments.seed}"
    )
    target.write_text(svg(samples, title=f"{arguments.store}: {minutes}"), "utf-8")
    print(f"seed {arguments.seed}; plotted to {target}")
    embedded = arguments.store == "sqlite"
    most_wal_mb = WAL_MB_PER_FILE * (arguments.users + 1) if embedded else WAL_MB_OF_SERVER
    problems = verdict(samples, most_wal_mb=most_wal_mb)
    for problem in problems:
        print(f"FAILED: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
