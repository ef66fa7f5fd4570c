"""record, import, turns, revise, sessions."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import pytest

from hitherto import Turn
from hitherto.deliver import importing
from hitherto.deliver.cli import conversation
from hitherto.errors import StoreUnavailable
from hitherto.sync import Hitherto
from tests.deliver.cli.running import ANA, CommandLine, one_line, texts


def test_a_turn_is_there_when_the_command_returns(fresh: CommandLine) -> None:
    said = fresh.done("record", "I start at Acme on Monday!", *ANA, "--persona", "nikita", "--id", "m-1")
    assert said.out == "recorded m-1\n"
    [turn] = fresh.json("turns", *ANA)
    assert (turn["id"], turn["text"], turn["persona"], turn["role"]) == (
        "m-1",
        "I start at Acme on Monday!",
        "nikita",
        "user",
    )


def test_at_is_the_time_of_the_turn(fresh: CommandLine) -> None:
    fresh.done("record", "hello", *ANA, "--at", "2026-03-14T18:52:00+02:00")
    [turn] = fresh.json("turns", *ANA)
    assert turn["at"] == "2026-03-14T16:52:00Z"


def test_the_same_id_again_changes_nothing(fresh: CommandLine) -> None:
    first = fresh.json("record", "hello", *ANA, "--id", "m-1")
    assert fresh.json("record", "hello", *ANA, "--id", "m-1") == first
    assert len(fresh.json("turns", *ANA)) == 1


def test_text_from_standard_input(fresh: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("two\nlines"))
    fresh.done("record", "-", *ANA)
    assert texts(fresh.json("turns", *ANA)) == ["two\nlines"]


def test_turns_are_listed_for_people(reader: CommandLine) -> None:
    shown = reader.done("turns", *ANA, "--persona", "nikita", "--lane", "trip").out
    assert "Casa do Limoeiro" in shown
    assert "trip-07" in shown
    assert "knee" not in shown


def test_turns_can_be_narrowed(reader: CommandLine) -> None:
    since = reader.json("turns", *ANA, "--persona", "nikita", "--since", "2026-03-14T00:00:00Z")
    assert [row["id"] for row in since] == [f"sat-{number:02}" for number in range(1, 11)]
    assert texts(reader.json("turns", "mon-07", *ANA)) == ["why?"]
    assert len(reader.json("turns", *ANA, "--limit", "3")) == 3


def test_what_was_said_cannot_command_the_terminal(fresh: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "1")
    fresh.done("record", "hello \x1b]0;owned\x07 \x1b[2J \x9b2J", *ANA)
    shown = fresh.done("turns", *ANA).out
    assert "owned" in shown
    assert re.findall(r"\x1b\]|\x1b\[2J|\x9b|\x07", shown) == []


def test_a_revised_turn_keeps_its_place(writer: CommandLine) -> None:
    before = [row["id"] for row in writer.json("turns", *ANA, "--limit", "100")]
    writer.done("revise", "mon-05", "First day done! Mukesh gave me the billing rewrite.", *ANA)
    after = writer.json("turns", *ANA, "--limit", "100")
    assert [row["id"] for row in after] == before
    assert {row["id"]: row["version"] for row in after}["mon-05"] == 2


def test_sessions(reader: CommandLine) -> None:
    found = {row["id"]: row for row in reader.json("sessions", *ANA)}
    assert found["s-sat-07"]["continues"] == "s-sat-01"
    assert found["s-sat-01"]["continues"] is None, "three days are no pause"
    assert found["s-sat-01"]["turn_count"] == 6
    assert "s-sat-07" in reader.done("sessions", *ANA).out


def test_an_import_can_be_repeated(fresh: CommandLine, tmp_path: Path) -> None:
    lines = [
        {"user": "ana", "role": "user", "text": "hello", "id": "a"},
        {"user": "ben", "role": "user", "text": "hi", "id": "b", "at": "2026-03-14T16:52:00Z"},
    ]
    file = tmp_path / "turns.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    assert fresh.json("import", str(file)) == {"turns": 2, "facts": 0, "users": 2, "skipped": {}, "dry_run": False}
    assert "imported 2 turns of 2 users" in fresh.done("import", str(file)).out
    assert texts(fresh.json("turns", "--user", "ben")) == ["hi"]
    assert len(fresh.json("turns", *ANA)) == 1


def test_an_import_that_was_interrupted_is_continued(
    fresh: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [{"role": "user", "text": f"number {number}", "at": "2026-03-14T16:52:00Z"} for number in range(5)]
    file = tmp_path / "turns.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    monkeypatch.setattr(conversation, "BATCH", 2)
    record, batches = Hitherto.record, list[int]()

    def recorded(memory: Hitherto, turns: Sequence[Turn]) -> list[str]:
        batches.append(len(turns))
        if len(batches) == 2:
            raise StoreUnavailable("the disk is gone")
        return record(memory, turns)

    with monkeypatch.context() as interrupted:
        interrupted.setattr(Hitherto, "record", recorded)
        assert fresh("import", str(file), *ANA).code != 0
    assert texts(fresh.json("turns", *ANA)) == ["number 0", "number 1"]
    assert fresh.json("import", str(file), *ANA)["turns"] == 5
    assert texts(fresh.json("turns", *ANA)) == [f"number {number}" for number in range(5)]


def test_every_format_that_can_be_read_can_be_asked_for() -> None:
    assert set(get_args(conversation.Format)) == set(importing.FORMATS)


def test_what_became_no_turn_is_said(fresh: CommandLine, tmp_path: Path) -> None:
    chat = {
        "name": "Nikita",
        "type": "personal_chat",
        "id": 7,
        "messages": [
            {
                "id": 1,
                "type": "message",
                "date_unixtime": "1773507120",
                "from": "Ana",
                "from_id": "user1",
                "text": "hi",
            },
            {"id": 2, "type": "service", "date_unixtime": "1773507121", "action": "phone_call"},
        ],
    }
    file = tmp_path / "result.json"
    file.write_text(json.dumps(chat), "utf-8")
    answer = fresh.json("import", str(file), "--format", "telegram", *ANA, "--persona", "nikita")
    assert answer["turns"] == 1
    assert sum(answer["skipped"].values()) == 1
    assert "left out" in fresh.done("import", str(file), "--format", "telegram", *ANA, "--persona", "nikita").out


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("not json", "line 1"),
        ('{"user": "ana", "role": "user", "text": "x"}\n{"user": "ana", "rol": "user", "text": "x"}', "line 2"),
        ('{"user": "ana", "role": "user", "text": ""}', "empty"),
        ('{"user": "ana", "role": "user", "text": "x"}\n' * 600 + "not json", "line 601"),
    ],
)
def test_a_bad_file_says_where_and_records_nothing(fresh: CommandLine, tmp_path: Path, content: str, says: str) -> None:
    file = tmp_path / "turns.jsonl"
    file.write_text(content, "utf-8")
    outcome = fresh("import", str(file))
    assert (outcome.code, one_line(outcome.err)) == (2, True), outcome
    assert says in outcome.err
    assert not fresh.data.exists() or fresh.json("turns", *ANA) == []


def test_a_missing_file_is_wrong_usage(fresh: CommandLine) -> None:
    outcome = fresh("import", "nowhere.jsonl")
    assert (outcome.code, one_line(outcome.err)) == (2, True)
    assert "nowhere.jsonl" in outcome.err


def test_an_import_asks_who_answered(fresh: CommandLine, tmp_path: Path) -> None:
    chat = tmp_path / "chat.txt"
    chat.write_text(
        "12/03/2026, 18:10 - Ana: I got the job!\n12/03/2026, 18:11 - Nikita: When do you start?\n", "utf-8"
    )
    given = ("import", str(chat), "--format", "whatsapp", "--user", "ana")
    refused = fresh(*given, "--persona", "nikita")
    assert refused.code == 2
    assert "nobody in it answers as 'nikita'; name who does, --assistant Ana or Nikita" in refused.err
    assert not fresh.data.exists(), "nothing was recorded"
    fresh.done(*given, "--persona", "nikita", "--assistant", "Nikita")
    assert [turn["role"] for turn in fresh.json("turns", "--user", "ana")] == ["user", "assistant"]
