"""A chat with LlamaIndex's `Memory`, which forgets with its process, and a block in it that does not.

    pip install ".[llama-index]" && python examples/llama_index_chat.py "May I bring a cake to Acme on Monday?"

Run it again with "yes": it is understood. A stand-in tells what a model would know; any LLM of LlamaIndex takes its place.
"""

import asyncio
import sys
from pathlib import Path

from llama_index.core.llms import ChatMessage
from llama_index.core.memory import Memory

from hitherto import Hitherto
from hitherto.integrations import LlamaIndexBlock


async def stand_in(messages: list[ChatMessage]) -> str:
    known = "the cake" if any("cake" in (one.content or "") for one in messages) else "no cake"
    return f"I know of {known}."


async def main(folder: Path, said: str) -> str:
    async with Hitherto(folder) as memory:
        block = LlamaIndexBlock(memory=memory, user="ana")
        chat = Memory.from_defaults(session_id="s", memory_blocks=[block], tokenizer_fn=str.split)
        await chat.aput(ChatMessage(role="user", content=said))
        answer = await stand_in(await chat.aget())
        await chat.aput(ChatMessage(role="assistant", content=answer))
        await block.keep(chat)
    print(f"Ana: {said}\nNikita: {answer}\n")
    return answer


if __name__ == "__main__":
    asyncio.run(main(Path("./memories"), " ".join(sys.argv[1:]) or "May I bring a cake to Acme on Monday?"))
