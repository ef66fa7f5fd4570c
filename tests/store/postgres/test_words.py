"""Text and stems come back from the values PostgreSQL keeps."""

from hypothesis import given
from hypothesis import strategies as st

from hitherto.store.catalog import UserKey
from hitherto.store.postgres.rows import MARK_LENGTH, asking, escape, mark, stems, unescape, word, words

ESCAPE = "\U0010fffd"
TEXT = st.text(alphabet=st.one_of(st.sampled_from(f"\x0001{ESCAPE}ab"), st.characters(codec="utf-8")))


@given(TEXT)
def test_any_text_is_stored_without_nul_and_comes_back(text: str) -> None:
    stored = escape(text)
    assert "\x00" not in stored
    assert unescape(stored) == text


@given(st.lists(TEXT, max_size=20))
def test_stems_come_back_from_words(found: list[str]) -> None:
    assert stems(words(found, mark="abcd")) == tuple(found)


def test_users_have_marks_of_one_length() -> None:
    marks = {mark(UserKey("default", f"user {number}").digest) for number in range(2_000)}
    assert {len(each) for each in marks} == {MARK_LENGTH}
    assert len(marks) > 1_990


@given(st.text(alphabet=st.characters(codec="utf-8"), min_size=500, max_size=600))
def test_a_stem_too_long_for_the_index_is_its_hash(stem: str) -> None:
    once = word(stem, mark="abcd")
    assert len(once.encode()) < 100
    assert once != word(stem + "x", mark="abcd")
    assert word(stems([once])[0], mark="abcd") == once


def test_words_end_where_the_index_does() -> None:
    found = words([f"stem{number:07}" for number in range(100_000)], mark="abcd")
    assert 10_000 < len(found) < 100_000
    assert sum(len(each) for each in found) <= 500_000
    repeated = ["again"] * 200_000
    assert len(words(repeated, mark="abcd")) == len(repeated)


def test_a_question_is_quoted() -> None:
    assert asking("abcdo'clock\\") == "'abcdo''clock\\\\'"
