"""Return sessions: does the context of somebody who comes back hold the right callback to the earlier conversation?

The rule. A conversation with dated sessions is recorded session by session, at its own times, and the background work is
done after each. Whenever a session begins more than half an hour after the one before, its first user message is a
return, and its context is built before anything of that session is recorded. The callback is right if the context shows
what came from the session before: a line under "last time" or "today" that rests on its turns, or one of its turns
itself. As a harder measure, each question of the set that has its evidence in earlier sessions is asked a day after the
last of them; there, right is a line or turn that rests on an evidence turn, wherever it stands.

    python -m bench.returning [--conversations 2] [--recipe companion-text]
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby, islice
from pathlib import Path

from bench import dev_sets
from bench.measuring import save, table
from hitherto import Hitherto, Turn
from hitherto.testing import FakeClock
from hitherto.types import Context

GAP = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class Sitting:
    """One session: turns with who says them, in order."""

    at: datetime
    turns: Sequence[tuple[str, str, str]]
    """Id, role, text."""


@dataclass(slots=True)
class Score:
    right: int = 0
    asked: int = 0
    missed: list[str] = field(default_factory=list[str])

    def count(self, what: str, *, right: bool) -> None:
        self.asked += 1
        self.right += right
        if not right:
            self.missed.append(what)

    @property
    def share(self) -> float:
        return self.right / self.asked if self.asked else 0.0


def shown(context: Context) -> set[str]:
    """The turns that what is shown rests on."""
    return {source for item in context.items if item.included for source in (*item.sources, item.id)}


async def returns(folder: Path, sittings: Sequence[Sitting], *, recipe: str) -> Score:
    """Every return of a conversation, against the session before it."""
    score, clock = Score(), FakeClock()
    async with Hitherto(folder, clock=clock, recipe=recipe) as memory:
        before: Sitting | None = None
        ended = sittings[0].at
        for sitting in sittings:
            clock.set(max(sitting.at, ended + timedelta(seconds=1)))
            first = next((text for _, role, text in sitting.turns if role == "user"), None)
            if before is not None and first is not None and clock() - ended > GAP:
                await memory.settle(user="u")
                context = await memory.context(user="u", persona="p", message=first)
                right = not shown(context).isdisjoint(name for name, _, _ in before.turns)
                score.count(first, right=right)
            await record(memory, clock, sitting)
            before, ended = sitting, clock()
    return score


async def record(memory: Hitherto, clock: FakeClock, sitting: Sitting) -> None:
    for name, role, text in sitting.turns:
        clock.tick(seconds=20)
        await memory.record(Turn("u", "user" if role == "user" else "assistant", text, id=name, persona="p"))


async def questions(folder: Path, conversation: dev_sets.Conversation, *, recipe: str, most: int) -> Score:
    """Questions about earlier sessions, asked a day after the last."""
    score, clock = Score(), FakeClock()
    async with Hitherto(folder, clock=clock, recipe=recipe) as memory:
        for sitting in sittings_of(conversation):
            clock.set(max(sitting.at, clock()))
            await record(memory, clock, sitting)
            clock.tick(minutes=31)
            await memory.settle(user="u")
        clock.tick(days=1)
        for question in islice(conversation.questions, most):
            context = await memory.context(user="u", persona="p", message=question.text)
            evidence = {conversation.turns[place].id for place in question.evidence}
            score.count(question.text, right=not shown(context).isdisjoint(evidence))
    return score


def sittings_of(conversation: dev_sets.Conversation) -> list[Sitting]:
    found: list[Sitting] = []
    for _, turns in groupby(conversation.turns, key=lambda turn: turn.session):
        said = [turn for turn in turns if turn.text.strip()]
        if said:
            first = conversation.turns[0].speaker
            roles = [turn.role or ("user" if turn.speaker == first else "assistant") for turn in said]
            found.append(Sitting(said[0].at, [(t.id, role, t.text) for t, role in zip(said, roles, strict=True)]))
    return sorted(found, key=lambda sitting: sitting.at)


async def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("--conversations", type=int, default=2)
    options.add_argument("--questions", type=int, default=100)
    options.add_argument("--recipe", default="companion-text")
    asked = options.parse_args()
    rows: list[dict[str, object]] = []
    for name in ("locomo-dev", "beam-100k-dev"):
        back, about = Score(), Score()
        for conversation in islice(dev_sets.conversations(name), asked.conversations):
            with tempfile.TemporaryDirectory() as folder:
                one = await returns(Path(folder) / "a", sittings_of(conversation), recipe=asked.recipe)
                other = await questions(Path(folder) / "b", conversation, recipe=asked.recipe, most=asked.questions)
            back.right, back.asked = back.right + one.right, back.asked + one.asked
            about.right, about.asked = about.right + other.right, about.asked + other.asked
        rows.append(
            {
                "set": name,
                "returns": back.asked,
                "right callback, %": round(100 * back.share, 1),
                "questions": about.asked,
                "right evidence, %": round(100 * about.share, 1),
            }
        )
        print(rows[-1], flush=True)
    print(table(rows))
    print(f"saved to {save('returning', rows)}")


if __name__ == "__main__":
    asyncio.run(main())
