"""The state and memory model's own timeline, from the first message to the spine, with the clock of the test."""

from datetime import timedelta

import pytest

from hitherto import Hitherto
from hitherto.testing import START, FakeClock
from tests.engine.talking import Talk

FILLER = [
    "The museum was closed, so we walked along the river instead.",
    "A river walk sounds better than a museum anyway.",
]


@pytest.mark.req("R3.11", "R3.7", "R3.8", "R3.9", "R3.10", "R2.6", "R2.14")
async def test_the_timeline_from_the_first_message_to_the_spine(memory: Hitherto, clock: FakeClock, talk: Talk) -> None:
    # t=0: user, session and state come into being; memories are everybody's, loops the persona's.
    [first] = await talk.user_says("Hi, I'm Ana and I live in Austin. I need to book the dentist tomorrow.")
    await talk.settle()
    state = await memory.progress(user="ana", persona="coach")
    assert (state.message_count, state.last_interaction) == (1, START)
    assert state.last_user_message.startswith("Hi, I'm Ana")
    [session] = await memory.sessions(user="ana", persona="coach")
    assert (session.turn_count, session.status) == (1, "open")
    facts = await memory.memories(user="ana")
    assert {(m.text, m.persona, m.sources) for m in facts} == {
        ("The user (2 March): “Hi, I'm Ana and I live in Austin.”", None, (first,)),
    }
    [loop] = await memory.loops(user="ana", persona="coach")
    assert (loop.kind, loop.owner, loop.due) == ("commitment", "user", START.replace(hour=9) + timedelta(days=1))
    assert await memory.loops(user="ana", persona="nikita") == []

    # t=1 … t=3: counts go on; the fourth message brings the first rolling summary.
    await talk.persona_says("Good plan! Do you have someone who keeps you company there?")
    await talk.user_says("My sister Maria comes along.")
    await talk.settle()
    assert await memory.summaries(user="ana", kind="rolling") == []
    assert (await memory.sessions(user="ana", persona="coach"))[0].turn_count == 3
    await talk.persona_says("That is kind of Maria.")
    await talk.settle()
    [rolling] = await memory.summaries(user="ana", kind="rolling")
    assert "Austin" in rolling.text
    assert len(rolling.text) <= 600
    state = await memory.progress(user="ana", persona="coach")
    assert (state.message_count, state.rolling_summary) == (4, rolling.text)
    assert state.last_rolling_success == state.last_rolling_attempt is not None
    assert state.last_rolling_error is None

    # t=35 minutes: the silence ends the session, and its summary is made.
    clock.tick(minutes=28)
    assert await talk.settle() == 0
    clock.tick(minutes=3)
    assert await talk.settle() > 0
    [session] = await memory.sessions(user="ana", persona="coach")
    assert (session.status, session.turn_count) == ("closed", 4)
    [summary] = await memory.summaries(user="ana", kind="session")
    assert list(summary.detail) == ["commitments", "one_liner", "open_loops", "people", "tone", "what_mattered"]
    assert summary.detail["people"] == ["Maria"]
    assert "dentist" in str(summary.detail["commitments"])
    [thought] = await memory.thoughts(user="ana", persona="coach")
    assert thought.text == "The user was going to book the dentist on 2026-03-03. I want to hear how it went."

    # t=36 minutes: a new session, the same state; the context knows both summaries.
    context = await memory.context(user="ana", persona="coach", message="back again", recipe="personas")
    assert summary.text.split(".")[0] in context.system
    assert "Hi, I'm Ana" in str(context.history), "the window reaches back over the silence"
    await talk.user_says("I'm back!")
    [newest, _] = await memory.sessions(user="ana", persona="coach")
    assert (newest.turn_count, newest.continues) == (1, session.id)
    assert (await memory.progress(user="ana", persona="coach")).message_count == 5

    # t=n: after more than twenty messages the spine has its first version, and later its second.
    for _ in range(8):
        await talk.exchange(FILLER)
        await talk.settle()
    [spine] = await memory.summaries(user="ana", kind="spine")
    assert list(spine.detail) == ["OPEN_LOOPS", "PEOPLE", "PROFILE", "PROJECTS"]
    assert (spine.persona, spine.version) == (None, 1)
    assert "I live in Austin" in str(spine.detail["PROFILE"])
    assert "My sister Maria comes along" in str(spine.detail)
    assert spine.messages > 20
    for _ in range(11):
        await talk.exchange(FILLER)
        await talk.settle()
    [spine] = await memory.summaries(user="ana", kind="spine")
    assert spine.version == 2


