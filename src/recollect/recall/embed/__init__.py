"""Embedders: text to unit vectors. `base` is the protocol, `static` the default, `onnx` the extra, `remote` an endpoint's."""

from recollect.errors import MissingExtra
from recollect.recall.embed.base import Embedder
from recollect.recall.embed.static import static_embedder

__all__ = ["Embedder", "open_embedder"]


def open_embedder(embedder: "str | Embedder | None") -> Embedder:
    """The embedder of that name: `static` (the default), `onnx:NAME` with the extra installed, or `openai:MODEL@BASE_URL`."""
    if embedder is None or embedder == "static":
        return static_embedder()
    if not isinstance(embedder, str):
        return embedder
    kind, _, name = embedder.partition(":")
    if kind == "openai":
        return _remote(name)
    from recollect.recall.embed.onnx import onnx_embedder

    return onnx_embedder(embedder.removeprefix("onnx:"))


def _remote(name: str) -> Embedder:
    try:
        from recollect.recall.embed.remote import remote_embedder
    except ModuleNotFoundError as error:
        raise MissingExtra("an embedder at an endpoint needs httpx: pip install 'recollect[serve]'") from error
    return remote_embedder(name)
