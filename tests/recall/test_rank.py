from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitherto.recall.query import Question
from hitherto.recall.rank import (
    DEFAULT,
    OTHER,
    PERSONA,
    USER,
    Ranked,
    Rows,
    Scores,
    closeness,
    collapse,
    rank,
    rank_sessions,
)
from hitherto.recall.traits import INSTRUCTION, TELLS, TIMED

BARE = replace(DEFAULT, session=0.0, beyond=0.0)


@dataclass(frozen=True)
class _Period:
    start: datetime
    end: datetime


def _rows(count: int, *, session: int = 5, flags: dict[int, int] | None = None, length: float = 10.0) -> Rows:
    places = np.arange(count)
    return Rows(
        seqs=places + 100,
        previous=np.where(places % session == 0, -1, places - 1),
        next=np.where((places % session == session - 1) | (places == count - 1), -1, places + 1),
        sessions=places // session,
        speakers=places % 2,
        names=("Ana", "Ben"),
        roles=np.where(places % 2 == 0, USER, PERSONA),
        times=(places * 86_400.0).astype(np.float64),
        flags=np.array([(flags or {}).get(place, 0) for place in range(count)], dtype=np.uint8),
        lengths=np.full(count, length, dtype=np.float32),
    )


def _scores(count: int, **at: float) -> Scores:
    scores = np.zeros(count)
    for place, score in at.items():
        scores[int(place[1:])] = score
    return scores


def _order(rows: Rows, question: Question, lexical: Scores, **kinds: object) -> list[int]:
    found = rank(rows, question, lexical=lexical, dense=None, limit=len(rows), **{"weights": BARE, **kinds})  # pyright: ignore[reportArgumentType] - keyword arguments by name
    return [entry.row for entry in found]


ASKED = Question(text="x", stems=("x",))


def test_parts_add_up_and_the_best_comes_first() -> None:
    rows = _rows(10, flags={3: TELLS | TIMED, 4: INSTRUCTION})
    question = replace(ASKED, of_user=True, asks_when=True)
    found = rank(rows, question, lexical=_scores(10, r3=5.0, r7=2.0), dense=np.linspace(0, 1, 10), limit=10)
    assert [entry.score for entry in found] == sorted((entry.score for entry in found), reverse=True)
    for entry in found:
        assert sum(entry.parts.values()) == pytest.approx(entry.score, abs=1e-5)
        assert entry.seq == entry.row + 100


def test_the_answer_is_found_beside_the_question_that_matched() -> None:
    order = _order(_rows(10), ASKED, _scores(10, r2=5.0))
    assert order[:3] == [2, 3, 1]


def test_a_long_turn_leans_less_on_its_neighbours_and_none_crosses_a_session() -> None:
    short = rank(_rows(10), ASKED, lexical=_scores(10, r2=5.0), dense=None, weights=BARE, limit=2)
    long = rank(_rows(10, length=500.0), ASKED, lexical=_scores(10, r2=5.0), dense=None, weights=BARE, limit=2)
    assert short[1].parts["neighbours"] > long[1].parts["neighbours"] > 0
    ends = rank(_rows(10), ASKED, lexical=_scores(10, r4=5.0), dense=None, weights=BARE, limit=10)
    assert "neighbours" not in next(entry for entry in ends if entry.row == 5).parts


def test_named_speakers_and_what_they_tell_come_forward() -> None:
    rows = _rows(10, session=1, flags={5: TELLS})
    assert _order(rows, replace(ASKED, speakers=frozenset({"Ben"})), _scores(10))[0] == 5
    assert _order(rows, replace(ASKED, of_persona=True), _scores(10))[:5] == [1, 3, 5, 7, 9]


def test_a_period_boosts_and_hides_nothing() -> None:
    period = _Period(start=datetime.fromtimestamp(6 * 86_400, UTC), end=datetime.fromtimestamp(7 * 86_400, UTC))
    order = _order(_rows(10, session=1), replace(ASKED, periods=(period,)), _scores(10))
    assert order[:2] == [6, 7]
    assert len(order) == 10
    assert closeness(np.array([0.0, 5.0, 20.0]), [(4.0, 6.0)], fade=10.0).tolist() == pytest.approx(
        [np.exp(-0.4), 1.0, np.exp(-1.4)]
    )


