"""Reading without a model: notes that are quotes, from chat as people write it."""

from __future__ import annotations

import asyncio
from datetime import UTC, date, datetime

import pytest

from hitherto.learn.notes import Detail, Sitting
from hitherto.learn.readers.rules import RuleReader
from hitherto.learn.summaries import told
from hitherto.types import Support
from tests.learn.readers.talk import THURSDAY, close, lines, loop, read, scene


def texts(*said: str) -> str:
    return "\n".join(note.text for note in read(*said).facts)


@pytest.mark.parametrize(
    "said",
    [
        "im allergic to penicillin",
        "I'm allergic to penicillin",
        "i live in hackney",
        "my niece leela turns six on sunday",
    ],
)
def test_chat_without_capitals_or_apostrophes_is_ordinary_input(said: str) -> None:
    [note] = read(said).facts
    assert note.text.startswith(f"Ana (5 March): “{said}”")
    assert note.quotes[0].words == said


def test_an_answer_is_quoted_with_the_question_before_it() -> None:
    [note] = read("N: How long have you had Gravy?", "5 yrs, found him behind a dennys when he was a kitten").facts
    assert note.text.startswith("Ana (5 March), asked “How long have you had Gravy?”: “5 yrs")
    assert [quote.turn for quote in note.quotes] == ["t1", "t2"]


@pytest.mark.parametrize(
    "said",
    [
        "i am a scientist now lol, i boiled an egg",
        "if i ever won the lottery id live in maine",
        "do you think i live in leeds?",
        "apparently i work for the mayor now, says my barber",
        "jess k was telling the whole office she lives in paris",
    ],
)
def test_jokes_conditions_questions_and_hearsay_type_nothing(said: str) -> None:
    assert not [note for note in read(said).facts if note.sure]


def test_a_typed_fact_is_cut_to_its_own_sentence() -> None:
    sure = [
        note for note in read("had a lovely day. i live in hackney with two cats. the bus was late").facts if note.sure
    ]
    assert [(note.attribute, note.value, note.quotes[0].words) for note in sure] == [
        ("home", "hackney", "i live in hackney with two cats.")
    ]


def test_a_pronoun_alone_says_nothing() -> None:
    assert not read("i like it").facts
    assert not read("he does that").facts


def test_a_pronoun_is_read_with_who_was_named_before() -> None:
    notes = read("my new boss hank let me true a wheel", "he pays 19 an hour and i get parts at cost").facts
    assert any("Hank" in note.about and "19 an hour" in note.text for note in notes)


@pytest.mark.parametrize("said", ["my password is TangerineMoth_4471", "TangerineMoth_4471", "the pin's 4419"])
def test_secrets_are_never_noted(said: str) -> None:
    reading = read(said)
    assert "4471" not in str(reading)
    assert "4419" not in str(reading)


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("my niece leela is six", "Leela"),
        ("Leela's my niece", "Leela"),
        ("n theo drove. hes my brother", None),
        ("gravy. my cat. hes got one eye", "Gravy"),
        ("meine frau swantje kommt morgen", "Swantje"),
        ("mi hermano beto viene el sabado", "Beto"),
    ],
)
def test_names_are_found_in_any_case(said: str, name: str | None) -> None:
    found = {note.name for note in read(said).people}
    assert found == ({name} if name else set())


def test_spellings_of_one_name_are_one_person() -> None:
    [one] = read("N: Is Priyanka home?", "my best friend pri says hi", "priyanka is in the kitchen").people
    assert {one.name, *one.aliases} == {"Priyanka", "Pri"}


@pytest.mark.parametrize(
    ("said", "kind", "owner", "day"),
    [
        ("remind me to call mum tmrw", "promise", "persona", date(2026, 3, 6)),
        ("ill call the bank on monday", "commitment", "user", date(2026, 3, 9)),
        ("I start at Acme on Monday!", "topic", "user", date(2026, 3, 9)),
        ("N: I'll send you the recipe on Saturday.", "promise", "persona", date(2026, 3, 7)),
    ],
)
def test_loops_have_the_right_owner_and_day(said: str, kind: str, owner: str, day: date) -> None:
    [opened] = read(said).loops
    assert (opened.op, opened.kind, opened.owner) == ("open", kind, owner)
    assert opened.due is not None
    assert opened.due.date() == day


