"""F5: many writers in many conversations while the clock jumps: order is the log's, never the clock's."""

import asyncio
import random
from itertools import pairwise
from pathlib import Path

import pytest

from hitherto.store.catalog import UserKey
from hitherto.store.protocol import Answers, Change, TurnList, Window
from hitherto.store.sqlite.store import SqliteStore
from hitherto.testing import moment, turn_draft
from tests.effort import count

ANA = UserKey("default", "ana")
TURNS = count(test=10_000, soak=10_000)
CONVERSATIONS = 8
PER_WRITE = 5


@pytest.mark.promise("F5", tries=TURNS)
async def test_each_conversation_is_gapless_in_the_order_of_its_writers(fast_folder: Path, rng: random.Random) -> None:
    stores = [SqliteStore(fast_folder), SqliteStore(fast_folder)]
    for store in stores:
        await store.open()

    async def say(persona: str, first: int) -> None:
        last = Window(persona=persona, limit=1)

        def decide(answers: Answers) -> Change:
            position = answers[last][0].position if answers[last] else 0
            return Change(
                turns=tuple(
                    turn_draft(
                        f"{persona}-{first + n}",
                        persona=persona,
                        at=moment(rng.uniform(-10_000, 10_000)),
                        position=position + n + 1,
                    )
                    for n in range(PER_WRITE)
                )
            )

        await rng.choice(stores).user(ANA).write(decide, last)

    def talk(conversation: int) -> list[tuple[str, int]]:
        return [(f"p{conversation}", first) for first in range(0, TURNS // CONVERSATIONS, PER_WRITE)]

    writes = [one for conversation in range(CONVERSATIONS) for one in talk(conversation)]
    rng.shuffle(writes)
    await asyncio.gather(*(say(persona, first) for persona, first in writes))
    everything = (await stores[0].user(ANA).read(query := TurnList(limit=TURNS + 1)))[query]
    for store in stores:
        await store.close()
    assert [turn.seq for turn in everything] == list(range(1, TURNS + 1))
    for conversation in range(CONVERSATIONS):
        turns = [turn for turn in everything if turn.persona == f"p{conversation}"]
        assert [turn.position for turn in turns] == list(range(1, TURNS // CONVERSATIONS + 1))
        assert any(earlier.at > later.at for earlier, later in pairwise(turns)), "the clock did not jump"
