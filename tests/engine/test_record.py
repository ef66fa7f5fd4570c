"""Recording: durable, idempotent, ordered by the log and not by the clock."""

import asyncio
import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hitherto import Conflict, Hitherto, InvalidInput, NotFound, ToolCall, ToolReturn, Turn
from hitherto.testing import START, FakeClock
from tests import effort


def said(text: str, *, id: str | None = None, at: datetime | None = None) -> Turn:
    return Turn(user="ana", role="user", text=text, persona="nikita", id=id, at=at)


async def test_a_turn_is_there_when_record_returns(memory: Hitherto) -> None:
    [turn_id] = await memory.record(said("I start at Acme on Monday!"))
    [turn] = await memory.turns(user="ana")
    assert (turn.id, turn.text, turn.role, turn.persona) == (turn_id, "I start at Acme on Monday!", "user", "nikita")
    assert turn.at == START
    assert turn.origin == "user"
    assert turn.tokens > 0


async def test_ids_come_back_in_the_order_given_over_several_users(memory: Hitherto) -> None:
    turns = [
        Turn(user=user, role="user", text=f"hello {n}", id=f"{user}-{n}") for n in range(5) for user in ("ana", "bo")
    ]
    assert await memory.record(turns) == [turn.id for turn in turns]
    assert [turn.text for turn in await memory.turns(user="bo")] == [f"hello {n}" for n in range(5)]


async def test_a_cancelled_call_takes_no_other_users_work_along(memory: Hitherto) -> None:
    """An answer waits for the snapshots that are being written; whoever leaves meanwhile leaves them to the others."""
    for _ in range(effort.count(test=10, soak=100)):
        made = {user: await memory.context(user=user, message="Hello?") for user in ("ana", "bo", "cy")}
        answers = {
            user: asyncio.create_task(memory.record(Turn(user, "assistant", "Hi.", snapshot=made[user].snapshot)))
            for user in ("ana", "bo")
        }
        await asyncio.sleep(0)
        answers["ana"].cancel()
        await asyncio.wait(answers.values())
        assert answers["ana"].cancelled()
        assert not answers["bo"].cancelled()
        assert len(answers["bo"].result()) == 1
        for user, context in made.items():
            assert await memory.snapshots(user=user, ids=[context.snapshot]), user


async def test_f3_the_same_delivery_again_changes_nothing(memory: Hitherto, rng: random.Random) -> None:
    turns = [said(f"message {n}", id=f"m{n}", at=START + timedelta(seconds=n)) for n in range(20)]
    first = await memory.record(turns)
    deliveries = effort.count(test=50, soak=500)
    for _ in range(deliveries):
        batch = rng.sample(turns, k=rng.randint(1, len(turns)))
        assert await memory.record(batch) == [turn.id for turn in batch]
    await asyncio.gather(*(memory.record(rng.sample(turns, k=3)) for _ in range(20)))
    stored = await memory.turns(user="ana")
    assert [turn.id for turn in stored] == first
    assert [turn.version for turn in stored] == [1] * len(turns)


async def test_f3_the_same_id_with_another_text_is_a_conflict(memory: Hitherto) -> None:
    await memory.record(said("one", id="m1"))
    with pytest.raises(Conflict, match=r"'m1'.*text"):
        await memory.record([said("new", id="m2"), said("two", id="m1")])
    assert [turn.text for turn in await memory.turns(user="ana")] == ["one"], "nothing of the batch was stored"


async def test_f5_order_is_the_logs_own_whatever_the_clock_says(memory: Hitherto, rng: random.Random) -> None:
    times = [START + timedelta(minutes=rng.randint(-600, 600)) for _ in range(200)]
    for start in range(0, 200, 20):
        await asyncio.gather(*(memory.record(said(f"t{n}", id=f"t{n}", at=times[n])) for n in range(start, start + 20)))
    stored = await memory.turns(user="ana")
    assert len(stored) == 200
    numbers = [turn.number for turn in stored]
    assert numbers == list(range(1, 201)), "the persona's count has no gap and follows the order"
    assert sorted(turn.place for turn in stored) == [turn.place for turn in stored]


