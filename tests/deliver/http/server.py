"""A real server on loopback, in a process of its own, started as an operator starts it."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.architecture.source import SOURCE

START = "import sys; sys.argv[0] = 'hitherto'; from hitherto.deliver.cli import main; sys.exit(main())"
PATIENCE = 180
TOKEN = re.compile(r"rck_[0-9a-f]{12}_[\w-]{43}")


def command(*args: str, folder: Path, data: str | None = None, **variables: str) -> subprocess.Popen[str]:
    """`hitherto …`, as a process, on that data or on the folder's own."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE), "HOME": str(folder), **variables}
    with (folder / "stderr").open("w") as log:
        return subprocess.Popen(
            [sys.executable, "-c", START, *args, "--data", data or str(folder / "memories")],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,
        )


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@dataclass(frozen=True, slots=True)
class Server:
    """A running service."""

    process: subprocess.Popen[str]
    port: int
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def token(self) -> str:
        """The key that it printed for this run."""
        found = TOKEN.search(self.log.read_text())
        assert found, self.log.read_text()
        return found[0]

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)


@contextmanager
def serving(folder: Path, *args: str, data: str | None = None, **variables: str) -> Generator[Server]:
    """A service that answers, until the block ends."""
    port = free_port()
    process = command("serve", "--port", str(port), *args, folder=folder, data=data, **variables)
    server = Server(process=process, port=port, log=folder / "stderr")
    try:
        _wait(server)
        yield server
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # its own workers as well, which would take a moment
        process.wait(PATIENCE)
        assert process.stdout is not None
        process.stdout.close()


def _wait(server: Server) -> None:
    until = time.monotonic() + PATIENCE
    while True:
        assert server.process.poll() is None, server.log.read_text()
        try:
            if httpx.get(f"{server.url}/readyz").is_success:
                return
        except httpx.TransportError:
            pass
        assert time.monotonic() < until, "the service did not start"
        time.sleep(0.1)
