"""The demo's memory, made once for tests that read it and copied for tests that change it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hitherto import demo
from tests.deliver.cli.running import CommandLine


@pytest.fixture(scope="session")
def story(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the demo's memory; not to be written to."""
    folder = tmp_path_factory.mktemp("story") / "memories"
    clock = demo.SteppingClock()
    with demo.open_memory(folder, clock=clock) as memory:
        demo.load(memory, clock)
    return folder


@pytest.fixture(autouse=True)
def _terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test sees the same terminal: 100 columns, no colour, and none of the caller's settings."""
    for name in ("HITHERTO_DATA", "HITHERTO_USER", "FORCE_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.fixture
def reader(story: Path, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """The command line on the demo's memory, for reading."""
    return CommandLine(data=story, capture=capsys)


@pytest.fixture
def writer(story: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """The command line on a copy of the demo's memory."""
    folder = tmp_path / "memories"
    shutil.copytree(story, folder)
    return CommandLine(data=folder, capture=capsys)


@pytest.fixture
def fresh(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """The command line on a folder that is not there yet."""
    return CommandLine(data=tmp_path / "fresh", capture=capsys)
