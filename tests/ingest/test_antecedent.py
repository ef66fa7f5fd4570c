"""Ranking what a message answers, in a room where people talk at once."""

import importlib.util
import math
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitherto.ingest.antecedent import candidates
from tests.ingest.turns import START, stored

ROOM = (
    stored(1, "does anyone know how to mount a usb drive?", speaker="ana"),
    stored(2, "my printer prints blank pages since the update", speaker="Bo Lind"),
    stored(3, "good morning everyone", speaker="cleo"),
    stored(4, "and it is a brand new cartridge", speaker="Bo Lind"),
)


def best(message: str, speaker: str) -> str:
    return candidates(message, speaker=speaker, window=ROOM)[0].turn.id


def test_whom_a_message_names_it_answers() -> None:
    assert best("ana: use the disks tool", "dave") == "t1"
    assert best("@ana the disks tool does it", "dave") == "t1"


def test_a_first_name_is_enough_when_only_one_has_it() -> None:
    assert best("bo, have you cleaned the heads", "dave") == "t4"


def test_shared_rare_words_find_the_talk() -> None:
    assert best("mount the usb drive by hand", "dave") == "t1"


def test_scores_are_shares_of_one_and_explain_themselves() -> None:
    ranked = candidates("ana: use the disks tool", speaker="dave", window=ROOM)
    assert math.isclose(sum(candidate.score for candidate in ranked), 1.0)
    assert ranked[0].parts["addressed"] > 0
    assert [turn.id for turn in sorted((c.turn for c in ranked), key=lambda t: t.seq)] == [
        "t1",
        "t2",
        "t3",
        "t4",
    ]


def test_tool_and_system_turns_answer_nobody() -> None:
    window = (*ROOM, stored(5, "{}", role="tool"), stored(6, "policy", role="system"))
    assert {c.turn.role for c in candidates("ok", speaker="dave", window=window)} == {"user"}


def test_an_empty_room_has_no_candidates() -> None:
    assert candidates("hello", speaker=None, window=()) == []


@given(
    st.lists(st.tuples(st.text(max_size=30), st.none() | st.text(max_size=8)), max_size=12),
    st.text(max_size=40),
    st.none() | st.text(max_size=8),
)
def test_any_names_and_texts_are_ranked(said: list[tuple[str, str | None]], message: str, speaker: str | None) -> None:
    window = [stored(at, text, speaker=who) for at, (text, who) in enumerate(said, 1)]
    ranked = candidates(message, speaker=speaker, window=window, at=START)
    assert sorted(c.turn.seq for c in ranked) == [turn.seq for turn in window]
    assert [c.score for c in ranked] == sorted((c.score for c in ranked), reverse=True)


def bench() -> ModuleType:
    path = Path(__file__).resolve().parents[2] / "bench" / "anchor.py"
    spec = importlib.util.spec_from_file_location("bench_anchor", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.req("R4.2")
def test_on_real_logs_it_beats_both_baselines() -> None:
    anchor = bench()
    if not anchor.data_file().exists():
        pytest.skip(f"EVALUATION DATA MISSING: {anchor.data_file()} (set HITHERTO_EVAL_DATA)")
    sample = list(anchor.cases(anchor.data_file()))[::10]
    first = {name: anchor.hits(getattr(anchor, name), sample, k=1) for name in ("previous", "addressee", "ranked")}
    five = {name: anchor.hits(getattr(anchor, name), sample, k=5) for name in ("previous", "addressee", "ranked")}
    assert first["ranked"] > first["addressee"] + 0.08 > first["previous"]
    assert five["ranked"] > five["addressee"] + 0.03 > five["previous"]
