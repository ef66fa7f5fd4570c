"""A server of its own for tests that stop it, and a wire that can be cut."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

import pytest

from tests.postgres_server import PostgresServer


@pytest.fixture
def server(own_server: PostgresServer) -> PostgresServer:
    if not own_server.running:
        own_server.start()
    return own_server


@dataclass
class Wire:
    """A proxy before a server. `cut` is asked about everything a client sends: "before" drops the connection without
    passing it on, "after" passes it on and drops the connection before any answer."""

    port: int
    target: int
    cut: Callable[[bytes], str | None] = field(default=lambda _: None)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upstream_reader, upstream_writer = await asyncio.open_connection("127.0.0.1", self.target)
        answers = asyncio.create_task(_pass_on(upstream_reader, writer))
        try:
            while data := await reader.read(1 << 16):
                verdict = self.cut(data)
                if verdict == "after":
                    answers.cancel()
                    await asyncio.wait([answers])
                if verdict != "before":
                    upstream_writer.write(data)
                    await upstream_writer.drain()
                if verdict == "after":
                    await upstream_reader.read(1)
                if verdict is not None:
                    break
        finally:
            answers.cancel()
            writer.close()
            upstream_writer.close()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1 << 16):
        writer.write(data)
        await writer.drain()


@pytest.fixture
async def wire(server: PostgresServer) -> AsyncIterator[Wire]:
    made = Wire(port=0, target=server.port)
    listener = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.port = listener.sockets[0].getsockname()[1]
    yield made
    listener.close()
