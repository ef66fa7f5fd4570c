from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitherto.recall.vectors import (
    Blend,
    Coded,
    Floats,
    Growing,
    Integers,
    Matrix,
    Vectors,
    quantise,
    top,
    unit,
)


def _random(count: int, *, dimension: int = 64, seed: int = 7) -> Vectors:
    return unit(np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32))


def _coarse(vectors: Vectors) -> Vectors:
    """What is left of vectors once they are codes."""
    return unit(quantise(vectors).astype(np.float32))


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
    codes, previous = quantise(_random(count, seed=seed)), _chain(count, session=session)
    codes[seed % count] = 0
    leans = np.random.default_rng(seed).uniform(size=count).astype(np.float32)
    matrix = Matrix(64)
    cut = count // 2
    for part in (slice(None, cut), slice(cut, None)):
        matrix.extend(np.arange(count)[part] + 1, codes[part], previous=previous[part], leans=leans[part])
    query = _coarse(_random(1, seed=seed + 1))[0]
    expected = _reference(unit(codes.astype(np.float32)), previous, query, leans, Blend())
    np.testing.assert_allclose(matrix.blended(matrix.dots(query)), expected, atol=1e-6)


@given(st.integers(0, 2**16))
@settings(max_examples=50)
def test_a_scan_is_one_of_codes(seed: int) -> None:
    rows, query = Coded(256), _random(1, dimension=256, seed=seed)[0]
    vectors = _random(100, dimension=256, seed=seed + 1)
    codes = quantise(vectors)
    rows.extend(codes[:30])
    rows.extend(codes[30:])
    exactly = codes.astype(np.float64) / np.linalg.norm(codes.astype(np.float64), axis=1, keepdims=True)
    np.testing.assert_allclose(rows.dots(query), exactly @ _coarse(query[None])[0], atol=1e-7)
    np.testing.assert_allclose(rows.dots(query), vectors @ query, atol=0.006)
    np.testing.assert_array_equal(rows.some_dots(query, 20, 50), rows.dots(query)[20:50])
    some = np.array([3, 99, 40])
    np.testing.assert_allclose(rows.likeness(some), exactly[some] @ exactly[some].T, atol=1e-7)


def test_rows_added_one_by_one_are_the_same_as_all_at_once() -> None:
    codes, previous = quantise(_random(60)), _chain(60, session=15)
    at_once, one_by_one = Matrix(64), Matrix(64)
    at_once.extend(np.arange(60), codes, previous=previous)
    for row in range(60):
        part = slice(row, row + 1)
        one_by_one.extend(np.arange(60)[part], codes[part], previous=previous[part])
    query = _random(1, seed=3)[0]
    np.testing.assert_array_equal(at_once.blended(at_once.dots(query)), one_by_one.blended(one_by_one.dots(query)))
    assert at_once.next.tolist() == one_by_one.next.tolist()


def test_an_empty_matrix_and_a_zero_query() -> None:
    matrix = Matrix(8)
    assert matrix.search(np.zeros(8, dtype=np.float32), limit=5) == []
    matrix.extend(np.array([4, 9]), np.eye(8, dtype=np.int8)[:2], previous=np.array([-1, -1]))
    assert matrix.search(np.zeros(8, dtype=np.float32), limit=5) == [(4, 0.0), (9, 0.0)]


def test_rows_are_appended_in_order_and_of_the_right_size() -> None:
    matrix = Matrix(8)
    matrix.extend(np.array([5]), np.eye(8, dtype=np.int8)[:1], previous=np.array([-1]))
    with pytest.raises(ValueError, match="order of seq"):
        matrix.extend(np.array([5]), np.eye(8, dtype=np.int8)[:1], previous=np.array([-1]))
    with pytest.raises(ValueError, match="dimensions"):
        matrix.extend(np.array([6]), np.eye(9, dtype=np.int8)[:1], previous=np.array([-1]))


def test_top_breaks_ties_by_seq_after_rounding() -> None:
    scores = np.array([0.5, 0.5 + 1e-8, 0.9, 0.5], dtype=np.float64)
    assert top(scores.astype(np.float32), np.array([3, 9, 7, 1]), limit=3).tolist() == [2, 3, 0]
    assert top(scores, np.arange(4), limit=0).tolist() == []
    assert top(scores, np.arange(4), limit=9).tolist() == [2, 0, 1, 3]


def test_quantising_keeps_directions() -> None:
    vectors = _random(100)
    assert (np.sum(_coarse(vectors) * vectors, axis=1) > 0.999).all()
    assert not quantise(np.zeros((1, 4), dtype=np.float32)).any()


def test_a_column_grows_without_being_copied_each_time() -> None:
    column = Growing(np.int64)
    homes: list[Integers] = []
    for n in range(1000):
        column.extend(np.array([n]))
        homes.append(column.all)
    assert column.all.tolist() == list(range(1000))
    moves = sum(not np.shares_memory(before, after) for before, after in pairwise(homes))
    assert moves < 20
    column.all[3] = -3
    assert column.all[:5].tolist() == [0, 1, 2, -3, 4]
