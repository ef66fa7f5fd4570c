"""The default context: earlier exchanges in their order, room that is used, and nothing that says nothing."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from bench.contexts import says_nothing
from hitherto import Hitherto, Turn
from hitherto.testing import FakeClock
from hitherto.types import Context, Item, Role

THEN = datetime(2026, 2, 3, 18, 0, tzinfo=UTC)
PARTS = (
    "coast",
    "harbour",
    "bread",
    "window",
    "tunnel",
    "con",
    "luggage",
    "sand",
    "sun",
    "plat",
    "form",
    "wich",
    "rise",
    "fast",
)
TALK: tuple[tuple[Role, str], ...] = (
    ("user", "my niece Leela comes to stay at the weekend"),
    ("assistant", "Lovely! What is she into?"),
    ("user", "dinosaurs. only dinosaurs."),
    ("assistant", "Then it has to be the museum."),
    ("user", "boo. ok"),
    ("user", "the ferry was cancelled again because of the storm. did you hear that?"),
    ("assistant", "Really?"),
    ("user", "😂😂"),
)


async def told(memory: Hitherto, *said: tuple[Role, str], at: datetime = THEN, speaker: str | None = None) -> None:
    turns = [
        Turn("ana", role, text, persona="nikita", at=at + timedelta(minutes=n), speaker=speaker)
        for n, (role, text) in enumerate(said)
    ]
    await memory.record(turns)


async def since(memory: Hitherto) -> None:
    """Another session, so that the last one's turns are not the history of somebody who returns."""
    said: list[tuple[Role, str]] = [("user", f"rain again, day {n}") for n in range(6)]
    await told(memory, *said, at=THEN + timedelta(days=20))


def items(context: Context) -> list[Item]:
    return [item for item in context.items if item.included and item.section == "long_term"]


async def test_an_answer_comes_with_its_question_under_its_day_by_name(memory: Hitherto, clock: FakeClock) -> None:
    await memory.set_user("ana", zone="Europe/Berlin", name="Ana")
    await memory.define_persona("nikita", name="Nikita", text="You are Nikita.")
    await told(memory, *TALK)
    await since(memory)
    context = await memory.context(user="ana", persona="nikita", message="what should I get Leela, dinosaurs?")
    assert (
        "Said on Tue 3 Feb:\n- Ana: my niece Leela comes to stay at the weekend\n"
        "- Nikita: Lovely! What is she into?\n  Ana: dinosaurs. only dinosaurs.\n" in context.system
    )


async def test_what_says_nothing_is_never_an_item(memory: Hitherto, clock: FakeClock) -> None:
    await told(memory, *TALK)
    await since(memory)
    context = await memory.context(user="ana", persona="nikita", message="ok, so the ferry and the storm, really?")
    block = "\n".join(item.text for item in items(context))
    assert "boo" not in block
    assert "😂" not in block
    assert "the ferry was cancelled again because of the storm." in block
    assert "did you hear that?" not in block, "nobody answered that"


SMALL = (
    "ok", "yes", "no!!", "😂😂", "lol", "boo. ok", "hm", "ja", "sí, claro", "d'accord", "👍", "what?", "really?", "why",
    "https://example.com/a", "haha yes", "good night", "thanks 🙏", "¿y tú?", "はい", "ну да", "#nofilter", "...", "warum?",
)  # fmt: skip
TELLING = (
    "the ferry to {} was cancelled because of the storm",
    "my sister bought a blue {} on the market",
    "how much was the {} in the end?",
    "did you ever see a {} in the rain? I did, on the coast",
    "the {} cost forty euros, can you believe it?",
    "ich habe gestern einen {} gekauft",
    "¿qué tal el {} de tu hermana?",
)


@pytest.mark.parametrize("seed", range(6))
async def test_no_item_says_nothing_whatever_was_said(memory: Hitherto, clock: FakeClock, seed: int) -> None:
    rng = random.Random(seed)
    said: list[tuple[Role, str]] = []
    for _ in range(120):
        text = rng.choice(SMALL) if rng.random() < 0.6 else rng.choice(TELLING).format(rng.choice(PARTS))
        said.append((rng.choice(("user", "assistant")), text))
    await told(memory, *said)
    await since(memory)
    found: list[Item] = []
    for message in (
        "what about the ferry?",
        "how many blue things have I bought?",
        "was hat er gekauft",
        "the coast, ok?",
    ):
        found += items(await memory.context(user="ana", persona="nikita", message=message, keep=False))
    assert len(found) > 50
    assert [item.text for item in found if says_nothing(item)] == []


async def test_exchanges_stand_in_the_order_of_time_and_keep_their_scores(memory: Hitherto, clock: FakeClock) -> None:
    planted = {
        1: "I planted tomatoes by the wall",
        2: "the garden is too dry for tomatoes",
        3: "snails ate all my tomatoes",
    }
    for day in (3, 1, 2):
        await told(memory, ("user", planted[day]), at=THEN + timedelta(days=day))
    await since(memory)
    context = await memory.context(user="ana", persona="nikita", message="how are my tomatoes in the garden?")
    places = [context.system.index(planted[day]) for day in (1, 2, 3)]
    assert places == sorted(places)
    assert context.system.index("Said on Wed 4 Feb") < context.system.index("Said on Thu 5 Feb")
    assert all(item.score for item in items(context))


