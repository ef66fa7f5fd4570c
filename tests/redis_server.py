"""A real Redis for tests, on a free loopback port, that can be killed, paused and brought back. It keeps nothing on disk."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import redis

from tests.postgres_server import free_port
from tests.programs import installed

START_SECONDS = 20


class RedisServer:
    """One server; `start` after `kill` brings an empty one back on the same port."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self._port}/0"

    def client(self) -> redis.Redis:
        return redis.Redis(port=self._port)

    def held(self) -> dict[bytes, bytes]:
        """Everything in it, as it would be dumped."""
        with self.client() as typed:
            client: Any = typed  # its answers have no types
            return {name: client.dump(name) for name in client.keys("*")}

    def clients(self) -> str:
        """Who is connected, and what each asked last."""
        with self.client() as typed:
            client: Any = typed
            return str(client.client_list())

    def start(self) -> None:
        # The program of redis-tools is the server when it is called by that name.
        options = {"port": self._port, "bind": "127.0.0.1", "dir": self._folder, "save": "", "appendonly": "no"}
        self._process = subprocess.Popen(
            ["redis-server", *(word for name, value in options.items() for word in (f"--{name}", str(value)))],
            executable=installed("redis-check-rdb", package="redis-tools", tests="Redis"),
            stdout=subprocess.DEVNULL,
        )
        begun = time.monotonic()
        while time.monotonic() < begun + START_SECONDS:
            with suppress(redis.ConnectionError), self.client() as client:
                client.get("")
                return
            time.sleep(0.02)
        pytest.fail("the Redis that a test needs does not start")

    def kill(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None

    def pause(self) -> None:
        """It keeps its connections and answers nothing."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)


@pytest.fixture
def redis_server(tmp_path: Path) -> Iterator[RedisServer]:
    """A running Redis of this test's own."""
    server = RedisServer(tmp_path)
    server.start()
    yield server
    server.kill()
