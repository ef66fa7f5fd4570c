"""Makes test recordings of a conversation and of the answers that a strong model gave to the reader's questions on it.

    python scripts/record_answers.py NOTEBOOK.json FOLDER
    python scripts/record_answers.py ask demo FOLDER
    python scripts/record_answers.py demo FOLDER

NOTEBOOK holds `id`, `user`, `zone`, `personas` and `turns`; FOLDER holds `q/NNN.json` (hash, instructions,
prompt, answer_schema) and `a/NNN.json`. The recording goes to `tests/learn/recorded/`, and replays as long as the questions
stay the same to the byte: a test says which ones have changed, and those are asked and recorded again. With `demo`, FOLDER
holds questions and answers on the demo's story, which `hitherto demo --model recorded` learns from; `ask demo` plays the story,
writes each of its questions to `q/` and waits for the answer in `a/`.
"""

import asyncio
import hashlib
import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hitherto import demo
from hitherto.learn.notes import Cost
from hitherto.learn.readers.model import ModelReader
from hitherto.sync import Hitherto

ROOT = Path(__file__).parents[1]
RECORDED = ROOT / "tests" / "learn" / "recorded"
DEMO = ROOT / "src" / "hitherto" / "demo" / "answers.json"


def main(notebook: str, folder: str) -> None:
    answered = [(asked.stem, *_answered(asked)) for asked in sorted((Path(folder) / "q").glob("*.json"))]
    if notebook == "demo":
        by_question = {_name(question): answer for _, question, answer in answered}
        DEMO.write_text(json.dumps(by_question, ensure_ascii=False, indent=0) + "\n", "utf-8")
        print(f"{DEMO}: {len(by_question)} answers")
        return
    conversation = json.loads(Path(notebook).read_text("utf-8"))
    answers = {question["hash"]: {"question": name, **answer} for name, question, answer in answered}
    kept = {name: conversation[name] for name in ("id", "user", "zone", "personas", "turns")}
    target = RECORDED / f"{conversation['id']}.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps({**kept, "answers": answers}, ensure_ascii=False, indent=1) + "\n", "utf-8")
    print(f"{target}: {len(answers)} answers")


class Written:
    """A model whose answers are written into files by whoever plays it."""

    def __init__(self, folder: Path) -> None:
        self._asked, self._answers = folder / "q", folder / "a"
        for one in (self._asked, self._answers):
            one.mkdir(parents=True, exist_ok=True)

    async def ask(self, question: str, *, instructions: str, schema: Mapping[str, Any]) -> tuple[dict[str, Any], Cost]:
        asked = {"instructions": instructions, "prompt": question, "answer_schema": schema}
        known = {_name(json.loads(one.read_text("utf-8"))): one.name for one in sorted(self._asked.glob("*.json"))}
        name = known.get(_name(asked), f"{len(known) + 1:03d}.json")
        (self._asked / name).write_text(json.dumps(asked, ensure_ascii=False, indent=1), "utf-8")
        while not (self._answers / name).exists():  # noqa: ASYNC110 -- somebody writes the file
            await asyncio.sleep(0.3)
        return json.loads((self._answers / name).read_text("utf-8")), Cost(calls=1)


def ask(folder: Path) -> None:
    clock = demo.SteppingClock()
    with (
        tempfile.TemporaryDirectory() as data,
        Hitherto(data, clock=clock, reader=ModelReader(Written(folder))) as memory,
    ):
        demo.load(memory, clock)


def _answered(asked: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    answer = asked.parents[1] / "a" / asked.name
    return json.loads(asked.read_text("utf-8")), json.loads(answer.read_text("utf-8"))


def _name(question: dict[str, Any]) -> str:
    """What the demo finds an answer by."""
    asked = f"{question['instructions']}\n{question['prompt']}"
    return hashlib.sha256(asked.encode()).hexdigest()


if __name__ == "__main__":
    if sys.argv[1:3] == ["ask", "demo"]:
        ask(Path(sys.argv[3]))
    else:
        main(*sys.argv[1:])