def test_the_shelf_is_always_there_and_bounded() -> None:
    rows = _rows(40, session=1, flags=dict.fromkeys(range(0, 40, 2), INSTRUCTION))
    found = rank(rows, ASKED, lexical=_scores(40), dense=None, weights=BARE, limit=40)
    lifted = [entry.row for entry in found if "standing" in entry.parts]
    assert lifted == [0, 2, 4]
    assert [entry.row for entry in found][:3] == [0, 2, 4]


@pytest.mark.parametrize(("role", "lifted"), [(USER, True), (0, True), (PERSONA, False), (OTHER, False)])
def test_only_a_user_makes_standing_requests(role: int, *, lifted: bool) -> None:
    rows = replace(_rows(6, flags={2: INSTRUCTION}), roles=np.full(6, role, dtype=np.int8))
    found = rank(rows, ASKED, lexical=_scores(6), dense=None, weights=BARE, limit=6)
    assert [entry.row for entry in found if "standing" in entry.parts] == ([2] if lifted else [])


def test_a_related_word_counts_for_less_than_the_asked_one() -> None:
    rows = _rows(10, session=1)
    found = rank(rows, ASKED, lexical=_scores(10, r2=5.0), related=_scores(10, r7=5.0), dense=None, limit=10)
    assert [entry.row for entry in found[:2]] == [2, 7]
    assert "related" not in found[0].parts
    assert 0 < found[1].parts["related"] < found[0].parts["lexical"]
    assert sum(found[1].parts.values()) == pytest.approx(found[1].score, abs=1e-5)
    asked = rank(rows, ASKED, lexical=_scores(10, r2=5.0), dense=None, limit=10)
    assert asked == rank(rows, ASKED, lexical=_scores(10, r2=5.0), related=_scores(10), dense=None, limit=10)


def test_rows_that_are_not_allowed_neither_appear_nor_count() -> None:
    rows = _rows(10)
    allowed = np.arange(10) >= 5
    lexical = _scores(10, r0=100.0, r7=1.0)
    found = rank(rows, ASKED, lexical=lexical, dense=None, allowed=allowed, limit=10)
    assert {entry.row for entry in found} == {5, 6, 7, 8, 9}
    alone = rank(rows, ASKED, lexical=_scores(10, r7=1.0), dense=None, allowed=allowed, limit=10)
    assert [(entry.row, entry.score) for entry in found] == [(entry.row, entry.score) for entry in alone]
    assert rank(rows, ASKED, lexical=lexical, dense=None, allowed=np.zeros(10, dtype=np.bool_), limit=5) == []


def test_no_rows_and_nothing_matching() -> None:
    assert rank(_rows(0), ASKED, lexical=_scores(0), dense=None, limit=5) == []
    assert [entry.row for entry in rank(_rows(4), ASKED, lexical=_scores(4), dense=None, limit=5)] == [0, 1, 2, 3]


def test_several_good_turns_make_a_better_session_than_one() -> None:
    totals = np.array([3.0, -1.0, -1.0, 2.5, 2.5, 2.0, 0.1, 0.0, 0.0])
    sessions = np.repeat([0, 1, 2], 3)
    assert [session for session, _ in rank_sessions(totals, sessions)] == [1, 0, 2]
    assert rank_sessions(np.zeros(0), np.zeros(0, dtype=np.int64)) == []


def test_near_duplicates_fold_into_the_best() -> None:
    found = [Ranked(row=place, seq=place, score=9.0 - place, parts={}) for place in range(4)]
    vectors = np.array([[1, 0], [0, 1], [1, 0.01], [0.7, 0.7]], dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    kept = collapse(found, vectors @ vectors.T)
    assert [(entry.seq, entry.duplicates) for entry in kept] == [(0, (2,)), (1, ()), (3, ())]
    assert collapse([], np.zeros((0, 0))) == []


@given(st.lists(st.floats(0, 30), min_size=1, max_size=30), st.integers(0, 20))
def test_scaling_full_text_scores_changes_no_order(values: list[float], factor: int) -> None:
    lexical = np.round(np.array(values, dtype=np.float64), 3).astype(np.float64)
    scaled = (lexical * float(2**factor)).astype(np.float64)
    assert _order(_rows(len(values)), ASKED, lexical) == _order(_rows(len(values)), ASKED, scaled)
