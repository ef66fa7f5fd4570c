"""What embedders give, looked at before anybody relies on it.

An embedder may be the application's own, a library's or another company's. Whatever goes wrong in it is one error that
recall and the work know how to live with; a vector of another size or without a value would otherwise be stored, and spoil
every later search of that user.
"""

from collections.abc import Sequence

import numpy as np

from hitherto.errors import HithertoError, ServiceError
from hitherto.recall.embed.base import Embedder, Purpose
from hitherto.recall.vectors import Vectors


class CheckedEmbedder:
    """Another embedder, of which every failure is a ServiceError."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.name, self.version, self.dimension = inner.name, inner.version, inner.dimension
        self.at_once, self.trust = inner.at_once, inner.trust

    def embed(self, texts: Sequence[str], *, purpose: Purpose = "passage") -> Vectors:
        try:
            found = np.asarray(self._inner.embed(texts, purpose=purpose), dtype=np.float32)
        except HithertoError:
            raise
        except Exception as error:
            raise ServiceError(f"{self.name} gave no vectors: {type(error).__name__}: {error}") from error
        wanted = (len(texts), self.dimension)
        if found.shape != wanted:
            raise ServiceError(f"{self.name} gave vectors of {found.shape}, not {wanted}")
        if not np.isfinite(found).all():
            raise ServiceError(f"{self.name} gave vectors with values that are no numbers")
        return found
