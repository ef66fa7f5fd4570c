"""An engine on every store there is, with a clock that stands still."""

from collections.abc import AsyncIterator

import pytest

from hitherto import Hitherto
from hitherto.testing import FakeClock
from tests.engine.talking import Talk


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def memory(store_url: str, clock: FakeClock) -> AsyncIterator[Hitherto]:
    async with Hitherto(store_url, clock=clock) as engine:
        yield engine


@pytest.fixture
def talk(memory: Hitherto, clock: FakeClock) -> Talk:
    return Talk(memory, clock)