@pytest.mark.parametrize(
    "said",
    [
        "i'm not gonna ring the plumber on monday",
        "he's gonna ring the plumber on his own",
        "great, so tomorrow i'll just swim the channel before lunch",
        "N: I'll have Friday in mind.",
    ],
)
def test_what_nobody_means_to_do_opens_nothing(said: str) -> None:
    assert not read(said).loops


def test_it_is_told_with_what_it_is() -> None:
    said = "I ordered a new stove for the kitchen. It comes on Thursday the second of April."
    assert [one.text for one in read(said).loops] == [said]


def test_thursday_evening_is_the_evening() -> None:
    wednesday = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
    [opened] = read("ill ring the landlady thursday evening", at=wednesday).loops
    assert opened.due is not None
    assert opened.due.date() == date(2026, 3, 5)
    assert opened.due.hour >= 16


@pytest.mark.parametrize(
    ("said", "how"),
    [("called mum, she cried", "done"), ("forgot to call mum", "missed"), ("nvm im not calling mum", "dropped")],
)
def test_what_is_settled_closes_what_is_open(said: str, how: str) -> None:
    closed = read(said, loops=[loop("call mum about the break-up", kind="commitment")]).loops
    assert [(note.op, note.ref) for note in closed] == [(how, "l1")]


def test_talk_of_something_else_closes_nothing() -> None:
    assert not read("done with the dishes", loops=[loop("call mum about the break-up", kind="commitment")]).loops


def test_a_session_of_small_talk_has_no_summary() -> None:
    notes = close("hey", "N: Hi! How was your day?", "fine lol", "N: Good to hear.", "gn")
    assert not notes.summary
    assert not notes.mattered
    assert not notes.tone
    assert notes.outcome is None


def test_a_summary_is_whole_sentences_with_names_and_the_right_day() -> None:
    notes = close(
        "I start at Acme on Monday!", "N: Congratulations!", "my niece leela is coming on saturday", at=THURSDAY
    )
    told = " ".join(note.text for note in (*notes.summary, *notes.mattered))
    assert "Ana starts at Acme on Monday! (Monday 9 March)" in told
    assert "User:" not in told
    assert "2 March" not in told


def test_a_break_up_is_not_joyful() -> None:
    notes = close("theo n i broke up", "N: Oh, Ana.", "i laughed at first, it was so weird. cried after")
    assert notes.tone == "sad"
    assert notes.outcome is None


def test_what_a_persona_was_told_in_confidence_stays_with_it() -> None:
    notes = read("This stays with you, ok? We've started couples counselling.").facts
    assert notes
    assert all(note.private for note in notes)


@pytest.mark.req("R2.15")
def test_how_detailed_a_summary_is_can_be_set() -> None:
    said = lines(
        "I live in Leeds with my sister Ada.",
        "I work at the town library.",
        "I'm allergic to peanuts.",
        "My car broke down on the motorway yesterday.",
        "I finished my exams on Friday.",
        "We are moving to Hull in June.",
    )
    details: tuple[Detail, ...] = ("brief", "normal", "full")
    made = [
        asyncio.run(RuleReader().close(Sitting(scene=scene(), lines=said, detail=detail))).summary for detail in details
    ]
    lengths = [sum(len(one.text) for one in summary) for summary in made]
    assert lengths == sorted(lengths)
    assert lengths[0] < lengths[-1]


def test_where_somebody_starts_or_works_is_an_organisation() -> None:
    found = {note.name: note.kind for note in read("I start at Acme on Monday, and then we fly to Lisbon").people}
    assert found == {"Acme": "org", "Lisbon": "place"}


def test_who_is_named_in_an_answer_is_known() -> None:
    [one] = read("N: Who called you?", "Mukesh, he will be my manager.").people
    assert (one.name, one.kind, one.what) == ("Mukesh", "person", "Ana's manager")


