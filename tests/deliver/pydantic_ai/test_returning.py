"""People who come back: the context of a return holds the right callback to the earlier conversation."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from pydantic_ai import Agent

from bench.returning import Sitting, returns
from hitherto import Hitherto
from hitherto.deliver.pydantic_ai import Memory
from hitherto.testing import START, FakeClock
from tests.deliver.pydantic_ai.scripted import Script

TALKS = (
    ("My sister Rita moves to Porto next week.", "Do you help her pack?", "Yes, on Saturday."),
    ("I signed up for a marathon in October.", "How far can you run today?", "Twelve kilometres."),
    ("The interview at Acme went well!", "What did they ask?", "About the billing rewrite."),
    ("I burned the bread again.", "Too hot or too long?", "I forgot the timer."),
    ("Mukesh wants the report by Friday.", "Is that enough time?", "Barely."),
    ("We adopted a cat, her name is Olive.", "How old is she?", "Two years."),
    ("I cannot sleep since the move.", "What keeps you awake?", "The street."),
    ("The cello lesson was wonderful.", "What did you play?", "The first Bach suite."),
    ("I think I will quit the choir.", "What happened?", "Too many evenings."),
    ("My flight to Lisbon is on the 3rd.", "Do you travel alone?", "With Rita."),
)
"""Ten sessions, each about something of its own."""
BACK = "hey, it is me again"


@pytest.mark.req("R1.13", "R1.8")
@pytest.mark.parametrize("gap", [timedelta(hours=2), timedelta(hours=14), timedelta(days=3)])
async def test_nine_of_ten_returns_hold_the_right_callback(tmp_path: Path, gap: timedelta) -> None:
    """Through a real agent. The greeting itself says nothing, so the callback can only come from the memory."""
    clock = FakeClock()
    right = 0
    async with Hitherto(tmp_path / "m", clock=clock, recipe="companion-text") as memory:
        for number, (first, question, answer) in enumerate(TALKS):
            script = Script(["Welcome back!", question, "I see."])
            agent = Agent(script.model, capabilities=[Memory[object](memory, user="ana", persona="nikita")])
            await agent.run(BACK)
            if number:
                told = script.instructions[0] + script.told(0)
                right += any(line in told for line in (TALKS[number - 1][0], TALKS[number - 1][2]))
            for text in (first, answer):
                clock.tick(seconds=40)
                await agent.run(text)
            clock.tick(minutes=31)
            await memory.settle(user="ana")
            clock.tick(seconds=(gap - timedelta(minutes=31)).total_seconds())
    assert right / (len(TALKS) - 1) >= 0.9


@pytest.mark.req("R1.13")
async def test_the_bench_counts_the_same_way(tmp_path: Path) -> None:
    sittings = [
        Sitting(
            START + timedelta(days=2 * number),
            [(f"s{number}-{place}", ("user", "assistant")[place % 2], text) for place, text in enumerate(talk)],
        )
        for number, talk in enumerate(TALKS)
    ]
    score = await returns(tmp_path / "m", sittings, recipe="companion-text")
    assert score.asked == len(TALKS) - 1
    assert score.share >= 0.9, score.missed


@pytest.mark.req("R1.14", "R1.2")
async def test_today_is_summed_up_after_every_session_of_the_day(memory: Hitherto, clock: FakeClock) -> None:
    script = Script(["Tell me more."])
    agent = Agent(script.model, capabilities=[Memory[object](memory, user="ana", persona="nikita")])
    covered = 0
    for number, talk in enumerate(TALKS[:3]):
        await agent.run(talk[0])
        clock.tick(minutes=1)
        await agent.run(talk[2])
        clock.tick(minutes=31)
        await memory.settle(user="ana")
        clock.tick(hours=1)
        days = await memory.summaries(user="ana", persona="nikita", kind="daily")
        assert len(days) == 1, "one summary of the day, made anew"
        assert days[0].last > covered, "it reaches further than before"
        covered = days[0].last
        await agent.run("back again")
        today = script.instructions[-1].partition("[TODAY SO FAR]")[2].partition("[/TODAY SO FAR]")[0]
        said_once = number == 0 and "sister Rita moves to Porto" in script.instructions[-1]
        assert "Summary:" in today or said_once, f"after session {number}; one sentence that is also a fact stands once"
