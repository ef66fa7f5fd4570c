"""LlamaIndex: a memory block with what is known of a user.

    memory = Memory.from_defaults(session_id="s", memory_blocks=[LlamaIndexBlock(memory=hitherto, user="ana")])

Messages that leave the short-term memory are recorded, and at the end of a conversation `await block.keep(memory)` records
those that are still in it. The block says what is worth knowing to answer the newest one.
"""

from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import BaseMemoryBlock, Memory
from llama_index.core.storage.chat_store.base_db import MessageStatus
from pydantic import Field

from hitherto import Hitherto, Turn
from hitherto.ids import derived_id
from hitherto.integrations.reach import context_text
from hitherto.types import Role

_ROLES: dict[MessageRole, Role] = {
    MessageRole.USER: "user",
    MessageRole.ASSISTANT: "assistant",
    MessageRole.CHATBOT: "assistant",
    MessageRole.MODEL: "assistant",
    MessageRole.TOOL: "tool",
}


class LlamaIndexBlock(BaseMemoryBlock[str]):
    """What the memory says to the newest message."""

    name: str = Field(default="hitherto")
    memory: Hitherto
    user: str
    persona: str | None = None
    recipe: str | None = None

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        asked = next((one.content for one in reversed(messages or []) if one.role == MessageRole.USER), None)
        if not asked:
            return ""
        # Who answers is the agent's to say.
        inputs = {"persona": ""} if self.persona is None else {}
        made = await self.memory.context(
            user=self.user,
            persona=self.persona,
            lane=block_kwargs.get("session_id"),
            message=asked,
            recipe=self.recipe,
            inputs=inputs,
        )
        return context_text(made)

    async def keep(self, chat: Memory) -> None:
        """Records what the short-term memory holds, which ends with the process."""
        held = await chat.aget_all(status=MessageStatus.ACTIVE)
        await self.aput(held, session_id=chat.session_id)

    async def _aput(self, messages: list[ChatMessage]) -> None:
        turns: list[Turn] = []
        for one in messages:
            role = _ROLES.get(one.role)
            if role is None or role == "tool" or not one.content:
                continue
            session = str(one.additional_kwargs.get("session_id") or "llama-index")
            # The same message at the same moment is the same turn, however often it is flushed.
            name = derived_id(session, role, one.content, str(one.additional_kwargs.get("timestamp", len(turns))))
            turns.append(Turn(self.user, role, one.content, id=f"llama:{name}", persona=self.persona, lane=session))
        if turns:
            await self.memory.record(turns)
