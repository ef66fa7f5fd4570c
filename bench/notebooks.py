"""How well rules take notes on conversations that they have not seen: each development notebook, read with a classifier
that was trained without it.

    python -m bench.notebooks [NAME…] [--seen] [--trained FOLDER] [--list]

The weights go into a folder (`build/held-out`) and are used again from there. `--seen` uses the weights that come with the
package, which have seen the notebooks' turns. It needs the evaluation data and, in `tools` beside it, `notebook.py`.
"""

from __future__ import annotations

import argparse
import json
import runpy
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stdout
from io import StringIO
from itertools import repeat
from pathlib import Path
from typing import Any

from bench.dev_sets import folder
from hitherto.learn.readers import classifier as module
from scripts.train_classifier import LINES, PLAIN, from_notebook, labelled, notebooks, plain, save

ROWS: tuple[tuple[str, str, str], ...] = (
    ("facts found", "facts found", "facts"),
    ("core facts", "core found", "core"),
    ("memories in gold", "in gold", "memories"),
    ("must never be learnt", "never", ""),
    ("ended but still live", "ended but live", "ended"),
    ("people known", "people known", "people"),
    ("loops found", "loops found", "loops"),
    ("closed when settled", "closed", "to close"),
    ("kept open", "stayed", "to stay"),
    ("due day right", "dated right", "dated"),
    ("open beside gold", "open beside gold", "open at the end"),
    ("session nuggets", "nuggets found", "nuggets"),
    ("wrong in summaries", "summaries wrong", ""),
    ("probes right", "probes right", "probes"),
    ("leaks into contexts", "leaks", ""),
)


def weights(name: str, trained: Path) -> Path:
    """Weights that have not seen this notebook, trained unless they are there."""
    path = trained / f"{name}.npz"
    if not path.is_file():
        trained.mkdir(parents=True, exist_ok=True)
        examples = labelled(LINES) + plain(PLAIN)
        for book in notebooks([name]):
            examples += from_notebook(book)
        save(examples, path)
    return path


def measured(name: str, trained: Path | None) -> dict[str, Any]:
    """What the tool says of one notebook: its counts and lists."""
    if trained is not None:
        module.WEIGHTS = weights(name, trained)
        module.classifier.cache_clear()
    out = Path("build/held-out") / f"{name}.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    sys.argv = ["notebook.py", str(folder() / "notebooks" / f"{name}.json"), "--model", "none", "--json", str(out)]
    with redirect_stdout(StringIO()):
        runpy.run_path(str(folder().parent / "tools" / "notebook.py"), run_name="__main__")
    return json.loads(out.read_text("utf-8"))[name]


def share(score: Counter[str], found: str, of: str) -> str:
    if not of:
        return str(score[found])
    return f"{score[found] / score[of]:.2f}" if score[of] else "–"


def show(scores: dict[str, Counter[str]]) -> None:
    total = Counter[str]()
    for score in scores.values():
        total.update(score)
    columns = {**scores, "all": total} if len(scores) > 1 else scores
    print(f"{'':22}" + "".join(f"{name[:11]:>13}" for name in columns))
    for title, found, of in ROWS:
        print(f"{title:22}" + "".join(f"{share(score, found, of):>13}" for score in columns.values()))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seen", action="store_true", help="with the weights of the package")
    parser.add_argument("--trained", type=Path, default=Path("build/held-out"))
    parser.add_argument("--list", action="store_true", help="what was missed, and what should not be there")
    args = parser.parse_args(arguments)
    names = args.names or [path.stem for path in notebooks([])]
    if not names:
        raise SystemExit(f"no notebooks in {folder()}: set HITHERTO_EVAL_DATA to the folder that holds them")
    with ProcessPoolExecutor(2) as pool:
        found = dict(zip(names, pool.map(measured, names, repeat(None if args.seen else args.trained)), strict=True))
    if args.list:
        for name, one in found.items():
            print(f"== {name}")
            for what, entries in one["lists"].items():
                print(f"-- {what} ({len(entries)})", *entries, sep="\n    ")
    show({name: Counter(one["score"]) for name, one in found.items()})


if __name__ == "__main__":
    main()
