"""What every command shares: where the memory is, JSON, the time, exit codes and one-line errors."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hitherto import Hitherto, __version__
from hitherto.deliver.cli import main
from hitherto.settings import LIBRARY
from tests.deliver.cli.running import ANA, NOW, ROOT, CommandLine, one_line


def test_options_may_stand_before_or_after_the_command(reader: CommandLine) -> None:
    before = reader.done("--json", "--at", NOW, "loops", *ANA)
    after = reader.done("loops", *ANA, "--json", "--at", NOW)
    assert before.out == after.out
    assert json.loads(before.out)


def test_what_stands_after_the_command_wins(reader: CommandLine, tmp_path: Path) -> None:
    elsewhere = CommandLine(data=tmp_path / "nowhere", capture=reader.capture)
    assert elsewhere("sessions", *ANA).code == 1
    assert elsewhere.done("sessions", *ANA, "--data", str(reader.data)).out


def test_the_folder_and_the_user_may_come_from_the_environment(
    reader: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HITHERTO_DATA", str(reader.data))
    monkeypatch.setenv("HITHERTO_USER", "ana")
    assert main(["memories", "--json"]) == 0
    assert json.loads(reader.capture.readouterr().out)


def test_no_arguments_show_the_help(reader: CommandLine) -> None:
    assert main([]) == 0
    shown = reader.capture.readouterr().out
    assert "hitherto demo" in shown
    assert max(len(line) for line in shown.splitlines()) <= 100


def test_the_version(reader: CommandLine) -> None:
    assert main(["--version"]) == 0
    assert reader.capture.readouterr().out == f"hitherto {__version__}\n"


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("serch", "x"), "search"),
        (("search",), "QUERY"),
        (("search", "x"), "--user"),
        (("context", "yes", *ANA, "--at", "yesterday"), "yesterday"),
        (("context", "yes", *ANA, "--at", "2026-03-14T16:52:00"), "no time zone"),
        (("context", "yes", *ANA, "--at", "1969-12-31T23:59:59Z"), "1970"),
        (("context", "yes", *ANA, "--recipe", "compnion"), "companion"),
        (("context", *ANA), "message"),
        (("context", "yes", *ANA, "--turn", "sat-09"), "message"),
        (("search", "x", *ANA, "--kind", "turns"), "turn"),
        (("search", "x", *ANA, "--limit", "0"), "limit"),
        (("turns", *ANA, "--since", "monday"), "monday"),
        (("record", "hello", *ANA, "--role", "bot"), "bot"),
        (("record", "   ", *ANA), "empty"),
        (("record", "hello", "--user", "x" * 513), "512"),
        (("remember", "x", *ANA, "imprtance=2"), "importance"),
        (("remember", "x", *ANA, "importance=9"), "scale"),
        (("remember", "x", *ANA, "importance"), "name=value"),
        (("add", "lop", *ANA, "text=x"), "loop"),
        (("user", "ana", "zone=Mars/Olympus"), "Mars/Olympus"),
        (("user", "ana", "--link", "telegram"), "telegram:12345"),
        (("personas", "kai", "--name", "Kai"), "--text"),
        (("personas", "--name", "Kai"), "personas nikita"),
        (("personas", "kai", "--name", "Kai", "--text", "word " * 3_000), "1200"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_2(writer: CommandLine, args: tuple[str, ...], says: str) -> None:
    outcome = writer(*args)
    assert outcome.code == 2, outcome
    assert outcome.out == ""
    assert one_line(outcome.err), outcome.err
    assert says in outcome.err


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("replay", "0" * 32, *ANA), "no snapshot"),
        (("update", "nothing", *ANA, "status=done"), "nothing"),
        (("revise", "nothing", "text", *ANA), "nothing"),
        (("personas", "kai"), "kai"),
        (("user", "--resolve", "telegram:1"), "no user"),
        (("record", "other words", *ANA, "--id", "sat-09"), "sat-09"),
        (("context", "--turn", "nothing", *ANA), "nothing"),
        (("export", "--user", "nobody"), "nobody"),
    ],
)
def test_what_fails_is_one_line_and_exit_1(writer: CommandLine, args: tuple[str, ...], says: str) -> None:
    outcome = writer(*args)
    assert outcome.code == 1, outcome
    assert outcome.out == ""
    assert one_line(outcome.err), outcome.err
    assert says in outcome.err


def test_errors_are_json_too(reader: CommandLine) -> None:
    outcome = reader("context", "yes", *ANA, "--recipe", "compnion", "--json")
    assert outcome.code == 2
    error = json.loads(outcome.err)
    assert error["error"] == "InvalidRecipe"
    assert "companion" in error["message"]


def test_reading_never_makes_a_memory(fresh: CommandLine) -> None:
    outcome = fresh("memories", *ANA)
    assert (outcome.code, one_line(outcome.err)) == (1, True)
    assert "--data" in outcome.err
    assert not fresh.data.exists()


def test_the_program_in_a_process_of_its_own(tmp_path: Path) -> None:
    def run(*args: str) -> subprocess.CompletedProcess[str]:
        start = "import sys; from hitherto.deliver.cli import main; sys.exit(main())"
        return subprocess.run(
            [sys.executable, "-c", start, *args],
            cwd=tmp_path,
            env={"PYTHONPATH": str(ROOT / "src"), "NO_COLOR": "1", "LANG": "C.UTF-8"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    recorded = run("record", "I start at Acme on Monday!", *ANA, "--json")
    assert recorded.returncode == 0, recorded.stderr
    [turn] = json.loads(recorded.stdout)["ids"]
    listed = run("turns", *ANA, "--json")
    assert [row["id"] for row in json.loads(listed.stdout)] == [turn]
    assert (tmp_path / "memories").is_dir()
    wrong = run("context", "hi", *ANA, "--recipe", "nope")
    assert wrong.returncode == 2
    assert one_line(wrong.stderr)
    assert "Traceback" not in wrong.stderr


def test_help_loads_neither_the_engine_nor_rich() -> None:
    """What makes a start slow is what it imports."""
    script = (
        "import sys; from hitherto.deliver.cli import main; main(['--help']);"
        "slow = ('asyncio', 'rich', 'numpy', 'pydantic', 'apsw', 'hitherto.engine', 'hitherto.store.protocol');"
        "print('\\n', *[name for name in slow if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1].split() == []


def test_long_work_shows_a_bar_on_a_terminal(tmp_path: Path) -> None:
    """Only stderr is a terminal, as when the answer is piped on."""
    file = tmp_path / "turns.jsonl"
    file.write_text("".join(f'{{"user": "ana", "role": "user", "text": "turn {n}"}}\n' for n in range(600)), "utf-8")
    screen, terminal = os.openpty()
    start = "import sys; from hitherto.deliver.cli import main; sys.exit(main())"
    with os.fdopen(terminal, "wb") as stderr:
        done = subprocess.run(
            [sys.executable, "-c", start, "import", str(file), "--data", str(tmp_path / "memories")],
            env={"PYTHONPATH": str(ROOT / "src"), "LANG": "C.UTF-8", "TERM": "xterm-256color", "COLUMNS": "100"},
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            timeout=120,
            check=True,
        )
    shown = b""
    with os.fdopen(screen, "rb", buffering=0) as display:
        try:
            while part := display.read(65_536):
                shown += part
        except OSError:
            pass  # Linux says so when the other side of a terminal is gone and everything was read.
    assert b"importing" in shown
    assert done.stdout.startswith("imported 600 turns of user")


def test_any_setting_may_be_given_for_one_run(reader: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HITHERTO_RECIPE", "lanes")
    listed = {
        row["name"]: row for row in reader.json("settings", "--set", "recipe=companion", "--set", "user-tokens=9")
    }
    assert (listed["recipe"]["value"], listed["recipe"]["from"]) == ("companion", "--set")
    assert (listed["user_tokens"]["value"], listed["port"]["from"]) == (9, "default")
    assert reader.json("context", "yes", *ANA, "--set", "recipe=companion")["recipe"] == "companion"
    assert reader.json("--set", "recipe=companion", "context", "yes", *ANA)["recipe"] == "companion"


def test_secrets_are_not_listed(reader: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HITHERTO_UPSTREAM_KEY", "sk-secret")
    assert "sk-secret" not in reader.done("settings").out


@pytest.mark.parametrize(
    ("given", "says"),
    [("embeder=x", "did you mean 'embedder'"), ("embedder", "name=value"), ("pace=fast", "HITHERTO_PACE='fast'")],
)
def test_a_wrong_setting_is_answered_with_the_nearest(reader: CommandLine, given: str, says: str) -> None:
    outcome = reader("context", "yes", *ANA, "--set", given)
    assert outcome.code == 2
    assert says in outcome.err


def test_every_argument_of_the_library_is_a_setting_or_says_why() -> None:
    arguments = set(inspect.signature(Hitherto).parameters) - {"url"}
    objects = {"sections", "clock"}  # Python values; sections have names in recipes
    elsewhere = {"tenant", "actor", "work"}  # --tenant, who calls, and a process of its own
    assert arguments - objects - elsewhere == {*LIBRARY, "master_key", "redis"}
