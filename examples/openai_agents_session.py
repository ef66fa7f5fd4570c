"""A session for the OpenAI Agents SDK that is kept in a user's memory: `Runner.run(agent, text, session=…)`.

    pip install ".[openai-agents]" && python examples/openai_agents_session.py "May I bring a cake to Acme on Monday?"

Run it again with "yes": it is understood. Without a key of OpenAI's, a stand-in tells what a model would know.
"""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from agents import Agent, ModelResponse, RunConfig, Runner, Usage
from agents.models.interface import Model
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

from hitherto import Hitherto
from hitherto.integrations import AgentsSession


class StandIn(Model):
    """In place of a model."""

    async def get_response(self, *given: Any, **options: Any) -> ModelResponse:
        known = "the cake" if "cake" in str((given, options.get("input"))) else "no cake"
        said = ResponseOutputText(annotations=[], text=f"I know of {known}.", type="output_text")
        message = ResponseOutputMessage(id="1", content=[said], role="assistant", status="completed", type="message")
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *given: Any, **options: Any) -> Any:
        raise NotImplementedError


async def main(folder: Path, said: str, *, model: Model | str | None = None) -> str:
    if model is None and not os.environ.get("OPENAI_API_KEY"):
        model = StandIn()
    agent = Agent(name="Nikita", instructions="You are Nikita, warm and quick.", model=model)
    async with Hitherto(folder) as memory:
        session = AgentsSession(memory, user="ana", session_id="agents-example")
        result = await Runner.run(agent, said, session=session, run_config=RunConfig(tracing_disabled=True))
    answer = str(result.final_output)
    print(f"Ana: {said}\nNikita: {answer}\n")
    return answer


if __name__ == "__main__":
    asyncio.run(main(Path("./memories"), " ".join(sys.argv[1:]) or "May I bring a cake to Acme on Monday?"))
