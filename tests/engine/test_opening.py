"""A memory that is not open says so: before it was opened, and after it was closed."""

import pytest

from hitherto import Hitherto, Turn, sync
from hitherto.errors import StoreClosed

TURN = Turn(user="ana", persona="nikita", role="user", text="The train leaves at nine.")


async def test_what_was_never_opened_takes_nothing(store_url: str) -> None:
    memory = Hitherto(store_url)
    with pytest.raises(StoreClosed, match="call open"):
        await memory.record(TURN)
    with pytest.raises(StoreClosed):
        await memory.search(user="ana", query="train")
    await memory.close()


async def test_a_context_without_an_open_memory_says_what_is_missing(store_url: str) -> None:
    memory = Hitherto(store_url)
    context = await memory.context(user="ana", persona="nikita", message="When?")
    assert "memory is not open" in str(context.warnings)
    await memory.close()


async def test_what_was_closed_takes_nothing(store_url: str) -> None:
    async with Hitherto(store_url) as memory:
        await memory.record(TURN)
    with pytest.raises(StoreClosed):
        await memory.record(TURN)
    with pytest.raises(StoreClosed):
        await memory.search(user="ana", query="train")
    await memory.close()


def test_without_await_it_is_the_same(store_url: str) -> None:
    with sync.Hitherto(store_url) as memory:
        memory.record(TURN)
    with pytest.raises(StoreClosed):
        memory.search(user="ana", query="train")
    with pytest.raises(StoreClosed):
        memory.open()
    memory.close()
