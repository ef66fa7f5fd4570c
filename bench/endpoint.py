"""What the memory adds to a streamed answer: time to the first token through the endpoint, less the time without it.

Three processes on loopback: an upstream server that answers at once, the service with a user of so many turns, and the
client, which asks the two in turns. "history" is the whole conversation sent again, as chat clients do.

    python -m bench.endpoint [--turns 2000] [--requests 60] [--streams 1 32]
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import httpx
import uvicorn

from bench.measuring import save, spread, table
from hitherto import Hitherto, Turn
from hitherto.clock import system_clock
from hitherto.deliver.apikeys import Keys
from hitherto.deliver.http import create_app
from hitherto.settings import Settings
from tests.deliver.http.server import free_port
from tests.deliver.openai.upstream import FakeUpstream

USERS = 32
ANSWER = "That sounds like a good plan for the weekend, shall we write it down together?"


def upstream(port: int) -> None:
    uvicorn.run(FakeUpstream(answers=[ANSWER]).app, port=port, log_level="error", timeout_keep_alive=600)


async def service(port: int, address: str, folder: str) -> None:
    async with Hitherto(folder, recipe="companion-text") as memory:
        settings = Settings(rate=0, upstream=f"{address}/v1", recipe="companion-text", key_seconds=60)
        app = create_app(memory, settings)
        await uvicorn.Server(
            uvicorn.Config(app, port=port, log_level="error", access_log=False, timeout_keep_alive=600)
        ).serve()


async def fill(folder: str, turns: int) -> str:
    """Users of so many turns, and a key for all of them."""
    async with Hitherto(folder, recipe="companion-text") as memory:
        for number in range(USERS):
            await memory.record(
                [
                    Turn(
                        f"u{number}",
                        "user" if n % 2 == 0 else "assistant",
                        f"turn {n} about the garden, rain and plan {n % 97}",
                    )
                    for n in range(turns)
                ]
            )
        return (await Keys(memory.catalog, clock=system_clock).create())[1]


async def first_token(client: httpx.AsyncClient, url: str, body: dict[str, object], headers: dict[str, str]) -> float:
    start = time.perf_counter()
    async with client.stream("POST", f"{url}/v1/chat/completions", json=body, headers=headers) as answer:
        assert answer.status_code == httpx.codes.OK, await answer.aread()
        found = 0.0
        async for _ in answer.aiter_raw():
            found = found or time.perf_counter() - start
        return found


async def measure(
    urls: dict[str, str], token: str, *, streams: int, requests: int, turns: int
) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    async with httpx.AsyncClient(timeout=60, limits=httpx.Limits(max_connections=64)) as client:
        for shape in ("message", "history"):
            taken: dict[str, list[float]] = {name: [] for name in urls}
            for number in range(requests + 3):
                for name, url in urls.items():
                    waits = [_ask(client, url, token, shape, user, number, turns) for user in range(streams)]
                    times = await asyncio.gather(*waits)
                    if number >= 3:
                        taken[name] += times
            direct, through = spread(taken["direct"]), spread(taken["through"])
            rows.append(
                {
                    "streams": streams,
                    "sent": shape,
                    "direct p50": direct.p50,
                    "direct p95": direct.p95,
                    "through p50": through.p50,
                    "through p95": through.p95,
                    "added p50": through.p50 - direct.p50,
                    "added p95": through.p95 - direct.p95,
                }
            )
            print(rows[-1], flush=True)
    return rows


async def _ask(
    client: httpx.AsyncClient, url: str, token: str, shape: str, user: int, number: int, turns: int
) -> float:
    past: Sequence[dict[str, str]] = ()
    if shape == "history":
        first = turns - 40
        past = [
            {
                "role": "user" if n % 2 == 0 else "assistant",
                "content": f"turn {n} about the garden, rain and plan {n % 97}",
            }
            for n in range(first, turns)
        ]
    message = {"role": "user", "content": f"{shape} {number}: what was plan {number % 97} about the rain?"}
    body: dict[str, object] = {"model": "small", "stream": True, "messages": [*past, message]}
    return await first_token(client, url, body, {"Authorization": f"Bearer {token}", "X-Hitherto-User": f"u{user}"})


async def wait(url: str) -> None:
    async with httpx.AsyncClient() as client:
        for _ in range(600):
            try:
                await client.get(f"{url}/healthz")
            except httpx.TransportError:
                await asyncio.sleep(0.1)
            else:
                return
    raise SystemExit(f"nothing answers at {url}")


async def compare(asked: argparse.Namespace, direct: str, through: str, token: str) -> None:
    await asyncio.gather(wait(direct), wait(through))
    rows: list[dict[str, object]] = []
    for streams in asked.streams:
        urls = {"direct": direct, "through": through}
        rows += await measure(urls, token, streams=streams, requests=asked.requests, turns=asked.turns)
    print(table(rows))
    print(f"milliseconds; saved to {save('endpoint', rows)}")


def main(asked: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        data = str(Path(folder) / "m")
        token = asyncio.run(fill(data, asked.turns))
        ports = free_port(), free_port()
        direct, through = (f"http://127.0.0.1:{port}" for port in ports)
        commands = (["upstream", str(ports[0])], ["service", str(ports[1]), direct, data])
        running = [subprocess.Popen([sys.executable, "-m", "bench.endpoint", *command]) for command in commands]
        try:
            asyncio.run(compare(asked, direct, through, token))
        finally:
            for process in running:
                process.terminate()
                process.wait()


if __name__ == "__main__":
    if sys.argv[1:2] == ["upstream"]:
        upstream(int(sys.argv[2]))
    elif sys.argv[1:2] == ["service"]:
        asyncio.run(service(int(sys.argv[2]), sys.argv[3], sys.argv[4]))
    else:
        options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
        options.add_argument("--turns", type=int, default=2000)
        options.add_argument("--requests", type=int, default=60)
        options.add_argument("--streams", type=int, nargs="+", default=[1, 32])
        main(options.parse_args())
