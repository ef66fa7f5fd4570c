"""Notes that are quotes: what is kept of chat, in whose words, and for how long."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from hitherto.learn.notes import FactNote
from tests.learn.readers.talk import THURSDAY, memory, read

APRIL = datetime(2026, 4, 14, 18, 0, tzinfo=UTC)


def notes(*said: str) -> list[FactNote]:
    return [note for note in read(*said).facts if note.op == "new"]


def test_a_note_is_what_was_said_with_who_and_when() -> None:
    [note] = read("cashews put me in hospital once", at=APRIL).facts
    assert note.text == "Ana (14 April): “cashews put me in hospital once”"
    assert note.standing


@pytest.mark.parametrize(
    "said",
    [
        "i work in a library in leeds",
        "trabajo en una biblioteca de Sevilla",
        "ich arbeite in einer Bibliothek in Kassel",
        "je travaille dans une bibliothèque à Nantes",
        "trabalho numa biblioteca em Recife",
        "lavoro in una biblioteca a Torino",
        "京都の図書館で働いています",
        "我在成都的图书馆工作",
    ],
)
def test_in_eight_languages_what_is_said_of_oneself_is_quoted(said: str) -> None:
    [note] = notes(said)
    assert note.text.startswith(f"Ana (5 March): “{said}”")
    assert note.valid_to is None


@pytest.mark.parametrize(
    "said",
    ["jajaja ay no", "haha stimmt", "mdr trop drôle", "kkkk boa noite", "ahah buonanotte", "おやすみ", "哈哈 晚安"],
)
def test_in_other_languages_small_talk_is_not(said: str) -> None:
    assert not notes(said)


def test_nothing_is_reworded() -> None:
    assert all("Usually" not in note.text and "forgets" not in note.text for note in notes("I always forget it"))


def test_a_joke_ends_no_job() -> None:
    nurse = memory("m1", "Ana (1 March): “i work as a nurse”", attribute="employer", value="a nurse")
    for joke in ("i am a scientist now lol, i boiled an egg", "jk i work as an astronaut now 😂"):
        assert not [note for note in read(joke, memories=[nurse]).facts if note.ref == "m1"]


@pytest.mark.parametrize(
    "said", ["hi. four days, i know. i am alive", "ok new topic", "ha, he knows.", "That makes two of us."]
)
def test_what_only_opens_or_carries_talk_is_no_note(said: str) -> None:
    assert not notes(said)


def test_a_greeting_is_cut_off_but_a_short_no_is_not() -> None:
    assert [note.quotes[0].words for note in notes("hi. my sister lives in Cork")] == ["my sister lives in Cork"]
    assert notes("no dairy for me")


def test_a_question_that_an_answer_does_not_agree_to_is_left_out() -> None:
    [note] = notes("N: Have you gone vegan on me?", "i had a burger with my brother yesterday")
    assert "vegan" not in note.text
    [answered] = notes("N: Are you still vegan?", "yes, six years now")
    assert "vegan" in answered.text


def test_what_is_taken_back_in_the_same_breath_is_not_quoted() -> None:
    [note] = notes("my brother broke the window no wait i broke the window myself")
    assert note.quotes[0].words == "i broke the window myself"


@pytest.mark.parametrize(
    "said",
    [
        "that was my bank login, forget u saw that",
        "wrong window, that was from my bank, ignore it",
        "Your code is 448120. Do not share it with anyone.",
    ],
)
def test_what_was_not_meant_for_this_talk_is_not_noted(said: str) -> None:
    assert not notes(said)


def test_he_or_she_whom_nobody_named_says_nothing() -> None:
    assert not notes("she has gestational diabetes and hates needles")
    assert "Leela" in notes("my sister leela is pregnant", "she has gestational diabetes and hates needles")[-1].about


def test_a_rule_is_kept_with_its_announcement() -> None:
    [note] = notes("One standing rule. Nothing leaves your hands before I have read it.")
    assert "Nothing leaves" in note.text
    assert note.standing


def test_what_happened_is_news_for_a_while_and_what_lasts_stays() -> None:
    [news] = notes("we missed the last train home and slept at the station")
    assert news.valid_to is not None
    assert timedelta(days=4) < news.valid_to - THURSDAY < timedelta(days=10)
    for said in ("my mother is a midwife in Cork", "i teach chemistry at a night school", "my cousin otto is a miner"):
        [lasting] = notes(said)
        assert lasting.valid_to is None


def test_what_is_said_to_take_some_time_is_over_then() -> None:
    [cure] = notes("i take one of the blue pills every morning for ten days")
    assert cure.valid_to is not None
    assert (cure.valid_to - THURSDAY).days == 10
    [past] = notes("my grandfather was in a camp in Wales for two weeks")
    assert past.valid_to is None or (past.valid_to - THURSDAY).days != 14


def test_what_happened_in_danger_is_told_with_what_it_was_said_to() -> None:
    [note] = notes("N: Enjoy the dinner. No walnuts for you, please.", "ha. one epipen evening was enough for us")
    assert note.standing
    assert note.text == "Ana (5 March), told “No walnuts for you, please.”: “one epipen evening was enough for us”"


def test_to_be_called_on_a_day_is_no_standing_request() -> None:
    assert notes("call me Kit, never Christopher")[0].standing
    assert not any(note.standing for note in notes("call me tomorrow at nine about the boiler"))


def test_what_somebody_means_to_do_some_day_is_no_note() -> None:
    assert not notes("one day i'll get my revenge on the whole rowing club")
    assert not notes("un día me voy a vengar de todo el club de remo")


def test_typographic_apostrophes_are_apostrophes() -> None:
    assert [note.op for note in read("I’ll call the bank on monday").loops] == ["open"]
    assert notes("I’m allergic to penicillin")[0].standing
