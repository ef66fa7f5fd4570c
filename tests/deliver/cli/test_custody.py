"""What people may ask of their memory, by the command line."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from hitherto.store.protocol import Scrubbed
from hitherto.store.sqlite import SqliteStore
from hitherto.sync import Hitherto
from hitherto.testing import FakeClock
from tests.deliver.cli.running import ANA, NOW, CommandLine

LONG_AFTER = ("--at", "2027-09-01T10:00:00Z")


def _turns(command: CommandLine) -> int:
    return len(command.json("turns", *ANA, "--limit", "1000"))


def _answering(monkeypatch: pytest.MonkeyPatch, answer: bool) -> list[str]:
    asked: list[str] = []

    def confirm(question: str, **_: Any) -> bool:
        asked.append(question)
        return answer

    monkeypatch.setattr("typer.confirm", confirm)
    return asked


def test_forgetting_asks_what(writer: CommandLine) -> None:
    outcome = writer("forget", *ANA)
    assert outcome.code == 2
    assert "say what to forget: --turn, --memory" in outcome.err


def test_forgetting_counts_first_and_asks(writer: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    before, what = _turns(writer), ("forget", *ANA, "--turn", "mon-05")
    assert writer.done(*what, "--dry-run").out.startswith("would forget 1 turn")
    asked = _answering(monkeypatch, answer=False)
    assert writer(*what).code == 1
    assert "1 turn" in asked[0]
    assert _turns(writer) == before, "a no changes nothing"
    receipt = writer.json(*what, "--yes")
    assert len(asked) == 1
    assert (receipt["turns"], receipt["dry_run"]) == (1, False)
    assert len(receipt["hashes"]) >= 1
    assert _turns(writer) == before - 1
    assert writer(*what, "--yes").code == 1, "there is nothing left to forget by that name"
    assert writer(*what, "--lane", "x", "--yes").code == 2, "exactly one thing"


def test_forgetting_without_anybody_to_ask_says_so(writer: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    before = _turns(writer)
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    outcome = writer("forget", *ANA, "--everything")
    assert outcome.code == 2
    assert "nothing was forgotten" in outcome.err
    assert "--yes" in outcome.err
    assert _turns(writer) == before


@pytest.mark.parametrize(
    "what",
    [
        ("--entity", "person:mukesh"),
        ("--persona", "nikita"),
        ("--before", NOW),
        ("--origin", "assistant"),
        ("--everything",),
    ],
    ids=lambda what: what[0],
)
def test_each_way_to_forget(writer: CommandLine, what: tuple[str, ...]) -> None:
    before = _turns(writer)
    receipt = writer.json("forget", *ANA, *what, "--yes")
    assert receipt["turns"] > 0
    assert _turns(writer) == before - receipt["turns"]


def test_a_user_of_whom_only_links_are_known_can_be_forgotten(fresh: CommandLine) -> None:
    fresh.done("user", "bo", "--link", "telegram:42")
    assert "would forget 1 link" in fresh.done("forget", "--user", "bo", "--everything", "--dry-run").out
    assert fresh("user", "--resolve", "telegram:42").code == 0
    assert "forgot 1 link" in fresh.done("forget", "--user", "bo", "--everything", "--yes").out
    assert fresh("user", "--resolve", "telegram:42").code == 1
    assert fresh("forget", "--user", "bo", "--everything", "--yes").code == 2, "there is nothing left"


def test_retention_is_shown_set_tried_and_done(writer: CommandLine) -> None:
    assert writer.done("retention").out.strip() == "everything is kept until it is forgotten"
    writer.done("retention", "turn=30", "snapshot=7")
    assert writer.json("retention", *ANA) == {"turn": 30, "snapshot": 7}
    writer.done("retention", "turn=null", *ANA)
    assert writer.json("retention", *ANA) == {"snapshot": 7}
    assert writer.json("retention") == {"turn": 30, "snapshot": 7}
    writer.done("retention", "turn=30", *ANA)
    before = _turns(writer)
    tried = writer.json("retain", "--dry-run", *LONG_AFTER)
    assert tried["ana"]["turns"] == before
    assert _turns(writer) == before
    assert "removed" in writer.done("retain", *ANA, *LONG_AFTER).out
    assert _turns(writer) == 0
    assert writer("retention", "session=3").code == 2


def test_what_is_held_back_is_listed_and_decided(writer: CommandLine) -> None:
    with Hitherto(writer.data, clock=FakeClock()) as memory:
        held: Any = {"origin": "tool", "status": "QUARANTINED", "reason": "standing"}
        for name in ("good", "bad"):
            memory.add("memory", user="ana", id=name, text=f"Always buy at the {name} shop", **held)
    listed = writer.json("quarantine", *ANA)
    assert {"good", "bad"} <= {one["id"] for one in listed}
    assert writer.done("approve", "good", *ANA).out.strip() == "approved good"
    assert writer.done("reject", "bad", *ANA).out.strip() == "rejected bad"
    assert not {"good", "bad"} & {one["id"] for one in writer.json("quarantine", *ANA)}
    assert writer("approve", "bad", *ANA).code == 1, "it was decided"


def test_events_say_who_did_what(writer: CommandLine, tmp_path: Path) -> None:
    writer.done("export", *ANA, "--output", str(tmp_path / "ana.jsonl"))
    writer.done("forget", *ANA, "--turn", "mon-05", "--yes")
    writer.done("scrub")
    events = writer.json("events")
    assert [one["deed"] for one in events[:3]] == ["scrub", "forget", "export"]
    assert {one["by"] for one in events[:3]} == {"cli"}
    assert [one["deed"] for one in writer.json("events", *ANA)][:2] == ["forget", "export"]
    assert len(writer.json("events", "--limit", "1")) == 1
    assert "mon-05" not in str(events), "hashes of ids, no ids"


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_scrub_that_leaves_something_fails(
    writer: CommandLine, monkeypatch: pytest.MonkeyPatch, form: tuple[str, ...]
) -> None:
    async def scrub(_store: SqliteStore, **_: object) -> Scrubbed:
        return Scrubbed(files=1, seconds=0.2, left=("the write-ahead log of db: must be superuser",))

    assert writer("scrub", *form).code == 0
    monkeypatch.setattr(SqliteStore, "scrub", scrub)
    outcome = writer("scrub", *form)
    assert outcome.code == 1
    assert "the write-ahead log of db: must be superuser" in outcome.out
    if not form:
        assert outcome.out.startswith("rewrote 1 file in 0.2 s")


def test_a_new_master_key(fresh: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = tmp_path / "old.key", tmp_path / "new.key"
    old.write_text("0a" * 32)
    new.write_text("0b" * 32)
    assert fresh("rekey", str(new)).code == 2, "nothing is encrypted"
    monkeypatch.setenv("HITHERTO_MASTER_KEY_FILE", str(old))
    fresh.done("record", "--user", "ana", "I live in Lisbon.")
    assert fresh.json("rekey", str(new)) == {"keys": 1}
    assert fresh("turns", *ANA).code == 1, "the old one opens nothing any more"
    monkeypatch.setenv("HITHERTO_MASTER_KEY_FILE", str(new))
    assert [turn["text"] for turn in fresh.json("turns", *ANA)] == ["I live in Lisbon."]
