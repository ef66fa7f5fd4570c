"""Summaries by rules: told by another mouth where that is sure, otherwise quoted."""

from __future__ import annotations

import pytest

from hitherto.types import Entity
from tests.learn.readers.talk import THURSDAY, close


def told(*said: str) -> str:
    notes = close(*said)
    return " ".join(note.text for note in (*notes.summary, *notes.mattered))


@pytest.mark.parametrize(
    ("said", "retold"),
    [
        ("I froze in a review at my last job", "Ana froze in a review at their last job."),
        ("I've moved to Leeds with my sister", "Ana has moved to Leeds with their sister."),
        (
            "my boss Hank gave me a key so that I can open the shop",
            "Ana's boss Hank gave Ana a key so that Ana can open the shop.",
        ),
        ("My brother carries an inhaler for his asthma", "Ana's brother carries an inhaler for his asthma."),
        ("I still carry the same old phone for my mother", "Ana still carries the same old phone for their mother."),
    ],
)
def test_what_somebody_says_of_themselves_is_told_with_their_name(said: str, retold: str) -> None:
    assert told(said) == retold


@pytest.mark.parametrize(
    "said",
    [
        "I live in Leeds and work nights at the hospital",
        "I told you that my sister is ill with the flu",
        "I put the spare key under the pot for my sister",
        "Lea and I want four days in Lisbon for her birthday",
        "today I finally signed the contract for the flat",
        "vivo en Leeds con mi hermana y dos gatos",
    ],
)
def test_what_would_need_other_words_is_quoted(said: str) -> None:
    assert f"“{said}”" in told(said)


def test_what_an_answer_denies_is_not_told_with_it() -> None:
    asked = "N: I take it Otto is coming along, so you need five seats?"
    assert "Otto is coming" not in told(asked, "no, four of us. otto's saving his leave for the harvest in august")
    assert "Otto is coming" in told(asked, "yes, and my sister maria drives us to the harvest in august")


def test_somebody_known_by_two_spellings_is_told_under_one() -> None:
    leela = Entity(id="e1", key="person:leela", label="Leela", aliases=("Lila",), type="person", at=THURSDAY)
    notes = close("Lila gave me the keys to the shop btw", people=[leela])
    assert [note.text for note in notes.summary] == ["Leela gave Ana the keys to the shop."]


def test_a_request_is_not_told_as_what_somebody_does() -> None:
    assert "when Ana is" not in told("please keep it short when I am at work", "I moved to Leeds with my sister in May")


def test_what_is_only_in_passing_is_not_told_as_a_statement() -> None:
    assert "Ana knows" not in told("hi. four days, I know. my sister had her baby on sunday, a girl called Ada")


def test_nothing_says_how_it_ended_unless_something_does() -> None:
    assert close("my sister lives in Cork and breeds horses").outcome is None
    assert (
        close("the printer was broken for a week", "N: Try the other cable.", "that worked, it prints!").outcome
        == "SUCCESS"
    )
