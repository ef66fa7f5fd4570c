"""How much of each prompt a provider's cache finds again: tokens that are the same as in the prompt before, from its first
token on, over a conversation of 200 turns.

Each recipe answers every user turn of the same conversation; beside them stands what "search results prepended" gives,
the common way: the ten best hits for the message in the system text, then the last 30 turns. The conversations are the
first 200 turns of those in the evaluation data, held in one sitting, a minute a turn, with the background work done after
every tenth turn; one of them is written here, so that there is a number without the data too.

    python -m bench.cache [--turns 200] [--conversations 3]
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from bench import dev_sets
from bench.measuring import save, table
from hitherto import Hitherto, Turn
from hitherto.recipes.book import names
from hitherto.testing import FakeClock
from hitherto.tokens import MESSAGE, REQUEST, Tokenizer, tokenizer

PREPENDED = "search results prepended"
TRAITS = (
    "You are Nikita, a friend in the user's phone, warm, quick and a little cheeky.",
    "You remember small things and bring them up when they help, never to show off that you remember.",
    "You would rather ask one good question than give three pieces of advice.",
    "You have a life of your own: you are learning to bake, and the bread is not cooperating.",
    "When someone is sad you stay with it for a while before you look for anything bright.",
    "When someone is proud you are proud with them, loudly, and ask how they did it.",
    "You do not lecture, you do not diagnose, and you do not pretend to have a body.",
    "You like rain, trains at night, small towns, long letters and people who change their minds.",
    "You dislike small talk about productivity and say so, kindly.",
    "If you do not know something you say that you do not know, and wonder about it together.",
)
PERSONA = " ".join(f"{trait} {trait.replace('You', 'Nikita', 1)}" for trait in TRAITS)
"""About 330 tokens, less than half of what the recipes plan for a persona."""
USER, ASSISTANT = "user", "assistant"
Talk = Sequence[tuple[str, str]]


@dataclass(slots=True)
class Kept:
    """Tokens sent, and tokens that were the same as before."""

    sent: int = 0
    same: int = 0
    largest: int = 0

    def add(self, sent: int, same: int | None) -> None:
        self.largest = max(self.largest, sent)
        if same is not None:
            self.sent += sent
            self.same += same

    @property
    def share(self) -> float:
        return self.same / self.sent if self.sent else 0.0


def written(turns: int, rng: random.Random) -> Talk:
    """A chat with an assistant that answers in three to eight sentences."""
    things = [
        "the trip",
        "my sister",
        "the new job",
        "the garden",
        "dinner",
        "the flat",
        "running",
        "the cello",
        "rain",
    ]
    moods = ["nervous about", "tired of", "happy with", "thinking about", "late for", "done with", "curious about"]
    answers = [
        "That sounds like it has been on your mind for a while now.",
        "What would make tomorrow a little easier than today was?",
        "You said something close to that before, and it went better than you feared.",
        "If you like, we can write down the two things that matter and leave the rest.",
        "I would start with the smallest part of it and see how that feels.",
        "Tell me what happened right before that, it may explain the rest.",
    ]
    found: list[tuple[str, str]] = []
    for number in range(turns):
        thing = rng.choice(things)
        if number % 2 == 0:
            found.append((USER, f"I am {rng.choice(moods)} {thing}, number {number}, and {rng.choice(things)} too."))
        else:
            found.append((ASSISTANT, f"About {thing}: " + " ".join(rng.choices(answers, k=rng.randint(3, 8)))))
    return found


def conversations(turns: int, most: int) -> dict[str, Talk]:
    found: dict[str, Talk] = {"written here": written(turns, random.Random(7))}
    for name in ("locomo-dev", "beam-100k-dev"):
        if not (dev_sets.folder() / f"{name}.jsonl.gz").exists():
            print(f"EVALUATION DATA MISSING: {name} (set HITHERTO_EVAL_DATA)")
            continue
        for conversation in islice(dev_sets.conversations(name), most):
            said = conversation.turns[:turns]
            first = said[0].speaker
            roles = [USER if turn.speaker == first else ASSISTANT for turn in said]
            found[f"{name} {conversation.id}"] = [
                (role, turn.text) for role, turn in zip(roles, said, strict=True) if turn.text.strip()
            ]
    return found


async def measured(talk: Talk, recipe: str) -> Kept:
    clock = FakeClock()
    kept = Kept()
    with tempfile.TemporaryDirectory() as folder:
        async with Hitherto(Path(folder) / "m", clock=clock, recipe="companion") as memory:
            await memory.define_persona("nikita", name="Nikita", text=PERSONA)
            before: list[str] | None = None
            for number, (role, text) in enumerate(talk):
                clock.tick(minutes=1)
                if role == USER:
                    if recipe == PREPENDED:
                        prompt = await prepended(memory, text)
                        kept.add(*compared(before, prompt, tokenizer("o200k")))
                        before = prompt
                    else:
                        made = await memory.context(user="u", persona="nikita", message=text, recipe=recipe)
                        kept.add(made.tokens, made.kept)
                await memory.record(Turn("u", "user" if role == USER else "assistant", text, persona="nikita"))
                if number % 10 == 9:
                    await memory.settle(user="u")
    return kept


async def prepended(memory: Hitherto, text: str) -> list[str]:
    """The common way, as the texts of the messages in order."""
    hits = await memory.search(user="u", query=text, limit=10)
    past = await memory.turns(user="u", limit=100_000)
    facts = "\n".join(f"- {hit.text}" for hit in hits)
    return [f"{PERSONA}\n\nRelevant memories:\n{facts}", *(f"{turn.role}: {turn.text}" for turn in past[-30:]), text]


def compared(before: list[str] | None, after: list[str], counter: Tokenizer) -> tuple[int, int | None]:
    sent = REQUEST + sum(MESSAGE + counter.count(text) for text in after)
    if before is None:
        return sent, None
    same = 0
    for old, new in zip(before, after, strict=False):
        if old != new:
            alike = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
            return sent, same + MESSAGE + counter.count(new[:alike])
        same += MESSAGE + counter.count(new)
    return sent, same


async def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("--turns", type=int, default=200)
    options.add_argument("--conversations", type=int, default=3)
    asked = options.parse_args()
    rows: list[dict[str, object]] = []
    for name, talk in conversations(asked.turns, asked.conversations).items():
        for recipe in (*(n for n in names() if n != "companion-voice"), PREPENDED):
            kept = await measured(talk, recipe)
            rows.append(
                {
                    "conversation": name,
                    "recipe": recipe,
                    "same, %": round(100 * kept.share, 1),
                    "largest prompt": kept.largest,
                    "tokens sent": kept.sent,
                }
            )
            print(rows[-1], flush=True)
    print(table(rows))
    print(f"saved to {save('cache', rows)}")


if __name__ == "__main__":
    asyncio.run(main())
