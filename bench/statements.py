"""How well the classifier of sentences tells what is worth a note: precision and recall on lines kept aside, by language.

    python -m bench.statements [--weights FILE]

The lines are `statements-test.jsonl.gz` of the evaluation data. The time is that of a batch of all of them, a sentence.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Any

from bench.dev_sets import folder
from hitherto.learn.readers import classifier as module
from hitherto.learn.readers.classifier import KINDS, ClassifiedLine, Judged, classifier


def rows() -> list[dict[str, Any]]:
    path = folder() / "statements-test.jsonl.gz"
    if not path.is_file():
        raise SystemExit(f"no evaluation data at {path}: set HITHERTO_EVAL_DATA to the folder that holds it")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def share(said: Sequence[bool], true: Sequence[bool]) -> str:
    both = sum(a and b for a, b in zip(said, true, strict=True))
    precision, recall = both / max(1, sum(said)), both / max(1, sum(true))
    right = sum(a == b for a, b in zip(said, true, strict=True)) / len(true)
    return f"precision {precision:.2f}  recall {recall:.2f}  right {right:.2f}  of {len(true)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--at", type=float, default=0.5)
    args = parser.parse_args()
    if args.weights:
        module.WEIGHTS = args.weights
    test = rows()
    lines = [ClassifiedLine(text=r["text"], persona=r["speaker"] == "assistant", before=r["before"]) for r in test]
    judge = classifier().judge
    judge(lines)
    begun = process_time()
    found = judge(lines)
    print(f"{(process_time() - begun) / len(lines) * 1e6:.0f} µs a sentence")
    _report(test, found, args.at)


def _report(test: Sequence[dict[str, Any]], found: Sequence[Judged], at: float) -> None:
    pairs = list(zip(test, found, strict=True))
    print(f"worth a note          {share([j.worth >= at for j in found], [r['keep'] >= 1 for r in test])}")
    print(f"must be remembered    {share([j.must >= at for j in found], [r['keep'] >= 2 for r in test])}")
    for name, own in {
        "English": {"en"},
        "others": {"de", "fr", "es", "pt", "it", "ja", "zh"},
        **{language: {language} for language in ("de", "fr", "es", "pt", "it", "ja", "zh")},
    }.items():
        chosen = [(r, j) for r, j in pairs if r["language"] in own]
        print(f"  {name:20}{share([j.worth >= at for _, j in chosen], [r['keep'] >= 1 for r, _ in chosen])}")
    for kind in KINDS:
        print(f"  {kind:20}{share([j.is_(kind) for j in found], [kind in r['kinds'] for r in test])}")


if __name__ == "__main__":
    main()
