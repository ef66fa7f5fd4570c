"""An embedder that fails: turns are stored, contexts are built by full text and say so, and nothing bad stays behind."""

import time
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from hitherto import Hitherto, Turn
from hitherto.recall import search as searching
from hitherto.recall.embed.base import Purpose
from hitherto.recall.embed.static import static_embedder
from hitherto.recall.vectors import Vectors


def _raises(_: Vectors) -> Vectors:
    raise RuntimeError("out of memory")


def _hangs(vectors: Vectors) -> Vectors:
    time.sleep(0.5)
    return vectors


FAILURES: dict[str, Callable[[Vectors], Vectors]] = {
    "raises": _raises,
    "no numbers": lambda vectors: vectors * np.nan,
    "another size": lambda vectors: vectors[:, :5],
    "too few": lambda vectors: vectors[:-1],
}


class Failing:
    """The static one, until `fails` says otherwise."""

    name, trust = "failing", 0.7

    def __init__(self, *, at_once: bool) -> None:
        self.at_once = at_once
        self.version, self.dimension = f"failing-{at_once}", static_embedder().dimension
        self.fails: Callable[[Vectors], Vectors] | None = None

    def embed(self, texts: Sequence[str], *, purpose: Purpose = "passage") -> Vectors:
        vectors = static_embedder().embed(texts, purpose=purpose)
        return vectors if self.fails is None else self.fails(vectors)


@pytest.mark.req("R1.10")
@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("how", FAILURES)
async def test_a_conversation_goes_on_without_its_embedder(store_url: str, how: str, at_once: bool) -> None:
    embedder = Failing(at_once=at_once)
    async with Hitherto(store_url, embedder=embedder) as memory:
        await memory.record(Turn("ana", "user", "I live in Austin.", id="t1", persona="p"))
        await memory.settle(user="ana")
        embedder.fails = FAILURES[how]
        await memory.record(Turn("ana", "user", "My cat is called Miso.", id="t2", persona="p"))
        await memory.settle(user="ana")
        context = await memory.context(user="ana", message="What is my cat called?")
        [warning] = context.warnings
        assert warning.startswith("recall by full text alone: failing returned")
        assert "Miso" in context.system
        assert (await memory.search(user="ana", query="Miso"))[0].id == "t2"
        embedder.fails = None
        await memory.reindex(user="ana")
        context = await memory.context(user="ana", message="What is my cat called?")
        assert context.warnings == ()
        assert "Miso" in context.system


@pytest.mark.req("R1.10")
async def test_a_conversation_does_not_wait_for_an_embedder_that_hangs(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "DEADLINE", 0.1)
    embedder = Failing(at_once=False)
    async with Hitherto(store_url, embedder=embedder) as memory:
        await memory.record(Turn("ana", "user", "My cat is called Miso."))
        embedder.fails = _hangs
        context = await memory.context(user="ana", message="What is my cat called?")
    assert context.warnings == ("recall by full text alone: failing did not answer in 0.1 s",)
    assert [message["content"] for message in context.history] == ["My cat is called Miso."]