async def test_an_edit_is_a_version_at_the_same_place(memory: Hitherto) -> None:
    await memory.record([said("a", id="1"), said("teh cat", id="2"), said("c", id="3")])
    revised = await memory.revise(user="ana", turn="2", text="the cat")
    assert revised.version == 2
    assert [turn.text for turn in await memory.turns(user="ana")] == ["a", "the cat", "c"]
    before = revised.seq - 1
    assert [turn.text for turn in await memory.turns(user="ana", known=before)] == ["a", "teh cat", "c"]
    with pytest.raises(NotFound, match="'nope'"):
        await memory.revise(user="ana", turn="nope", text="x")


async def test_tool_parts_are_kept_whole(memory: Hitherto) -> None:
    call = ToolCall(id="c1", name="weather", args='{"city":"Oslo"}')
    result = ToolReturn(id="c1", name="weather", content="rain")
    await memory.record(
        [
            Turn(user="ana", role="assistant", text="", parts=(call,)),
            Turn(user="ana", role="tool", text="", parts=(result,)),
        ]
    )
    assert [turn.parts for turn in await memory.turns(user="ana")] == [(call,), (result,)]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"text": ""}, "empty"),
        ({"text": " \n"}, "empty"),
        ({"text": "x" * 10_000_000}, "10,000,000 characters"),
        ({"text": "a\x00b"}, "NUL"),
        ({"text": "a\ud800b"}, "surrogate"),
        ({"at": datetime(2026, 1, 1)}, "no time zone"),  # noqa: DTZ001 - that is the point
        ({"at": datetime(9999, 12, 31, tzinfo=UTC)}, "after 7999"),
        ({"at": datetime(1969, 12, 31, tzinfo=UTC)}, "1970"),
        ({"role": "robot"}, "'robot'"),
        ({"user": ""}, "user"),
        ({"user": "u" * 600}, "600 characters"),
    ],
)
async def test_bad_input_is_a_clear_error_and_nothing_is_lost(
    memory: Hitherto, fields: dict[str, Any], message: str
) -> None:
    await memory.record(said("before"))
    with pytest.raises(InvalidInput, match=message):
        await memory.record([said("good"), replace(said("bad"), **fields)])
    assert [turn.text for turn in await memory.turns(user="ana")] == ["before"]
    await memory.record(said("after"))
    assert len(await memory.turns(user="ana")) == 2


async def test_a_bound_may_be_the_end_of_the_calendar(memory: Hitherto) -> None:
    always = datetime.max.replace(tzinfo=UTC)
    await memory.record(said("I live in Rome.", id="t1"))
    assert [turn.id for turn in await memory.turns(user="ana", until=always)] == ["t1"]
    await memory.remember(user="ana", text="Ana is kind.", valid_to=always)
    context = await memory.context(user="ana", persona="nikita", message="What is Ana like?")
    assert "Ana is kind." in context.system
    assert (await memory.forget(user="ana", before=always)).turns == 1


@pytest.mark.parametrize("user", ["../../etc/passwd", "a/b", "..", ".", "x" * 500, "ana\n", "Ána", "ana ", "ANA"])
async def test_any_user_id_is_a_user_of_its_own(memory: Hitherto, user: str) -> None:
    await memory.record([Turn(user="ana", role="user", text="mine"), Turn(user=user, role="user", text="theirs")])
    assert [turn.text for turn in await memory.turns(user="ana")] == ["mine"]
    assert [turn.text for turn in await memory.turns(user=user)] == ["theirs"]
    assert sorted(await memory.users()) == sorted(["ana", user])


async def test_recorded_turns_are_still_there_after_closing(store_url: str, clock: FakeClock) -> None:
    async with Hitherto(store_url, clock=clock) as engine:
        await engine.record(said("remember me"))
    async with Hitherto(store_url, clock=clock) as engine:
        assert [turn.text for turn in await engine.turns(user="ana")] == ["remember me"]
