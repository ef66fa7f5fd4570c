import hashlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitherto.recall.embed import static
from hitherto.recall.embed.pieces import Unigram, WordPiece, words
from hitherto.recall.embed.static import MULTILINGUAL, TABLE, VERSION, static_embedder


def _similarity(first: str, second: str) -> float:
    a, b = static_embedder().embed([first, second])
    return float(a @ b)


def test_the_table_is_the_one_its_version_names() -> None:
    files = [TABLE, MULTILINGUAL]
    assert hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest() == VERSION
    notice = Path(static.__file__).with_name("NOTICE").read_text()
    assert all(hashlib.sha256(file.read_bytes()).hexdigest() in notice for file in files)


def test_both_tables_together_stay_small() -> None:
    assert TABLE.stat().st_size + MULTILINGUAL.stat().st_size < 16_000_000


@pytest.mark.parametrize(
    "other",
    [
        "Mi abuela me dejó su máquina de coser cuando murió",
        "Meine Großmutter hat mir ihre Nähmaschine vermacht, als sie starb",
        "祖母が亡くなって、ミシンを形見にもらった",
        "Бабушка умерла и оставила мне швейную машинку",
    ],
)
def test_a_text_lies_near_its_translation(other: str) -> None:
    meant = _similarity("My grandmother left me her sewing machine when she died", other)
    assert meant > _similarity("The flight to Lisbon leaves at six in the morning", other) + 0.2


def test_words_of_another_script_count_in_an_english_text() -> None:
    assert _similarity("Do you know what 猫 means?", "a cat") > _similarity("Do you know what 車 means?", "a cat") + 0.1


def test_unigram_takes_the_likeliest_pieces_in_any_case() -> None:
    pieces = Unigram(["▁Ka", "tze", "▁Katze", "▁", "猫", "k"], [-3.0, -3.0, -8.0, -2.0, -5.0, -9.0])
    assert pieces.encode("Katze katze 猫x") == [0, 1, 0, 1, 3, 4]


def test_related_texts_are_nearer_than_unrelated_ones() -> None:
    assert _similarity("my dog is ill", "the puppy went to the vet") > _similarity(
        "my dog is ill", "tax returns are due"
    )
    assert _similarity("She paints sunsets", "she is painting a sunset") > 0.8


def test_case_and_accents_do_not_matter() -> None:
    assert _similarity("The CAFÉ that we saw in Zürich", "the cafe that we saw in zurich") == pytest.approx(
        1.0, abs=1e-5
    )


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
