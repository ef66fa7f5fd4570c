"""A companion on PydanticAI that does not forget: one line gives the agent its memory.

    python examples/pydantic_ai_companion.py
    MODEL=openai:gpt-4o OPENAI_API_KEY=… python examples/pydantic_ai_companion.py

Without a MODEL, a stand-in answers with what it was shown, so that one sees what a model would see.
"""

import asyncio
import os
from pathlib import Path

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart
from pydantic_ai.models import Model
from pydantic_ai.models.function import AgentInfo, FunctionModel

from hitherto import Hitherto
from hitherto.deliver.pydantic_ai import Memory

SAID = (
    "I start at Acme on Monday! I am a bit nervous about my new boss, Mukesh.",
    "Should I bring cake on the first day?",
    "why?",
)


def stand_in(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    turns = sum(isinstance(message, ModelRequest) for message in messages)
    known = "Mukesh" in str(messages)
    said = f"I see {turns} messages of yours and {len(info.instructions or '')} characters of instructions."
    return ModelResponse(parts=[TextPart(f"{said} {'I know about Mukesh.' if known else ''}".strip())])


async def main(folder: Path, *, model: Model | str | None = None) -> list[str]:
    answers: list[str] = []
    async with Hitherto(folder, recipe="companion-text") as memory:
        await memory.define_persona("nikita", name="Nikita", text="You are Nikita, warm, quick and a little cheeky.")
        agent = Agent(
            model or os.environ.get("MODEL") or FunctionModel(stand_in),
            capabilities=[Memory(memory, user="ana", persona="nikita", tools=True)],
        )
        for said in SAID:
            result = await agent.run(said)
            print(f"Ana: {said}\nNikita: {result.output}\n")
            answers.append(result.output)
    return answers


if __name__ == "__main__":
    asyncio.run(main(Path("./memories")))
