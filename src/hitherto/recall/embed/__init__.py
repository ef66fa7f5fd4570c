"""Embedders: text to unit vectors. `base` is the protocol, `static` the default, `onnx` the extra, `remote` an endpoint's,
`pydantic` PydanticAI's, `sentences` those of sentence-transformers. A part is imported when its name is asked for.
"""

from hitherto.errors import MissingExtra
from hitherto.recall.embed.base import Embedder
from hitherto.recall.embed.static import static_embedder

__all__ = ["Embedder", "open_embedder"]


def open_embedder(embedder: "str | Embedder | None") -> Embedder:
    """The embedder of that name: `static` (the default), `onnx:NAME` with the extra installed, `openai:MODEL@BASE_URL`,
    `pydantic-ai:PROVIDER:MODEL` or `sentence-transformers:NAME_OR_FOLDER`.
    """
    if embedder is None or embedder == "static":
        return static_embedder()
    if not isinstance(embedder, str):
        return embedder
    kind, _, name = embedder.partition(":")
    match kind:
        case "openai":
            return _remote(name)
        case "pydantic-ai":
            return _pydantic(name)
        case "sentence-transformers":
            return _sentences(name)
        case _:
            from hitherto.recall.embed.onnx import onnx_embedder

            return onnx_embedder(embedder.removeprefix("onnx:"))


def _remote(name: str) -> Embedder:
    try:
        from hitherto.recall.embed.remote import remote_embedder
    except ModuleNotFoundError as error:
        raise MissingExtra("an embedder at an endpoint needs httpx: pip install 'hitherto[serve]'") from error
    return remote_embedder(name)


def _pydantic(name: str) -> Embedder:
    try:
        from hitherto.recall.embed.pydantic import PydanticEmbedder
    except ModuleNotFoundError as error:
        raise MissingExtra("an embedder of PydanticAI needs it: pip install 'hitherto[pydantic-ai]'") from error
    return PydanticEmbedder(name)


def _sentences(name: str) -> Embedder:
    from hitherto.recall.embed.sentences import SentenceEmbedder

    try:
        return SentenceEmbedder(name)
    except ModuleNotFoundError as error:
        raise MissingExtra(
            "an encoder of sentence-transformers needs that library: pip install sentence-transformers"
        ) from error
