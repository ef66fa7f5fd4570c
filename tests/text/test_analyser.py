import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitherto.text.analyser import MAX_WORD, STOPWORDS, stems, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She was painting sunrises", ["paint", "sunris"]),
        ("Caroline's adoption agencies", ["carolin", "adopt", "agenc"]),
        ("I don’t know, it’s 3.5km", ["know", "3", "5km"]),
        ("café CAFÉ cafe\u0301", ["cafe", "cafe", "cafe"]),
        ("user_id self-care", ["user", "id", "self", "care"]),
        ("Straße", ["strass"]),
        ("ＦＵＬＬ　ｗｉｄｔｈ", ["full", "width"]),
        ("Привет, ёлка", ["елк"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("猫", ["猫"]),
        ("黒い猫", ["黒", "黒い", "い猫", "猫"]),
        ("한국어", ["한국", "국어"]),
        ("🎉🎉 👍🏽", ["🎉", "🎉", "👍"]),
        ("🇩🇪🇫🇷", ["🇩🇪", "🇫🇷"]),
        ("a\x00b \ud800 xx\udfffyy", ["b", "xx", "yy"]),
        ("what did you do?", []),
        ("", []),
        ("   \n\t", []),
        ("'the 'hello'", []),
    ],
)
def test_stems_of(text: str, expected: list[str]) -> None:
    assert stems(text) == expected


@given(st.text(alphabet=st.sampled_from("aB1'_ \n-.\x00\x1c\x1f\x7f@[`{")))
def test_the_words_of_a_text_are_the_same_beside_another_script(text: str) -> None:
    assert [*words(text), "я"] == words(f"{text} я")


def test_one_han_character_finds_it_inside_a_sentence() -> None:
    assert set(stems("猫")) <= set(stems("昨日、猫を見た"))


def test_query_operators_are_plain_words() -> None:
    assert stems('NEAR("cats" dogs*) OR drop:table; -- \'); DELETE') == [
        "near",
        "cat",
        "dog",
        "drop",
        "tabl",
        "delet",
    ]


def test_words_keep_stop_words_and_endings() -> None:
    assert words("I’m going to Zoë's café 猫") == ["i'm", "going", "to", "zoe's", "cafe", "猫"]


def test_long_words_keep_their_beginning() -> None:
    assert stems("x" * 10_000) == ["x" * MAX_WORD]


def test_long_text_is_stemmed_like_a_short_one_until_its_vocabulary_runs_wild() -> None:
    sentence = "Painting agencies "
    assert stems(sentence * 70_000) == stems(sentence) * 70_000
    wild = " ".join(
        f"ring{number:06d}"[::-1].translate(str.maketrans("0123456789", "abcdefghij")) for number in range(60_000)
    )
    assert len(wild) < 1 << 20
    padded = wild + " " * (1 << 20) + " painting the"
    assert stems(padded)[-1] == "painting"


@pytest.mark.parametrize(
    "text",
    [
        "é" + "\u0301\u0316" * 50_000,
        "漢字" * 30_000,
        "\ud800" * 30_000,
        "ﷺ" * 2_000,
        "a'" * 50_000 + "é",
        "🎉" * 30_000,
    ],
    ids=["marks", "han", "surrogates", "expanding", "apostrophes", "emoji"],
)
def test_hostile_runs_give_bounded_stems(text: str) -> None:
    found = stems(text)
    assert len(found) <= 5 * len(text)
    assert all(0 < len(stem) <= MAX_WORD for stem in found)


@settings(max_examples=300)
@given(st.text(alphabet=st.characters(codec=None), max_size=80))
def test_any_text_gives_clean_stems_that_survive_the_round_trip(text: str) -> None:
    found = stems(text)
    assert all(stem and not stem.isspace() and " " not in stem for stem in found)
    assert not set(found) & {"the", "and", "you"} or not text.isascii()
    assert found == stems(text)


@given(st.lists(st.sampled_from(["agencies", "café", "猫が", "🎉", "the", "don't"]), max_size=8))
def test_words_are_analysed_independently_of_their_neighbours(parts: list[str]) -> None:
    assert stems(" ".join(parts)) == [stem for part in parts for stem in stems(part)]


def test_threads_do_not_share_a_stemmer() -> None:
    vocabulary = [
        f"{head}{tail}" for head in ("run", "paint", "nation", "relat") for tail in ("ing", "al", "ation", "s")
    ]
    expected = [stems(f"{word}q{word}") for word in vocabulary]
    failures: list[str] = []

    def work(offset: int) -> None:
        for turn in range(200):
            place = (turn + offset) % len(vocabulary)
            unseen = "".join(chr(97 + int(digit)) for digit in str(offset * 1000 + turn)) + vocabulary[place]
            if stems(unseen) != stems(unseen.upper()):
                failures.append(unseen)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert expected == [stems(f"{word}q{word}") for word in vocabulary]


def test_stop_words_never_become_stems() -> None:
    assert [word for word in STOPWORDS if stems(word)] == []
