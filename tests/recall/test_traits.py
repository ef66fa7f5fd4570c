import numpy as np
import pytest

from recollect.recall.traits import INSTRUCTION, PREFERENCE, TELLS, TIMED, Traits, pack, traits, unpack
from recollect.recall.vectors import unit


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


def test_rows_survive_packing() -> None:
    vectors = unit(np.random.default_rng(5).normal(size=(3, 16)).astype(np.float32))
    given = [Traits(flags=0, length=0), Traits(flags=15, length=300), traits("x", length=10**6)]
    back, flags, lengths = unpack(pack(vectors, given), dimension=16)
    assert np.sum(back * vectors, axis=1).min() > 0.999
    assert flags.tolist() == [0, 15, 0]
    assert lengths.tolist() == [0, 300, 65535]
    empty, _, _ = unpack([], dimension=16)
    assert empty.shape == (0, 16)


def test_rows_of_another_dimension_are_refused() -> None:
    with pytest.raises(ValueError, match="19 bytes"):
        unpack([b"12"], dimension=16)