@pytest.mark.req("R3.7", "R3.13")
async def test_earlier_rolling_summaries_are_kept_and_what_matters_is_carried_forward(
    memory: Hitherto, talk: Talk
) -> None:
    await talk.exchange(["I'm allergic to peanuts.", "Good to know.", "My sister Maria lives in Oslo.", "Lovely city."])
    await talk.settle()
    [first] = await memory.summaries(user="ana", kind="rolling")
    for place in range(12):
        await talk.exchange([f"Film number {place} was about a lighthouse keeper and storms.", "I like lighthouses."])
        await talk.settle()
    [rolling] = await memory.summaries(user="ana", kind="rolling")
    assert "peanuts" in rolling.text
    assert len(rolling.text) <= 600
    versions = await memory.history(user="ana", id=rolling.id)
    assert versions[0].text == first.text
    assert len(versions) == rolling.version == 7


@pytest.mark.req("R1.14", "R0.3", "R1.2")
async def test_a_day_is_the_users_own(memory: Hitherto, clock: FakeClock, talk: Talk) -> None:
    await memory.set_user("ana", zone="America/New_York")
    clock.tick(hours=18, minutes=30)  # 03:30 in UTC, still the evening of 2 March in New York
    await talk.exchange(["I finished the marathon plan today!", "Nice!", "My knee hurts a lot since noon."])
    await talk.exchange(["I sold the old car to Peter.", "Oh!", "We cooked dumplings for the whole family.", "Yum."])
    clock.tick(minutes=31)
    await talk.settle()
    [day] = await memory.summaries(user="ana", kind="daily")
    assert str(day.day) == "2026-03-02"
    assert "The user said “I finished the marathon plan today!”" in str(day.detail["key_moments"])
    clock.tick(minutes=10)
    context = await memory.context(user="ana", persona="coach", message="hey")
    assert "[TODAY SO FAR]" in context.system
    clock.tick(hours=1)  # past midnight in New York
    context = await memory.context(user="ana", persona="coach", message="hey")
    assert "[TODAY SO FAR]" not in context.system
    last_time = context.system.partition("[LAST TIME]")[2].partition("[/LAST TIME]")[0]
    assert "dumplings" in last_time, "it is last time now"


@pytest.mark.req("R1.14")
async def test_a_session_over_midnight_belongs_to_both_days(memory: Hitherto, clock: FakeClock, talk: Talk) -> None:
    clock.tick(hours=14, minutes=58)  # 23:58
    await talk.exchange(["We watched the meteor shower.", "How was it?", "I saw a comet over the harbour.", "Wow."])
    clock.tick(days=2)
    await talk.settle()
    days = {str(s.day): s for s in await memory.summaries(user="ana", kind="daily")}
    assert sorted(days) == ["2026-03-02", "2026-03-03"]
    assert "meteor" in days["2026-03-02"].text
    assert "comet" not in days["2026-03-02"].text
    assert "comet" in days["2026-03-03"].text
    versions = {day: summary.version for day, summary in days.items()}
    await talk.settle()
    assert {str(s.day): s.version for s in await memory.summaries(user="ana", kind="daily")} == versions


@pytest.mark.req("R0.4", "R1.8", "R1.4")
async def test_days_later_last_time_is_there(memory: Hitherto, clock: FakeClock, talk: Talk) -> None:
    await talk.exchange(
        ["I got the job at Acme!", "Congratulations, Ana!", "I start on Monday.", "I'll ask you about it."]
    )
    clock.tick(days=3)
    await talk.settle()
    context = await memory.context(user="ana", persona="coach", message="hi")
    last = context.system.split("[LAST TIME]")[1].split("[/LAST TIME]")[0]
    assert "Acme" in last
    assert 1 <= last.count(".") + last.count("!") <= 5
