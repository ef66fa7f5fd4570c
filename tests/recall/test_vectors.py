import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.recall.vectors import Blend, Floats, Integers, Matrix, Vectors, dequantise, quantise, top, unit


def _random(count: int, *, dimension: int = 64, seed: int = 7) -> Vectors:
    return unit(np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32))


def _chain(count: int, *, session: int) -> Integers:
    """Predecessors of rows in sessions of equal length."""
    rows = np.arange(count)
    return np.where(rows % session == 0, -1, rows - 1)


def _reference(vectors: Vectors, previous: Integers, query: Vectors, leans: Floats, blend: Blend) -> Vectors:
    mixed = vectors.copy()
    for row, before in enumerate(previous):
        if before >= 0:
            mixed[row] += leans[row] * blend.previous * vectors[before]
            mixed[before] += leans[before] * blend.next * vectors[row]
    return unit(mixed) @ query


@given(st.integers(1, 40), st.integers(1, 9), st.integers(0, 2**16))
@settings(max_examples=50)
def test_blending_dots_equals_blending_vectors(count: int, session: int, seed: int) -> None:
    vectors, previous = _random(count, seed=seed), _chain(count, session=session)
    leans = np.random.default_rng(seed).uniform(size=count).astype(np.float32)
    matrix = Matrix(64)
    cut = count // 2
    for part in (slice(None, cut), slice(cut, None)):
        matrix.extend(np.arange(count)[part] + 1, vectors[part], previous=previous[part], leans=leans[part])
    query = _random(1, seed=seed + 1)[0]
    np.testing.assert_allclose(
        matrix.blended(matrix.dots(query)), _reference(vectors, previous, query, leans, Blend()), atol=1e-5
    )


def test_codes_find_what_exact_rows_find() -> None:
    count = 3_000
    vectors, previous = _random(count), _chain(count, session=20)
    exact, coded = Matrix(64), Matrix(64, exact_rows=1_000)
    for matrix in (exact, coded):
        for start in range(0, count, 700):
            part = slice(start, start + 700)
            matrix.extend(np.arange(count)[part] + 1, vectors[part], previous=previous[part])
    assert coded.nbytes < exact.nbytes / 2
    agreed = 0
    for query in _random(50, seed=11):
        agreed += len(
            {seq for seq, _ in exact.search(query, limit=10)} & {seq for seq, _ in coded.search(query, limit=10)}
        )
    assert agreed / 500 >= 0.97


@pytest.mark.parametrize("exact_rows", [50_000, 10])
def test_removed_rows_leave_no_trace(exact_rows: int) -> None:
    vectors, previous = _random(60), _chain(60, session=15)
    matrix = Matrix(64, exact_rows=exact_rows)
    matrix.extend(np.arange(60), vectors, previous=previous)
    matrix.remove(np.array([0, 7, 8, 14, 59, 1000]))
    keep = np.setdiff1d(np.arange(60), [0, 7, 8, 14, 59])
    fresh = Matrix(64, exact_rows=exact_rows)
    session = keep // 15
    joined = np.where(np.append(False, session[1:] == session[:-1]), np.arange(len(keep)) - 1, -1)
    fresh.extend(keep, vectors[keep], previous=joined)
    query = _random(1, seed=3)[0]
    assert [seq for seq, _ in matrix.search(query, limit=55)] == [seq for seq, _ in fresh.search(query, limit=55)]
    assert matrix.previous.tolist() == fresh.previous.tolist()
    assert matrix.next.tolist() == fresh.next.tolist()


def test_an_empty_matrix_and_a_zero_query() -> None:
    matrix = Matrix(8)
    assert matrix.search(np.zeros(8, dtype=np.float32), limit=5) == []
    matrix.extend(np.array([4, 9]), np.eye(8, dtype=np.float32)[:2], previous=np.array([-1, -1]))
    assert matrix.search(np.zeros(8, dtype=np.float32), limit=5) == [(4, 0.0), (9, 0.0)]


def test_rows_are_appended_in_order_and_of_the_right_size() -> None:
    matrix = Matrix(8)
    matrix.extend(np.array([5]), np.eye(8, dtype=np.float32)[:1], previous=np.array([-1]))
    with pytest.raises(ValueError, match="order of seq"):
        matrix.extend(np.array([5]), np.eye(8, dtype=np.float32)[:1], previous=np.array([-1]))
    with pytest.raises(ValueError, match="dimensions"):
        matrix.extend(np.array([6]), np.eye(9, dtype=np.float32)[:1], previous=np.array([-1]))


def test_top_breaks_ties_by_seq_after_rounding() -> None:
    scores = np.array([0.5, 0.5 + 1e-8, 0.9, 0.5], dtype=np.float64)
    assert top(scores.astype(np.float32), np.array([3, 9, 7, 1]), limit=3).tolist() == [2, 3, 0]
    assert top(scores, np.arange(4), limit=0).tolist() == []
    assert top(scores, np.arange(4), limit=9).tolist() == [2, 0, 1, 3]


def test_quantising_keeps_directions() -> None:
    vectors = _random(100)
    assert (np.sum(dequantise(quantise(vectors)) * vectors, axis=1) > 0.999).all()
    assert not quantise(np.zeros((1, 4), dtype=np.float32)).any()
