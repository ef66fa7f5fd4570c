"""A service on a port of this machine, in a thread of its own, for a browser to look at."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncGenerator, Coroutine, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import uvicorn
from fastapi import FastAPI

from hitherto import Hitherto, Turn, demo
from hitherto.clock import Clock
from hitherto.deliver.apikeys import SCOPES, Keys
from hitherto.deliver.http import create_app
from hitherto.settings import Settings
from hitherto.types import Role

T = TypeVar("T")

BEN = (
    "Hi! I moved to Leipzig last week, my sister Ida lives there.",
    "How is the new place?",
    "Small and bright. Remind me to call the landlord on Monday, please.",
    "I will. Which room gets the morning sun?",
)
SETTINGS = Settings(rate=0, key_seconds=0)


@dataclass(frozen=True, slots=True)
class Served:
    """A running service. Calls of its memory run where it runs."""

    url: str
    memory: Hitherto
    loop: asyncio.AbstractEventLoop
    clock: Clock

    def run(self, call: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(call, self.loop).result(60)

    def key(self, *, user: str | None = None, scopes: tuple[str, ...] = SCOPES, tenant: str = "default") -> str:
        keys = Keys(self.memory.catalog, clock=self.clock)
        return self.run(keys.create(scopes=scopes, user=user, tenant=tenant))[1]


def shortly_after() -> Any:
    """Two minutes after the demo's story: what was due then is due now."""
    return demo.NOW + timedelta(minutes=2)


@contextmanager
def served(folder: Path, *, clock: Clock = shortly_after) -> Generator[Served]:
    memory = Hitherto(folder, clock=clock)
    loops: list[asyncio.AbstractEventLoop] = []

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncGenerator[None]:
        loops.append(asyncio.get_running_loop())
        async with memory:
            yield

    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    app = create_app(memory, SETTINGS, clock=clock, lifespan=life)
    config = uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=1, lifespan="on")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: server.run(sockets=[listening]), daemon=True)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the service did not start"
            thread.join(0.02)
        yield Served(f"http://127.0.0.1:{port}", memory, loops[0], clock)
    finally:
        server.should_exit = True
        thread.join(30)
        listening.close()


def load_demo(folder: Path) -> None:
    """The demo's story in that folder, and a second user of whom the work is done."""
    clock = demo.SteppingClock()
    with demo.open_memory(folder, clock=clock) as memory:
        demo.load(memory, clock)
        for number, said in enumerate(BEN):
            at = demo.NOW - timedelta(hours=5) + timedelta(minutes=number)
            role: Role = "assistant" if number % 2 else "user"
            memory.record(Turn("ben", role, said, id=f"ben-{number}", persona="nikita", at=at))
        memory.run(memory.engine.settle(user="ben"))
