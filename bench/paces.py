"""What a model that learns is asked at each pace: questions and tokens a user a day, over the development notebooks.

The model answers nothing, so that none has to be at hand. What was told is written into the memory as the notebook's gold says
it, once its turns are recorded, so that questions show as much of what is known as they would. A worker looks whenever
something is due, as in a service: `live` after each turn, `pause` when the talk has paused or enough was said, `session` at
its end. A day is one on which something was said. How much is answered is what a strong model answered for each turn in the
conversations of `tests/learn/recorded`.

    python -m bench.paces [NAME…] [--paces live,pause,session]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from statistics import mean
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from bench.dev_sets import folder
from bench.measuring import save, table
from hitherto import Hitherto, Turn
from hitherto.learn.services import Pace
from hitherto.tokens import tokenizer

PACES: tuple[Pace, ...] = ("live", "pause", "session")
AFTER = timedelta(hours=26)
"""After the last turn: sessions end, and the day is over."""
RECORDED = Path(__file__).parents[1] / "tests/learn/recorded"


class Listener:
    """A model that says nothing and counts what it is asked."""

    def __init__(self) -> None:
        self.questions = 0
        self.tokens = 0
        self._count = tokenizer("o200k").count

    def model(self) -> FunctionModel:
        async def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            said = [str(getattr(part, "content", "")) for message in messages for part in message.parts]
            tool = info.output_tools[0]
            said += [info.instructions or "", json.dumps(tool.parameters_json_schema)]
            self.questions += 1
            self.tokens += sum(map(self._count, said))
            return ModelResponse(parts=[ToolCallPart(tool.name, {"notes": []})])

        return FunctionModel(answer)


async def listened(book: dict[str, Any], pace: Pace) -> Listener:
    """A notebook's conversation, with a worker that looks when something is due."""
    turns: list[dict[str, Any]] = [{**turn, "at": datetime.fromisoformat(turn["at"])} for turn in book["turns"]]
    user, listener = book["user"]["id"], Listener()
    now = [turns[0]["at"]]
    told = {fact["text"]: max(fact["turns"]) for fact in book["gold"]["facts"]}
    with tempfile.TemporaryDirectory() as place:
        async with Hitherto(place, clock=lambda: now[0], model=listener.model(), pace=pace) as memory:
            await memory.set_user(user, zone=book["zone"], name=book["user"]["name"])
            for turn, following in zip(turns, [*turns[1:], None], strict=True):
                now[0] = turn["at"]
                said = {name: value for name, value in turn.items() if value is not None}
                await memory.record(Turn(user=user, **said))
                for text in [text for text, last in told.items() if last == turn["id"]]:
                    await memory.remember(user=user, text=text)
                await worked(memory, user, now, until=following["at"] if following else now[0] + AFTER)
    return listener


async def worked(memory: Hitherto, user: str, now: list[datetime], *, until: datetime) -> None:
    """Runs what comes due before the next turn, when it does."""
    while now[0] < until:
        due = (await memory.settle(user=user))[user].next_due
        if due is None or due >= until:
            return
        now[0] = max(due, now[0] + timedelta(seconds=1))


def answered(name: str) -> float:
    """Tokens that a strong model answered for each turn of a recorded conversation."""
    found = json.loads((RECORDED / f"{name}.json").read_text("utf-8"))
    said: list[Any] = list(found["answers"].values())
    return tokenizer("o200k").count(json.dumps(said, ensure_ascii=False)) / len(found["turns"])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--paces", default=",".join(PACES))
    given = parser.parse_args(arguments)
    paths = sorted((folder() / "notebooks").glob("*.json"))
    books = [json.loads(path.read_text("utf-8")) for path in paths if not given.names or path.stem in given.names]
    if not books:
        raise SystemExit(f"no notebooks in {folder()}: set HITHERTO_EVAL_DATA to the folder that holds them")
    rows: list[dict[str, object]] = []
    paces: list[Pace] = [pace for pace in PACES if pace in given.paces.split(",")]
    for pace in paces:
        of_pace: list[tuple[float, float, float]] = []
        for book in books:
            listener = asyncio.run(listened(book, pace))
            days = len({turn["at"][:10] for turn in book["turns"]})
            rows.append(
                row(pace, book["id"], len(book["turns"]) / days, listener.questions / days, listener.tokens / days)
            )
            of_pace.append((len(book["turns"]) / days, listener.questions / days, listener.tokens / days))
        rows.append(row(pace, "mean", *(mean(column) for column in zip(*of_pace, strict=True))))
    print(table(rows))
    for name in sorted(path.stem for path in RECORDED.glob("*-1.json")):
        print(f"answered by a strong model, tokens for each turn of {name}: {answered(name):.0f}")
    print(f"saved to {save('paces', rows)}")


def row(pace: Pace, name: str, turns: float, questions: float, tokens: float) -> dict[str, object]:
    return {
        "pace": pace,
        "conversation": name,
        "turns a day": round(turns, 1),
        "questions a day": round(questions, 1),
        "tokens asked a day": round(tokens),
        "tokens a question": round(tokens / questions) if questions else 0,
        "tokens asked a turn": round(tokens / turns),
    }


if __name__ == "__main__":
    main()
