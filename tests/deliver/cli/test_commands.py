"""The one table of commands: complete, documented, and its examples work."""

from __future__ import annotations

import inspect
import shlex
from pathlib import Path

import pytest

from hitherto import Hitherto
from hitherto.deliver.cli.commands import COMMANDS, Command
from tests.deliver.cli.running import CommandLine

# Calls that are no command: the life of an open engine, and the log's head, which every context shows.
WITHOUT_COMMAND = {"open", "close", "flush", "for_tenant", "acting", "linked", "user_store", "head", "working"}


def public_calls() -> set[str]:
    return {name for name, _ in inspect.getmembers(Hitherto, inspect.isfunction) if not name.startswith("_")}


def test_every_call_of_the_engine_has_a_command() -> None:
    """`hitherto call` reaches all of them; those that people need have a command of their own."""
    reached = {call for command in COMMANDS for call in command.calls}
    assert public_calls() - WITHOUT_COMMAND - reached == set()


def test_no_command_claims_a_call_that_is_not_there() -> None:
    assert {call for command in COMMANDS for call in command.calls} - public_calls() == set()


def test_names_are_unique() -> None:
    names = [command.name for command in COMMANDS]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_help_says_what_it_does_and_how(command: Command, reader: CommandLine) -> None:
    shown = reader.done(*command.name.split(), "--help").out
    first = inspect.getdoc(command.run) or ""
    assert first.splitlines()[0].split(".")[0] in " ".join(shown.split())
    assert "--json" in shown
    for example in (*command.examples, *command.sketches):
        assert example in shown, "an example is shown as it has to be typed"


@pytest.mark.parametrize(
    "example",
    [example for command in COMMANDS for example in command.examples],
)
def test_examples_work_on_the_demo(
    example: str, writer: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    words = shlex.split(example)
    assert words[0] == "hitherto"
    if example == "hitherto user --resolve telegram:12345":
        writer.done("user", "ana", "--link", "telegram:12345")
    if example.startswith("hitherto load"):
        writer.done("export", "--user", "ana", "--output", "ana.jsonl")
    if example.startswith("hitherto restore"):
        writer.done("backup", "./backup")
    writer.done(*words[1:])
