"""How soon a ringing telephone is answered while the store is busy and the model provider hangs, beside an empty FastAPI
route in the same run.

Beside the service runs a process that writes to the caller's memory without pause, and a worker whose model never answers.
Both servers are asked in turn, on connections that stay open; the empty route reads no body and does nothing.

    python -m bench.ring [--turns 2000] [--rings 400]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import monotonic, perf_counter, sleep

import httpx
import uvicorn
from fastapi import FastAPI

from bench.assembly import fill, sentence
from bench.load import quantile
from bench.measuring import save, table
from hitherto import Hitherto, Turn
from hitherto.deliver.http.routes.webhooks import SECRET_HEADER

SOURCE = Path(__file__).resolve().parents[1]
START = "import sys; sys.argv[0] = 'hitherto'; from hitherto.deliver.cli import main; sys.exit(main())"
NUMBER, USER, SECRET = "+49301234567", "ana", "open-sesame"
PAUSE = 0.02


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def process(*command: str, **variables: str) -> Generator[subprocess.Popen[bytes]]:
    """Python with these arguments, ended with the block."""
    environment = {**os.environ, "PYTHONPATH": f"{SOURCE / 'src'}{os.pathsep}{SOURCE}", **variables}
    started = subprocess.Popen(
        [sys.executable, *command], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield started
    finally:
        started.send_signal(signal.SIGTERM)
        try:
            started.wait(30)
        except subprocess.TimeoutExpired:
            started.kill()
            started.wait()


def wait(url: str) -> None:
    until = monotonic() + 90
    while monotonic() < until:
        try:
            if httpx.get(url).status_code < httpx.codes.INTERNAL_SERVER_ERROR:
                return
        except httpx.TransportError:
            sleep(0.1)
    raise SystemExit(f"nothing answers at {url}")


def empty(port: int) -> None:
    app = FastAPI()

    @app.post("/")
    async def nothing() -> dict[str, str]:
        return {}

    uvicorn.run(app, port=port, log_level="error", access_log=False)


async def write(folder: str) -> None:
    """Turns into the caller's memory, one after the other, for as long as the process runs."""
    rng = random.Random(3)
    async with Hitherto(folder) as memory:
        while True:
            await memory.record(Turn(USER, "user", sentence(rng), persona="nikita"))


async def prepare(folder: str, turns: int) -> None:
    async with Hitherto(folder) as memory:
        await fill(memory, USER, turns=turns, memories=200, rng=random.Random(7))
        await memory.link(USER, "phone", NUMBER)


async def measure(service: str, plain: str, rings: int) -> dict[str, list[float]]:
    taken: dict[str, list[float]] = {"initiation webhook": [], "empty route": []}
    addresses = {"initiation webhook": f"{service}/v1/voice/elevenlabs/initiation", "empty route": f"{plain}/"}
    known = 0
    async with httpx.AsyncClient(timeout=30, headers={SECRET_HEADER: SECRET}) as client:
        for number in range(rings + 10):
            for name, address in addresses.items():
                start = perf_counter()
                answer = await client.post(address, json={"caller_id": NUMBER})
                if number >= 10:
                    taken[name].append(perf_counter() - start)
                    known += '"known_caller": "true"' in answer.text
            await asyncio.sleep(PAUSE)
    print(f"{known} of {rings} rings knew the caller")
    return taken


def run(turns: int, rings: int) -> None:
    with tempfile.TemporaryDirectory(prefix="hitherto-bench-") as temporary, ExitStack() as beside:
        folder = str(Path(temporary) / "memories")
        asyncio.run(prepare(folder, turns))
        hanging = beside.enter_context(socket.create_server(("127.0.0.1", 0)))
        ports = free_port(), free_port()
        serve = ("-c", START, "serve", "--data", folder, "--port", str(ports[0]))
        beside.enter_context(process(*serve, HITHERTO_VOICE_SECRET=SECRET, HITHERTO_VOICE_PERSONA="nikita"))
        beside.enter_context(process("-m", "bench.ring", "empty", str(ports[1])))
        service, plain = (f"http://127.0.0.1:{port}" for port in ports)
        wait(f"{service}/readyz")
        wait(f"{plain}/")
        beside.enter_context(process("-m", "bench.ring", "write", folder))
        beside.enter_context(
            process(
                *("-c", START, "work", "--data", folder, "--model", "openai:hanging"),
                OPENAI_BASE_URL=f"http://127.0.0.1:{hanging.getsockname()[1]}/v1",
                OPENAI_API_KEY="none",
            )
        )
        sleep(5)
        load = os.getloadavg()[0]
        taken = asyncio.run(measure(service, plain, rings))
    columns = (("p50 ms", 0.5), ("p95 ms", 0.95), ("p99 ms", 0.99))
    rows: list[dict[str, object]] = [
        {"asked": name, **{column: round(quantile(times, q), 2) for column, q in columns}}
        for name, times in taken.items()
    ]
    print(f"{rings} rings; load average {load:.1f}")
    print(table(rows))
    save("ring", [{"rings": rings, "load average": load}, *rows])


if __name__ == "__main__":
    if sys.argv[1:2] == ["empty"]:
        empty(int(sys.argv[2]))
    elif sys.argv[1:2] == ["write"]:
        asyncio.run(write(sys.argv[2]))
    else:
        parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("--turns", type=int, default=2_000)
        parser.add_argument("--rings", type=int, default=400)
        given = parser.parse_args()
        run(given.turns, given.rings)
