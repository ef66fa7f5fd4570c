"""What the memory adds to a streamed answer: time to the first token through the endpoint, less the time without it.

Three processes on loopback: an upstream server, the service with users of so many turns, and the client, which asks the two in
turns. The upstream server answers at once, which no model does, or with `--thinks 0.25` as late as a fast one. `processor` is
the service's own time on the processor for a request, on which other programs of the machine weigh less.

"message" is the newest message alone; "history" the whole conversation, which goes on with every answer; "edited" a
conversation of which the last message is another one each time.

    python -m bench.endpoint [--turns 2000] [--requests 60] [--streams 1 32] [--thinks 0]
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
import uvicorn

from bench.measuring import save, spread, table
from hitherto import Hitherto, Turn
from hitherto.clock import system_clock
from hitherto.deliver import heap
from hitherto.deliver.apikeys import Keys
from hitherto.deliver.http import create_app
from hitherto.settings import Settings
from tests.deliver.http.server import free_port
from tests.deliver.openai.upstream import FakeUpstream

USERS = 32
PAST = 40
"""Messages of a conversation that a client has kept before it asks for the first time."""
SHAPES = ("message", "history", "edited")
ANSWER = "That sounds like a good plan for the weekend, shall we write it down together?"


def upstream(port: int, thinks: float) -> None:
    uvicorn.run(FakeUpstream(answers=[ANSWER], wait=thinks).app, port=port, log_level="error", timeout_keep_alive=600)


async def service(port: int, address: str, folder: str) -> None:
    async with Hitherto(folder, recipe="companion-text") as memory:
        settings = Settings(rate=0, upstream=f"{address}/v1", recipe="companion-text", key_seconds=60)
        app = create_app(memory, settings)
        heap.settled()
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


def on_processor(pid: int) -> float:
    """Seconds that all threads of a process have run (Linux)."""
    times = (task.read_text("ascii").split()[0] for task in Path(f"/proc/{pid}/task").glob("*/schedstat"))
    return sum(map(int, times)) / 1e9


async def measure(
    urls: dict[str, str], token: str, *, pid: int, streams: int, requests: int, thinks: float
) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    async with httpx.AsyncClient(timeout=60, limits=httpx.Limits(max_connections=64)) as client:
        for shape in SHAPES:
            taken: dict[str, list[float]] = {name: [] for name in urls}
            chats = {name: [Chat(shape, user, token, streams) for user in range(streams)] for name in urls}
            ran = 0.0
            for number in range(requests + 3):
                ran = ran if number != 3 else on_processor(pid)
                for name, url in urls.items():
                    times = await asyncio.gather(*(chat.asks(client, url, number) for chat in chats[name]))
                    if number >= 3:
                        taken[name] += times
            ran = on_processor(pid) - ran
            direct, through = spread(taken["direct"]), spread(taken["through"])
            rows.append(
                {
                    "streams": streams,
                    "sent": shape,
                    "thinks": thinks,
                    "direct p50": direct.p50,
                    "direct p95": direct.p95,
                    "through p50": through.p50,
                    "through p95": through.p95,
                    "added p50": through.p50 - direct.p50,
                    "added p95": through.p95 - direct.p95,
                    "processor": ran / len(taken["through"]) * 1000,
                }
            )
            print(rows[-1], flush=True)
    return rows


class Chat:
    """One user's conversation, as a client keeps it."""

    def __init__(self, shape: str, user: int, token: str, streams: int) -> None:
        self._shape = shape
        self._headers = {"Authorization": f"Bearer {token}", "X-Hitherto-User": f"u{user}"}
        self._past: list[dict[str, str]] = []
        if shape != "message":
            self._headers["X-Hitherto-Conversation"] = f"{shape}-{streams}"
            self._past = [
                {
                    "role": "user" if n % 2 == 0 else "assistant",
                    "content": f"line {n} about the garden, rain and plan {n}",
                }
                for n in range(PAST)
            ]

    async def asks(self, client: httpx.AsyncClient, url: str, number: int) -> float:
        """The seconds to the first token of the answer to the next message."""
        message = {"role": "user", "content": f"{self._shape} {number}: what was plan {number % 97} about the rain?"}
        body: dict[str, object] = {"model": "small", "stream": True, "messages": [*self._past, message]}
        seconds = await first_token(client, url, body, self._headers)
        if self._shape == "history":
            self._past += [message, {"role": "assistant", "content": ANSWER}]
        return seconds


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


async def compare(asked: argparse.Namespace, direct: str, through: str, token: str, *, pid: int) -> None:
    await asyncio.gather(wait(direct), wait(through))
    rows: list[dict[str, object]] = []
    for streams in asked.streams:
        urls = {"direct": direct, "through": through}
        rows += await measure(urls, token, pid=pid, streams=streams, requests=asked.requests, thinks=asked.thinks)
    print(table(rows))
    print(f"milliseconds; saved to {save('endpoint', rows)}")


def main(asked: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        data = str(Path(folder) / "m")
        token = asyncio.run(fill(data, asked.turns))
        ports = free_port(), free_port()
        direct, through = (f"http://127.0.0.1:{port}" for port in ports)
        commands = (["upstream", str(ports[0]), str(asked.thinks)], ["service", str(ports[1]), direct, data])
        running = [subprocess.Popen([sys.executable, "-m", "bench.endpoint", *command]) for command in commands]
        try:
            asyncio.run(compare(asked, direct, through, token, pid=running[1].pid))
        finally:
            for process in running:
                process.terminate()
                process.wait()


if __name__ == "__main__":
    if sys.argv[1:2] == ["upstream"]:
        upstream(int(sys.argv[2]), float(sys.argv[3]))
    elif sys.argv[1:2] == ["service"]:
        asyncio.run(service(int(sys.argv[2]), sys.argv[3], sys.argv[4]))
    else:
        options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
        options.add_argument("--turns", type=int, default=2000)
        options.add_argument("--requests", type=int, default=60)
        options.add_argument("--streams", type=int, nargs="+", default=[1, 32])
        options.add_argument("--thinks", type=float, default=0.0)
        main(options.parse_args())
