"""Train the classifier of sentences: labelled lines of our own, and the development notebooks where they are at hand.

    python scripts/train_classifier.py [--without NOTEBOOK…] [--to FILE] [--lines-only]

Run it again whenever the static embedder, the lines or the features change; it writes the weights and prints their SHA-256,
which `learn/readers/classifier.py` names. It takes some twenty seconds on two cores. Notebooks are read from the folder that
`HITHERTO_EVAL_DATA` names: a turn that a noted fact rests on is worth a note, one that opens or settles a loop is of that kind.
"""

import argparse
import gzip
import hashlib
import json
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hitherto.learn.readers.classifier import BUCKETS, KINDS, WEIGHTS, ClassifiedLine, Kind, features, pieces
from hitherto.recall.embed.static import static_embedder

LINES: Final = Path(__file__).with_name("data") / "statements.jsonl.gz"
PLAIN: Final = Path(__file__).with_name("data") / "plain.txt"
"""Plain statements, by kind: the labelled lines are all unusual, and most of what people say is not."""
ROUNDS: Final = 160
PULL: Final = 1e-3
"""How strongly weights are drawn to zero."""
MEANING: Final = 1.0
"""The embedding is a unit vector; without this its weights would hardly move beside the pieces'."""
LIGHTER: Final = 0.25
"""What a notebook's turn counts beside a labelled line, its label being only what the notebook happens to cite; and what a
plain statement does, which is easy."""
OF_HOW: Final[dict[str, Kind]] = {"done": "settled", "not done": "missed", "missed": "missed", "dropped": "dropped"}


@dataclass(slots=True)
class Example:
    line: ClassifiedLine
    keep: int
    kinds: set[str] = field(default_factory=set[str])
    known: bool = True
    """Whether all kinds were labelled; of a notebook's turn only some are."""
    counts: float = 1.0


def labelled(path: Path) -> list[Example]:
    with gzip.open(path, "rt", encoding="utf-8") as rows:
        return [_example(json.loads(row)) for row in rows]


def plain(path: Path) -> list[Example]:
    """A line is "[a ]KEEP KIND | text | text": "a" for what a persona says."""
    found: list[Example] = []
    for row in path.read_text("utf-8").splitlines():
        head, *texts = row.split(" | ")
        *persona, keep, kind = head.split()
        found += [
            Example(ClassifiedLine(text=text, persona=bool(persona)), int(keep), {kind}, counts=2 * LIGHTER)
            for text in texts
        ]
    return found


def _example(row: dict[str, Any]) -> Example:
    line = ClassifiedLine(text=row["text"], persona=row["speaker"] == "assistant", before=row["before"])
    return Example(line, row["keep"], set(row["kinds"]))


def from_notebook(path: Path) -> list[Example]:
    book = json.loads(path.read_text("utf-8"))
    gold, turns = book["gold"], book["turns"]
    keep: dict[str, int] = {}
    for fact in gold["facts"]:
        level = 2 if fact["importance"] >= 2 else 1
        for turn in fact["turns"][:2]:
            keep[turn] = max(keep.get(turn, 0), level)
    kinds: dict[str, set[str]] = {}
    for loop in gold["loops"]:
        keep[loop["opened"]] = max(keep.get(loop["opened"], 0), 1)
        opened = {"promise": "promise", "commitment": "plan", "habit": "habit", "topic": "plan"}.get(loop["kind"])
        kinds.setdefault(loop["opened"], set()).update([opened] if opened else [])
        if loop["closed"] and loop["how"] in OF_HOW:
            kinds.setdefault(loop["closed"], set()).add(OF_HOW[loop["how"]])
    found: list[Example] = []
    before = ""
    for turn in turns:
        line = ClassifiedLine(text=turn["text"], persona=turn["role"] == "assistant", before=before)
        worth = keep.get(turn["id"], 0)
        of = kinds.get(turn["id"], set[str]()) | (set[str]() if worth else {"smalltalk"})
        found.append(Example(line, worth, of, known=False, counts=LIGHTER))
        before = turn["text"]
    return found


def trained(examples: list[Example]) -> dict[str, Any]:
    """The weights, and a bias that puts the best place to say yes, found on halves kept aside, at one half."""
    table = fitted(examples)
    order = np.random.default_rng(7).permutation(len(examples))
    halves: list[list[Example]] = [[examples[place] for place in order[half::2]] for half in (0, 1)]
    raw = np.zeros((len(examples), len(KINDS) + 2), dtype=np.float32)
    for half, other in ((0, 1), (1, 0)):
        raw[order[other::2]] = scores(fitted(halves[half]), [one.line for one in halves[other]])
    wanted = np.array([_wanted(one) for one in examples]) > 0
    for place in range(raw.shape[1]):
        counted = np.array([_counted(one)[place] for one in examples]) > 0
        table["bias"][place] -= best_cut(raw[counted, place], wanted[counted, place], even=place == 0)
    return table


