"""What the default context shows of earlier talk: nothing of the window is lost, each thing stands once, conversations of
one day are told apart, and a long answer is cut around what is asked."""

from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from hitherto import Hitherto, Turn
from hitherto.testing import FakeClock
from hitherto.types import Quote

THEN = datetime(2026, 5, 20, 5, 27, tzinfo=UTC)
FILLER = "Gardens want patience, water in the morning, and a good deal of sun before the frost comes back. " * 12
ANSWER = "Tanqueray treats the prayer of beginners in chapter four of the first book."


async def told(memory: Hitherto, *texts: str, at: datetime, apart: timedelta = timedelta(minutes=1)) -> None:
    turns = [
        Turn("ana", "assistant" if place % 2 else "user", text, at=at + place * apart)
        for place, text in enumerate(texts)
    ]
    await memory.record(turns)


async def test_what_the_history_has_no_room_for_is_found(memory: Hitherto, clock: FakeClock) -> None:
    clock.set(THEN)
    talk = [text for n in range(14) for text in (f"What about bed {n}?", f"Bed {n}: {FILLER}")]
    await told(memory, "Where does Tanqueray speak of the prayer of beginners?", ANSWER, *talk, at=THEN)
    asked = "Which chapter of Tanqueray was about the prayer of beginners?"
    context = await memory.context(user="ana", message=asked, at=THEN + timedelta(hours=1))
    history = "\n".join(str(one["content"]) for one in context.messages[:-1])
    assert ANSWER not in history
    assert ANSWER in context.system
    assert (context.system + history).count("Bed 13: ") == 1, "what the history shows is not shown again"


async def test_a_quote_that_is_noted_is_shown_where_it_was_said(memory: Hitherto, clock: FakeClock) -> None:
    clock.set(THEN)
    said = "My sister Maeve plays the cello in Galway"
    await told(memory, said, "Lovely!", "I am allergic to cats", "Noted.", at=THEN)
    clock.set(THEN + timedelta(days=3))
    await memory.settle(user="ana")
    assert any(said in memory.text for memory in await memory.memories(user="ana")), "it was noted"
    await told(memory, *(["Good morning", "Hello"] * 4), at=clock())
    context = await memory.context(user="ana", message="What does Maeve play?", at=clock() + timedelta(hours=1))
    block = context.system.partition("[LONG-TERM MEMORY]")[2]
    assert block.count(said) == 1


@pytest.mark.parametrize(("said", "times"), [("on Friday the 12th of June", 1), ("on Friday in a week", 2)])
async def test_a_noted_day_stands_beside_its_turn_only_if_the_turn_does_not_name_it(
    memory: Hitherto, clock: FakeClock, said: str, times: int
) -> None:
    clock.set(THEN)
    words = f"My sister Maeve plays the cello in Galway {said}"
    await told(memory, words, "Lovely!", at=THEN)
    (turn, *_) = await memory.turns(user="ana")
    note = f"Ana (20 May): “{words}” (Friday 12 June)"
    await memory.remember(user="ana", text=note, sources=(turn.id,), quotes=(Quote(turn=turn.id, words=words),))
    await told(memory, *(["Good morning", "Hello"] * 4), at=THEN + timedelta(days=3))
    context = await memory.context(user="ana", message="What does Maeve play?", at=THEN + timedelta(days=3, hours=1))
    block = context.system.partition("[LONG-TERM MEMORY]")[2]
    assert block.count(words) == times
    assert ("(Friday 12 June)" in block) == (times == 2)


async def test_conversations_of_one_day_are_told_apart(memory: Hitherto, clock: FakeClock) -> None:
    clock.set(THEN)
    await told(memory, "The cello lesson is on Monday", "Good.", at=THEN)
    await told(memory, "The cello is being repaired", "Oh.", at=THEN + timedelta(hours=6))
    await told(memory, "The cello came back", "Ah.", at=THEN + timedelta(days=1))
    context = await memory.context(user="ana", message="What about the cello?", at=THEN + timedelta(days=9))
    headings = [line for line in context.system.splitlines() if line.startswith("Said on")]
    assert headings[:2] == ["Said on Wed 20 May from 05:27:", "Said on Wed 20 May from 11:27:"]


async def test_a_long_answer_is_cut_around_what_is_asked(memory: Hitherto, clock: FakeClock) -> None:
    clock.set(THEN)
    asked, wanted = "Can you plan my application, please?", "Hand in the visa application on the first of June."
    await told(memory, asked, f"{FILLER}{wanted} {FILLER}", *(["Thanks!", "Sure."] * 4), at=THEN)
    context = await memory.context(user="ana", message="When is the visa application due?", at=THEN + timedelta(days=9))
    assert wanted in context.system


async def test_who_asks_how_things_went_is_told_more_in_less(memory: Hitherto, clock: FakeClock) -> None:
    clock.set(THEN)
    said: list[str] = []
    for n in range(60):
        rng = Random(n)
        seen = ["".join(rng.choices(["gar", "tel", "mo", "vin", "sol", "ket", "bra", "lu"], k=3)) for _ in range(40)]
        said.append(" ".join([f"Canal walk {n}.", *(f"We saw {one}." for one in seen)]))
    walks = [text for one in said for text in (one, "Lovely.")]
    await told(memory, *walks, *(["Thanks!", "Sure."] * 4), at=THEN, apart=timedelta(hours=2))

    async def walked(message: str) -> int:
        context = await memory.context(user="ana", message=message, at=THEN + timedelta(days=30))
        block = context.system.partition("[LONG-TERM MEMORY]")[2]
        return sum(f"Canal walk {n}." in block for n in range(60))

    assert await walked("What did we see on our canal walk?") + 9 < await walked(
        "In which order did we go on a canal walk?"
    )


async def test_what_holds_no_word_of_the_question_is_shown_from_its_beginning(
    memory: Hitherto, clock: FakeClock
) -> None:
    clock.set(THEN)
    await told(memory, f"The cello stands in the hall. {FILLER}", "Fine.", *(["Thanks!", "Sure."] * 4), at=THEN)
    asked = "Where is my instrument?"
    context = await memory.context(user="ana", message=asked, at=THEN + timedelta(days=9))
    [shown] = [item for item in context.items if "cello" in item.text and item.included]
    assert len(shown.text) < 1_000, "a text of twelve hundred characters"


async def test_a_tag_says_nothing(memory: Hitherto, clock: FakeClock) -> None:
    clock.set(THEN)
    tag = f"<img alt='{'wide and blue ' * 12}'>"
    await told(memory, f"{tag} cello", "Hm.", *(["Thanks!", "Sure."] * 4), at=THEN)
    context = await memory.context(user="ana", message="What about the cello?", at=THEN + timedelta(days=9))
    assert {item.reason for item in context.items if "cello" in item.text and item.section == "long_term"} == {
        "says nothing by itself"
    }


async def test_words_of_the_question_that_mean_nothing_do_not_find(memory: Hitherto, clock: FakeClock) -> None:
    """For a user who writes in another language as well, in which they are no stop words."""
    clock.set(THEN)
    german = "Ich habe gestern mit meiner Schwester über den Garten gesprochen und es war sehr schön"
    await told(memory, german, "Wie schön!", "I fixed the wobbly table", "Well done", at=THEN)
    [best, *_] = await memory.search(user="ana", query="How many things did I fix?")
    assert best.text == "I fixed the wobbly table"
