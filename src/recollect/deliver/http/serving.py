"""Running the service: what has to be true before it listens, and the processes that listen.

A process that serves is made from its settings alone, which reach it by its environment; so one or many start alike.
"""

import asyncio
import ipaddress
import os
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import uvicorn
from fastapi import FastAPI
from pydantic import SecretStr

from recollect import Recollect
from recollect.clock import system_clock
from recollect.deliver.apikeys import Keys, digest_of, new_token
from recollect.deliver.http import logs
from recollect.deliver.http.app import create_app
from recollect.deliver.http.metrics import FOLDER_VARIABLE
from recollect.errors import InvalidInput
from recollect.settings import Settings

FACTORY = "recollect.deliver.http.serving:application"
HEADERS_SECONDS = 10
CONNECTIONS = 1_000
"""Connections that one process holds open; more are answered 503 by the server itself."""


def application() -> FastAPI:
    """The service of this process's environment."""
    settings = Settings.read(os.environ)
    logs.configure(settings.log_level)
    memory = Recollect(
        settings.data,
        recipe=settings.recipe,
        model=settings.model,
        tokenizer=settings.tokenizer,
        forgotten=settings.forgotten,
        actor="service",
        master_key=settings.found_master_key(),
        keys=settings.keys,
    )

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncGenerator[None]:
        async with memory:
            yield

    return create_app(memory, settings, lifespan=life)


def serve(settings: Settings) -> None:
    """Serves until the process is told to stop; running requests are finished first."""
    settings, token = asyncio.run(admit(settings))
    if token is not None:
        announce(settings, token)
    os.environ.update(settings.environment())
    with tempfile.TemporaryDirectory(prefix="recollect-metrics-") as folder:
        if settings.workers > 1:
            os.environ[FOLDER_VARIABLE] = folder
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
            timeout_keep_alive=HEADERS_SECONDS,
            timeout_graceful_shutdown=settings.stop_seconds,
        )


async def admit(settings: Settings) -> tuple[Settings, str | None]:
    """The settings to serve with, and the key of this run if there is no other: on loopback one is made for the run,
    elsewhere a service without keys does not start."""
    async with Recollect(settings.data, master_key=settings.found_master_key(), keys=settings.keys) as memory:
        if await Keys(memory.catalog, clock=system_clock).any_valid():
            return settings, None
    if not is_loopback(settings.host):
        raise InvalidInput(
            f"listening on {settings.host!r} needs a key, and there is none; make one with `recollect keys create`"
        )
    token = new_token()
    return settings.model_copy(update={"run_key": SecretStr(digest_of(token))}), token


def announce(settings: Settings, token: str) -> None:
    """Tells the person at the terminal, once, how to get in."""
    sys.stderr.write(
        f"There is no key yet, so here is one for this run alone:\n\n    {token}\n\n"
        f'  curl -H "Authorization: Bearer {token}" http://{settings.host}:{settings.port}/v1/users\n\n'
        "Make lasting ones with `recollect keys create`.\n"
    )


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
