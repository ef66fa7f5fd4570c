"""Makes test recordings of a conversation and of the answers that a strong model gave to the reader's questions on it.

    python scripts/record_answers.py NOTEBOOK.json FOLDER
    python scripts/record_answers.py demo FOLDER

NOTEBOOK holds `id`, `user`, `zone`, `personas` and `turns`; FOLDER holds `q/NNN.json` (hash, instructions,
prompt, answer_schema) and `a/NNN.json`. The recording goes to `tests/learn/recorded/`, and replays as long as the questions
stay the same to the byte: a test says which ones have changed, and those are asked and recorded again. With `demo`, FOLDER
holds questions and answers on the demo's story, which `hitherto demo --model recorded` learns from.
"""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

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


def _answered(asked: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    answer = asked.parents[1] / "a" / asked.name
    return json.loads(asked.read_text("utf-8")), json.loads(answer.read_text("utf-8"))


def _name(question: dict[str, Any]) -> str:
    """What the demo finds an answer by."""
    asked = f"{question['instructions']}\n{question['prompt']}"
    return hashlib.sha256(asked.encode()).hexdigest()


if __name__ == "__main__":
    main(*sys.argv[1:])
