"""A message that names a day, a period or something that happened brings what was said then."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hitherto import Hitherto, Turn
from hitherto.testing import FakeClock

START = datetime(2025, 9, 1, 18, 0, tzinfo=UTC)
FOODS = ("lentils", "ramen", "pizza", "pancakes", "salad", "curry", "dumplings", "stew", "omelette", "tacos", "risotto")


async def diary(memory: Hitherto, clock: FakeClock, **said: str) -> None:
    """A year of evenings that all read alike, with other words on some days (`sep_20=…`)."""
    told = {datetime.strptime(f"{day} {year}", "%b_%d %Y").replace(tzinfo=UTC).date(): text
            for day, text in said.items() for year in (2025 if day[:3] in "sep oct nov dec" else 2026,)}  # fmt: skip
    turns: list[Turn] = []
    for n in range(300):
        at = START + timedelta(days=n)
        turns.append(Turn("ana", "user", f"I had {FOODS[n % len(FOODS)]} for dinner, nothing else to tell", at=at))
        turns.append(Turn("ana", "assistant", "Sounds like a quiet evening.", at=at + timedelta(minutes=1)))
        if at.date() in told:
            turns.append(Turn("ana", "user", told[at.date()], at=at + timedelta(minutes=2)))
    await memory.record(turns)
    clock.tick(seconds=(START + timedelta(days=301) - clock()).total_seconds())


async def meant(memory: Hitherto, query: str) -> list[str]:
    """The days that a query is taken to mean: those whose turns gain most by their time."""
    hits = await memory.search(user="ana", query=query, kinds=["turn"], limit=400)
    gains = {hit.at.date(): hit.parts.get("period", 0.0) for hit in hits}
    return sorted(f"{day:%d %b}" for day, gain in gains.items() if 0 < gain == max(gains.values()))


@pytest.mark.parametrize(
    ("query", "day"),
    [
        ("What did I have for dinner on 11 December?", "11 Dec"),
        ("what did I have for dinner on December 11th", "11 Dec"),
        ("dinner on the 11th of December, what was it?", "11 Dec"),
        ("what did I have for dinner on 2025-12-11", "11 Dec"),
        ("What did I have for dinner the day after Christmas?", "26 Dec"),
        ("What did I have for dinner the day before Christmas?", "24 Dec"),
    ],
)
async def test_a_day_that_is_named_is_brought(memory: Hitherto, clock: FakeClock, query: str, day: str) -> None:
    await diary(memory, clock)
    assert await meant(memory, query) == [day]
    context = await memory.context(user="ana", message=query)
    heading = re.search(rf"Said on \w+ {day}( 2025)?:\n- (.*)", context.system)
    assert heading is not None
    assert "for dinner" in heading[2]


@pytest.mark.parametrize(
    "query", ["What did I have for dinner last autumn?", "was hatte ich im letzten Herbst for dinner?"]
)
async def test_a_season_is_brought(memory: Hitherto, clock: FakeClock, query: str) -> None:
    await diary(memory, clock)
    hits = await memory.search(user="ana", query=query, kinds=["turn"], limit=8)
    assert {f"{hit.at:%b}" for hit in hits} <= {"Sep", "Oct", "Nov"}


@pytest.mark.parametrize(
    ("query", "day"),
    [
        ("What did I have for dinner the day after the race?", "19 Oct"),
        ("what did I have for dinner on the day before the race", "17 Oct"),
        ("What did I have for dinner two days after the race?", "20 Oct"),
        ("Which dinner did I have the evening of the race?", "18 Oct"),
    ],
)
@pytest.mark.parametrize(
    "said",
    [
        {"oct_18": "I finished the race today, 1:52 and so happy"},
        {"oct_02": "I signed up, the race is on Saturday 18 October", "oct_15": "so nervous about the race"},
        {"oct_17": "the race is tomorrow and I cannot sit still"},
        {"oct_20": "the race on Saturday was the best day of the year"},
    ],
)
async def test_a_day_beside_an_event_is_brought(
    memory: Hitherto, clock: FakeClock, query: str, day: str, said: dict[str, str]
) -> None:
    await diary(memory, clock, **said)
    assert await meant(memory, query) == [day]


async def test_the_day_of_an_event_is_known_from_a_note(memory: Hitherto, clock: FakeClock) -> None:
    await diary(memory, clock)
    await memory.remember(user="ana", text="Ana's wedding was on 14 March 2026")
    assert await meant(memory, "What did I have for dinner the week before my wedding?") == [
        f"{day:02} Mar" for day in range(7, 14)
    ]


async def test_what_another_persona_was_told_names_no_day(memory: Hitherto, clock: FakeClock) -> None:
    await diary(memory, clock)
    at = START + timedelta(days=47)
    await memory.record(Turn("ana", "user", "I finished the race today", persona="nikita", at=at))
    query = "What did I have for dinner the day after the race?"
    hits = await memory.search(user="ana", persona=None, query=query, kinds=["turn"], limit=3)
    assert any("period" in hit.parts for hit in hits), "a search of everything may know"
    context = await memory.context(user="ana", message=query)
    assert not any("period" in item.parts for item in context.items if item.kind == "turn")


async def test_an_event_that_nobody_spoke_of_names_no_day(memory: Hitherto, clock: FakeClock) -> None:
    await diary(memory, clock)
    assert await meant(memory, "What did I have for dinner the day after the eclipse?") == []


PARIS = "Europe/Paris"
TRIFLES = (
    "a fern",
    "blue mugs",
    "the tram",
    "old maps",
    "green tea",
    "jazz",
    "long walks",
    "chess",
    "rye bread",
    "thunder",
)


async def notebook(memory: Hitherto, clock: FakeClock) -> datetime:
    """Noon of a Wednesday in summer, after many notes that tell of no day."""
    await memory.set_user("ana", zone=PARIS, name="Ana")
    for n in range(60):
        await memory.remember(user="ana", text=f"Ana keeps {TRIFLES[n % 10]} in mind, list {TRIFLES[n // 10]}")
    now = datetime(2026, 7, 1, 10, 0, tzinfo=UTC)
    clock.tick(seconds=(now - clock()).total_seconds())
    return now


@pytest.mark.parametrize(
    "query", ["What happens next week?", "was ist nächste Woche los?", "how many of them do I need on 8 July"]
)
@pytest.mark.parametrize(
    "noted",
    [
        {"text": "Fourteen beds are booked for the choir on 2026-07-08"},
        {"text": "The choir sleeps over from 2026-07-06 to 2026-07-10, fourteen beds"},
        {"text": "Fourteen beds for the choir", "valid_from": datetime(2026, 7, 8, 6, tzinfo=UTC)},
        {"text": "Fourteen beds for the choir", "valid_to": datetime(2026, 7, 8, 6, tzinfo=UTC)},
        {"text": "Fourteen beds for the choir", "due": datetime(2026, 7, 8, 6, tzinfo=UTC)},
        {
            "text": "Fourteen beds for the choir",
            "valid_from": datetime(2026, 7, 5, 6, tzinfo=UTC),
            "valid_to": datetime(2026, 7, 11, 6, tzinfo=UTC),
        },
    ],
)  # fmt: skip
async def test_a_note_of_a_day_that_is_named_is_brought(
    memory: Hitherto, clock: FakeClock, query: str, noted: dict[str, Any]
) -> None:
    await notebook(memory, clock)
    made = await memory.add("memory", user="ana", at=START, **noted)
    context = await memory.context(user="ana", message=query)
    item = next(item for item in context.items if item.id == made.id)
    assert item.included
    assert item.parts
    first = next(item for item in context.items if item.section == "long_term")
    assert first.id == made.id
    hits = await memory.search(user="ana", query=query, kinds=["memory"], limit=1)
    assert [hit.id for hit in hits] == [made.id]


async def test_a_note_belongs_to_the_day_on_the_users_clock(memory: Hitherto, clock: FakeClock) -> None:
    await notebook(memory, clock)
    midnight = datetime(2026, 7, 7, 22, 30, tzinfo=UTC)  # half past twelve of the 8th in Paris
    made = await memory.remember(user="ana", text="The choir's bus arrives", valid_from=midnight, at=START)
    on_the_day, before = [
        await memory.search(user="ana", query=f"what happens on {day} July?", kinds=["memory"], limit=1)
        for day in (8, 7)
    ]
    assert [hit.id for hit in on_the_day] == [made.id]
    assert [hit.id for hit in before] != [made.id]


async def test_what_happened_on_a_day_that_is_named_is_brought(memory: Hitherto, clock: FakeClock) -> None:
    await notebook(memory, clock)
    made = await memory.add(
        "episode", user="ana", text="The bridge was closed on 2026-02-14 and Ana walked home", at=START
    )
    context = await memory.context(user="ana", message="What did I do on Valentine's day?")
    assert next(item for item in context.items if item.section == "long_term" and item.included).id == made.id


async def test_a_note_of_another_day_or_of_another_persona_gains_nothing(memory: Hitherto, clock: FakeClock) -> None:
    await notebook(memory, clock)
    later = await memory.remember(user="ana", text="Fourteen beds are booked for the choir on 2026-07-22", at=START)
    theirs = await memory.remember(user="ana", text="Ten beds on 2026-07-08", persona="nikita", at=START)
    hits = await memory.search(user="ana", query="What happens next week?", persona="bea", kinds=["memory"], limit=99)
    gains = {hit.id: hit.parts.get("period", 0.0) for hit in hits}
    assert gains[later.id] < 0.1
    assert theirs.id not in gains


async def test_a_period_of_years_means_no_note(memory: Hitherto, clock: FakeClock) -> None:
    await notebook(memory, clock)
    made = await memory.remember(user="ana", text="Fourteen beds are booked for the choir on 2026-07-08", at=START)
    hits = await memory.search(user="ana", query="What happens in 2026?", kinds=["memory"], limit=99)
    assert next(hit for hit in hits if hit.id == made.id).parts.get("period", 0.0) < 2


@pytest.mark.parametrize(
    ("query", "day"),
    [("anything on next week?", 8), ("what was planned for last week?", -6), ("what is on tomorrow?", 2)],
)
async def test_loops_of_a_day_that_is_named_come_first(
    memory: Hitherto, clock: FakeClock, query: str, day: int
) -> None:
    now = await notebook(memory, clock)
    due = datetime(2026, 7, 1, 9, tzinfo=UTC) + timedelta(days=day - 1)
    made = await memory.add("loop", user="ana", text="Order beds for the choir", due=due, at=START)
    for n in range(9):
        await memory.add("loop", user="ana", text=f"Look into {TRIFLES[n]}", at=now - timedelta(hours=n))
    plain = await memory.context(user="ana", message="hello there")
    assert made.id not in {item.id for item in plain.items if item.section == "loops" and item.included} or day == -6
    context = await memory.context(user="ana", message=query)
    loops = [item.id for item in context.items if item.section == "loops" and item.included]
    assert loops[0] == made.id
    assert len(loops) == 5
