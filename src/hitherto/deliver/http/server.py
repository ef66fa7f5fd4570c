"""Runs the service: the checks before it listens, and the processes that listen.

A serving process is configured by its settings alone, which reach it through its environment; so one or many start alike.
"""

import asyncio
import contextlib
import ipaddress
import multiprocessing
import os
import signal
import socket
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from multiprocessing.process import BaseProcess

import uvicorn
from fastapi import FastAPI
from pydantic import SecretStr
from uvicorn.protocols.http.h11_impl import H11Protocol

from hitherto import Hitherto
from hitherto.clock import system_clock
from hitherto.deliver import heap
from hitherto.deliver.apikeys import Keys, digest_of, new_token
from hitherto.deliver.http import requests as logs
from hitherto.deliver.http import telemetry
from hitherto.deliver.http.app import create_app
from hitherto.deliver.http.telemetry import FOLDER_VARIABLE
from hitherto.errors import InvalidInput
from hitherto.settings import Settings

FACTORY = "hitherto.deliver.http.server:application"
KEEP_ALIVE_SECONDS = 10
START_SECONDS = 60
"""How long one of several processes may be silent. While importing, it does not answer its supervisor, and on a busy
machine that takes longer than the server's usual 5 s, after which it would be killed and restarted, forever."""
CONNECTIONS = 1_000
"""Connections that one process holds open; the server itself answers more with 503."""


def application() -> FastAPI:
    """The service described by this process's environment."""
    heap.lean()
    if (supervisor := multiprocessing.parent_process()) is not None:
        threading.Thread(target=_end_with, args=(supervisor,), name="hitherto-supervised", daemon=True).start()
    settings = Settings.read(os.environ)
    logs.configure(settings.log_level)
    spans = telemetry.configure(os.environ)
    memory = Hitherto(
        settings.data,
        actor="service",
        redis=settings.found_redis(),
        **settings.library(),
    )

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncGenerator[None]:
        async with memory:
            heap.settled()
            yield
        spans()

    return create_app(memory, settings, lifespan=life)


def _end_with(supervisor: BaseProcess) -> None:
    """Stops this process as soon as its parent is gone: a killed parent cannot stop its children, and a surviving child
    would keep the port from the next service."""
    supervisor.join()
    os.kill(os.getpid(), signal.SIGTERM)


def serve(settings: Settings, *, browse: bool = False) -> None:
    """Serves until the process is told to stop; running requests are finished first. `browse` opens the inspector."""
    heap.lean()
    settings, token = asyncio.run(admit(settings))
    if token is not None:
        announce(settings, token)
    if browse:
        threading.Thread(target=_browse, args=(settings, token), daemon=True).start()
    os.environ.update(settings.environment())
    with contextlib.ExitStack() as stack:
        if settings.workers > 1:
            # A single process needs no folder, and would not remove one when a signal ends it.
            os.environ[FOLDER_VARIABLE] = stack.enter_context(tempfile.TemporaryDirectory(prefix="hitherto-metrics-"))
        uvicorn.run(
            FACTORY,
            factory=True,
            host=settings.host,
            port=settings.port,
            workers=settings.workers,
            access_log=False,
            log_config=None,
            server_header=False,
            limit_concurrency=CONNECTIONS,
            backlog=256,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_worker_healthcheck=START_SECONDS,
            http=Impatient,
            timeout_graceful_shutdown=settings.stop_seconds,
        )


async def admit(settings: Settings) -> tuple[Settings, str | None]:
    """The settings to serve with, and this run's key if there is no other: on loopback one is made for the run, elsewhere a
    service without keys does not start."""
    async with Hitherto(settings.data, **settings.library()) as memory:
        if await Keys(memory.catalog, clock=system_clock).any_valid():
            return settings, None
    if not is_loopback(settings.host):
        raise InvalidInput(
            f"listening on {settings.host!r} needs a key, but none exists; create one with `hitherto keys create`"
        )
    token = new_token()
    return settings.model_copy(update={"run_key": SecretStr(digest_of(token))}), token


def announce(settings: Settings, token: str) -> None:
    """Tells the person at the terminal, once, how to get in."""
    sys.stderr.write(
        f"There is no key yet, so here is one for this run alone:\n\n    {token}\n\n"
        f"Look inside with a browser, the key is in the address:\n\n    {address(settings, token)}\n\n"
        f'  curl -H "Authorization: Bearer {token}" http://{settings.host}:{settings.port}/v1/users\n\n'
        "Make lasting ones with `hitherto keys create`.\n"
    )


def address(settings: Settings, token: str | None) -> str:
    """The inspector's address. The part after # stays in the browser: no server sees the key in it."""
    base = f"http://{settings.host}:{settings.port}/"
    return base if token is None else f"{base}#key={token}"


def _browse(settings: Settings, token: str | None) -> None:
    """Opens the inspector once the service listens; without a browser, its address was printed."""
    for _ in range(100):
        with contextlib.suppress(OSError), socket.create_connection((settings.host, settings.port), timeout=1):
            webbrowser.open(address(settings, token))
            return
        time.sleep(0.1)


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


# Closes connections that come to nothing. The server waits forever for a request's head; somebody who opens connections and
# says little on each could hold them all.

HEAD_SECONDS = 5.0
"""How long the head of a request may take to arrive, from the connection's start or from its first byte."""


class Impatient(H11Protocol):
    """The server's connection with a deadline for request heads; bodies have theirs in the application."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._begin()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self._is_idle():
            self._end()
        elif self._deadline is None:
            self._begin()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end()
        super().connection_lost(exc)

    def _begin(self) -> None:
        self._deadline = self.loop.call_later(HEAD_SECONDS, self._close)

    def _end(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _close(self) -> None:
        self._deadline = None
        if self._is_idle():
            self.transport.close()

    def _is_idle(self) -> bool:
        """Whether no request is being answered; before the first one there is no cycle at all."""
        return bool(getattr(self.cycle, "response_complete", True))
