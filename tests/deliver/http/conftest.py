"""The service on every store there is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hitherto.testing import FakeClock
from tests.deliver.http.running import QUICK, Running, running


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def service(store_url: str, clock: FakeClock) -> AsyncIterator[Running]:
    """On both stores."""
    async with running(store_url, clock=clock) as service:
        yield service


@pytest.fixture
async def embedded(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Running]:
    """On SQLite alone, for what does not depend on the store."""
    settings = QUICK.model_copy(update={"backups": str(tmp_path / "backups")})
    async with running(str(tmp_path / "memories"), clock=clock, settings=settings) as service:
        yield service
