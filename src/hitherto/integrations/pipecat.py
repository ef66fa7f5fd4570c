"""Pipecat: a processor that gives the model its memory and records what was said.

    Pipeline([transport.input(), stt, aggregator.user(), PipecatMemory(memory, user="ana"), llm, tts, …])

It stands before the model. A context that passes is recorded as far as it is new, and holds what is known of the user in one
message of ours, made anew for each answer.
"""

import logging
from typing import Any, Final

from pipecat.frames.frames import Frame, LLMContextFrame
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from hitherto import Hitherto, Turn
from hitherto.errors import HithertoError
from hitherto.ids import derived_id
from hitherto.integrations.reach import context_text

LOG = logging.getLogger("hitherto.pipecat")
OURS: Final = "What you know of the person you are talking to:\n\n"


class PipecatMemory(FrameProcessor):
    """Memory before the model. One that cannot answer costs the memory, not the call."""

    def __init__(
        self, memory: Hitherto, *, user: str, persona: str | None = None, lane: str | None = None, **options: Any
    ) -> None:
        super().__init__(**options)
        self._memory = memory
        self._user = user
        self._persona = persona
        self._lane = lane

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, LLMContextFrame):
            try:
                await self._remembered(frame.context)
            except HithertoError as error:
                LOG.warning("an answer is made without memory: %s", error)
        await self.push_frame(frame, direction)

    async def _remembered(self, context: Any) -> None:
        messages = [one for one in context.get_messages() if not _is_ours(one)]
        turns = self._turns(messages)
        if not turns or turns[-1].role != "user":
            return
        await self._memory.record(turns)
        inputs = {"persona": ""} if self._persona is None else {}
        made = await self._memory.context(
            user=self._user, persona=self._persona, lane=self._lane, turn=turns[-1].id, inputs=inputs
        )
        place = next((place for place, one in enumerate(messages) if one.get("role") not in ("system", "developer")), 0)
        messages.insert(place, {"role": "developer", "content": OURS + context_text(made, own=len(turns) - 1)})
        context.set_messages(messages)

    def _turns(self, messages: list[Any]) -> list[Turn]:
        """What was said, each with an id from everything said before it, so that what passes again is recorded once."""
        chain, turns = derived_id("pipecat", self._user, self._lane or ""), list[Turn]()
        for one in messages:
            role, said = one.get("role"), one.get("content")
            if role not in ("user", "assistant") or not isinstance(said, str) or not said.strip():
                continue
            chain = derived_id(chain, role, said)
            turns.append(Turn(self._user, role, said, id=f"pipecat:{chain}", persona=self._persona, lane=self._lane))
        return turns


def _is_ours(message: Any) -> bool:
    return str(message.get("content") or "").startswith(OURS)
