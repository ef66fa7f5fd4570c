import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitherto.recall.rank import RankCandidate, blended, boosted, by_lane, decay


@pytest.mark.req("R2.5")
def test_recall_blend_to_the_number() -> None:
    found = boosted(
        [
            RankCandidate(seq=1, similarity=0.8, age_days=6.9),
            RankCandidate(seq=2, similarity=0.8, age_days=7.0),
            RankCandidate(seq=3, similarity=0.69, age_days=0.0, importance=3),
            RankCandidate(seq=4, similarity=0.8, age_days=30.0, importance=3),
        ]
    )
    assert [(entry.seq, entry.score) for entry in found] == [(1, 0.96), (4, 0.96), (2, 0.8)]
    assert len(boosted([RankCandidate(seq=seq, similarity=0.9) for seq in range(9)])) == 5


@pytest.mark.req("R3.5")
def test_personas_blend_to_the_number() -> None:
    found = blended(
        [
            RankCandidate(seq=1, similarity=0.9, age_days=28.0),
            RankCandidate(seq=2, similarity=0.5, age_days=0.0, entities=("person:john",)),
            RankCandidate(seq=3, similarity=0.5, age_days=14.0, entities=("person:john", "org:acme")),
        ]
    )
    scores = {entry.seq: entry.score for entry in found}
    assert scores == {
        1: pytest.approx(0.4 * 0.9 + 0.3 * 0.25),
        2: pytest.approx(0.4 * 0.5 + 0.3 + 0.3),
        3: pytest.approx(0.4 * 0.5 + 0.3 * 0.5 + 0.3),
    }
    assert [entry.seq for entry in found] == [2, 3, 1]


@pytest.mark.req("R3.5")
def test_without_entities_similarity_alone_counts() -> None:
    found = blended(
        [RankCandidate(seq=1, similarity=0.5, age_days=0.0), RankCandidate(seq=2, similarity=0.6, age_days=900.0)]
    )
    assert [(entry.seq, entry.score) for entry in found] == [(2, 0.6), (1, 0.5)]


@pytest.mark.req("R4.7")
def test_full_text_comes_first_and_other_lanes_only_when_named_or_certain() -> None:
    candidates = [
        RankCandidate(seq=1, similarity=0.99, lane="here"),
        RankCandidate(seq=2, similarity=0.1, lexical=0.4, lane="here"),
        RankCandidate(seq=3, similarity=0.8, lexical=9.0, lane="there"),
        RankCandidate(seq=4, similarity=0.9, lexical=3.0, lane="elsewhere"),
        RankCandidate(seq=5, similarity=0.2, lane=None),
    ]
    assert [entry.seq for entry in by_lane(candidates, lane="here")] == [4, 2, 1, 5]
    assert [entry.seq for entry in by_lane(candidates, lane="here", named={"there"})] == [3, 4, 2, 1, 5]


@given(st.floats(0, 1000), st.floats(0, 1000))
def test_decay_falls_and_halves(first: float, second: float) -> None:
    low, high = sorted((first, second))
    assert 0 <= decay(high, half_life=14) <= decay(low, half_life=14) <= 1
    assert decay(low + 14, half_life=14) == pytest.approx(decay(low, half_life=14) / 2)
    assert decay(-5, half_life=14) == 1