def scores(table: dict[str, Any], lines: list[ClassifiedLine]) -> NDArray[np.float32]:
    starts, buckets = pieces(lines)
    sizes = np.diff(np.append(starts, len(buckets)))
    hashed = np.add.reduceat(table["pieces"][buckets], starts, axis=0, dtype=np.int32)
    return hashed * (table["scales"] / np.sqrt(sizes)[:, None]) + features(lines) @ table["dense"] + table["bias"]


def best_cut(raw: NDArray[np.float32], wanted: NDArray[np.bool_], *, even: bool) -> float:
    """The score above which saying yes is right most often (a false yes costs a little more), or for a rare kind
    has the best balance of precision and recall."""
    order = np.argsort(-raw)
    right, said = np.cumsum(wanted[order]), np.arange(1, len(raw) + 1)
    gain = 1.75 * right - said if even else 2 * right / (said + wanted.sum())
    return float(raw[order[int(gain.argmax())]])


def fitted(examples: list[Example]) -> dict[str, Any]:
    """Logistic regression with all outputs at once, by Adam over the whole set."""
    names = ["worth", "must", *KINDS]
    wanted = np.array([_wanted(one) for one in examples], dtype=np.float32)
    counted = np.array([_counted(one) for one in examples], dtype=np.float32)
    lines = [one.line for one in examples]
    starts, buckets = pieces(lines)
    sizes = np.diff(np.append(starts, len(buckets)))
    rows = np.repeat(np.arange(len(lines)), sizes)
    hashed = np.zeros((len(lines), BUCKETS), dtype=np.float32)
    np.add.at(hashed, (rows, buckets), (1 / np.sqrt(sizes)).astype(np.float32)[rows])
    dense = features(lines)
    dense[:, : static_embedder().dimension] *= MEANING
    inputs = np.hstack([hashed, dense])
    positive = (wanted * counted).sum(0) / np.maximum(counted.sum(0), 1)
    weights = np.zeros((inputs.shape[1], len(names)), dtype=np.float32)
    bias = np.log(positive / (1 - positive)).astype(np.float32)
    counted *= np.array([one.counts for one in examples], dtype=np.float32)[:, None]
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, ROUNDS + 1):
        chances = 1 / (1 + np.exp(-(inputs @ weights + bias)))
        error = (chances - wanted) * counted / len(lines)
        slope = inputs.T @ error + PULL * weights
        first = 0.9 * first + 0.1 * slope
        second = 0.99 * second + 0.01 * slope**2
        rate = 0.05 * min(1.0, 2 * (1 - step / ROUNDS) + 0.02)
        weights -= rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-7)
        bias -= 5 * error.sum(0)
    table = weights[:BUCKETS]
    scales: NDArray[np.float32] = np.abs(table).max(0) / 127
    bottom = np.array(weights[BUCKETS:])
    bottom[: static_embedder().dimension] *= MEANING
    return {
        "pieces": np.round(table / scales).astype(np.int8),
        "scales": scales.astype(np.float32),
        "dense": np.asarray(bottom, dtype=np.float16),
        "bias": bias.astype(np.float32),
        "embedder": np.frombuffer(static_embedder().version.encode(), dtype=np.uint8),
    }


def _wanted(one: Example) -> list[float]:
    return [float(one.keep >= 1), float(one.keep >= 2), *(float(kind in one.kinds) for kind in KINDS)]


def _counted(one: Example) -> list[float]:
    """A kind that was not labelled teaches nothing, but that a line worth a note is no small talk does."""
    sure = {"promise", "settled", "missed", "dropped", "smalltalk"}
    of_kinds = [float(one.known or kind in one.kinds or kind in sure) for kind in KINDS]
    return [1.0, 1.0, *of_kinds]


def save(examples: list[Example], path: Path) -> None:
    np.savez_compressed(path, **trained(examples))


def notebooks(without: list[str]) -> list[Path]:
    folder = Path(os.environ.get("HITHERTO_EVAL_DATA", "")) / "notebooks"
    return [path for path in sorted(folder.glob("*.json")) if path.stem not in without]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--without", nargs="*", default=[], help="notebooks to leave out, to judge on")
    parser.add_argument("--lines-only", action="store_true", help="train from the labelled lines alone")
    parser.add_argument("--to", type=Path, default=WEIGHTS)
    args = parser.parse_args()
    examples = labelled(LINES) + plain(PLAIN)
    for path in [] if args.lines_only else notebooks(args.without):
        examples += from_notebook(path)
    save(examples, args.to)
    digest = hashlib.sha256(args.to.read_bytes()).hexdigest()
    print(f"{len(examples)} examples, {args.to.stat().st_size:,} bytes, SHA-256 {digest}")
    if args.to == WEIGHTS:
        module = WEIGHTS.with_name("classifier.py")
        text = re.sub(r'(VERSION: Final = )"\w*"', rf'\1"{digest}"', module.read_text("utf-8"))
        module.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
