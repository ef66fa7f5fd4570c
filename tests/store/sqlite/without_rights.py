"""A process without rights on a folder, run as a program: prints which error each call ends in."""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable
from pathlib import Path

from hitherto.errors import HithertoError
from hitherto.store.protocol import Change, Head, UserKey
from hitherto.store.sqlite.store import SqliteStore
from hitherto.testing import put, turn_draft

ANA = UserKey("default", "ana")
NOBODY = 65_534


async def _error_of(call: Awaitable[object]) -> list[str]:
    try:
        await call
    except HithertoError as error:
        return [type(error).__name__, str(error)]
    return []


async def main(folder: Path) -> None:
    store = SqliteStore(folder)
    answers = {
        "open": await _error_of(store.open()),
        "read": await _error_of(store.user(ANA).read(Head())),
        "write": await _error_of(put(store.user(ANA), Change(turns=(turn_draft("t2"),)))),
    }
    await store.close()
    print(json.dumps(answers))  # noqa: T201 - its answer


if __name__ == "__main__":
    if os.geteuid() == 0:
        os.setuid(NOBODY)
    asyncio.run(main(Path(sys.argv[1])))
