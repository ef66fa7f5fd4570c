from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hitherto.errors import InvalidInput
from hitherto.recall.rank import Ranked
from hitherto.recall.rerank import JUDGED, open_reranker, reranked, told, verdicts


def _ranked(*scores: float) -> list[Ranked]:
    best = sorted(scores, reverse=True)
    return [Ranked(row=n, seq=n, score=score, parts={"lexical": score}) for n, score in enumerate(best)]


def test_a_verdict_moves_a_text_and_leaves_the_scores() -> None:
    found = reranked(_ranked(5.0, 4.0, 3.0), np.array([-8.0, 2.0, 1.0], dtype=np.float32))
    assert [one.row for one in found] == [1, 0, 2]
    assert [one.score for one in found] == [5.0, 4.0, 3.0]
    assert found[0].parts == {"lexical": 4.0, "reranked": 1.0}
    assert found[2].parts == {"lexical": 3.0}


def test_only_the_order_of_verdicts_counts() -> None:
    before = _ranked(5.0, 4.0, 3.0, 2.0)
    close, far = np.array([0.1, 0.3, 0.2, 0.0]), np.array([-9.0, 8.0, 2.0, -11.0])
    assert reranked(before, close.astype(np.float32)) == reranked(before, far.astype(np.float32))


def test_a_standing_request_keeps_its_place() -> None:
    first, second, third = _ranked(5.0, 4.0, 3.0)
    always = first._replace(parts={"standing": 5.0})
    found = reranked([always, second, third], np.array([-9.0, 1.0, 8.0], dtype=np.float32))
    assert found[0] == always
    assert {one.row for one in found} == {0, 1, 2}


@given(
    st.lists(st.floats(-20, 20), min_size=1, max_size=60),
    st.lists(st.floats(-12, 12, width=32), min_size=1, max_size=JUDGED),
)
def test_what_was_not_judged_stays_behind(scores: list[float], found: list[float]) -> None:
    before = _ranked(*(round(score, 6) for score in scores))
    judged = min(len(before), len(found))
    after = reranked(before, np.array(found[:judged], dtype=np.float32))
    assert {one.seq for one in after} == {one.seq for one in before}
    assert [one.score for one in after] == [one.score for one in before]
    assert all(sum(one.parts.values()) == pytest.approx(one.score, abs=1e-5) for one in after)
    assert [one.row for one in after[judged:]] == [one.row for one in before[judged:]]


def test_without_verdicts_nothing_changes() -> None:
    before = _ranked(2.0, 1.0)
    assert reranked(before, np.zeros(0, dtype=np.float32)) == before


class _Wanted:
    """Finds one text right, and no other; keeps what it was shown."""

    def __init__(self, wanted: str) -> None:
        self.wanted = wanted
        self.shown: list[str] = []

    def judge(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        self.shown += texts
        return np.array([float(text == self.wanted) for text in texts], dtype=np.float32)


def test_what_is_said_by_the_way_is_judged_by_itself() -> None:
    text = "I need new tyres. They cost too much. By the way, Doctor Lee called. She is well."
    model = _Wanted("Ana: They cost too much. By the way, Doctor Lee called.")
    found = verdicts(model, "who called?", [("Hello.", None), (text, "Ana"), ("One. Two.", None)])
    assert found.tolist() == [0.0, 1.0, 0.0]
    assert model.shown[:2] == ["Hello.", f"Ana: {text}"]
    assert model.shown[-1] == "One. Two."


def test_of_a_long_text_only_the_whole_is_judged() -> None:
    text = "It is so. " * 30
    model = _Wanted(text)
    assert verdicts(model, "is it?", [(text, None)]).tolist() == [1.0]
    assert model.shown == [text]
    assert verdicts(model, "is it?", []).tolist() == []


def test_who_spoke_is_judged_too() -> None:
    assert told("I moved", speaker="Ana") == "Ana: I moved"
    assert told("I moved", speaker=None) == "I moved"


def test_an_unknown_reranker_is_said() -> None:
    assert open_reranker(None) is None
    with pytest.raises(InvalidInput, match="'magic'"):
        open_reranker("magic")
