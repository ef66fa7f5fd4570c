"""PydanticAI's embedders behind our protocol, with models that run in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from pydantic_ai.embeddings import EmbeddingModel, EmbeddingResult, EmbeddingSettings, TestEmbeddingModel
from pydantic_ai.embeddings.result import EmbedInputType
from pydantic_ai.exceptions import ModelAPIError

from hitherto import Hitherto, Turn
from hitherto.errors import ServiceError
from hitherto.recall.embed import open_embedder
from hitherto.recall.embed.pydantic import PydanticEmbedder
from hitherto.recall.embed.static import static_embedder


class Local(EmbeddingModel):
    """A model of PydanticAI that the static table answers for; `down` fails, `slow` takes its time."""

    down = False
    slow = 0.0
    dimension = 256
    asked: tuple[EmbedInputType, ...] = ()

    @property
    def model_name(self) -> str:
        return "table"

    @property
    def system(self) -> str:
        return "local"

    async def embed(
        self, inputs: str | Sequence[str], *, input_type: EmbedInputType, settings: EmbeddingSettings | None = None
    ) -> EmbeddingResult:
        await asyncio.sleep(self.slow)
        if self.down:
            raise ModelAPIError(self.model_name, "it is down")
        self.asked = (*self.asked, input_type)
        texts, _ = self.prepare_embed(inputs, settings)
        vectors = static_embedder().embed(texts)[:, : self.dimension]
        return EmbeddingResult(
            vectors.tolist(), inputs=texts, input_type=input_type, model_name=self.model_name, provider_name=self.system
        )


def test_it_knows_its_dimension_and_asks_for_queries_as_such() -> None:
    model = Local()
    embedder = PydanticEmbedder(model)
    assert (embedder.name, embedder.dimension, embedder.at_once) == ("pydantic-ai:local:table", 256, False)
    assert embedder.embed(["one", "two"] * 50).shape == (100, 256)
    embedder.embed(["one"], purpose="query")
    assert set(model.asked[:-1]) == {"document"}
    assert model.asked[-1] == "query"


def test_a_name_that_no_provider_has_is_a_clear_error() -> None:
    with pytest.raises(ServiceError, match="pydantic-ai:nobody:model"):
        open_embedder("pydantic-ai:nobody:model")


async def test_recall_works_with_it_and_without_it(tmp_path: Path) -> None:
    model = Local()
    async with Hitherto(tmp_path, embedder=PydanticEmbedder(model, deadline=0.2)) as memory:
        await memory.record([Turn(user="ana", role="user", text=f"Lea moved to Lisbon, part {n}") for n in range(3)])
        await memory.reindex(user="ana")
        assert "dense" in (await memory.search(user="ana", query="Where is Lea?"))[0].parts
        model.slow = 5.0
        context = await memory.context(user="ana", message="Is Lisbon good for Lea?")
        assert any("TimeoutError" in warning for warning in context.warnings)
        model.slow, model.down = 0.0, True
        context = await memory.context(user="ana", message="Does Lea like Lisbon?")
        assert any("it is down" in warning for warning in context.warnings)


@pytest.mark.req("R2.5")
async def test_a_model_of_another_size_is_no_error_and_a_reindex_brings_its_vectors(tmp_path: Path) -> None:
    async with Hitherto(tmp_path, embedder=PydanticEmbedder(Local())) as memory:
        await memory.record([Turn(user="ana", role="user", text=f"Lea moved to Lisbon, part {n}") for n in range(3)])
        await memory.reindex()
    smaller = Local()
    smaller.dimension = 64
    async with Hitherto(tmp_path, embedder=PydanticEmbedder(smaller)) as memory:
        hits = await memory.search(user="ana", query="Where is Lea?")
        assert len(hits) == 3
        assert all("dense" not in hit.parts for hit in hits)
        assert await memory.reindex() == {"ana": 3}
        assert "dense" in (await memory.search(user="ana", query="Where is Lea now?"))[0].parts


async def test_a_model_that_changes_its_size_at_run_time_leaves_full_text(tmp_path: Path) -> None:
    model = Local()
    async with Hitherto(tmp_path, embedder=PydanticEmbedder(model)) as memory:
        await memory.record(Turn(user="ana", role="user", text="Lea moved to Lisbon"))
        await memory.reindex()
        await memory.search(user="ana", query="Where is Tom?")
        model.dimension = 64
        assert await memory.search(user="ana", query="Where is Lea?")
        context = await memory.context(user="ana", message="Is Lea in Lisbon?")
        assert any("(1, 64)" in warning for warning in context.warnings)


async def test_one_that_tells_no_texts_apart_leaves_full_text_to_decide(tmp_path: Path) -> None:
    async with Hitherto(tmp_path, embedder=PydanticEmbedder(TestEmbeddingModel())) as memory:
        ids = await memory.record(
            [Turn(user="ana", role="user", text=text) for text in ("Lea moved to Lisbon", "The fern is dry", "Rain")]
        )
        await memory.reindex()
        assert (await memory.search(user="ana", query="Where is Lea?"))[0].id == ids[0]
        assert (await memory.context(user="ana", message="Where is Lea?", recipe="recall")).tokens
