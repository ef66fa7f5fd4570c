"""What closes what is open: labelled pairs of a loop and a later message, whatever the words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hitherto.types import Loop
from tests.learn.readers.talk import THURSDAY, read

ROWS: list[dict[str, Any]] = [
    json.loads(line) for line in Path(__file__).with_name("loop_closing.jsonl").read_text("utf-8").splitlines()
]
HOW = {"done": "done", "missed": "not_done", "dropped": "dropped"}


def closing(row: dict[str, Any]) -> str:
    owner = row.get("owner", "user")
    opened = Loop(id="l1", text=row["loop"], kind=row["kind"], owner=owner, at=THURSDAY)
    said = row["message"] if owner == "user" else f"N: {row['message']}"
    asked = [("N: " if owner == "user" else "") + f"What about this: {row['loop']}?"] if row["asked"] else []
    notes = read(*asked, said, loops=[opened]).loops
    return next((HOW[note.op] for note in notes if note.ref == "l1" and note.op in HOW), "no")


@pytest.mark.req("R1.3")
def test_what_closes_closes_rightly_and_what_is_unsure_stays_open() -> None:
    answers = [(row["expected"], closing(row)) for row in ROWS]
    told = [(expected, got) for expected, got in answers if got != "no"]
    right = sum(expected == got for expected, got in told)
    assert right / len(told) >= 0.85
    assert right / sum(expected != "no" for expected, _ in answers) >= 0.35
