"""A session for the OpenAI Agents SDK that is kept in a user's memory: `Runner.run(agent, text, session=…)`.

    pip install openai-agents && python examples/openai_agents_session.py

Every item of a run is a turn in the lane that the session names, so it can be found, summarised and forgotten like any
other. Reasoning items belong to one answer of one provider and are not kept.
"""

import asyncio
from pathlib import Path
from typing import Any, cast

from agents import Agent, Runner, TResponseInputItem
from agents.memory import SessionABC, SessionSettings
from agents.models.interface import Model

from hitherto import Hitherto, ToolCall, ToolReturn, Turn
from hitherto.types import StoredTurn

Item = dict[str, Any]


class HithertoSession(SessionABC):
    """The turns of one lane as a session."""

    session_settings: SessionSettings | None = None

    def __init__(self, memory: Hitherto, *, user: str, session_id: str, persona: str | None = None) -> None:
        self.session_id = session_id
        self._memory = memory
        self._user = user
        self._persona = persona

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        turns = await self._turns()
        items = [item for turn in turns for item in _items(turn)]
        return cast("list[TResponseInputItem]", items if limit is None else items[max(0, len(items) - limit) :])

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        turns = [turn for item in items if (turn := self._turn(cast(Item, item))) is not None]
        if turns:
            await self._memory.record(turns)

    async def pop_item(self) -> TResponseInputItem | None:
        turns = await self._turns()
        if not turns:
            return None
        await self._memory.forget(user=self._user, turn=turns[-1].id)
        return cast(TResponseInputItem, _items(turns[-1])[-1])

    async def clear_session(self) -> None:
        if await self._turns():
            await self._memory.forget(user=self._user, lane=self.session_id)

    async def _turns(self) -> list[StoredTurn]:
        return await self._memory.turns(user=self._user, persona=self._persona, lane=self.session_id, limit=100_000)

    def _turn(self, item: Item) -> Turn | None:
        match item.get("type", "message"):
            case "message" if text := _text(item.get("content")):
                role = "user" if item.get("role") == "user" else "assistant"
                return Turn(self._user, role, text, persona=self._persona, lane=self.session_id)
            case "function_call":
                call = ToolCall(id=item["call_id"], name=item["name"], args=item["arguments"])
                return Turn(self._user, "assistant", "", parts=(call,), persona=self._persona, lane=self.session_id)
            case "function_call_output":
                answer = ToolReturn(id=item["call_id"], name="tool", content=str(item["output"]))
                return Turn(self._user, "tool", "", parts=(answer,), persona=self._persona, lane=self.session_id)
            case _:
                return None


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    pieces = cast("list[Item]", content) if isinstance(content, list) else []
    return "\n".join(str(piece["text"]) for piece in pieces if piece.get("text"))


def _items(turn: StoredTurn) -> list[Item]:
    found: list[Item] = [{"role": turn.role, "content": turn.text}] if turn.text else []
    for part in turn.parts:
        if isinstance(part, ToolCall):
            found.append({"type": "function_call", "call_id": part.id, "name": part.name, "arguments": part.args})
        elif isinstance(part, ToolReturn):
            found.append({"type": "function_call_output", "call_id": part.id, "output": part.content})
    return found


async def main(folder: Path, *, model: Model | str | None = None) -> list[str]:
    answers: list[str] = []
    async with Hitherto(folder) as memory:
        agent = Agent(name="Nikita", instructions="You are Nikita, warm and quick.", model=model)
        session = HithertoSession(memory, user="ana", session_id="agents-example")
        for text in ("I start at Acme on Monday!", "Where do I start?"):
            result = await Runner.run(agent, text, session=session)
            answers.append(str(result.final_output))
            print(f"Ana: {text}\nNikita: {answers[-1]}\n")
    return answers


if __name__ == "__main__":
    asyncio.run(main(Path("./memories")))
