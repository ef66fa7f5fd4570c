"""Whether a reader can answer from a context: 60 development questions, three contexts each, answered and judged by others.

    python -m bench.answers write FOLDER [--seed 1] [--questions 60] [--conditions default …] [--data FOLDER]
        writes FOLDER/tasks/NAME.json: one for each question and condition, under names that tell neither; more questions of the
        same seed are the same ones and others
    … a reader answers each task from its context alone into FOLDER/answers/NAME.json: {"answer": "…"}
    python -m bench.answers judging FOLDER
        writes FOLDER/judging/NAME.json: question, right answer and the answer given, without its condition
    … another reader judges each into FOLDER/judgements/NAME.json: {"right": true or false}
    python -m bench.answers table FOLDER [--save]
        prints the share of right answers by condition and set, with 95 % bootstrap intervals; with --save the answers and their
        verdicts replace those in bench/results/answers.jsonl, a task a line (`write` with the same seed tells the questions)

The conditions: `default` is the default context with its history; `bm25` the best turns by plain BM25, best first; `vectors`
the 20 nearest turns by the static vectors and then the newest turns, as a memory of that kind is used. The last two may fill
as many tokens as the default context of the same question takes.
"""

import argparse
import asyncio
import gzip
import json
import random
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np

from bench.contexts import recorded
from bench.dev_sets import SETS, Asked, Conversation, conversations, path
from bench.measuring import table
from hitherto import Context, Hitherto
from hitherto.evaluate.engine_run import Index, interval
from hitherto.recall.embed import open_embedder
from hitherto.tokens import tokenizer

CONDITIONS: Final = ("default", "bm25", "vectors")
NEAREST: Final = 20
KEPT: Final = Path(__file__).with_name("results") / "answers.jsonl"
ANSWER: Final = (
    "Answer the question from this context alone, as the one who was talked to would: briefly and exactly. If the context does"
    " not tell, say so. Do not guess, and use nothing else that you know about the people in it."
)
JUDGE: Final = (
    "Is the answer given right? It is right if it says what the right answer says, in whatever words and with whatever else"
    " that does not contradict it. Dates count as the same if they mean the same day or period. Where the right answer lists"
    " several things, all of them must be there. An answer that does not know is wrong."
)


@dataclass(frozen=True, slots=True)
class Chosen:
    set: str
    conversation: Conversation
    asked: Asked
    answer: str

    def name(self, condition: str) -> str:
        return blake2b(f"{self.set}/{self.asked.id}/{condition}".encode(), digest_size=8).hexdigest()


