"""hitherto demo: what a newcomer sees first."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from hitherto import demo as story
from hitherto.deliver.cli import main
from hitherto.recipes import book
from tests.deliver.cli.running import CommandLine


def widest(shown: str) -> int:
    """The widest line but for the one with the folder's name, which has to be copied in one piece."""
    return max(len(line) for line in shown.splitlines() if not line.startswith("export"))


def test_the_demo_shows_everything(fresh: CommandLine) -> None:
    shown = fresh.done("demo").out
    for words in (
        "The story",
        "System text",
        "[OPEN THREADS]",
        "- (promise, due Sun, Mar 15)",
        "Messages",
        "Have you asked Mukesh for the 15th yet?",
        "Budget",
        "Left out",
        "Receipt",
        "Try next",
        "hitherto search",
    ):
        assert words in " ".join(shown.replace("▌", "").split())
    assert widest(shown) <= 100
    assert "\x1b[" not in shown, "readable without colour"


@pytest.mark.parametrize("columns", [80, 120])
def test_it_fits_the_terminal(reader: CommandLine, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    shown = reader.done("demo").out
    assert widest(shown) <= columns


def test_colour_only_adds(reader: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in reader.done("demo").out


def test_what_it_suggests_works(fresh: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    told = fresh.json("demo")
    monkeypatch.setenv("HITHERTO_DATA", told["data"])
    monkeypatch.setenv("HITHERTO_USER", told["user"])
    assert len(told["next"]) >= 6
    for line in told["next"]:
        words = shlex.split(line)
        assert words[0] == "hitherto"
        assert main(words[1:]) == 0, f"{line}\n{fresh.capture.readouterr().err}"
        assert fresh.capture.readouterr().out.strip()


def test_it_can_be_run_again(fresh: CommandLine) -> None:
    first = fresh.json("demo")
    second = fresh.json("demo")
    assert (first["turns"], first["snapshots"]) == (second["turns"], second["snapshots"])
    assert first["context"]["system"] == second["context"]["system"]


@pytest.mark.parametrize("recipe", book.names())
def test_every_recipe_tells_the_story(reader: CommandLine, recipe: str) -> None:
    told = reader.json("demo", "--recipe", recipe)
    assert told["context"]["recipe"] == recipe
    assert told["context"]["messages"][-1]["content"] == "yes"


def test_it_never_writes_into_the_memory_of_the_environment(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HITHERTO_DATA", str(tmp_path / "mine"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert main(["demo", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert Path(told["data"]).is_relative_to(tmp_path)
    assert not (tmp_path / "mine").exists()


def test_the_same_story_gives_the_same_bytes(reader: CommandLine, fresh: CommandLine) -> None:
    assert fresh.json("demo")["context"]["system"] == reader.json("demo")["context"]["system"]


def test_a_strong_models_recorded_answers_are_replayed_through_the_real_pipeline(fresh: CommandLine) -> None:
    shown = fresh.done("demo", "--model", "recorded").out
    said = " ".join(shown.replace("▌", "").split())
    assert "by a strong model's recorded answers" in said
    assert "- Ana is allergic to peanuts and once needed an EpiPen one evening" in said, "nobody said so in these words"
    assert "step extract failed" not in fresh.done("demo", "--model", "recorded").err


def test_every_question_of_the_story_has_its_recorded_answer(tmp_path: Path) -> None:
    """Fails when the prompt or what it shows has changed: the story is asked and recorded again (scripts/record_answers.py)."""
    clock = story.SteppingClock()
    with story.open_memory(tmp_path / "m", clock=clock, model=story.RECORDED) as memory:
        story.load(memory, clock)
        spent = memory.costs(user=story.USER)
        assert {summary.method for summary in memory.summaries(user=story.USER, kind="session")} == {"model"}
        assert sum(day.calls for day in spent) == len(json.loads(story.text("answers.json")))
