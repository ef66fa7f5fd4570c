"""Recorded answers of a strong model, replayed through the real pipeline by the hash of their question.

A question that is not recorded fails the test and says so: after a change of the prompt or of what is shown in it, the
conversation's questions from there on are asked and recorded again (`scripts/record_answers.py`)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from hitherto import Hitherto, Turn

RECORDED = Path(__file__).parent / "recorded"
GAP = timedelta(minutes=31)


@dataclass(slots=True)
class Replay:
    """A model that knows the answers to recorded questions; `unknown` are the prompts of others."""

    answers: dict[str, dict[str, Any]]
    asked: list[str] = field(default_factory=list[str])
    unknown: list[str] = field(default_factory=list[str])
    prompts: list[str] = field(default_factory=list[str])

    def model(self) -> FunctionModel:
        async def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            tool = info.output_tools[0]
            prompt = "\n".join(str(getattr(part, "content", "")) for message in messages for part in message.parts)
            first = messages[0]
            instructions = info.instructions or (first.instructions if isinstance(first, ModelRequest) else "") or ""
            asked = json.dumps([instructions, prompt, tool.parameters_json_schema], sort_keys=True)
            key = hashlib.sha256(asked.encode()).hexdigest()
            self.asked.append(key)
            self.prompts.append(prompt)
            if key not in self.answers:
                self.unknown.append(prompt)
            notes = self.answers.get(key, {}).get("notes", [])
            return ModelResponse(parts=[ToolCallPart(tool.name, {"notes": notes})])

        return FunctionModel(answer)

    def check(self) -> None:
        assert not self.unknown, (
            f"{len(self.unknown)} of {len(self.asked)} questions are not recorded: the prompt or what it shows has changed. "
            f"Ask them again and record the answers (scripts/record_answers.py). The first:\n{self.unknown[0]}"
        )


@asynccontextmanager
async def replayed(name: str, url: str | Path) -> AsyncGenerator[tuple[Hitherto, Replay]]:
    """The memory after a recorded conversation, worked on at the end of each session."""
    conversation = json.loads((RECORDED / f"{name}.json").read_text("utf-8"))
    replay = Replay(conversation["answers"])
    turns = [{**turn, "at": datetime.fromisoformat(turn["at"])} for turn in conversation["turns"]]
    now = [turns[0]["at"] - timedelta(hours=1)]
    user = conversation["user"]["id"]
    async with Hitherto(url, clock=lambda: now[0], model=replay.model()) as memory:
        await memory.set_user(user, zone=conversation["zone"], name=conversation["user"]["name"])
        for persona in conversation["personas"]:
            known = {field: persona[field] for field in ("name", "text", "boundaries", "style") if persona.get(field)}
            await memory.define_persona(persona["id"], **known)

        async def until(at: datetime) -> None:
            """Lets the time pass: a session ends, then day after day."""
            if at - now[0] > GAP:
                now[0] += GAP
                await memory.settle(user=user)
                while at - now[0] > timedelta(days=1):
                    now[0] += timedelta(days=1)
                    await memory.settle(user=user)
            now[0] = max(now[0], at)

        for turn in turns:
            await until(turn["at"])
            said: dict[str, Any] = {name: value for name, value in turn.items() if value is not None}
            await memory.record(Turn(user=user, **said))
        await until(now[0] + timedelta(hours=26))
        yield memory, replay
