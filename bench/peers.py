"""Hitherto beside other memory libraries: the same turns, the same questions, the same static vectors, one table.

    HITHERTO_EVAL_DATA=… python -m bench.peers [--peers mem0 chroma …] [--first 2]

Each library is installed by name in an environment of its own under `build/peers/` and measured in a process of its own by
`bench/peer_inside.py`; so is Hitherto, with its core dependencies alone. Turns are written one by one, as a conversation
brings them; searches ask for the ten best. The others are given "speaker: text", since they have no field for who speaks,
and look their vectors up, so that embedding costs them nothing. A library that cannot be installed or run is a row that
says why.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, cast

import numpy as np

from bench.dev_sets import conversations
from bench.measuring import save, table
from hitherto.recall.embed.static import static_embedder

ROOT: Final = Path(__file__).resolve().parent.parent
PLACE: Final = ROOT / "build" / "peers"
PACKAGES: Final[Mapping[str, tuple[str, ...]]] = {
    "hitherto": (str(ROOT),),
    "mem0": ("mem0ai",),
    "langgraph": ("langgraph",),
    "chroma": ("chromadb",),
    "llamaindex": ("llama-index-core",),
}
PATIENCE: Final = 1_200
Row = dict[str, object]


class Failed(Exception):
    """A step that did not work out, with the last line that it said."""


def python_of(name: str) -> Path:
    """The interpreter of a library's environment, made and filled if it is not there."""
    place = PLACE / name
    python = place / "bin" / "python"
    if not (place / "filled").exists():
        venv.create(place, with_pip=True, clear=True)
        packages = [*PACKAGES[name], "numpy"]
        _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages])
        (place / "filled").touch()
    return python


def _run(command: Sequence[str], *, extra: Mapping[str, str] | None = None) -> None:
    """Runs a command without the settings of this process, so that the environment alone decides what is imported."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    try:
        done = subprocess.run(
            command, env=kept | dict(extra or {}), capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise Failed(f"took longer than {PATIENCE} s") from error
    if done.returncode:
        said = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise Failed(said[-1].strip()[:160] if said else f"ended with {done.returncode}")


def prepare(work: Path, *, first: int | None) -> None:
    """Writes the turns, the questions and the vectors of every text that is written or asked."""
    entries: list[dict[str, object]] = []
    texts: dict[str, int] = {}
    for conversation in islice(conversations("locomo-dev"), first):
        turns = [
            {
                "id": turn.id,
                "text": f"{turn.speaker}: {turn.text}",
                "said": turn.text,
                "speaker": turn.speaker,
                "at": turn.at.isoformat(),
            }
            for turn in conversation.turns
        ]
        questions = [
            {"text": asked.text, "evidence": sorted(conversation.turns[place].id for place in asked.evidence)}
            for asked in conversation.questions
        ]
        for text in (*(turn["text"] for turn in turns), *(asked.text for asked in conversation.questions)):
            texts.setdefault(text.strip(), len(texts))
        entries.append({"id": conversation.id, "turns": turns, "questions": questions})
    np.save(work / "vectors.npy", static_embedder().embed(list(texts)))
    (work / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
    (work / "conversations.json").write_text(json.dumps(entries), encoding="utf-8")


def measured(name: str, work: Path) -> Row:
    inside = Path(__file__).with_name("peer_inside.py")
    (work / name).mkdir()
    quiet = {
        "HOME": str(work),
        "MEM0_DIR": str(work / name),
        "MEM0_TELEMETRY": "False",
        "ANONYMIZED_TELEMETRY": "False",
    }
    try:
        _run([str(python_of(name)), str(inside), name, str(work)], extra=quiet)
    except Failed as error:
        return {"library": name, "problem": str(error)}
    return {"library": name, **cast(Row, json.loads((work / f"{name}.json").read_text(encoding="utf-8")))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", nargs="+", default=list(PACKAGES), choices=list(PACKAGES))
    parser.add_argument("--first", type=int, help="only so many conversations")
    parser.add_argument("--fresh", action="store_true", help="make the environments anew")
    options = parser.parse_args()
    if options.fresh:
        shutil.rmtree(PLACE, ignore_errors=True)
    with TemporaryDirectory() as folder:
        work = Path(folder)
        prepare(work, first=options.first)
        rows: list[Row] = []
        for name in options.peers:
            print(f"… {name}", file=sys.stderr, flush=True)
            rows.append(measured(name, work))
    rows.sort(key=lambda row: "problem" in row)
    print(table(rows))
    for row in rows:
        if "problem" in row:
            print(f"{row['library']}: {row['problem']}")
    save("peers", rows)


if __name__ == "__main__":
    main()
