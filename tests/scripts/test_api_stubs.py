"""What editors are told about the library's twins is what the engine declares."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.api_stubs import STUBS, formatted


@pytest.mark.parametrize("path", STUBS, ids=lambda path: path.name)
def test_the_stubs_are_up_to_date(path: Path) -> None:
    assert path.read_text("utf-8") == formatted(STUBS[path](), path), "run `python scripts/api_stubs.py`"
