"""Encoders of the sentence-transformers library, from a folder or by the name of a model installed on this machine.

The library has its own prefixes for queries and passages, so it is told which of the two it encodes. A folder's name does
not say what it holds, so the vector of one sentence is part of the version.
"""

import hashlib
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

import numpy as np

from hitherto.errors import ServiceError
from hitherto.recall.embed.base import Purpose
from hitherto.recall.vectors import Vectors, unit

TRUST: Final = 1.8
_MAX_TEXT: Final = 8_000
_PROBE: Final = "What a model makes of this sentence tells it from others."


class SentenceEmbedder:
    """A model of sentence-transformers on the CPU."""

    def __init__(self, name: str) -> None:
        # The library is not a dependency of ours and has no types to check against.
        library: Any = import_module("sentence_transformers")
        try:
            self._model: Any = library.SentenceTransformer(name, device="cpu")
        except (OSError, ValueError) as error:
            raise ServiceError(f"no sentence-transformers model {name!r}: {error}") from error
        self.name = f"sentence-transformers:{name}"
        self.at_once = False
        self.trust = TRUST
        probe = self._encoded([_PROBE], purpose="passage")
        self.dimension = probe.shape[1]
        mark = " ".join(f"{value:.3f}" for value in probe[0].tolist())
        self.version = hashlib.sha256(f"{self.name}:{self.dimension}:{mark}".encode()).hexdigest()

    def embed(self, texts: Sequence[str], *, purpose: Purpose = "passage") -> Vectors:
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return unit(self._encoded([text[:_MAX_TEXT] for text in texts], purpose=purpose))

    def _encoded(self, texts: Sequence[str], *, purpose: Purpose) -> Vectors:
        encode = self._model.encode_query if purpose == "query" else self._model.encode_document
        return np.asarray(encode(list(texts), convert_to_numpy=True, show_progress_bar=False), dtype=np.float32)
