"""Stores to test, each opened and empty."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from recollect.store.sqlite.store import SqliteStore



@pytest.fixture
async def sqlite(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(tmp_path / "memories")
    await store.open()
    yield store
    await store.close()
