"""Embedders behind an OpenAI-compatible endpoint: a provider's, or a local server's.

The dimension is asked for once, when the memory is opened, and is part of the version, so that vectors of another size are
never compared. A query has a deadline: recall goes on with full text alone when it passes.
"""

import hashlib
import os
from collections.abc import Callable, Sequence
from typing import Any, Final, cast

import httpx
import numpy as np

from hitherto.errors import ServiceError
from hitherto.recall.embed.base import Embedder, Purpose
from hitherto.recall.vectors import Vectors, unit

BASE_URL: Final = "https://api.openai.com/v1"
KEY_VARIABLE: Final = "OPENAI_API_KEY"
DEADLINE: Final = 1.0
"""Seconds that a query may take; passages, which nobody waits for, may take `PATIENCE`."""
PATIENCE: Final = 60.0
BATCH: Final = 64
TRUST: Final = 1.8
MAX_TEXT: Final = 20_000


def in_batches(texts: Sequence[str], ask: Callable[[Sequence[str]], Vectors], *, of: Embedder) -> Vectors:
    """Unit vectors of all texts, requested in batches; a size other than the model's is an error."""
    rows = np.zeros((len(texts), of.dimension), dtype=np.float32)
    for start in range(0, len(texts), BATCH):
        part = [text[:MAX_TEXT] or " " for text in texts[start : start + BATCH]]
        found = ask(part)
        if found.shape != (len(part), of.dimension):
            raise ServiceError(f"{of.name} returned vectors of {found.shape}, not {(len(part), of.dimension)}")
        rows[start : start + len(part)] = found
    return unit(rows)


class RemoteEmbedder:
    """A model at an endpoint."""

    def __init__(self, model: str, *, base_url: str = BASE_URL, key: str = "", deadline: float = DEADLINE) -> None:
        self.name = f"openai:{model}@{base_url}"
        self.at_once = False
        self.trust = TRUST
        self._model, self._deadline = model, deadline
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx.Client(base_url=base_url.rstrip("/") + "/", headers=headers)
        self.dimension = self._asked(["size"], timeout=PATIENCE).shape[1]
        self.version = hashlib.sha256(f"{self.name}:{self.dimension}".encode()).hexdigest()

    def embed(self, texts: Sequence[str], *, purpose: Purpose = "passage") -> Vectors:
        timeout = self._deadline if purpose == "query" else PATIENCE
        return in_batches(texts, lambda part: self._asked(part, timeout=timeout), of=self)

    def _asked(self, texts: Sequence[str], *, timeout: float) -> Vectors:
        try:
            answer = self._client.post("embeddings", json={"model": self._model, "input": texts}, timeout=timeout)
            answer.raise_for_status()
            data = cast(list[dict[str, Any]], answer.json()["data"])
            return np.array([entry["embedding"] for entry in data], dtype=np.float32).reshape(len(texts), -1)
        except (httpx.HTTPError, KeyError, TypeError, ValueError) as error:
            raise ServiceError(f"{self.name} returned no vectors: {type(error).__name__}: {error}") from error


def remote_embedder(name: str) -> RemoteEmbedder:
    """The embedder called `MODEL` or `MODEL@BASE_URL`; the key comes from the environment."""
    model, _, base_url = name.partition("@")
    return RemoteEmbedder(model, base_url=base_url or BASE_URL, key=os.environ.get(KEY_VARIABLE, ""))
