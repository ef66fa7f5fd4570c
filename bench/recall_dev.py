"""Recall on the development conversations, in memory: which evidence comes back, against BM25 on the same questions.

    HITHERTO_EVAL_DATA=… python -m bench.recall_dev [--embedder e5-small-v2] [--cache DIR] [--json FILE]

Rows are ranked by the code the product runs; only the store is replaced by lists. For each set it prints the
metrics with 95 % bootstrap intervals, and the gain over BM25 paired by question. Summaries are not involved: every
hit is a turn.
"""

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray
from splintr import Tokenizer

from bench.dev_sets import SETS, Asked, Conversation, conversations
from hitherto.evaluate.engine_run import LINE_TOKENS, interval
from hitherto.evaluate.engine_run import Index as Words
from hitherto.recall.embed.base import Embedder
from hitherto.recall.embed.onnx import onnx_embedder
from hitherto.recall.embed.static import static_embedder
from hitherto.recall.passages import passages
from hitherto.recall.query import Period, Question, understand
from hitherto.recall.rank import DECIMALS, DEFAULT, PERSONA, USER, Rows, Weights, leans, rank_sessions, scored
from hitherto.recall.traits import languages, spoken, traits
from hitherto.recall.vectors import Matrix, Vectors, products, quantise
from hitherto.text.analyser import stems

Scores = NDArray[np.float64]
Ranges = Callable[..., Sequence[Period]]

BUDGET: Final = 1_000
METRICS: Final = ("frac@10", "all@10", "frac 1k", "session all@5")


@dataclass(frozen=True, slots=True)
class Index:
    """One conversation, indexed as a store would hold it."""

    conversation: Conversation
    rows: Rows
    words: Words
    tokens: tuple[int, ...]
    matrix: Matrix | None
    owners: NDArray[np.int64]
    """The place of the turn of each passage."""
    passages: Vectors

    def dots(self, query: Vectors) -> NDArray[np.float32]:
        """The similarity to every turn, or to its best passage."""
        assert self.matrix is not None
        found = self.matrix.dots(query)
        if len(self.owners):
            np.maximum.at(found, self.owners, products(query[None, :], self.passages)[0])
        return found

    def lexical(self, asked: Sequence[str]) -> Scores:
        scores = np.zeros(len(self.rows))
        for place, score in self.words.scores(asked).items():
            scores[place] = score
        return scores


def index(
    conversation: Conversation, *, known: Mapping[str, Vectors], count: Callable[[str], int], weights: Weights
) -> Index:
    """`known` holds the vector of each text and passage; empty without an embedder."""
    turns = conversation.turns
    analysed = [stems(turn.text) for turn in turns]
    seen = [traits(turn.text, length=len(found)) for turn, found in zip(turns, analysed, strict=True)]
    sessions = np.array([turn.session for turn in turns])
    seqs = np.arange(len(turns))
    previous = np.where(np.r_[False, sessions[1:] == sessions[:-1]], seqs - 1, -1)
    following = np.where(np.r_[sessions[1:] == sessions[:-1], False], seqs + 1, -1)
    names = tuple(sorted({turn.speaker for turn in turns}))
    rows = Rows(
        seqs=seqs,
        previous=previous,
        next=following,
        sessions=sessions,
        speakers=np.array([names.index(turn.speaker) for turn in turns]),
        names=names,
        roles=np.array(
            [{"user": USER, "assistant": PERSONA}.get(turn.role or "", 0) for turn in turns], dtype=np.int64
        ),
        times=np.array([turn.at.timestamp() for turn in turns]),
        flags=np.array([trait.flags for trait in seen], dtype=np.uint8),
        lengths=np.array([trait.length for trait in seen], dtype=np.float32),
    )
    matrix, owners, parts = None, list[int](), list[Vectors]()
    if known:
        vectors = np.array([known[turn.text] for turn in turns])
        cut = [(place, known[part]) for place, turn in enumerate(turns) for part in passages(turn.text)]
        owners, parts = [place for place, _ in cut], [part for _, part in cut]
        matrix = Matrix(vectors.shape[1])
        matrix.extend(seqs, quantise(vectors), previous=previous, leans=leans(rows.lengths, lean=weights.lean))
    return Index(
        conversation=conversation,
        rows=rows,
        words=Words.of([turn.text for turn in turns]),
        tokens=tuple(count(turn.text) for turn in turns),
        matrix=matrix,
        owners=np.array(owners, dtype=np.int64),
        passages=np.array(parts, dtype=np.float32),
    )


def measure(totals: Scores, held: Index, asked: Asked, *, weights: Weights | None) -> dict[str, float]:
    """The metrics of one question; without weights sessions are ranked by their best turn."""
    order = np.lexsort((held.rows.seqs, -totals))
    top = set(order[:10].tolist())
    found = len(asked.evidence & top) / len(asked.evidence)
    room, fitted = BUDGET, 0
    for place in map(int, order[:400]):
        cost = held.tokens[place] + LINE_TOKENS
        if cost <= room:
            room -= cost
            fitted += place in asked.evidence
    by_session = weights or replace(DEFAULT, session_share=0.0)
    best = {session for session, _ in rank_sessions(totals, held.rows.sessions, weights=by_session)[:5]}
    wanted = {int(held.rows.sessions[place]) for place in asked.evidence}
    return {
        "frac@10": found,
        "all@10": float(found == 1.0),
        "frac 1k": fitted / len(asked.evidence),
        "session all@5": float(wanted <= best),
    }


