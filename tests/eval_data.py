"""The evaluation data, which is no part of the project: a test that needs it is skipped, loudly, where it is missing."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(os.environ.get("HITHERTO_EVAL_DATA") or Path(__file__).parents[1] / "../shared/data")


def rows(name: str) -> list[dict[str, Any]]:
    """The lines of a development set."""
    path = FOLDER / f"{name}-dev.jsonl.gz"
    if not path.exists():
        pytest.skip(f"NOT TESTED: {path} is missing; set HITHERTO_EVAL_DATA to the folder of evaluation data")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def texts(name: str) -> list[str]:
    return [row["text"] for row in rows(name)]


def turn_texts(name: str) -> list[str]:
    """What was said in all conversations of a set."""
    return [turn["text"] for talk in rows(name) for session in talk["sessions"] for turn in session["turns"]]
