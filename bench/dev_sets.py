"""The development conversations with gold evidence: where the benches find them."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from hitherto.evaluate.engine_run import Asked, Conversation, SaidTurn, read

__all__ = ["SETS", "Asked", "Conversation", "SaidTurn", "conversations", "folder", "path"]

SETS: Final = ("locomo-dev", "longmemeval-dev", "beam-100k-dev")


def folder() -> Path:
    return Path(os.environ.get("HITHERTO_EVAL_DATA", Path(__file__).parents[1] / ".." / "shared" / "data"))


def path(name: str) -> Path:
    found = folder() / f"{name}.jsonl.gz"
    if not found.is_file():
        raise SystemExit(f"no evaluation data at {found}: set HITHERTO_EVAL_DATA to the folder that holds it")
    return found


def conversations(name: str) -> Iterator[Conversation]:
    return read(path(name))
