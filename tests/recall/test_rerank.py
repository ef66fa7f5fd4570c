import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import InvalidInput
from recollect.recall.rank import Ranked
from recollect.recall.rerank import JUDGED, WEIGHT, open_reranker, reranked, told


def _ranked(*scores: float) -> list[Ranked]:
    best = sorted(scores, reverse=True)
    return [Ranked(row=n, seq=n, score=score, parts={"lexical": score}) for n, score in enumerate(best)]


def test_a_verdict_adds_to_the_score() -> None:
    found = reranked(_ranked(5.0, 4.0, 3.0), np.array([-8.0, 2.0, 1.0], dtype=np.float32))
    assert [one.row for one in found] == [1, 2, 0]
    assert found[1].parts == {"lexical": 3.0, "reranked": -WEIGHT}
    assert found[2].score == 5.0 - 10 * WEIGHT


@given(
    st.lists(st.floats(-20, 20), min_size=1, max_size=60),
    st.lists(st.floats(-12, 12, width=32), min_size=1, max_size=JUDGED),
)
def test_what_was_not_judged_stays_behind(scores: list[float], verdicts: list[float]) -> None:
    before = _ranked(*(round(score, 6) for score in scores))
    judged = min(len(before), len(verdicts))
    after = reranked(before, np.array(verdicts[:judged], dtype=np.float32))
    assert {one.seq for one in after} == {one.seq for one in before}
    assert [one.score for one in after] == sorted((one.score for one in after), reverse=True)
    assert all(sum(one.parts.values()) == pytest.approx(one.score, abs=1e-5) for one in after)
    late = [place for place, one in enumerate(after) if one.row >= judged]
    early = [one for one in after if one.row < judged]
    worst = min(one.score for one in early)
    assert all(after[place].score <= worst for place in late)


def test_without_verdicts_nothing_changes() -> None:
    before = _ranked(2.0, 1.0)
    assert reranked(before, np.zeros(0, dtype=np.float32)) == before


def test_who_spoke_is_judged_too() -> None:
    assert told("I moved", speaker="Ana") == "Ana: I moved"
    assert told("I moved", speaker=None) == "I moved"


def test_an_unknown_reranker_is_said() -> None:
    assert open_reranker(None) is None
    with pytest.raises(InvalidInput, match="no reranker 'magic'"):
        open_reranker("magic")
