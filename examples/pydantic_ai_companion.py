"""A companion on PydanticAI that does not forget: one line gives the agent its memory.

    pip install ".[pydantic-ai]" && python examples/pydantic_ai_companion.py "May I bring a cake to Acme on Monday?"

Run it again with "yes": it is understood. A stand-in tells what a model would know; with `MODEL=openai:gpt-4o
OPENAI_API_KEY=…` before it (and `pip install "pydantic-ai-slim[openai]"`) that model answers.
"""

import asyncio
import os
import sys
from pathlib import Path

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models import Model
from pydantic_ai.models.function import AgentInfo, FunctionModel

from hitherto import Hitherto
from hitherto.deliver.pydantic_ai import Memory


def stand_in(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """In place of a model."""
    known = "the cake" if "cake" in str(messages) else "no cake"
    return ModelResponse(parts=[TextPart(f"I know of {known}.")])


async def main(folder: Path, said: str, *, model: Model | str | None = None) -> str:
    async with Hitherto(folder, recipe="companion-text") as memory:
        await memory.define_persona("nikita", name="Nikita", text="You are Nikita, warm, quick and a little cheeky.")
        agent = Agent(
            model or os.environ.get("MODEL") or FunctionModel(stand_in),
            capabilities=[Memory(memory, user="ana", persona="nikita", tools=True)],
        )
        answer = (await agent.run(said)).output
    print(f"Ana: {said}\nNikita: {answer}\n")
    return answer


if __name__ == "__main__":
    asyncio.run(main(Path("./memories"), " ".join(sys.argv[1:]) or "May I bring a cake to Acme on Monday?"))
