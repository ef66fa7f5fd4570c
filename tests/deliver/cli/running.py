"""Runs the real command line in this process and catches what it says."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hitherto.deliver.cli import main

ROOT = Path(__file__).resolve().parents[3]
NOW = "2026-03-14T16:52:00Z"
ANA = ("--user", "ana")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command answered."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class CommandLine:
    """`hitherto`, on one folder."""

    data: Path
    capture: pytest.CaptureFixture[str]

    def __call__(self, *args: str) -> Outcome:
        """Runs the command and returns whatever came of it."""
        self.capture.readouterr()
        code = main(["--data", str(self.data), *args])
        caught = self.capture.readouterr()
        return Outcome(code=code, out=caught.out, err=caught.err)

    def done(self, *args: str) -> Outcome:
        """Runs a command that must work."""
        outcome = self(*args)
        assert outcome.code == 0, f"hitherto {' '.join(args)}: exit {outcome.code}\n{outcome.err}"
        return outcome

    def json(self, *args: str) -> Any:
        """The JSON answer of a command that must work."""
        return self.done(*args, "--json").json


def one_line(text: str) -> bool:
    return len(text.splitlines()) == 1 and text.endswith("\n")


def texts(rows: Sequence[dict[str, Any]]) -> list[str]:
    return [row["text"] for row in rows]
