"""Where the tokens of a question to the model go: recorded conversations, replayed with a strong model's real answers.

`python bench/questions.py` prints, for each conversation in `tests/learn/recorded`, the mean tokens of a question by part, and
what is asked for each token said; it appends the table to `bench/results/questions.jsonl`. Four characters count as a token.
"""

import asyncio
import json
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

from bench.measuring import save, table  # noqa: E402
from hitherto.learn.readers.prompt import READING, SCHEMA  # noqa: E402
from tests.learn.replay import RECORDED, replayed  # noqa: E402

_PARTS = {
    "Known people": "people",
    "Known facts": "facts",
    "Open loops": "loops",
    "In mind": "mind",
    "[": "lines",
    "The session is over": "closing",
}


def parts(prompt: str) -> Counter[str]:
    """Characters of a question by part: what stands under a heading belongs to it."""
    found: Counter[str] = Counter()
    part = "scene"
    for line in prompt.splitlines(keepends=True):
        part = next((name for head, name in _PARTS.items() if line.startswith(head)), part)
        found[part] += len(line)
        if part == "people" or line.startswith(("[/", "Day so far", "Now:")):
            part = "scene"
    return found


async def measured(name: str) -> dict[str, object]:
    said = sum(len(turn["text"]) for turn in json.loads((RECORDED / f"{name}.json").read_text("utf-8"))["turns"])
    with tempfile.TemporaryDirectory() as folder:
        async with replayed(name, folder) as (_, replay):
            replay.check()
    found: Counter[str] = sum((parts(prompt) for prompt in replay.prompts), Counter[str]())
    count = len(replay.prompts)
    fixed = {"instructions": len(READING), "schema": len(json.dumps(SCHEMA))}
    whole = sum(found.values()) + count * sum(fixed.values())
    shown = {part: found[part] // count // 4 for part in ("scene", *_PARTS.values())}
    return {
        "what": name,
        "questions": count,
        **{part: size // 4 for part, size in fixed.items()},
        **shown,
        "asked for each said": whole / said,
    }


def main() -> None:
    names = sorted(path.stem for path in RECORDED.glob("*.json") if re.fullmatch(r"[\w-]+", path.stem))
    rows = [asyncio.run(measured(name)) for name in names]
    print(table(rows))
    print(f"appended to {save('questions', rows)}")


if __name__ == "__main__":
    main()
