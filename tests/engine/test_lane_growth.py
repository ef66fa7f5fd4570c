"""A lane that grows to five hundred messages: its summary takes over what is old, and a context costs what it always did."""

import pytest

from hitherto import Hitherto, Summary
from hitherto.testing import FakeClock
from tests.engine.talking import Talk

LANE = "topic:1:7"
TOPICS = ["importer", "backup script", "billing page", "search index", "login form", "sales report"]


def exchange(place: int) -> list[str]:
    topic = TOPICS[place % len(TOPICS)]
    return [
        f"I tried the {topic} again and it failed with error {place}, the log is long and says nothing useful about it.",
        f"Then let us look at the {topic} step by step, starting from the last change that touched it.",
    ]


async def lane_summary(memory: Hitherto) -> Summary | None:
    found = [s for s in await memory.summaries(user="ana", kind="lane") if s.lane == LANE]
    return found[0] if found else None


@pytest.mark.req("R4.4", "R4.5", "R4.6", "R4.10")
async def test_a_lane_of_500_messages_costs_no_more_than_one_of_50(
    memory: Hitherto, clock: FakeClock, talk: Talk
) -> None:
    lane = talk.to(persona="helper", lane=LANE)
    await lane.user_says("I want to migrate the shop to the new server.", "We decided to use PostgreSQL for the shop.")
    costs: dict[int, int] = {}
    for place in range(249):
        await lane.exchange(exchange(place))
        said = 2 + 2 * (place + 1)
        if said % 10 == 0:
            await lane.settle()
        if said in (50, 100, 250, 500):
            context = await memory.context(
                user="ana", persona="helper", lane=LANE, message="where were we?", recipe="lanes"
            )
            costs[said] = context.tokens
            summary = await lane_summary(memory)
            assert summary is not None
            assert "PostgreSQL" in str(summary.detail["decisions"]), "what was decided is still known"
            assert "migrate the shop" in context.system, "it picks up where it left off"
            newest = [entry["content"] for entry in context.history]
            assert newest[-2:] == exchange(place), "the newest stay as they were said"
    assert max(costs.values()) <= 1.25 * costs[50], costs
    assert all(cost <= 6150 for cost in costs.values())


@pytest.mark.req("R4.5", "R4.4")
async def test_thirty_messages_may_stand_and_the_newest_ten_always_do(memory: Hitherto, talk: Talk) -> None:
    lane = talk.to(persona="helper", lane=LANE)
    ids = [turn for place in range(15) for turn in await lane.exchange(exchange(place))]
    await lane.settle()
    assert await lane_summary(memory) is None, "thirty are not more than thirty"
    ids += await lane.user_says("And the next one.")
    await lane.settle()
    summary = await lane_summary(memory)
    assert summary is not None
    turns = await memory.turns(user="ana", lane=LANE)
    assert (summary.first, summary.last) == (turns[0].place, turns[-11].place)
    assert (summary.version, summary.messages, summary.lane) == (1, 21, LANE)
    await lane.settle()
    assert (await memory.summaries(user="ana", kind="lane"))[0].version == 1, "nothing is older than the newest ten"


@pytest.mark.req("R4.5")
async def test_many_tokens_compact_a_lane_before_its_messages_do(memory: Hitherto, talk: Talk) -> None:
    lane = talk.to(persona="helper", lane=LANE)
    for place in range(11):
        await lane.user_says(f"Part {place} of the story. " + "The rain kept falling on the old harbour town. " * 25)
    await lane.settle()
    assert await lane_summary(memory) is not None


@pytest.mark.req("R4.5")
async def test_ten_long_messages_are_left_alone(memory: Hitherto, talk: Talk) -> None:
    lane = talk.to(persona="helper", lane=LANE)
    for place in range(10):
        await lane.user_says(f"Part {place} of the story. " + "The rain kept falling on the old harbour town. " * 30)
    await lane.settle()
    assert await lane_summary(memory) is None


@pytest.mark.req("R4.5")
async def test_a_day_after_its_summary_a_lane_is_brought_up_to_date(
    memory: Hitherto, clock: FakeClock, talk: Talk
) -> None:
    lane = talk.to(persona="helper", lane=LANE)
    for place in range(16):
        await lane.exchange(exchange(place))
    await lane.settle()
    clock.tick(hours=25)
    await lane.user_says("We decided to postpone the launch.", "Anything else?")
    await lane.settle()
    summary = await lane_summary(memory)
    assert summary is not None
    assert summary.version == 2


@pytest.mark.req("R4.6", "R2.12")
async def test_a_lane_summary_holds_no_credential_and_marks_what_is_pending(memory: Hitherto, talk: Talk) -> None:
    lane = talk.to(persona="helper", lane=LANE)
    await lane.user_says("The database password is hunter2Tango!9 and I need to rotate it by Friday.")
    await lane.user_says("I need to renew the certificate.")
    for place in range(16):
        await lane.exchange(exchange(place))
    await lane.settle()
    summary = await lane_summary(memory)
    assert summary is not None
    assert "hunter2Tango" not in str(summary)
    assert "The user needs to renew the certificate." in str(summary.detail["pending"])


@pytest.mark.req("R4.6")
async def test_what_was_closed_since_is_pending_no_more(memory: Hitherto, talk: Talk) -> None:
    lane = talk.to(persona="helper", lane=LANE)
    await lane.user_says("I need to renew the certificate.", "I need to call the landlord.")
    assert await pending_after(16, lane) == {"renew the certificate", "call the landlord"}
    await lane.user_says("I have renewed the certificate, that is done.")
    await lane.settle()
    assert {loop.text: loop.status for loop in await memory.loops(user="ana", status=None)} == {
        "I need to renew the certificate": "done",
        "I need to call the landlord": "open",
    }
    assert await pending_after(16, lane) == {"call the landlord"}


async def pending_after(exchanges: int, lane: Talk) -> set[str]:
    """Which of two duties the lane's summary calls pending once so much more was said."""
    for place in range(exchanges):
        await lane.exchange(exchange(place))
    await lane.settle()
    summary = await lane_summary(lane.memory)
    assert summary is not None
    duties = ("renew the certificate", "call the landlord")
    return {duty for duty in duties if f"needs to {duty}" in str(summary.detail["pending"])}
