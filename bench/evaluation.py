"""Recall through the engine on the development sets: `hitherto eval`, with the means kept in `bench/results/`.

HITHERTO_EVAL_DATA=… python -m bench.evaluation [--sets locomo-dev …] [--embedder onnx:e5-small-v2]
    [--reranker onnx] [--first 10] [--data FOLDER]

With a folder, conversations that were recorded there before are not recorded again: with a slow embedder that is most of the
time, and what is searched is the same.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any, cast

from bench.dev_sets import SETS, path
from bench.measuring import RESULTS, save
from hitherto.deliver.cli import main as hitherto


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--embedder", default="static")
    parser.add_argument("--reranker", help="onnx: a second look at what was found")
    parser.add_argument("--first", type=int, help="only so many conversations of each set")
    parser.add_argument(
        "--data", help="where the conversations are recorded; a folder that is thrown away if none is named"
    )
    options = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    how = "+".join(filter(None, (options.embedder, options.reranker and "reranker")))
    some = ["--first", str(options.first)] if options.first else []
    some += ["--reranker", options.reranker] if options.reranker else []
    some += ["--data", options.data] if options.data else []
    for name in options.sets:
        output = RESULTS / f"evaluation-{how.replace(':', '-')}-{name}.json"
        command = ["eval", str(path(name)), "--embedder", options.embedder, "--output", str(output), *some]
        if code := hitherto(command):
            sys.exit(code)
        save("evaluation", [{"embedder": how, **_means(report)} for report in _reports(output)])


def _reports(output: Path) -> list[dict[str, Any]]:
    return cast(list[dict[str, Any]], json.loads(output.read_text(encoding="utf-8")))


def _means(report: dict[str, Any]) -> dict[str, object]:
    lines = report["overall"]["lines"]
    return {
        "set": report["name"],
        "questions": report["questions"],
        **{line["metric"]: {side: line[side] for side in ("ours", "bm25", "gain")} for line in lines},
    }


if __name__ == "__main__":
    main()
