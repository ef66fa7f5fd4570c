import numpy as np
import pytest

from hitherto.recall.traits import (
    ASKS,
    INSTRUCTION,
    LOOKED,
    PREFERENCE,
    SECRET,
    TELLS,
    TIMED,
    Traits,
    Unpacked,
    languages,
    pack,
    spoken,
    traits,
    unpack,
)
from hitherto.recall.vectors import quantise, unit


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("I just got a new job in Lisbon.", TELLS | TIMED),
        ("Can you help me?", 0),
        ("Can you help? By the way, my cat is ill.", TELLS),
        ("The museum opened last summer", TIMED),
        ("Always answer in Spanish.", INSTRUCTION),
        ("I prefer tea.", TELLS | PREFERENCE),
        ("I may go", TELLS),
        ("", 0),
    ],
)
def test_traits_of(text: str, flags: int) -> None:
    assert traits(text, length=3).flags == flags


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("Can you help me?", ASKS),
        ("what is she into?? 😂", ASKS),
        ("¿Y tú? ", ASKS),
        ("元気？", ASKS),
        ("Is that so? I doubt it.", 0),
        ("the wifi password is hunter2-Blue!", SECRET),
        ("", 0),
    ],
)
def test_marks_of(text: str, marks: int) -> None:
    assert traits(text, length=3).marks == marks | LOOKED


def test_rows_survive_packing() -> None:
    vectors = unit(np.random.default_rng(5).normal(size=(3, 16)).astype(np.float32))
    given = [Traits(flags=0, length=0), Traits(flags=15, length=300), traits("x", length=10**6)]
    found = _unpacked(pack(vectors, given))
    assert np.sum(unit(found.codes.astype(np.float32)) * vectors, axis=1).min() > 0.999
    assert found.flags.tolist() == [0, 15, 0]
    assert found.lengths.tolist() == [0, 300, 8191]
    assert found.marks.tolist() == [0, 0, LOOKED]
    assert len(found.passages) == 0
    assert _unpacked([]).codes.shape == (0, 16)


def test_passages_keep_their_rows() -> None:
    vectors = unit(np.random.default_rng(6).normal(size=(3, 16)).astype(np.float32))
    given = [Traits(flags=1, length=2)] * 3
    found = _unpacked(pack(vectors, given, [vectors[:2], vectors[:0], vectors]))
    np.testing.assert_array_equal(found.codes, quantise(vectors))
    assert found.owners.tolist() == [0, 0, 2, 2, 2]
    np.testing.assert_array_equal(found.passages, quantise(np.concatenate([vectors[:2], vectors])))


def test_rows_of_another_dimension_are_refused() -> None:
    with pytest.raises(ValueError, match="19 bytes"):
        _unpacked([b"12"])


def _unpacked(rows: list[bytes]) -> Unpacked:
    return unpack(b"".join(rows), np.array([len(row) for row in rows], dtype=np.int64), dimension=16)


def test_a_language_that_is_found_now_and_then_is_none_of_the_users() -> None:
    english = [traits("I went to the market and bought some bread", length=4)] * 60
    spanish = [traits("Ayer fui al mercado con mi hermana y compré pan", length=5)]
    once, twice = (np.array([one.flags for one in english + spanish * n], dtype=np.uint8) for n in (1, 2))
    assert languages(spoken(once)) == frozenset()
    assert languages(spoken(twice)) == {"es"}
    assert languages(spoken(once[-2:])) == {"es"}, "of a few rows each counts"
