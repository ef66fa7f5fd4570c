from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitherto.recall.embed.base import MEANINGS, TOPICS, Calibration, Purpose, calibrate
from hitherto.recall.embed.static import static_embedder
from hitherto.recall.vectors import Vectors


@pytest.mark.req("R2.5")
def test_seven_tenths_means_closer_than_99_of_100_unrelated_pairs() -> None:
    embedder = static_embedder()
    calibration = calibrate(embedder)
    vectors = [embedder.embed(topic) for topic in TOPICS]
    unrelated = [
        calibration(float(a @ b))
        for place, first in enumerate(vectors)
        for second in vectors[place + 1 :]
        for a in first
        for b in second
    ]
    above = sum(similarity > 0.7 for similarity in unrelated) / len(unrelated)
    assert 0.005 <= above <= 0.015
    assert calibration(1.0) == 1.0


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_calibration_keeps_the_order_and_can_be_undone(first: float, second: float) -> None:
    calibration = Calibration(points=((-1.0, 0.0), (0.1, 0.3), (0.4, 0.7), (1.0, 1.0)))
    low, high = sorted((first, second))
    assert 0.0 <= calibration(low) <= calibration(high) <= 1.0
    assert calibration.cosine(calibration(first)) == pytest.approx(first, abs=1e-5)


def test_meanings_rise() -> None:
    assert sorted(MEANINGS) == list(MEANINGS)


class _Counting:
    name, version, at_once, trust = "counting", "counting-1", True, 0.7

    def __init__(self) -> None:
        self.dimension, self.asked = static_embedder().dimension, 0

    def embed(self, texts: Sequence[str], *, purpose: Purpose = "passage") -> Vectors:
        self.asked += 1
        return static_embedder().embed(texts, purpose=purpose)


def test_an_embedder_is_measured_once_in_a_process() -> None:
    one, same = _Counting(), _Counting()
    assert calibrate(one) == calibrate(same) == calibrate(static_embedder())
    assert one.asked + same.asked == 1