def chosen(questions: int, *, seed: int) -> list[Chosen]:
    """As many of each set, one after another from each kind of question, picked by the seed."""
    rng = random.Random(seed)
    found: list[Chosen] = []
    for name in SETS:
        answers = dict(_gold(name))
        kinds: dict[str, list[Chosen]] = defaultdict(list)
        for conversation in conversations(name):
            for asked in conversation.questions:
                one = Chosen(name, conversation, asked, answers[conversation.id, asked.id])
                kinds[asked.category].append(one)
        for of_kind in kinds.values():
            rng.shuffle(of_kind)
        some: list[Chosen] = []
        while len(some) < questions // len(SETS):
            some += [kinds[kind].pop() for kind in sorted(kinds) if kinds[kind]]
        found += some[: questions // len(SETS)]
    return found


def _gold(name: str) -> Iterator[tuple[tuple[str, str], str]]:
    with gzip.open(path(name), "rt", encoding="utf-8") as lines:
        for line in lines:
            entry = json.loads(line)
            for question in entry["questions"]:
                yield (entry["id"], question["id"]), str(question["answer"])


async def write(
    folder: Path, *, questions: int, seed: int, conditions: Sequence[str] = CONDITIONS, data: Path | None = None
) -> None:
    key: dict[str, dict[str, str]] = {}
    for name in ("tasks", "answers", "judging", "judgements"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as made:
        for place, one in enumerate(chosen(questions, seed=seed)):
            contexts = await _contexts(one, (data or Path(made)) / one.set)
            for condition, text in contexts.items():
                if condition not in conditions:
                    continue
                name = one.name(condition)
                _write(
                    folder / "tasks" / f"{name}.json",
                    {"task": ANSWER, "question": one.asked.text, "asked_at": _day(one), "context": text},
                )
                key[name] = {
                    "set": one.set,
                    "kind": one.asked.category,
                    "condition": condition,
                    "question": one.asked.text,
                    "asked_at": _day(one),
                    "right_answer": one.answer,
                    "tokens": str(tokenizer().count(text)),
                }
            print(f"{place + 1}: {one.set} {one.asked.category}", file=sys.stderr)
    _write(folder / "key.json", key)
    print(f"{len(key)} tasks in {folder / 'tasks'}")


async def _contexts(one: Chosen, data: Path) -> dict[str, str]:
    async with Hitherto(data) as memory:
        await recorded(memory, one.conversation)
        user = one.conversation.id
        context = await memory.context(user=user, message=one.asked.text, at=one.asked.at, keep=False)
    text = _spoken(context)
    budget = tokenizer().count(text)
    turns = one.conversation.turns
    lines = [f"[{said.at:%Y-%m-%d %H:%M}] {said.speaker}: {said.text}" for said in turns]
    by_words = [place for place, _ in Index.of([said.text for said in turns]).ranked(one.asked.text)]
    nearest = _nearest([said.text for said in turns], one.asked.text)[:NEAREST]
    newest = [place for place in range(len(turns) - 1, -1, -1) if place not in nearest]
    return {
        "default": text,
        "bm25": "\n".join(lines[place] for place in _fitting(by_words, lines, budget)),
        "vectors": "\n".join(
            [
                "Memories:",
                *(lines[place] for place in _fitting(nearest, lines, budget)),
                "",
                "The newest messages:",
                *(lines[place] for place in sorted(set(_fitting([*nearest, *newest], lines, budget)) - set(nearest))),
            ]
        ),
    }


def _spoken(context: Context) -> str:
    """What the model gets, as a reader sees it, without the question itself."""
    history = [f"{message['role']}: {message.get('content') or ''}" for message in context.messages[:-1]]
    return "\n\n".join([context.system, *(["The conversation so far:", *history] if history else [])])


def _nearest(texts: Sequence[str], question: str) -> list[int]:
    embedder = open_embedder("static")
    vectors = embedder.embed(list(texts))
    near = vectors @ embedder.embed([question], purpose="query")[0]
    return [int(place) for place in np.argsort(-near, kind="stable")]


def _fitting(order: Sequence[int], lines: Sequence[str], budget: int) -> list[int]:
    count = tokenizer().count
    found: list[int] = []
    for place in order:
        cost = count(lines[place] + "\n")
        if cost <= budget:
            found.append(place)
            budget -= cost
        if budget < LEAST:
            break
    return found


LEAST: Final = 12
"""Tokens in which no turn has room."""


def judging(folder: Path) -> None:
    key = _read(folder / "key.json")
    given = 0
    for name, entry in key.items():
        answer = folder / "answers" / f"{name}.json"
        if not answer.is_file():
            continue
        given += 1
        _write(
            folder / "judging" / f"{name}.json",
            {
                "task": JUDGE,
                "question": entry["question"],
                "asked_at": entry["asked_at"],
                "right_answer": entry["right_answer"],
                "answer_given": _read(answer)["answer"],
            },
        )
    print(f"{given} of {len(key)} answers are there to be judged in {folder / 'judging'}")


def results(folder: Path) -> list[dict[str, object]]:
    key = _read(folder / "key.json")
    right: dict[tuple[str, str], list[float]] = defaultdict(list)
    tokens: dict[str, list[int]] = defaultdict(list)
    missing = 0
    for name, entry in key.items():
        judgement = folder / "judgements" / f"{name}.json"
        if not judgement.is_file():
            missing += 1
            continue
        verdict = float(bool(_read(judgement)["right"]))
        right[entry["condition"], entry["set"]].append(verdict)
        right[entry["condition"], "all"].append(verdict)
        tokens[entry["condition"]].append(int(entry["tokens"]))
    if missing:
        print(f"{missing} of {len(key)} are not judged yet")
    rows: list[dict[str, object]] = []
    for condition in CONDITIONS:
        if not (everything := right[condition, "all"]):
            continue
        right_share, low, high = interval(everything)
        rows.append(
            {
                "condition": condition,
                **{name: f"{sum(right[condition, name]):.0f}/{len(right[condition, name])}" for name in SETS},
                "right": round(right_share, 3),
                "from": round(low, 3),
                "to": round(high, 3),
                "tokens": round(sum(tokens[condition]) / len(tokens[condition])),
            }
        )
    return rows


def keep(folder: Path) -> Path:
    """Writes every judged answer and its verdict to a file of the repository, without question and right answer."""
    key = _read(folder / "key.json")
    lines = list[str]()
    for name, entry in sorted(key.items(), key=lambda item: (item[1]["condition"], item[1]["set"], item[0])):
        judgement = folder / "judgements" / f"{name}.json"
        if judgement.is_file():
            kept = {
                "task": name,
                "set": entry["set"],
                "condition": entry["condition"],
                "tokens": entry["tokens"],
                "answer": _read(folder / "answers" / f"{name}.json")["answer"],
                "right": bool(_read(judgement)["right"]),
            }
            lines.append(json.dumps(kept, ensure_ascii=False))
    KEPT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return KEPT


def _day(one: Chosen) -> str:
    return f"{one.asked.at:%A, %Y-%m-%d %H:%M}"


def _write(file: Path, value: object) -> None:
    file.write_text(json.dumps(value, ensure_ascii=False, indent=1), encoding="utf-8")


def _read(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("write", "judging", "table"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--conditions", nargs="+", default=list(CONDITIONS), choices=CONDITIONS)
    parser.add_argument("--data", type=Path, help="a folder in which bench.contexts recorded the conversations")
    parser.add_argument("--save", action="store_true", help="keep answers and verdicts in bench/results/answers.jsonl")
    options = parser.parse_args()
    if options.step == "write":
        asyncio.run(
            write(
                options.folder,
                questions=options.questions,
                seed=options.seed,
                conditions=options.conditions,
                data=options.data,
            )
        )
    elif options.step == "judging":
        judging(options.folder)
    elif rows := results(options.folder):
        print(table(rows))
        if options.save:
            print(f"kept in {keep(options.folder)}")


if __name__ == "__main__":
    main()