async def test_everybody_in_a_group_has_a_name(memory: Hitherto, clock: FakeClock) -> None:
    await told(memory, ("user", "I can bring the tent to Sintra"), speaker="Mags")
    await told(memory, ("user", "my tent leaks, sorry"), speaker="Toby", at=THEN + timedelta(minutes=1))
    await told(
        memory, ("assistant", "Who brings the tent, then, Toby or Mags?"), speaker="Pim", at=THEN + timedelta(minutes=2)
    )
    await told(memory, ("user", "Mags has the better tent"), speaker="Dev", at=THEN + timedelta(minutes=3))
    context = await memory.context(user="ana", persona="nikita", message="who brings the tent to Sintra?")
    assert "Toby: my tent leaks, sorry" in [message["content"] for message in context.history]
    await since(memory)
    context = await memory.context(user="ana", persona="nikita", message="who brings the tent to Sintra?")
    assert "Mags: I can bring the tent to Sintra" in context.system
    assert "Toby: my tent leaks, sorry" in context.system
    assert "Pim: Who brings the tent, then, Toby or Mags?\n  Dev: Mags has the better tent" in context.system


async def test_the_room_that_others_leave_is_used_up_to_the_target(memory: Hitherto, clock: FakeClock) -> None:
    rng = random.Random(7)
    lines = [" ".join("".join(rng.sample(PARTS, 2)) for _ in range(rng.randint(12, 24))) for _ in range(150)]
    said: list[tuple[Role, str]] = [("user", f"the train: {line}") for line in lines]
    await told(memory, *said)
    context = await memory.context(user="ana", persona="nikita", message="tell me of the train to the coast")
    assert 3_900 < context.tokens <= 4_100
    assert len(items(context)) > 30
    companion = await memory.context(
        user="ana", persona="nikita", message="tell me of the train to the coast", recipe="companion"
    )
    assert len(items(companion)) <= 30


async def test_core_and_pinned_facts_are_always_in(memory: Hitherto, clock: FakeClock) -> None:
    await memory.remember(user="ana", text="Ana is severely allergic to peanuts", importance=3)
    await memory.remember(user="ana", text="Ana's mother must never be called", pinned=True)
    for n in range(60):
        await memory.remember(user="ana", text=f"Ana likes train number {n}", importance=1)
    context = await memory.context(user="ana", persona="nikita", message="which train should I take?")
    assert "severely allergic to peanuts" in context.system
    assert "must never be called" in context.system


async def test_somebody_who_returns_finds_the_last_turns(memory: Hitherto, clock: FakeClock) -> None:
    said: list[tuple[Role, str]] = [("user" if n % 2 else "assistant", f"line {n} of the talk") for n in range(20)]
    await told(memory, *said)
    context = await memory.context(user="ana", persona="nikita", message="good morning!", at=THEN + timedelta(days=5))
    assert [message["content"] for message in context.history] == [f"line {n} of the talk" for n in range(14, 20)]


@pytest.mark.req("R4.2")
@pytest.mark.parametrize(
    ("message", "quoted"),
    [
        ("yes", True),
        ("why?", True),
        ("the second one please", True),
        ("und der andere?", True),
        ("¿y el otro?", True),
        ("lol", True),
        ("I got the job!!", False),
        ("what should i get leela??", False),
        ("Ich hab heute frei", False),
        ("me caí en la calle hoy", False),
        ("我在北京工作", False),
        ("я переехал в Берлин", False),
    ],
)
async def test_what_was_said_last_is_quoted_only_where_it_is_needed(
    memory: Hitherto, clock: FakeClock, message: str, quoted: bool
) -> None:
    await told(memory, ("assistant", "Shall I book the early train or the late one?"))
    context = await memory.context(
        user="ana", persona="nikita", message=message, at=THEN + timedelta(days=1), recipe="companion"
    )
    assert any("[MESSAGE REFERRED TO]" in str(one["content"]) for one in context.messages) is quoted


async def test_another_lanes_turns_come_along_only_when_they_are_what_is_asked_for(memory: Hitherto) -> None:
    def said(text: str, lane: str, minute: int) -> Turn:
        return Turn("chat", "user", text, lane=lane, at=THEN + timedelta(minutes=minute))

    await memory.record(
        [
            said("Mr Sandhu wants a guarantor for the flat", "topic:1:2", 1),
            said("the flight to Lisbon leaves at nine", "topic:1:1", 2),
            said("seats by the window for the flight, please", "topic:1:1", 3),
        ]
    )
    near = await memory.context(user="chat", lane="topic:1:1", message="any wishes for seats on the flight?")
    assert "guarantor" not in near.system + str(near.messages)
    asked = await memory.context(
        user="chat", lane="topic:1:1", message="who needs a guarantor for the flat, Mr Sandhu?"
    )
    assert "guarantor for the flat" in asked.system
