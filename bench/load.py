"""Open-loop load: requests leave at their times whether or not earlier ones were answered, and each one's time counts
from when it should have left. So a service that stalls is seen to stall (no coordinated omission).

A small HTTP client of its own, because a comfortable one costs more per request than the service itself.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

TIMEOUT = 10.0
IDLE = 4.0
"""Seconds after which a connection that was not used is not used again."""
LOST = 0
"""The status of a request that was not answered in time, or whose connection broke."""


@dataclass(frozen=True, slots=True)
class Request:
    path: str
    body: Any


@dataclass(slots=True)
class Load:
    """What became of one stretch of load: seconds by path for those answered 200, and how many had which status."""

    offered: float
    seconds: float
    times: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    statuses: Counter[int] = field(default_factory=Counter[int])

    @property
    def accepted(self) -> float:
        """Requests a second that were answered 200."""
        return self.statuses[200] / self.seconds

    def every(self) -> list[float]:
        return sorted(time for times in self.times.values() for time in times)


def quantile(values: Sequence[float], q: float) -> float:
    """Milliseconds at that part of the sorted seconds; infinite for none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))] * 1000 if ordered else float("inf")


class Connections:
    """Keep-alive connections to one service, as many as are needed at once."""

    def __init__(self, host: str, port: int, *, token: str) -> None:
        self._host = host
        self._port = port
        self._token = token
        self._idle: list[tuple[float, asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def send(self, request: Request) -> int:
        """The status of the answer, once it has arrived whole."""
        body = json.dumps(request.body).encode()
        head = (
            f"POST {request.path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {self._token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        try:
            async with asyncio.timeout(TIMEOUT):
                reader, writer = await self._connection()
                writer.write(head.encode() + body)
                answer = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = int(answer.partition(b"content-length:")[2].split(b"\r\n", 1)[0])
                await reader.readexactly(length)
        except (TimeoutError, OSError, asyncio.IncompleteReadError, ValueError):
            return LOST
        if b"connection: close" in answer:
            writer.close()
        else:
            self._idle.append((perf_counter(), reader, writer))
        return int(answer.split(b" ", 2)[1])

    async def _connection(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """The one used last, unless the service may be about to close it for being idle; else a new one."""
        while self._idle:
            since, reader, writer = self._idle.pop()
            if perf_counter() - since < IDLE and not reader.at_eof():
                return reader, writer
            writer.close()
        return await asyncio.open_connection(self._host, self._port)

    def close(self) -> None:
        for _, _, writer in self._idle:
            writer.close()


async def run(connections: Connections, *, rate: float, seconds: float, request: Callable[[int], Request]) -> Load:
    """So many requests a second for so long, evenly spaced."""
    load = Load(offered=rate, seconds=seconds)
    start = perf_counter() + 0.05

    async def one(number: int, due: float) -> None:
        asked = request(number)
        status = await connections.send(asked)
        load.statuses[status] += 1
        if status == 200:
            load.times.setdefault(asked.path, []).append(perf_counter() - due)

    running: set[asyncio.Task[None]] = set()
    for number in range(int(rate * seconds)):
        due = start + number / rate
        wait = due - perf_counter()
        if wait > 0:
            await asyncio.sleep(wait)
        task = asyncio.create_task(one(number, due))
        running.add(task)
        task.add_done_callback(running.discard)
    while running:
        await asyncio.wait(running)
    return load
