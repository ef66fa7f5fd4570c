"""Long texts by paragraph."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitherto.recall.passages import LONGEST, MOST, SHOWN, LongTexts, about, passages
from hitherto.tokens import tokenizer

NONE = np.zeros(0, dtype=np.float32)


def paragraph(topic: str, *, sentences: int = 25) -> str:
    return " ".join(f"The {topic} went on and on for a while, as number {n} of many." for n in range(sentences))


@pytest.mark.req("R2.4")
def test_a_short_text_stays_whole() -> None:
    assert passages("I start at Acme on Monday!") == ()
    assert passages("word " * 400) == ()


@pytest.mark.req("R2.4")
def test_a_story_is_cut_at_its_paragraphs() -> None:
    story = [paragraph(topic) for topic in ("harbour", "wedding", "storm")]
    assert passages("\n\n".join(story)) == tuple(story)


@pytest.mark.req("R2.4")
def test_a_long_paragraph_is_cut_at_sentences() -> None:
    found = passages(paragraph("harbour", sentences=120))
    assert len(found) > 2
    assert all(part.startswith("The harbour") and part.endswith("of many.") for part in found)


@pytest.mark.req("R2.4")
@given(
    st.lists(
        st.sampled_from(["word", "\n\n", "\n", ". ", "x" * 300, "日本語", "🙂" * 50, "a b c d " * 100]), max_size=60
    )
)
def test_no_passage_is_longer_than_the_limit(parts: list[str]) -> None:
    found = passages(" ".join(parts))
    assert len(found) <= MOST
    assert all(0 < tokenizer().count(part) <= LONGEST for part in found)


@pytest.mark.req("R2.4")
@given(
    st.lists(
        st.sampled_from(["It rained. ", "Ça va! ", "7 of 9… ", "  - so what?\n", "x'y, z. ", "天気がいい。 "]),
        min_size=400,
    )
)
def test_a_passage_holds_as_many_sentences_as_fit(parts: list[str]) -> None:
    found, count = passages("".join(parts)), tokenizer().count
    for part, following in pairwise(found):
        begin = following.split()[0]
        assert count(part) <= LONGEST < count(f"{part} {begin}") + 16, (
            "the next sentence, of at most so many tokens, had room"
        )


def test_a_megabyte_without_a_space_is_cut_too() -> None:
    assert all(tokenizer().count(part) <= LONGEST for part in passages("ab" * 500_000))


@pytest.mark.req("R2.4")
@pytest.mark.parametrize("words", [2, 3])
def test_two_endless_words_are_cut_too(words: int) -> None:
    found = passages(" ".join(["0123456789" * 400] * words))
    assert len(found) > words
    assert all(tokenizer().count(part) <= LONGEST for part in found)


def test_the_best_passage_holds_the_words_or_is_the_most_similar() -> None:
    story = [paragraph(topic) for topic in ("harbour", "wedding", "storm")]
    text, long = "\n\n".join(story), LongTexts()
    for _ in range(2):
        assert long.best(text, ("wed",), NONE) == story[1]
        assert long.best(text, ("nothing",), np.array([0.1, 0.2, 0.7], dtype=np.float32)) == story[2]
    assert long.best("I start at Acme on Monday!", ("acm",), NONE) == ""


@given(
    st.lists(st.sampled_from(["It rained.  ", "\n", "\n\n", "- so what?\n", "a b c d " * 100, "x" * 600]), min_size=60)
)
def test_any_passage_is_found_again_in_its_text(parts: list[str]) -> None:
    text, long = "".join(parts), LongTexts()
    for place, passage in enumerate(found := passages(text)):
        alike = np.zeros(len(found), dtype=np.float32)
        alike[place] = 1.0
        assert long.best(text, (), alike) == passage


def test_few_long_texts_are_remembered_and_none_after_forgetting() -> None:
    long = LongTexts(most=2)
    for topic in ("harbour", "wedding", "storm"):
        long.best(paragraph(topic, sentences=60), (), NONE)
    assert len(long) == 2
    long.forget()
    assert len(long) == 0


@pytest.mark.req("R2.4")
def test_of_a_long_turn_the_sentences_about_the_question_are_shown() -> None:
    story = f"{paragraph('harbour')} The happy wedding was in Porto, and Lea sang. {paragraph('storm')}"
    shown = about(story, ("wed", "porto", "happi"))
    assert "The happy wedding was in Porto, and Lea sang." in shown
    assert len(shown) <= SHOWN + 4
    assert shown.startswith("… ")
    assert shown.endswith(" …")
    assert about(story, ("nothing",)) == "", "nothing of it is about that"
    assert about("A short one about a wedding.", ("wed",)) == ""
    assert about(story, ()) == ""


@pytest.mark.req("R2.4")
@given(
    st.text(alphabet=st.sampled_from("ab .!?\n…🙂é*(["), max_size=3_000),
    st.lists(st.sampled_from(["a", "b", "ab", "é", "(", "*", "i"])),
)
def test_what_is_shown_is_from_the_text_and_short_enough(text: str, asked: list[str]) -> None:
    shown = about(text, tuple(asked))
    assert len(shown) <= SHOWN + 4
    assert shown.removeprefix("… ").removesuffix(" …") in text


@given(
    st.lists(
        st.sampled_from(["We ran. ", "she RUNS_fast ", "rerun, ", "happy\n", "a-run! ", "7 "]),
        min_size=200,
        max_size=400,
    ),
    st.lists(st.sampled_from(["run", "happi", "she", "7"]), min_size=1, unique=True),
)
def test_words_are_found_alike_in_plain_and_other_text(parts: list[str], asked: list[str]) -> None:
    text = "".join(parts)
    plain, other = about(text, tuple(asked)), about("é.\n" + text, tuple(asked))
    assert plain.removeprefix("… ") == other.removeprefix("… ")
