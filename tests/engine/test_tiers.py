"""The four tiers: a step's working memory, a session's short-term memory, and what is kept until the user deletes it."""

import json

import pytest

from hitherto import Hitherto
from hitherto.testing import FakeClock
from tests.engine.talking import Talk

STEP = "Plan: find a flight\nTool result: flight XQ77 costs 412 euros"


async def seen(memory: Hitherto, message: str, **inputs: str) -> tuple[str, list[object]]:
    """The system text and the history that a model would get now."""
    context = await memory.context(user="ana", persona="coach", message=message, recipe="recall", inputs=inputs)
    return context.system, [entry["content"] for entry in context.history]


@pytest.mark.req("R2.1")
async def test_working_memory_lasts_for_one_step(memory: Hitherto, clock: FakeClock, talk: Talk) -> None:
    await talk.user_says("Find me a flight to Rome, please.")
    system, _ = await seen(memory, "and?", task_state=STEP)
    assert "flight XQ77 costs 412 euros" in system.partition("[TASK STATE]")[2].partition("[/TASK STATE]")[0]
    system, history = await seen(memory, "and?")
    assert "XQ77" not in system + json.dumps(history), "the next step begins without it"
    await talk.persona_says("I found something.")
    clock.tick(days=2)
    await talk.settle()
    kept = [
        *await memory.memories(user="ana", status=None),
        *await memory.episodes(user="ana"),
        *await memory.summaries(user="ana"),
        *await memory.loops(user="ana", status=None),
        *await memory.turns(user="ana"),
    ]
    assert kept
    assert not [one for one in kept if "XQ77" in one.text], "a step's results are no memory"
    assert not [hit for hit in await memory.search(user="ana", query="flight XQ77 412 euros") if "XQ77" in hit.text]


@pytest.mark.req("R2.1")
async def test_short_term_memory_lasts_for_the_session(memory: Hitherto, clock: FakeClock, talk: Talk) -> None:
    lines = ["Let us sort the photos.", "Gladly, which ones?", "Those from the lake."]
    await talk.exchange(lines)
    _, history = await seen(memory, "go on")
    assert history == lines, "before anything was worked on"
    clock.tick(hours=13)
    await talk.settle()
    _, history = await seen(memory, "hello")
    assert history == [], "a new session has a history of its own"


@pytest.mark.req("R2.1")
async def test_semantic_and_episodic_memory_last_until_they_are_deleted(
    memory: Hitherto, clock: FakeClock, talk: Talk
) -> None:
    await talk.user_says("My sister Mary lives in Oslo.", "We spent our honeymoon in Paris and it was wonderful.")
    await talk.persona_says("Paris must have been a dream.")
    clock.tick(hours=1)
    await talk.settle()
    [turn, *_] = await memory.turns(user="ana")
    for _ in range(8):
        clock.tick(days=50)
        await talk.user_says("Hi there.")
        clock.tick(days=2)
        await talk.settle()
    about = [m for m in await memory.memories(user="ana", status=None) if "Mary" in m.text]
    assert {m.status for m in about} == {"ACTIVE"}
    assert [e for e in await memory.episodes(user="ana") if "honeymoon in Paris" in e.text]
    [fact, *_] = await memory.search(user="ana", query="where does Mary live", kinds=("memory",))
    [trip, *_] = await memory.search(user="ana", query="honeymoon in Paris", kinds=("episode",))
    assert ("Oslo" in fact.text, "honeymoon" in trip.text) == (True, True), "more than a year later"
    system, _ = await seen(memory, "where does my sister Mary live?")
    assert "Oslo" in system
    await memory.forget(user="ana", memory=trip.id)
    assert trip.id not in [episode.id for episode in await memory.episodes(user="ana")]
    await memory.forget(user="ana", turn=turn.id)
    assert not [m for m in await memory.memories(user="ana", status=None) if "Mary" in m.text]
    system, _ = await seen(memory, "where does my sister Mary live?")
    assert "Oslo" not in system
