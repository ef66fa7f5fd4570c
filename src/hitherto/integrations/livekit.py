"""LiveKit Agents: memory before the first word, and every turn recorded.

    class Ahab(LiveKitMemory, Agent): …
    agent = Ahab(instructions="You are Ahab.", memory=memory, user="ana")

When the agent comes on, what is known of the user is in its instructions; when the user has spoken, what matters to that turn
is added for the one answer; and whatever either says is recorded.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator
from typing import Any

from livekit.agents import Agent, ModelSettings, llm

from hitherto import Hitherto, Turn
from hitherto.errors import HithertoError
from hitherto.integrations.reach import context_text
from hitherto.types import Role

LOG = logging.getLogger("hitherto.livekit")


class LiveKitMemory(Agent):
    """An agent with a memory. A memory that cannot answer costs the memory, not the call."""

    def __init__(
        self, *, memory: Hitherto, user: str, persona: str | None = None, lane: str | None = None, **options: Any
    ) -> None:
        super().__init__(**options)
        self._memory = memory
        self._user = user
        self._persona = persona
        self._lane = lane
        self._own = options["instructions"]
        self._beginning: asyncio.Future[str] | None = None
        self._writing: set[asyncio.Task[None]] = set()

    async def on_enter(self) -> None:
        self.session.on("conversation_item_added", self._heard)
        if known := await self._known():
            await self.update_instructions(f"{self._own}\n\n{known}")

    async def _known(self) -> str:
        """What is known as the call begins; asked for once."""
        if self._beginning is None:
            self._beginning = asyncio.ensure_future(self._asked())
        return await asyncio.shield(self._beginning)

    async def _asked(self) -> str:
        try:
            made = await self._memory.context(
                user=self._user,
                persona=self._persona,
                lane=self._lane,
                message="(the call begins)",
                inputs=self._inputs,
            )
        except HithertoError as error:
            LOG.warning("a call begins without memory: %s", error)
            return ""
        return context_text(made)

    async def llm_node(
        self, chat_ctx: llm.ChatContext, tools: list[Any], model_settings: ModelSettings
    ) -> AsyncGenerator[Any]:
        """The model, which is told what is known even if it answers before the agent has fully started."""
        known = await self._known()
        if not any(known in (getattr(item, "text_content", None) or "") for item in chat_ctx.items):
            chat_ctx.add_message(role="system", content=known)
        async for chunk in Agent.default.llm_node(self, chat_ctx, tools, model_settings):
            yield chunk

    async def on_user_turn_completed(self, turn_ctx: llm.ChatContext, new_message: llm.ChatMessage) -> None:
        if not (said := new_message.text_content):
            return
        try:
            await self._record("user", said, new_message.id)
            made = await self._memory.context(
                user=self._user,
                persona=self._persona,
                lane=self._lane,
                turn=f"livekit:{new_message.id}",
                inputs=self._inputs,
            )
            turn_ctx.add_message(role="system", content=made.system)
        except HithertoError as error:
            LOG.warning("a turn goes on without memory: %s", error)

    @property
    def _inputs(self) -> dict[str, str]:
        """Who answers is in the agent's own instructions."""
        return {"persona": ""} if self._persona is None else {}

    def _heard(self, event: Any) -> None:
        item = event.item
        if getattr(item, "type", "") == "message" and item.role in ("user", "assistant") and item.text_content:
            task = asyncio.ensure_future(self._record_item(item))
            self._writing.add(task)
            task.add_done_callback(self._writing.discard)

    async def _record_item(self, item: Any) -> None:
        try:
            await self._record(item.role, item.text_content, item.id)
        except HithertoError as error:
            LOG.warning("a turn was not recorded: %s", error)

    async def on_exit(self) -> None:
        """Waits until what was said is stored."""
        for task in list(self._writing):
            await task

    async def _record(self, role: Role, text: str, identity: str) -> None:
        name = f"livekit:{identity}"
        await self._memory.record(Turn(self._user, role, text, id=name, persona=self._persona, lane=self._lane))
