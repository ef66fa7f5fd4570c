"""An agent of Google's ADK whose sessions are kept in its users' own memory.

    pip install ".[google-adk]" && python examples/google_adk_agent.py "May I bring a cake to Acme on Monday?"

Run it again with "yes": it is understood. Without a key of Google's, a stand-in tells what a model would know.
"""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

from google.adk.agents import LlmAgent
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.genai import types

from hitherto import Hitherto
from hitherto.integrations import AdkMemory, AdkSessions


class StandIn(BaseLlm):
    """In place of a model."""

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: FBT001, FBT002 -- as Google's ADK calls it
    ) -> AsyncGenerator[LlmResponse, None]:
        known = "the cake" if "cake" in str(llm_request.contents) else "no cake"
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=f"I know of {known}.")]))


async def main(folder: Path, said: str) -> str:
    model = "gemini-2.5-flash" if os.environ.get("GOOGLE_API_KEY") else StandIn(model="stand-in")
    agent = LlmAgent(name="nikita", model=model, instruction="You are Nikita, warm and quick.")
    async with Hitherto(folder) as memory:
        sessions, whose = AdkSessions(memory), {"app_name": "friend", "user_id": "ana", "session_id": "s"}
        runner = Runner(app_name="friend", agent=agent, session_service=sessions, memory_service=AdkMemory(memory))
        if await sessions.get_session(**whose) is None:
            await sessions.create_session(**whose)
        message, answer = types.Content(role="user", parts=[types.Part(text=said)]), ""
        async for event in runner.run_async(user_id="ana", session_id="s", new_message=message):
            if event.is_final_response() and event.content and event.content.parts:
                answer = event.content.parts[0].text or ""
    print(f"Ana: {said}\nNikita: {answer}\n")
    return answer


if __name__ == "__main__":
    asyncio.run(main(Path("./memories"), " ".join(sys.argv[1:]) or "May I bring a cake to Acme on Monday?"))
