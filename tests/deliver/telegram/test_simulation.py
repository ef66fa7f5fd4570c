"""Two thousand interleaved messages in five topics and many reply chains: no lane ever holds another's
turn.
"""

import pytest

from hitherto.deliver.telegram import Posted, Telegram
from hitherto.ingest.focus import anchor
from tests.deliver.telegram.memory_log import MemoryLog
from tests.deliver.telegram.simulation import BOT, CHAT, Step, simulate

USER = f"telegram:chat:{CHAT}"


async def told(telegram: Telegram, step: Step) -> Posted:
    if step.update is not None:
        event = await telegram.handle(step.update)
    else:
        assert step.sent is not None
        event = await telegram.record_sent(step.sent)
    assert isinstance(event, Posted)
    return event


@pytest.mark.req("R4.1", "R4.2", "R4.3")
async def test_lanes_never_mix_and_anchors_are_right(seed: int) -> None:
    log = MemoryLog()
    telegram = Telegram(log, bot=BOT)
    steps = list(simulate(seed))
    assert len(steps) == 2_000
    assert len({step.lane for step in steps if step.lane.startswith("topic:")}) == 5
    assert any(step.lane.startswith("reply:") and len(step.before) > 3 for step in steps)
    for step in steps:
        window = log.lane(USER, step.lane)
        assert tuple(turn.id for turn in window) == step.before
        event = await told(telegram, step)
        assert event.turn.lane == step.lane
        target = event.turn.reply_to and log.users[USER][event.turn.reply_to]
        found = anchor("why?", reply_to=target or None, window=window, slot=None)
        assert (found.turn and found.turn.id) == step.anchor
    assert len(log.users[USER]) == 2_000
    assert list(log.users) == [USER]


async def test_delivered_twice_and_out_of_order_it_is_the_same_log(seed: int) -> None:
    log = MemoryLog()
    telegram = Telegram(log, bot=BOT)
    steps = list(simulate(seed, messages=300))
    for step in steps:
        await told(telegram, step)
    once = dict(log.users[USER])
    restarted = Telegram(log, bot=BOT)
    for step in reversed(steps):
        await told(restarted, step)
    assert log.users[USER] == once


def test_the_same_seed_gives_the_same_talk() -> None:
    assert list(simulate(3, messages=200)) == list(simulate(3, messages=200))
    assert list(simulate(3, messages=200)) != list(simulate(4, messages=200))
