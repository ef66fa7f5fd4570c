"""A prompt whose beginning lasts: what changes comes last, and the window moves in large steps."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path

import pytest

from hitherto import Hitherto, Turn
from hitherto.assemble.render import blocks
from hitherto.errors import InvalidRecipe
from hitherto.recipes.book import load, parse
from hitherto.recipes.titles import HEADINGS, Volatility
from hitherto.testing import FakeClock, chat_faults
from hitherto.types import Context
from tests.assemble.build import everything, made, turns

CACHED = load("companion-cached")


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Hitherto]:
    async with Hitherto(tmp_path / "m", clock=FakeClock(), recipe="companion-cached") as engine:
        await engine.define_persona("nikita", name="Nikita", text="You are Nikita. " * 40)
        yield engine


def test_the_budget_is_sixteen_thousand_with_eight_hundred_that_change() -> None:
    assert CACHED.total.cap == 16_000
    changing = {CACHED.group_of[section] for section in CACHED.tail if section != "task_state"}
    assert sum(CACHED.groups[name].cap for name in changing) <= 800
    assert {s for s in CACHED.order if HEADINGS[s].volatility is Volatility.TURN} - {"working"} <= set(CACHED.tail)


def test_what_changes_follows_the_history() -> None:
    context = made(CACHED, everything())
    front = [block.title for block in blocks(context.system)]
    assert front == ["FOUNDATION", "LONG-TERM SUMMARY", "USER REQUESTS", "LAST TIME", "TODAY SO FAR"]
    assert "Current time" not in context.system
    tail = context.messages[len(context.history)]
    assert tail["role"] == "user"
    assert str(tail["content"]).startswith("[RELATIONSHIP]")
    assert "[SITUATION]\nCurrent time: " in str(tail["content"])
    assert context.messages[-1] == {"role": "user", "content": "yes"}
    assert chat_faults(context.messages) == []


def test_the_window_begins_at_the_same_turn_for_a_while() -> None:
    begins: list[object] = []
    for count in range(2, 900, 2):
        context = made(CACHED, everything(window=turns(count, "turn {}: " + "word " * 30)[-400:]))
        begins.append(context.history[0]["content"])
        assert context.tokens <= 16_000
    moves = sum(old != new for old, new in pairwise(begins))
    assert 1 <= moves <= 900 / 128 + 1


def test_the_window_of_long_turns_moves_in_smaller_steps() -> None:
    begins: list[object] = []
    for count in range(2, 120, 2):
        context = made(CACHED, everything(window=turns(count, "turn {}: " + "word " * 700)))
        begins.append(context.history[0]["content"])
        assert len(context.history) >= min(count, 6)
    moves = sum(old != new for old, new in pairwise(begins))
    assert moves <= len(begins) / 3


async def talk(memory: Hitherto, *, turns: int) -> list[Context]:
    found: list[Context] = []
    for number in range(turns):
        text = f"message {number} about the garden and the rain, " + "and more of it " * 5
        found.append(await memory.context(user="ana", persona="nikita", message=text))
        await memory.record(
            [
                Turn("ana", "user", text, persona="nikita"),
                Turn("ana", "assistant", f"answer {number}. " * 12, persona="nikita"),
            ]
        )
    return found


async def test_the_context_reports_what_stayed(memory: Hitherto) -> None:
    contexts = await talk(memory, turns=40)
    assert contexts[0].kept is None
    for before, after in pairwise(contexts):
        assert before.system == after.system
        assert after.history[: len(before.history)] == before.history
        assert after.kept is not None
        assert before.tokens - 1000 < after.kept < after.tokens
    kept = sum(context.kept or 0 for context in contexts[10:])
    assert kept / sum(context.tokens for context in contexts[10:]) > 0.9


async def test_other_conversations_are_not_compared(memory: Hitherto) -> None:
    await memory.context(user="ana", persona="nikita", message="one")
    assert (await memory.context(user="ben", persona="nikita", message="one")).kept is None
    assert (await memory.context(user="ana", persona="nikita", lane="work", message="one")).kept is None
    assert (await memory.for_tenant("other").context(user="ana", persona="nikita", message="one")).kept is None
    assert (await memory.context(user="ana", persona="nikita", message="two")).kept


async def test_what_lasts_changes_only_with_a_step(memory: Hitherto) -> None:
    await talk(memory, turns=3)
    await memory.remember(user="ana", text="Ana plays the cello", pinned=True)
    context = await memory.context(user="ana", persona="nikita", message="and?")
    assert "cello" not in context.system
    assert "cello" in str((await memory.context(user="ana", persona="nikita", message="the cello?")).messages)
    other = await memory.context(user="ana", persona=None, message="hello")
    assert "cello" in other.system, "a conversation that begins knows it"


async def test_a_snapshot_rebuilds_the_tail(memory: Hitherto) -> None:
    await memory.remember(user="ana", text="Ana's garden has a pond")
    await talk(memory, turns=2)
    context = await memory.context(user="ana", persona="nikita", message="the garden pond")
    again = await memory.replay(user="ana", snapshot=context.snapshot)
    assert again.messages == context.messages
    assert again.system == context.system
    assert again.breakpoints == context.breakpoints == (0, 4)


async def test_breakpoints_end_what_lasts(memory: Hitherto) -> None:
    contexts = await talk(memory, turns=3)
    prompt = contexts[-1].marked()
    marks = [place for place, message in enumerate(prompt) if isinstance(message["content"], list)]
    assert marks == [0, 4]
    assert prompt[0]["content"] == [
        {"type": "text", "text": contexts[-1].system, "cache_control": {"type": "ephemeral"}}
    ]
    plain = await memory.context(user="ana", persona="nikita", message="x", recipe="companion")
    assert plain.breakpoints == ()
    assert all(isinstance(message["content"], str) for message in plain.marked())


@pytest.mark.parametrize(
    ("tail", "words"),
    [
        ('["style"]', "only memory blocks may follow the history"),
        ('["working"]', "only memory blocks may follow the history"),
        ('["memories"]', "not in order"),
        ('["loops", "loops"]', "twice"),
    ],
)
def test_a_wrong_tail_is_refused(tail: str, words: str) -> None:
    with pytest.raises(InvalidRecipe, match=words):
        parse(f'extends = "companion"\nname = "x"\ntail = {tail}')
