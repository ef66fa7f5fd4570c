"""Makes test recordings of a conversation and of the answers that a strong model gave to the reader's questions on it.

    python scripts/record_answers.py NOTEBOOK.json FOLDER

NOTEBOOK holds `id`, `user`, `zone`, `personas` and `turns`; FOLDER holds `q/NNN.json` (hash, instructions,
prompt, answer_schema) and `a/NNN.json`. The recording goes to `tests/learn/recorded/`, and replays as long as the questions
stay the same to the byte: a test says which ones have changed, and those are asked and recorded again.
"""

import json
import sys
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parents[1] / "tests" / "learn" / "recorded"


def main(notebook: str, folder: str) -> None:
    conversation = json.loads(Path(notebook).read_text("utf-8"))
    answers: dict[str, dict[str, Any]] = {}
    for asked in sorted((Path(folder) / "q").glob("*.json")):
        question = json.loads(asked.read_text("utf-8"))
        answer: dict[str, Any] = json.loads((Path(folder) / "a" / asked.name).read_text("utf-8"))
        answers[question["hash"]] = {"question": asked.stem, **answer}
    kept = {name: conversation[name] for name in ("id", "user", "zone", "personas", "turns")}
    target = RECORDED / f"{conversation['id']}.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps({**kept, "answers": answers}, ensure_ascii=False, indent=1) + "\n", "utf-8")
    print(f"{target}: {len(answers)} answers")


if __name__ == "__main__":
    main(*sys.argv[1:])
