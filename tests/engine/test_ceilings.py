"""What keeps a context under its ceilings whatever the history's length, counted instead of timed: the model calls, the
round trips to the store, the rows that come back, the characters whose tokens are counted. `bench/ceilings.py` times them.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models.function import FunctionModel

from hitherto import Hitherto, Turn
from hitherto.store.protocol import Answers, Query, Row, UserStore
from hitherto.testing import FakeClock
from hitherto.types import Context, StoredTurn

SHORT, LONG = 300, 3_000
THINGS = ("jazz", "tea", "hiking", "chess", "the sea", "old films", "bread", "trains", "maps", "ferns", "rain", "opera")


@dataclass(slots=True)
class Effort:
    """What one call cost."""

    reads: int = 0
    rows: int = 0
    counted: int = 0
    texts: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class Watched:
    """A user's store that notes what is read of it; to be written to it is not there for."""

    store: UserStore
    effort: Effort

    async def read(self, *queries: Query[Any]) -> Answers:
        answers = await self.store.read(*queries)
        self.effort.reads += 1
        found: list[Any] = [one for query in queries if isinstance(answers[query], tuple) for one in answers[query]]
        self.effort.rows += sum(isinstance(one, StoredTurn | Row) for one in found)
        return answers


@dataclass(slots=True)
class Vocabulary:
    """A tokenizer's vocabulary that notes how much it is given."""

    vocabulary: Any
    effort: Effort

    def encode_ordinary(self, text: str) -> list[int]:
        self._note(text)
        return self.vocabulary.encode_ordinary(text)

    def encode_flat(self, text: str) -> bytes:
        self._note(text)
        return self.vocabulary.encode_flat(text)

    def special_tokens(self) -> dict[str, int]:
        return self.vocabulary.special_tokens()

    def _note(self, text: str) -> None:
        self.effort.counted += len(text)
        self.effort.texts.append(text)


@pytest.fixture
async def memory(store_url: str, clock: FakeClock) -> AsyncIterator[Hitherto]:
    """With a model that fails the test when it is asked."""

    def never(messages: object, info: object) -> ModelResponse:
        raise AssertionError("a context calls no model")

    async with Hitherto(store_url, clock=clock, model=FunctionModel(never)) as engine:
        yield engine


async def talk(memory: Hitherto, clock: FakeClock, user: str, count: int) -> None:
    turns = [
        Turn(
            user,
            "assistant" if n % 2 else "user",
            f"We talked about {THINGS[n % 12]} and {THINGS[n // 12 % 12]}, for the {n}th time.",
            persona="nikita",
            at=clock.tick(minutes=1),
        )
        for n in range(count)
    ]
    for start in range(0, count, 1_000):
        await memory.record(turns[start : start + 1_000])


async def effort_of(memory: Hitherto, user: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Effort, Context]:
    effort = Effort()
    own, plain = memory._user, memory._tokenizer  # pyright: ignore[reportPrivateUsage] -- the seam at which effort is seen
    await memory.context(user=user, persona="nikita", message="Do you remember the jazz?")
    await memory.flush()

    def watched(name: str) -> Watched:
        return Watched(own(name), effort)

    with monkeypatch.context() as patch:
        patch.setattr(memory, "_user", watched)
        patch.setattr(memory, "_tokenizer", replace(plain, _vocabulary=Vocabulary(plain._vocabulary, effort)))  # pyright: ignore[reportPrivateUsage] -- the same
        context = await memory.context(
            user=user, persona="nikita", message="Do you remember the jazz and the tea?", keep=False
        )
    return effort, context


@pytest.mark.req("R1.9")
async def test_a_long_history_costs_a_context_no_more_than_a_short_one(
    memory: Hitherto, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only what full text and vectors score, numbers both, grows with the history; whole rows, round trips and counted
    characters do not."""
    await talk(memory, clock, "short", SHORT)
    short, _ = await effort_of(memory, "short", monkeypatch)
    await talk(memory, clock, "long", LONG)
    long, context = await effort_of(memory, "long", monkeypatch)
    assert long.reads == short.reads <= 5
    assert 60 <= long.rows <= short.rows + 2
    delivered = len(context.system) + sum(len(str(entry["content"])) for entry in context.messages)
    assert context.tokens > 500
    assert long.counted <= 4 * delivered, "what is counted is what is delivered, and its candidates"
    assert long.counted <= 1.5 * short.counted


@pytest.mark.req("R1.9")
async def test_a_turn_is_counted_when_it_is_stored_and_reading_it_counts_nothing(
    memory: Hitherto, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    effort = Effort()
    plain = memory._tokenizer  # pyright: ignore[reportPrivateUsage] -- the seam at which effort is seen
    monkeypatch.setattr(memory, "_tokenizer", replace(plain, _vocabulary=Vocabulary(plain._vocabulary, effort)))  # pyright: ignore[reportPrivateUsage] -- the same
    await talk(memory, clock, "ana", 100)
    assert effort.texts == [turn.text for turn in await memory.turns(user="ana")]
    before = len(effort.texts)
    window = await memory.turns(user="ana", persona="nikita", before=10**9, limit=80)
    assert (len(window), len(effort.texts)) == (80, before)
    assert [turn.tokens for turn in window] == [plain.turn(turn.text) for turn in window]
