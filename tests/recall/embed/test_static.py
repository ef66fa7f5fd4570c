import hashlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitherto.recall.embed import static
from hitherto.recall.embed.static import TABLE, VERSION, static_embedder
from hitherto.recall.embed.wordpiece import WordPiece, words


def _similarity(first: str, second: str) -> float:
    a, b = static_embedder().embed([first, second])
    return float(a @ b)


def test_the_table_is_the_one_its_version_names() -> None:
    assert hashlib.sha256(TABLE.read_bytes()).hexdigest() == VERSION
    assert VERSION in Path(static.__file__).with_name("NOTICE").read_text()


def test_related_texts_are_nearer_than_unrelated_ones() -> None:
    assert _similarity("my dog is ill", "the puppy went to the vet") > _similarity(
        "my dog is ill", "tax returns are due"
    )
    assert _similarity("She paints sunsets", "she is painting a sunset") > 0.8


def test_case_and_accents_do_not_matter() -> None:
    assert _similarity("CAFÉ in Zürich", "cafe in zurich") == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("text", ["", "   ", "\x00", "\ud800", "x" * 10_000, "\u0301" * 10_000])
def test_a_text_with_nothing_known_is_zero(text: str) -> None:
    assert not static_embedder().embed([text]).any()


@given(st.lists(st.text(alphabet=st.characters(codec=None), max_size=60), max_size=5))
def test_rows_are_unit_or_zero_and_independent_of_their_batch(texts: list[str]) -> None:
    embedder = static_embedder()
    rows = embedder.embed(texts)
    assert rows.shape == (len(texts), embedder.dimension)
    lengths = np.linalg.norm(rows, axis=1)
    assert np.all((lengths == 0) | (np.abs(lengths - 1) < 1e-5))
    for row, text in zip(rows, texts, strict=True):
        np.testing.assert_array_equal(row, embedder.embed([text])[0])


def test_words_are_cut_into_the_longest_known_pieces() -> None:
    pieces = WordPiece(["un", "##able", "##a", "##ble", "able", "!"])
    assert pieces.encode("Unable! able unknown") == [0, 1, 5, 4]


def test_han_characters_and_signs_stand_alone() -> None:
    assert words("Zoë's 猫犬, ok_then") == ["zoe", "'", "s", "猫", "犬", ",", "ok", "_", "then"]
