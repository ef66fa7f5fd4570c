"""Histories full of tools, cut anywhere: no call without its answer, no answer without its call, ever."""

from __future__ import annotations

from random import Random

import pytest
from pydantic_ai.messages import ModelMessage, ModelRequest, UserPromptPart, repair_messages

from hitherto.assemble.candidates import Desk
from hitherto.assemble.exchange import messages
from hitherto.assemble.history import Past
from hitherto.deliver.pydantic_ai.messages import loaded
from hitherto.recipes.book import load
from hitherto.testing import chat_faults
from hitherto.types import Json, Part, Role, StoredTurn, Thinking, ToolCall, ToolReturn
from tests import effort
from tests.assemble.build import O200K, made, material, turn

HISTORIES = 500
WORDS = ["tea", "rain", "train", "blue", "yes", "maybe", "the", "of", "you", "\n\n", "[OPEN THREADS]", "lol", ""]
RECIPE = load("companion-text")
PROMPT: dict[str, Json] = {"role": "user", "content": "and now?"}


class Writer:
    """Writes a history: plain talk, parallel calls, retries, calls within calls, cancelled ones, ids that repeat."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.turns: list[StoredTurn] = []

    def say(self, role: Role, text: str, parts: tuple[Part, ...] = ()) -> None:
        self.turns.append(turn(len(self.turns) + 1, text, role=role, parts=parts))

    def words(self, most: int = 12) -> str:
        return " ".join(self.rng.choices(WORDS, k=self.rng.randint(1, most)))

    def link(self) -> str:
        """Now and then one that was used before: some providers number calls from one in every answer."""
        return self.rng.choice(["call_1", "call_2", f"id{self.rng.randrange(10**6)}"])

    def exchange(self) -> None:
        rng = self.rng
        self.say("user", self.words())
        for _ in range(rng.choice([0, 0, 1, 1, 2, 3])):
            links = list(dict.fromkeys(self.link() for _ in range(rng.choice([1, 1, 2, 3]))))
            made: list[Part] = [
                ToolCall(id=link, name=rng.choice(["look", "book"]), args=f'{{"n": {rng.random()}}}') for link in links
            ]
            if rng.random() < 0.2:
                made.insert(0, Thinking(text=self.words()))
            answered = [link for link in links if rng.random() < 0.9]
            rng.shuffle(answered)
            returns: list[Part] = [ToolReturn(id=link, name="look", content=self.words(40)) for link in answered]
            text = self.words() if rng.random() < 0.3 else ""
            shape = rng.random()
            if shape < 0.3:
                self.say("assistant", text, (*made, *returns))
                continue
            self.say("assistant", text, tuple(made))
            if shape < 0.5:
                for part in returns:
                    self.say("tool", "", (part,))
            elif returns:
                self.say("tool", "", tuple(returns))
            if rng.random() < 0.1:
                self.say("tool", "", (ToolReturn(id=self.link(), name="ghost", content="nobody asked"),))
        if rng.random() < 0.9:
            self.say("assistant", self.words())


def history(rng: Random) -> list[StoredTurn]:
    writer = Writer(rng)
    for _ in range(rng.randint(1, 7)):
        writer.exchange()
    return writer.turns


def check(chat: list[dict[str, Json]]) -> None:
    assert chat_faults([*chat, PROMPT]) == []
    sent: list[ModelMessage] = [*loaded(chat), ModelRequest(parts=[UserPromptPart("and now?")])]
    assert flat(repair_messages(sent)) == flat(sent), "PydanticAI had something to repair"


def flat(found: list[ModelMessage]) -> list[tuple[object, ...]]:
    """Parts without their times, in order; merging two messages into one changes nothing here."""
    return [
        (
            part.part_kind,
            getattr(part, "content", None),
            getattr(part, "tool_call_id", None),
            getattr(part, "args", None),
        )
        for message in found
        for part in message.parts
    ]


@pytest.mark.req("R1.1", "R0.10")
def test_no_orphan_at_any_budget(rng: Random) -> None:
    calls = plans = 0
    for _ in range(HISTORIES):
        turns = history(rng)
        past = Past(Desk(RECIPE, material(window=tuple(turns)), O200K))
        desk = Desk(RECIPE, material(window=tuple(turns)), O200K)
        seen: set[tuple[object, ...]] = set()
        whole = past.plan(1 << 30).tokens
        for budget in range(0, whole + 1, effort.count(test=3, soak=1)):
            plan = past.plan(budget)
            if (key := tuple(plan.cuts.items())) in seen:
                continue
            seen.add(key)
            chat = [message for exchange in past.carried_out(plan, desk) for message in messages(exchange)]
            check(chat)
            calls += sum("tool_calls" in message for message in chat)
        plans += len(seen)
    assert calls > HISTORIES, "the histories must hold calls for this to mean anything"
    assert plans > 2 * HISTORIES, "budgets must really cut"


@pytest.mark.req("R1.1")
def test_no_orphan_wherever_the_window_begins(rng: Random) -> None:
    for _ in range(effort.count(test=60, soak=HISTORIES)):
        turns = history(rng)
        for start in range(len(turns) + 1):
            past = Past(Desk(RECIPE, material(window=tuple(turns[start:])), O200K))
            desk = Desk(RECIPE, material(window=tuple(turns[start:])), O200K)
            for budget in (0, 60, 1 << 30):
                plan = past.plan(budget)
                check([message for exchange in past.carried_out(plan, desk) for message in messages(exchange)])


@pytest.mark.req("R1.1", "R1.11")
def test_no_orphan_in_a_whole_context(rng: Random) -> None:
    for _ in range(effort.count(test=40, soak=HISTORIES)):
        turns = tuple(history(rng))
        cap = rng.randint(120, 600)
        group = RECIPE.history_group.model_copy(update={"target": cap, "cap": cap})
        recipe = RECIPE.model_copy(update={"groups": {**RECIPE.groups, "working": group}})
        context = made(recipe, material(window=turns))
        check(list(context.history))
        shown = [message for message in context.history if message["role"] != "tool"]
        assert len(shown) <= 2 * len(turns)


def test_the_check_notices_an_orphan() -> None:
    call = turn(1, "", role="assistant", parts=(ToolCall(id="a", name="look", args="{}"),))
    answer = turn(2, "", role="tool", parts=(ToolReturn(id="a", name="look", content="seen"),))
    past = Past(Desk(RECIPE, material(window=(call, answer)), O200K))
    (whole,) = past.carried_out(past.plan(1000), Desk(RECIPE, material(), O200K))
    for broken in (messages(whole)[:1], messages(whole)[1:]):
        with pytest.raises(AssertionError):
            check(broken)
    sent = [*loaded(messages(whole)[1:]), ModelRequest(parts=[UserPromptPart("x")])]
    assert flat(repair_messages(sent)) != flat(sent)
