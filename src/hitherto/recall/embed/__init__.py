"""Embedders turn text into unit vectors. `base` is the protocol and the meaning of a similarity, `static` the default,
`onnx` the extra, `remote` an endpoint, `pydantic` PydanticAI's embedders, `sentences` those of sentence-transformers. A
module is imported when its name is asked for.
"""

from typing import cast

from hitherto.errors import MissingExtra
from hitherto.plugins import fitting, plugin, unknown
from hitherto.recall.embed.base import Embedder
from hitherto.recall.embed.static import static_embedder

__all__ = ["Embedder", "open_embedder"]

CARRIED = ("bge-small-en", "e5-small-v2", "minilm")
"""Models that `onnx` knows, listed here so that a wrong name is noticed without the extra."""
KNOWN = (
    "static",
    *(f"onnx:{model}" for model in CARRIED),
    *CARRIED,
    "openai:…",
    "pydantic-ai:…",
    "sentence-transformers:…",
)


def open_embedder(embedder: "str | Embedder | None") -> Embedder:
    """The embedder of that name: `static` (the default), `onnx:NAME` with the extra installed, `openai:MODEL@BASE_URL`,
    `pydantic-ai:PROVIDER:MODEL`, `sentence-transformers:NAME_OR_FOLDER`, or one that an installed package declares.
    """
    if embedder is None or embedder == "static":
        return static_embedder()
    if not isinstance(embedder, str):
        return fitting("embedder", embedder)
    kind, _, name = embedder.partition(":")
    match kind:
        case "openai":
            return _remote(name)
        case "pydantic-ai":
            return _pydantic(name)
        case "sentence-transformers":
            return _sentences(name)
        case _:
            made = plugin("embedder", embedder)
            return _onnx(embedder) if made is None else cast(Embedder, made)


def _onnx(name: str) -> Embedder:
    model = name.removeprefix("onnx:")
    if model not in CARRIED:
        raise unknown("embedder", name, KNOWN)
    try:
        from hitherto.recall.embed.onnx import onnx_embedder
    except ModuleNotFoundError as error:
        raise MissingExtra(f"the embedder {name!r} needs an extra: pip install 'hitherto[onnx]'") from error
    try:
        return onnx_embedder(model)
    except LookupError as error:
        raise MissingExtra(f"{error}; see docs/recall.md for the packages that carry them") from error


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
        raise MissingExtra("PydanticAI's embedders need an extra: pip install 'hitherto[pydantic-ai]'") from error
    return PydanticEmbedder(name)


def _sentences(name: str) -> Embedder:
    from hitherto.recall.embed.sentences import SentenceEmbedder

    try:
        return SentenceEmbedder(name)
    except ModuleNotFoundError as error:
        raise MissingExtra(
            "an encoder of sentence-transformers needs that library: pip install sentence-transformers"
        ) from error
