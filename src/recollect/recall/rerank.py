"""A second look at the best of what was found, by a model that reads question and text together.

Such a model tells an answer from a mention far better than any similarity of two vectors, and costs milliseconds for each
text. So it is opt-in, looks at a few texts only, and adds to the score that put them there rather than replacing it.
"""

from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from recollect.errors import InvalidInput, MissingExtra
from recollect.recall.rank import DECIMALS, Ranked

JUDGED: Final = 40
"""How many texts are looked at again."""
WEIGHT: Final = 0.5
"""What one unit of a verdict (a logit) counts beside the standard deviations of ranking."""


class Reranker(Protocol):
    def judge(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """How well each text answers, as a logit: higher is better, differences mean the same everywhere."""
        ...


def open_reranker(reranker: "str | Reranker | None") -> Reranker | None:
    """The reranker of that name: `onnx`, or `onnx:FOLDER` for weights of one's own, with the extra installed."""
    if reranker is None or not isinstance(reranker, str):
        return reranker
    kind, _, folder = reranker.partition(":")
    if kind != "onnx":
        raise InvalidInput(f"no reranker {reranker!r}; there is 'onnx'")
    try:
        from recollect.recall.crossencoder import cross_encoder
    except ModuleNotFoundError as error:
        raise MissingExtra("a reranker needs the extra: pip install 'recollect[onnx]'") from error
    return cross_encoder(folder or None)


def told(text: str, *, speaker: str | None) -> str:
    """A text as it is judged: who spoke is part of the answer where people have names."""
    return f"{speaker}: {text}" if speaker else text


def reranked(ranked: Sequence[Ranked], verdicts: NDArray[np.float32]) -> list[Ranked]:
    """The rows by their score and the verdict on each of the first ones, best first. Those that were not judged stay
    behind: they are taken for as bad as the worst of the judged.
    """
    if not len(verdicts):
        return list(ranked)
    adds = WEIGHT * (verdicts.astype(np.float64) - float(verdicts.max()))
    every = [*adds.tolist(), *[float(adds.min())] * (len(ranked) - len(adds))]
    again = [_again(one, round(add, DECIMALS)) for one, add in zip(ranked, every, strict=True)]
    return sorted(again, key=lambda one: (-one.score, one.seq))


def _again(one: Ranked, add: float) -> Ranked:
    parts = {**one.parts, "reranked": add} if add else one.parts
    score = round(one.score + add, DECIMALS)
    return Ranked(row=one.row, seq=one.seq, score=score, parts=parts, duplicates=one.duplicates)
