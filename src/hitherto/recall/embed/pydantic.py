"""PydanticAI's embedders: any provider that it supports, or an embedding model of one's own.

Its models are asynchronous and keep connections that belong to one event loop, while vectors are made in whichever thread
asks for them; so each embedder has a loop in a thread of its own. The dimension is asked for once and is part of the
version, as for an endpoint.
"""

import asyncio
import hashlib
from collections.abc import Sequence
from threading import Thread
from typing import Final

import numpy as np
from pydantic_ai.embeddings import Embedder, EmbeddingModel
from pydantic_ai.exceptions import AgentRunError, UserError

from hitherto.errors import ServiceError
from hitherto.recall.embed.base import Purpose
from hitherto.recall.embed.remote import DEADLINE, PATIENCE, TRUST, in_batches
from hitherto.recall.vectors import Vectors

PREFIX: Final = "pydantic-ai"


class PydanticEmbedder:
    """An embedder of PydanticAI behind our protocol."""

    def __init__(self, model: str | EmbeddingModel | Embedder, *, deadline: float = DEADLINE) -> None:
        self._inner = model if isinstance(model, Embedder) else Embedder(model)
        self._deadline = deadline
        held = self._inner.model
        called = held if isinstance(held, str) else f"{held.system}:{held.model_name}"
        self.name = f"{PREFIX}:{called}"
        self.at_once = False
        self.trust = TRUST
        self._loop = asyncio.new_event_loop()
        Thread(target=self._loop.run_forever, name="hitherto-embedder", daemon=True).start()
        self.dimension = self._asked(["size"], purpose="passage", timeout=PATIENCE).shape[1]
        self.version = hashlib.sha256(f"{self.name}:{self.dimension}".encode()).hexdigest()

    def embed(self, texts: Sequence[str], *, purpose: Purpose = "passage") -> Vectors:
        timeout = self._deadline if purpose == "query" else PATIENCE
        return in_batches(texts, lambda part: self._asked(part, purpose=purpose, timeout=timeout), of=self)

    def _asked(self, texts: Sequence[str], *, purpose: Purpose, timeout: float) -> Vectors:
        embed = self._inner.embed_query if purpose == "query" else self._inner.embed_documents
        try:
            asked = asyncio.run_coroutine_threadsafe(asyncio.wait_for(embed(texts), timeout), self._loop)
            return np.array(asked.result().embeddings, dtype=np.float32).reshape(len(texts), -1)
        except (AgentRunError, UserError, ImportError, TimeoutError, ValueError) as error:
            raise ServiceError(f"{self.name} returned no vectors: {type(error).__name__}: {error}") from error