def test_a_run_of_quotes_names_its_speaker_once_and_ends_with_one_mark() -> None:
    said = [
        "Ana said “so. Fifteen people”.",
        "Ana said “I froze!”",
        "Asked “Why?”, Ana said “no idea”.",
        "Bo said “x”.",
    ]
    sentences = [Support(text=text, sources=("t1",)) for text in said]
    assert told(sentences) == "Ana said “so. Fifteen people”; “I froze!” Asked “Why?”, Ana said “no idea”. Bo said “x”."


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("ouais avec mon copain thibault, on habite à villeurbanne", ["Thibault"]),
        ("moro com a minha irmã letícia na vila mariana", ["Letícia"]),
        ("il proprietario è un amico di mio fratello dario", ["Dario"]),
        ("op 16 mei trouwt mijn zus marijke in maastricht!!", ["Marijke"]),
        ("моя сестра Марина приедет в субботу, её кота зовут Барсик", ["Марина", "Барсик"]),
        ("同僚の由香に教えてもらって来ました！", ["由香"]),
        ("柴犬飼ってる、名前はきなこ", ["きなこ"]),
        ("我闺蜜苏苏推荐我来找你聊天的", ["苏苏"]),
        ("没有，跟男朋友陈浩一起租房", ["陈浩"]),
    ],
)
def test_people_are_known_in_whatever_script_and_case_they_are_named(said: str, names: list[str]) -> None:
    assert [note.name for note in read(said).people] == names


def test_a_text_without_spaces_that_holds_a_number_is_no_password() -> None:
    [note] = read("5月3日に京都で友達の結婚式！").facts
    assert note.quotes[0].words == "5月3日に京都で友達の結婚式！"
    [opened] = read("然后我们决定4月1号搬到西湖区，离地铁近一点").loops
    assert opened.due is not None
    assert opened.due.date() == date(2026, 4, 1)


def test_a_month_that_sounds_like_a_word_does_not_join_two_plans() -> None:
    found = read("on se marie le 20 juin!!", "on déménage à bron le 28 mars").loops
    assert sorted(one.due.date() for one in found if one.due) == [date(2026, 3, 28), date(2026, 6, 20)]


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("I GOT IT!!! they rang. i start mon the 16th", "Monday 16 March"),
        ("dentist got bumped again btw, its the 20th now", "Friday 20 March"),
        ("the half is Sunday the 18th of October, I got that wrong", "Sunday 18 October"),
        ("i'm moving out on saturday", "Saturday 7 March"),
        ("they've promised me an answer by the 12th", "Thursday 12 March"),
        ("we went to see the flat on tuesday and i loved it", "Tuesday 3 March"),
    ],
)
def test_a_day_is_read_in_the_tense_of_the_words_beside_it(said: str, day: str) -> None:
    assert any(f"({day})" in note.text for note in read(said).facts)


@pytest.mark.parametrize(
    "said",
    [
        "I met him on a Saturday in September 1966 at the dance in Redcar",
        "On the Monday he was standing outside the shop with my shoe in a bag",
        "I wind the old watch on Sunday mornings, it was my father's",
    ],
)
def test_a_day_of_a_story_is_no_date(said: str) -> None:
    notes = read(said).facts
    assert notes
    assert all(note.text.endswith("”") for note in notes)


def test_a_plan_is_a_note_beside_what_lasts() -> None:
    notes = read("I make maps for the water company. I'm moving house on Saturday the 14th.").facts
    assert [(note.quotes[0].words, note.valid_to is not None) for note in notes] == [
        ("I make maps for the water company.", False),
        ("I'm moving house on Saturday the 14th.", True),
    ]


def test_a_name_is_what_somebody_asks_to_be_called() -> None:
    assert not [note for note in read("he's gonna call me that's the deal, i wait for the car").facts if note.sure]
    assert [note.value for note in read("just call me Lee, everyone does").facts if note.sure] == ["Lee"]


def test_an_apostrophe_may_be_typographic() -> None:
    assert [(note.op, note.kind) for note in read("I’ll call the bank on monday").loops] == [("open", "commitment")]


def test_well_is_no_promise_and_well_done_settles_nothing() -> None:
    assert not read("N: Thursday at two thirty with the dentist, well done.").loops
