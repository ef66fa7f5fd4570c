"""Every store keeps the contract."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from recollect.store.base import Store
from recollect.store.sqlite.store import SqliteStore
from recollect.testing import StoreConformance


@pytest.fixture(params=["sqlite"])
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = SqliteStore(tmp_path / "memories")
    await opened.open()
    yield opened
    await opened.close()


class TestConformance(StoreConformance):
    pass
