"""Messages that mean nothing without their anchor, and those that look like it and do not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitherto.ingest.short import is_short, stands_alone

SHORT = (
    "yes", "Yes!", "yesss", "sure", "Sure, why not?", "ok", "okay then", "why?", "WHY", "why not",
    "lol", "loool", "hahaha", "😂😂", "👍", "🙏🏽", "❤️", "...", "?", "no", "nope", "nah",
    "really?", "and you?", "of course", "go on", "thanks!", "thank you", "so what?", "I guess",
    "I don't know", "me too", "not really", "hmm", "k", "no way", "sí", "claro", "¿por qué?",
    "jajaja", "oui", "d'accord", "pourquoi ?", "et toi ?", "ja", "nein", "warum?", "na klar",
    "wirklich?", "genau", "sim", "não", "por quê?", "sì", "perché?", "tak", "dlaczego?", "да",
    "почему?", "конечно", "спасибо", "evet", "neden?", "نعم", "لماذا؟", "はい", "なんで？",
    "ありがとう", "是的", "为什么？", "好的", "哈哈", "네", "왜?", "555555", "kkkkk", "ouais", "嗯",
    "ใช่ครับ", "ทำไม", "ได้เลย", "हाँ", "क्यों?", "hoezo?", "bien sûr",
    "auf keinen Fall", "com certeza", "non lo so", "ну ладно", "了解", "本当？", "没问题", "weiß nicht",
)  # fmt: skip
TYPED = (
    "idk", "omg really?", "xq?", "qué fuerte", "grax", "kp", "echt jetzt?", "mrc", "grave", "xké?", "grz",
    "blz", "ss", "obg", "rsrs", "neuh",
    "спс", "ахахах", "あざす", "りょ", "233", "3q", "哈哈哈哈", "666", "ทำไมล่ะ", "555+",
)  # fmt: skip
CONTENT = (
    "yes, Acme", "no sugar", "why did Marta leave?", "I start at Acme on Monday", "call mum",
    "Berlin", "42", "5 pm", "lol that cat video", "the dentist is at nine",
    "sure, book the blue one", "what's the weather in Rome?", "pizza", "Ana", "ja, am Montag",
    "oui, à Paris", "nein, der blaue", "sí, el martes", "да, в Москве", "三点", "火曜日", "東京に行きたい",
    "no, cancel my order",
    "why would you do that to me of all people",
)  # fmt: skip


@pytest.mark.req("R1.7")
@pytest.mark.parametrize("message", SHORT)
def test_short(message: str) -> None:
    assert is_short(message)


@pytest.mark.parametrize("message", CONTENT)
def test_not_short(message: str) -> None:
    assert not is_short(message)


@pytest.mark.parametrize("message", TYPED)
def test_short_as_people_type_it(message: str) -> None:
    assert is_short(message)


@pytest.mark.parametrize("message", ["8", "233 euro", "K2", "meu cachorro morreu", "犬が死んだ", "花生"])
def test_a_number_or_a_thing_is_content(message: str) -> None:
    assert not is_short(message)


@pytest.mark.parametrize(
    "message",
    ["who brings the tent to Sintra?", "when do we fly to Oslo?", "wer holt den Hund ab?", "qui apporte la tente ?"],
)
def test_what_asks_something_of_its_own_stands_alone(message: str) -> None:
    """Also where a word of it points at things in another language: "to" in Polish, "den" in German."""
    assert stands_alone(message)


@pytest.mark.parametrize("message", ["the second one", "and that one?", "lo mismo", "das zweite", "ten drugi"])
def test_what_only_points_does_not(message: str) -> None:
    assert not stands_alone(message)


@given(st.text(max_size=300))
def test_any_text_has_an_answer_and_spaces_around_it_do_not_matter(message: str) -> None:
    assert is_short(message) == is_short(f"  {message}\n")


@given(st.text(alphabet="abcdefghij", min_size=9, max_size=20))
def test_a_long_unknown_word_is_content(word: str) -> None:
    assert not is_short(f"yes {word}x")
