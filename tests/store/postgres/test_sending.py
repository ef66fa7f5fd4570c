"""What a pipeline sends: without waiting where the socket takes it, and all of it where the socket does not."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from recollect import Recollect, Turn


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sockets that somebody waited for to take more."""
    found: list[int] = []
    add = asyncio.SelectorEventLoop.add_writer

    def noted(loop: asyncio.SelectorEventLoop, fd: Any, *rest: Any) -> None:
        found.append(fd)
        add(loop, fd, *rest)

    monkeypatch.setattr(asyncio.SelectorEventLoop, "add_writer", noted)
    return found


async def test_a_batch_of_questions_is_sent_without_waiting(postgres_url: str, waits: list[int]) -> None:
    async with Recollect(postgres_url) as memory:
        await memory.record(Turn("ana", "user", "I love tea."))
        waits.clear()
        context = await memory.context(user="ana", message="What do I love?", keep=False)
        assert len(context.history) == 1
        assert not waits


async def test_more_than_the_socket_takes_is_waited_for_and_arrives_whole(postgres_url: str, waits: list[int]) -> None:
    texts = [f"{n} teas " * 10_000 for n in range(100)]
    async with Recollect(postgres_url) as memory:
        await memory.record([Turn("ana", "user", text) for text in texts])
        assert waits, "eight megabytes fit into no socket's buffer"
        assert [turn.text for turn in await memory.turns(user="ana", limit=100)] == texts
