"""An engine with the text companion's recipe on every store, and no model but the scripted ones."""

from collections.abc import AsyncIterator

import pydantic_ai.models
import pytest

from hitherto import Hitherto
from hitherto.testing import FakeClock


@pytest.fixture(autouse=True)
def _no_model_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pydantic_ai.models, "ALLOW_MODEL_REQUESTS", False)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def memory(store_url: str, clock: FakeClock) -> AsyncIterator[Hitherto]:
    async with Hitherto(store_url, clock=clock, recipe="companion-text") as engine:
        await engine.define_persona("nikita", name="Nikita", text="You are Nikita, warm and quick.")
        yield engine
