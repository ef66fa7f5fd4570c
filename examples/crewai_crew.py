"""A crew of CrewAI's whose memory is a user's own.

    pip install ".[crewai]" && python examples/crewai_crew.py "May I bring a cake to Acme on Monday?"

Run it again with "yes": it is understood. Without a key of OpenAI's, a stand-in tells what a model would know. CrewAI works
without `await`, so the memory does too.
"""

import os
import sys
from pathlib import Path
from typing import Any

from crewai import Agent, Crew, Task
from crewai.llms.base_llm import BaseLLM
from crewai.memory.unified_memory import Memory

from hitherto.integrations import CrewStorage
from hitherto.sync import Hitherto


class StandIn(BaseLLM):
    """In place of a model."""

    def call(self, messages: Any, *args: Any, **options: Any) -> str:
        known = "the cake" if "cake" in str(messages) else "no cake"
        return f"Thought: I now can give a great answer\nFinal Answer: I know of {known}."


def main(folder: Path, said: str) -> str:
    model = "gpt-4o-mini" if os.environ.get("OPENAI_API_KEY") else StandIn(model="stand-in")
    with Hitherto(folder) as memory:
        storage = CrewStorage(memory, user="ana")
        kept = Memory(storage=storage, embedder=storage.embed, llm=model)
        known = "\n".join(match.record.content for match in kept.recall(said, depth="shallow"))
        nikita = Agent(role="Nikita", goal="Answer Ana", backstory="Warm and quick.", llm=model)
        task = Task(description=f"You know:\n{known}\n\nAna says: {said}", expected_output="an answer", agent=nikita)
        answer = str(Crew(agents=[nikita], tasks=[task]).kickoff())
        kept.remember(f"Ana said: {said}", scope="/ana", categories=["chat"], metadata={"by": "ana"}, importance=0.5)
    print(f"Ana: {said}\nNikita: {answer}\n")
    return answer


if __name__ == "__main__":
    main(Path("./memories"), " ".join(sys.argv[1:]) or "May I bring a cake to Acme on Monday?")
