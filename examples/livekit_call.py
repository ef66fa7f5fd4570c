"""An agent of LiveKit's that knows its user before the first word.

    pip install ".[livekit]" && python examples/livekit_call.py "May I bring a cake to Acme on Monday?"

Run it again with "yes": it is understood. Here the session is given text, and a stand-in tells what a model would know; in a
call the session has a room, `stt`, `llm` and `tts`.
"""

import asyncio
import sys
from pathlib import Path
from typing import Any

from livekit.agents import DEFAULT_API_CONNECT_OPTIONS, AgentSession, llm

from hitherto import Hitherto
from hitherto.integrations import LiveKitMemory


class Said(llm.LLMStream):
    async def _run(self) -> None:
        known = "the cake" if "cake" in str(self.chat_ctx.to_dict()) else "no cake"
        delta = llm.ChoiceDelta(role="assistant", content=f"I know of {known}.")
        self._event_ch.send_nowait(llm.ChatChunk(id="1", delta=delta))


class StandIn(llm.LLM):
    """In place of a model."""

    def chat(self, *, chat_ctx: llm.ChatContext, tools: Any = None, **options: Any) -> llm.LLMStream:
        return Said(self, chat_ctx=chat_ctx, tools=tools or [], conn_options=DEFAULT_API_CONNECT_OPTIONS)


async def main(folder: Path, said: str) -> str:
    async with Hitherto(folder) as memory, AgentSession(llm=StandIn()) as session:
        await session.start(LiveKitMemory(instructions="You are Nikita.", memory=memory, user="ana"))
        await session.run(user_input=said)
        said_by_us = [item for item in session.history.items if item.type == "message" and item.role == "assistant"]
        answer = str(said_by_us[-1].text_content)
    print(f"Ana: {said}\nNikita: {answer}\n")
    return answer


if __name__ == "__main__":
    asyncio.run(main(Path("./memories"), " ".join(sys.argv[1:]) or "May I bring a cake to Acme on Monday?"))
