"""Encoders of sentence-transformers, with a model that is made here: the library's own static kind over our table."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hitherto import Hitherto, Turn
from hitherto.errors import MissingExtra, ServiceError
from hitherto.recall.embed import open_embedder

INSTALLED = find_spec("sentence_transformers") is not None
needs_library = pytest.mark.skipif(
    not INSTALLED, reason="sentence-transformers is not installed: pip install it to run"
)

WORDS = ["[UNK]", "lea", "moved", "to", "lisbon", "the", "fern", "is", "dry", "where", "rain", "on", "tram"]


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """A model of a few words, each with a random vector."""
    library: Any = import_module("sentence_transformers")
    tokenizers: Any = import_module("tokenizers")
    models: Any = import_module("tokenizers.models")
    splitting: Any = import_module("tokenizers.pre_tokenizers")
    normalizers: Any = import_module("tokenizers.normalizers")
    vocabulary = {word: place for place, word in enumerate(WORDS)}
    tokenizer = tokenizers.Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer, tokenizer.normalizer = splitting.Whitespace(), normalizers.Lowercase()
    table = np.random.default_rng(3).normal(size=(len(WORDS), 32)).astype(np.float32)
    static = import_module("sentence_transformers.sentence_transformer.modules").StaticEmbedding(
        tokenizer, embedding_weights=table
    )
    library.SentenceTransformer(modules=[static], device="cpu").save(str(tmp_path / "model"))
    return str(tmp_path / "model")


@pytest.mark.skipif(INSTALLED, reason="sentence-transformers is installed")
def test_without_the_library_its_name_is_told() -> None:
    with pytest.raises(MissingExtra, match="pip install sentence-transformers"):
        open_embedder("sentence-transformers:some-model")


@needs_library
async def test_a_folder_is_opened_by_name_and_recall_works_with_it(folder: str, tmp_path: Path) -> None:
    embedder = open_embedder(f"sentence-transformers:{folder}")
    assert (embedder.dimension, embedder.at_once) == (32, False)
    assert embedder.embed([]).shape == (0, 32)
    assert np.allclose(np.linalg.norm(embedder.embed(["the fern", "rain"]), axis=1), 1.0, atol=1e-5)
    async with Hitherto(tmp_path / "store", embedder=embedder) as memory:
        ids = await memory.record(
            [Turn(user="ana", role="user", text=text) for text in ("Lea moved to Lisbon", "The fern is dry")]
        )
        await memory.reindex()
        [best, *_] = await memory.search(user="ana", query="Where is Lea?")
        assert best.id == ids[0]
        assert "dense" in best.parts


@needs_library
def test_a_folder_that_is_not_there_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ServiceError, match="no sentence-transformers model"):
        open_embedder(f"sentence-transformers:{tmp_path / 'none'}")