def ranked(held: Index, asked: Asked, *, embedder: Embedder | None, ranges: Ranges, weights: Weights) -> Scores:
    speakers = [name for name in held.rows.names if name not in {"user", "assistant"}]
    question: Question = understand(
        asked.text,
        speakers=speakers,
        periods=ranges(asked.text, now=asked.at, zone="UTC"),
        languages=languages(spoken(held.rows.flags)),
    )
    dense = None
    if embedder is not None and held.matrix is not None:
        query = embedder.embed([question.text], purpose="query")[0]
        dense = held.matrix.blended(held.dots(query)).astype(np.float64)
    total, _ = scored(
        held.rows,
        question,
        lexical=held.lexical(question.stems),
        related=held.lexical(question.related),
        dense=dense,
        trust=embedder.trust if embedder is not None else 0.0,
        weights=weights,
    )
    return np.round(total, DECIMALS)


def cached_vectors(name: str, texts: Sequence[str], embedder: Embedder, cache: Path | None) -> dict[str, Vectors]:
    """Vectors of all distinct texts of a set; a slow embedder's are kept in `cache`."""
    distinct = sorted(set(texts))
    mark = sha256("\0".join(distinct).encode("utf-8", "surrogatepass")).hexdigest()[:12]
    path = cache / f"{name}-{mark}-{embedder.version[:12]}.npy" if cache and not embedder.at_once else None
    if path is not None and path.is_file():
        rows: Vectors = np.load(path)
    else:
        rows = embedder.embed(distinct)
        if path is not None:
            np.save(path, rows)
    return dict(zip(distinct, rows, strict=True))


def run(
    name: str, *, embedder: Embedder | None, cache: Path | None, ranges: Ranges, weights: Weights
) -> dict[str, object]:
    tokenizer = Tokenizer.from_pretrained("o200k_base")
    held = list(conversations(name))
    said = [turn.text for entry in held for turn in entry.turns] if embedder else []
    said += [part for text in dict.fromkeys(said) for part in passages(text)]
    known = cached_vectors(name, said, embedder, cache) if embedder else {}
    ours: list[dict[str, float]] = []
    plain: list[dict[str, float]] = []
    categories: list[str] = []
    for entry in held:
        indexed = index(entry, known=known, count=lambda text: len(tokenizer.encode_ordinary(text)), weights=weights)
        for asked in entry.questions:
            totals = ranked(indexed, asked, embedder=embedder, ranges=ranges, weights=weights)
            ours.append(measure(totals, indexed, asked, weights=weights))
            plain.append(measure(indexed.lexical(stems(asked.text)), indexed, asked, weights=None))
            categories.append(asked.category)
    return {
        "questions": len(ours),
        "metrics": {
            metric: {
                "bm25": interval([row[metric] for row in plain]),
                "ours": interval([row[metric] for row in ours]),
                "gain": interval([a[metric] - b[metric] for a, b in zip(ours, plain, strict=True)]),
            }
            for metric in METRICS
        },
        "frac@10 by category": {
            category: [
                round(
                    float(np.mean([row["frac@10"] for row, c in zip(side, categories, strict=True) if c == category])),
                    3,
                )
                for side in (plain, ours)
            ]
            for category in sorted(set(categories))
        },
    }


def no_ranges(text: str, **_: object) -> Sequence[Period]:
    del text
    return ()


def load_ranges() -> Ranges:
    """The rules for time words, where they are installed."""
    try:
        return cast(Ranges, import_module("hitherto.text.time.spans").ranges)
    except ModuleNotFoundError:
        print("no hitherto.text.time.spans: time words are not used")
        return no_ranges


def report(name: str, result: dict[str, object]) -> None:
    print(f"\n{name}: {result['questions']} questions")
    metrics = cast(dict[str, dict[str, tuple[float, float, float]]], result["metrics"])
    for metric, sides in metrics.items():
        cells = "   ".join(f"{side} {mean:.3f} [{low:.3f}, {high:.3f}]" for side, (mean, low, high) in sides.items())
        print(f"  {metric:14} {cells}")
    for category, (before, after) in cast(dict[str, list[float]], result["frac@10 by category"]).items():
        print(f"    {category:28} {before:.3f} → {after:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embedder", default="static", help="static, none, or the name of an ONNX preset")
    parser.add_argument("--folder", type=Path, help="where the ONNX model is, if no package carries it")
    parser.add_argument("--cache", type=Path, help="folder for a slow embedder's vectors")
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--json", type=Path, help="also write the results here")
    parser.add_argument("--without", nargs="+", default=[], metavar="WEIGHT", help="set these weights to 0")
    arguments = parser.parse_args()
    weights = replace(DEFAULT, **dict.fromkeys(arguments.without, 0.0))
    embedder: Embedder | None = None
    if arguments.embedder == "static":
        embedder = static_embedder()
    elif arguments.embedder != "none":
        embedder = onnx_embedder(arguments.embedder, folder=arguments.folder)
    ranges = load_ranges()
    results = {
        name: run(name, embedder=embedder, cache=arguments.cache, ranges=ranges, weights=weights)
        for name in arguments.sets
    }
    for name, result in results.items():
        report(name, result)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
