"""`hitherto eval`: the format, the measures, and a whole run through the engine."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitherto.deliver.cli import main
from hitherto.errors import InvalidInput
from hitherto.evaluate import engine_run, read
from hitherto.evaluate.engine_run import Index

SAID = (
    ("user", "My sister Lea moved to Lisbon in March."),
    ("assistant", "How does she like it there?"),
    ("user", "She loves the trams, and works in a bakery now."),
    ("assistant", "Shall we talk about your running plan?"),
    ("user", "Yes: three times a week, and never on Mondays."),
    ("assistant", "Noted, three runs a week."),
)


def talk(*, evidence: list[str], question: str = "Where does Lea work?", answerable: bool = True) -> dict[str, Any]:
    turns = [
        {"id": f"t{n}", "speaker": role, "role": role, "text": text, "time": f"2026-03-02T09:0{n}:00"}
        for n, (role, text) in enumerate(SAID)
    ]
    return {
        "id": "c1",
        "sessions": [{"id": "s1", "time": "2026-03-02T09:00:00", "turns": turns}],
        "questions": [
            {
                "id": "q1",
                "text": question,
                "answer": "in a bakery",
                "category": "single",
                "evidence": evidence,
                "evidence_sessions": ["s1"],
                "asked_at": "2026-03-20T09:00:00",
                "answerable": answerable,
            }
        ],
    }


def written(path: Path, *entries: dict[str, Any]) -> Path:
    lines = "".join(json.dumps(entry) + "\n" for entry in entries)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(lines.encode()))
    else:
        path.write_text(lines, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["talk.jsonl", "talk.jsonl.gz"])
def test_a_file_is_read_plain_or_packed(tmp_path: Path, name: str) -> None:
    [conversation] = read(written(tmp_path / name, talk(evidence=["t2"])))
    assert [said.text for said in conversation.turns] == [text for _, text in SAID]
    assert conversation.questions[0].evidence == {2}
    assert conversation.turns[0].at.tzinfo is not None


def test_questions_without_an_answer_or_evidence_are_left_out(tmp_path: Path) -> None:
    path = written(tmp_path / "talk.jsonl", talk(evidence=["t2"], answerable=False), talk(evidence=["elsewhere"]))
    assert [conversation.questions for conversation in read(path)] == [(), ()]


def test_a_line_that_is_no_conversation_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "talk.jsonl", talk(evidence=["t2"]), {"id": "c2"})
    with pytest.raises(InvalidInput, match=r"talk\.jsonl, line 2"):
        list(read(path))


def test_measures_of_a_ranking() -> None:
    ranked = [(place, 10.0 - place) for place in range(12)]
    found = engine_run.of_ranking(ranked, {0, 9, 11}, tokens=[92] * 12, sessions=[place // 2 for place in range(12)])
    assert found["frac@5"] == pytest.approx(1 / 3)
    assert found["frac@10"] == pytest.approx(2 / 3)
    assert found["all@20"] == 1.0
    assert found["frac 1k"] == pytest.approx(2 / 3), "ten lines of 92 and 8 tokens fit"
    assert found["session all@5"] == 0.0


def test_a_turn_that_does_not_fit_is_passed_over() -> None:
    assert engine_run.fitting([0, 1, 2], tokens=[500, 600, 400], budget=1_000) == {0, 2}


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_the_interval_holds_the_mean_and_is_the_same_again(values: list[float]) -> None:
    mean, low, high = engine_run.interval(values)
    assert low - 1e-4 <= mean <= high + 1e-4
    assert engine_run.interval(values) == (mean, low, high)


def test_the_baseline_is_the_stores_bm25() -> None:
    index = Index.of([text for _, text in SAID])
    [best, *_] = index.ranked("Who works in a bakery?")
    assert best[0] == 2
    assert index.ranked("") == []


def test_a_run_prints_saves_and_draws(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path / "talk.jsonl.gz", talk(evidence=["t2"]))
    assert main(["eval", str(path), "--output", "out.json"]) == 0
    shown = capsys.readouterr().out
    assert "talk  1 conversations, 6 turns, 1 questions" in shown
    [report] = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    lines = {line["metric"]: line for line in report["overall"]["lines"]}
    assert lines["frac@10"]["ours"] == [1.0, 1.0, 1.0]
    assert lines["whole context"]["ours"] == [1.0, 1.0, 1.0]
    assert {group["name"] for group in report["categories"]} == {"single"}
    drawn = ET.parse(tmp_path / "out.svg").getroot()
    assert drawn.tag.endswith("svg")


def test_a_turn_without_words_is_passed_over(tmp_path: Path) -> None:
    entry = talk(evidence=["t2"])
    entry["sessions"][0]["turns"][1]["text"] = " "
    path = written(tmp_path / "talk.jsonl", entry)
    assert main(["eval", str(path), "--output", str(tmp_path / "out.json")]) == 0
    [report] = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert report["turns"] == 6


def test_a_file_without_questions_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "talk.jsonl", talk(evidence=[]))
    assert main(["eval", str(path), "--output", str(tmp_path / "out.json")]) == 2
    assert "no answerable question" in capsys.readouterr().err


def test_a_reranker_that_is_not_there_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "talk.jsonl", talk(evidence=["t2"]))
    assert main(["eval", str(path), "--reranker", "magic", "--output", str(tmp_path / "out.json")]) == 2
    assert "'magic' is not a reranker" in capsys.readouterr().err
