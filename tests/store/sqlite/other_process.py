"""Another process on the same folder, to be told what to do: one JSON line in, one out."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hitherto.store.catalog import UserKey
from hitherto.store.protocol import Change, TurnList
from hitherto.store.sqlite.layout import Layout, lock_of
from hitherto.store.sqlite.sharedfile import Sidecar
from hitherto.store.sqlite.store import SqliteStore
from hitherto.testing import put, turn_draft

TURNS = TurnList(limit=999)
PROJECT = Path(__file__).parents[3]


async def _obey(folder: Path) -> None:
    store = SqliteStore(folder)
    await store.open()
    held = Sidecar(Path("nowhere"))
    for line in sys.stdin:
        order, user, turn = json.loads(line)
        key = UserKey("default", user)
        answer: Any = None
        if order == "write":
            answer = (await put(store.user(key), Change(turns=(turn_draft(turn),)))).head
        elif order == "read":
            found = await store.user(key).read(TURNS)
            answer = [one.id for one in found[TURNS]]
        elif order == "wipe":
            await store.user(key).wipe()
        elif order == "hold":
            held = Sidecar(lock_of(Layout(folder).user(key.digest)))
            held.hold()
        elif order == "let go":
            held.close()
        print(json.dumps(answer), flush=True)  # noqa: T201 - its answer
    await store.close()


class Other:
    """The other process, as seen from a test."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def __call__(self, order: str, user: str = "ana", turn: str = "") -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps((order, user, turn)) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def finish(self) -> None:
        """It closes its store and ends."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert self._process.wait() == 0


@contextmanager
def other_process(folder: Path) -> Generator[Other]:
    program = [sys.executable, "-m", "tests.store.sqlite.other_process", str(folder)]
    path = f"{PROJECT / 'src'}:{PROJECT}"
    pipe = subprocess.PIPE
    with subprocess.Popen(
        program, stdin=pipe, stdout=pipe, text=True, cwd=PROJECT, env={"PYTHONPATH": path}
    ) as process:
        try:
            yield Other(process)
        finally:
            process.kill()


if __name__ == "__main__":
    asyncio.run(_obey(Path(sys.argv[1])))
