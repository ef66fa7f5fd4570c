"""A session for the OpenAI Agents SDK that is kept in a user's memory: `Runner.run(agent, text, session=…)`.

    pip install "hitherto[openai-agents]" && python examples/openai_agents_session.py

Run it twice: the second time "yes" is understood.
"""

import asyncio
from pathlib import Path

from agents import Agent, Runner
from agents.models.interface import Model

from hitherto import Hitherto
from hitherto.integrations import AgentsSession


async def main(folder: Path, *, model: Model | str | None = None) -> list[str]:
    answers: list[str] = []
    async with Hitherto(folder) as memory:
        agent = Agent(name="Nikita", instructions="You are Nikita, warm and quick.", model=model)
        session = AgentsSession(memory, user="ana", session_id="agents-example")
        for text in ("I start at Acme on Monday!", "Where do I start?"):
            result = await Runner.run(agent, text, session=session)
            answers.append(str(result.final_output))
            print(f"Ana: {text}\nNikita: {answers[-1]}\n")
    return answers


if __name__ == "__main__":
    asyncio.run(main(Path("./memories")))
