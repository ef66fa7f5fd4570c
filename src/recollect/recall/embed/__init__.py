"""Embedders: text to unit vectors. `base` is the protocol, `static` the default, `onnx` the extra."""

from recollect.recall.embed.base import Embedder
from recollect.recall.embed.static import static_embedder

__all__ = ["Embedder", "open_embedder"]


def open_embedder(embedder: "str | Embedder | None") -> Embedder:
    """The embedder of that name: `static` (the default), or `onnx:NAME` with the extra installed."""
    if embedder is None or embedder == "static":
        return static_embedder()
    if not isinstance(embedder, str):
        return embedder
    from recollect.recall.embed.onnx import onnx_embedder

    return onnx_embedder(embedder.removeprefix("onnx:"))
