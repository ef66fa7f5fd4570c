"""`Memory`: a capability that gives an agent its past before a run and records what was new after it.

The user's prompt is recorded before the model is asked, so it survives whatever happens then; everything else of the run
is recorded in one write when the run ends, also when it fails, is cancelled, or its stream is abandoned. Loaded turns are
put in front of each request only: they never become part of the run's own messages, so nothing loaded is written back.
The assembled text goes out as instructions, which PydanticAI evaluates anew for every run.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any
from uuid import uuid4

from pydantic_ai import RunContext
from pydantic_ai.agent import AgentRunResult
from pydantic_ai.capabilities import AbstractCapability, WrapRunHandler
from pydantic_ai.messages import ModelMessage, ModelRequest, UserPromptPart
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.tools import AgentDepsT
from pydantic_ai.toolsets import FunctionToolset

from hitherto.deliver.pydantic_ai.messages import (
    Keep,
    SaidPart,
    before_the_message,
    prompted,
    recorded_parts,
    system_first,
)
from hitherto.engine import Hitherto
from hitherto.errors import HithertoError, StoreError
from hitherto.recipes.recipe import Recipe
from hitherto.safety.markup import safe
from hitherto.types import Context, Turn

LOG = logging.getLogger("hitherto.pydantic_ai")

NO_WORDS = "(no words)"
"""The memory's query if a prompt contains no text."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """The prompt of this run as a turn, and whether it is already stored."""

    turn: Turn
    stored: bool


@dataclass
class Memory(AbstractCapability[AgentDepsT]):
    """Continuity for an agent: history and assembled instructions in, new messages out.

    `user`, `persona`, `lane` and `inputs` are values, or functions of the run's context (`lambda ctx: ctx.deps.user`). A
    run with a `message_history` or `conversation` of its own keeps it and only gets the instructions.
    """

    engine: Hitherto
    _: KW_ONLY
    user: str | Callable[[RunContext[AgentDepsT]], str]
    persona: str | Callable[[RunContext[AgentDepsT]], str | None] | None = None
    lane: str | Callable[[RunContext[AgentDepsT]], str | None] | None = None
    inputs: Mapping[str, str] | Callable[[RunContext[AgentDepsT]], Mapping[str, str]] | None = None
    recipe: str | Recipe | None = None
    tokenizer: str | None = None
    answer: Callable[[Any], str] | None = None
    """Turns structured output into the words that are recorded; by default, its JSON is."""
    keep: Keep | None = None
    """Stores the bytes of attachments somewhere; by default, only their hash is recorded."""
    tools: bool = False
    """Whether the model may search the memory and close open threads itself."""
    breakpoints: bool = True
    """Whether the end of a stable window (recipe `companion-cached`) is marked for providers with prompt caches."""
    id: str | None = "hitherto_memory"

    context: Context | None = field(default=None, init=False, repr=False)
    """What this run was given; only on the instance of a run (`for_run`)."""
    _asked: _Asked | None = field(default=None, init=False, repr=False)
    _given: bool = field(default=False, init=False, repr=False)
    _live: list[ModelMessage] | None = field(default=None, init=False, repr=False)
    _outputs: frozenset[str] = field(default=frozenset(), init=False, repr=False)
    _run: str = field(default="", init=False, repr=False)

    @classmethod
    def get_serialization_name(cls) -> str | None:
        return None  # It holds an open engine.

    async def for_run(self, ctx: RunContext[AgentDepsT]) -> "Memory[AgentDepsT]":
        """An instance for each run, so that concurrent runs share nothing."""
        fresh = replace(self)
        fresh._run = uuid4().hex
        return fresh

    # --- before ----------------------------------------------------------------------------------------------------

    async def before_run(self, ctx: RunContext[AgentDepsT]) -> None:
        self._given = bool(ctx.messages)
        prompt = ctx.prompt if ctx.prompt is not None else _last_prompt(ctx.messages)
        if prompt is None:
            return
        heard = prompted(prompt, keep=self.keep)
        if ctx.prompt is not None and not heard.empty:
            turn = self._turn(ctx, heard, number=0)
            self._asked = _Asked(turn, await self._stored([turn]))
        self.context = await self._assembled(ctx, heard.text)

    async def _assembled(self, ctx: RunContext[AgentDepsT], text: str) -> Context:
        asked = self._asked
        if asked is not None and asked.stored:
            try:
                return await self._context(ctx, turn=asked.turn.id)
            except StoreError as error:
                LOG.warning("the stored prompt could not be read back: %s", error)
        return await self._context(ctx, message=text if text.strip() else NO_WORDS)

    async def _context(
        self, ctx: RunContext[AgentDepsT], *, message: str | None = None, turn: str | None = None
    ) -> Context:
        return await self.engine.context(
            user=self._user(ctx),
            persona=_value(self.persona, ctx),
            lane=_value(self.lane, ctx),
            message=message,
            turn=turn,
            recipe=self.recipe,
            tokenizer=self.tokenizer,
            inputs=self.inputs(ctx) if callable(self.inputs) else self.inputs,
        )

    def get_instructions(self) -> Callable[[RunContext[AgentDepsT]], str | None]:
        def assembled(ctx: RunContext[AgentDepsT]) -> str | None:
            return self.context.system if self.context else None

        return assembled

    async def before_model_request(
        self, ctx: RunContext[AgentDepsT], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        self._live = ctx.messages
        self._outputs |= {tool.name for tool in request_context.model_request_parameters.output_tools}
        if self.context is not None and not self._given:
            past = before_the_message(self.context, breakpoints=self.breakpoints)
            request_context.messages = system_first(request_context.messages, past)
        return request_context

    # --- after -----------------------------------------------------------------------------------------------------

    async def before_node_run(self, ctx: RunContext[AgentDepsT], *, node: Any) -> Any:
        """The only place that sees the run's own list of messages if the run fails later."""
        self._live = ctx.messages
        return node

    async def wrap_run(self, ctx: RunContext[AgentDepsT], *, handler: WrapRunHandler) -> AgentRunResult[Any]:
        try:
            result = await handler()
        except BaseException:
            await _through_cancellation(self._record(ctx, answer=None))
            raise
        structured = self.answer is not None and not isinstance(result.output, str)
        answer = self.answer(result.output) if structured and self.answer else None
        await _through_cancellation(self._record(ctx, answer=answer))
        return result

    async def _record(self, ctx: RunContext[AgentDepsT], *, answer: str | None) -> None:
        live = self._live if self._live is not None else ctx.messages
        new = [message for message in live if message.run_id == ctx.run_id]
        spoken = recorded_parts(new, outputs=self._outputs, answer=answer, keep=self.keep)
        asked = self._asked
        if asked is not None and spoken and spoken[0].role == "user":
            spoken = spoken[1:]
        turns = [self._turn(ctx, one, number=number) for number, one in enumerate(spoken, start=1)]
        if asked is not None and not asked.stored:
            turns.insert(0, asked.turn)
        if turns:
            await self._stored(turns)

    async def _stored(self, turns: Sequence[Turn]) -> bool:
        """Records, or logs why not: a conversation does not fail because its memory does."""
        try:
            await self.engine.record(turns)
        except HithertoError as error:
            LOG.error("%d turns of user %r were not recorded: %s", len(turns), turns[0].user, error)
            return False
        return True

    def _turn(self, ctx: RunContext[AgentDepsT], said: SaidPart, *, number: int) -> Turn:
        return Turn(
            self._user(ctx),
            said.role,
            said.text,
            id=f"run-{self._run}-{number}",
            persona=_value(self.persona, ctx),
            lane=_value(self.lane, ctx),
            conversation=ctx.conversation_id,
            parts=said.parts or None,
            snapshot=self.context.snapshot if self.context and said.role == "assistant" else None,
        )

    # --- tools -----------------------------------------------------------------------------------------------------

    def get_toolset(self) -> FunctionToolset[AgentDepsT] | None:
        if not self.tools:
            return None
        toolset: FunctionToolset[AgentDepsT] = FunctionToolset(id="hitherto_memory")

        async def search_memory(ctx: RunContext[AgentDepsT], query: str) -> list[str]:
            """What was said or is known about something. Use it when the conversation so far does not tell.

            Args:
                query: What to look for, in plain words.
            """
            found = await self.engine.search(user=self._user(ctx), query=query, persona=_value(self.persona, ctx))
            return [f"{hit.at.date().isoformat()}: {safe(hit.text)}" for hit in found]

        async def close_thread(ctx: RunContext[AgentDepsT], thread: str) -> str:
            """Closes an open thread that has been dealt with, so that it is not brought up again.

            Args:
                thread: The thread as it stands under the open threads.
            """
            loops = await self.engine.loops(user=self._user(ctx), persona=_value(self.persona, ctx))
            for loop in loops:
                if _same_thread(loop.text, thread):
                    await self.engine.update(loop.id, user=self._user(ctx), status="done")
                    return f"closed: {loop.text}"
            return "there is no such open thread"

        toolset.add_function(search_memory)
        toolset.add_function(close_thread)
        return toolset

    def _user(self, ctx: RunContext[AgentDepsT]) -> str:
        return self.user(ctx) if callable(self.user) else self.user


def _value(
    value: str | Callable[[RunContext[AgentDepsT]], str | None] | None, ctx: RunContext[AgentDepsT]
) -> str | None:
    return value(ctx) if callable(value) else value


def _last_prompt(messages: Sequence[ModelMessage]) -> str | Sequence[Any] | None:
    """What a run without a prompt continues from."""
    for message in reversed(messages):
        if isinstance(message, ModelRequest):
            for part in reversed(message.parts):
                if isinstance(part, UserPromptPart):
                    return part.content
    return None


def _same_thread(known: str, named: str) -> bool:
    """Whether a model that copies a line of the open threads means this loop."""
    bare = named.strip().lstrip("-").strip()
    if bare.startswith("("):
        bare = bare.partition(")")[2].strip()
    return bool(bare) and " ".join(bare.casefold().split()) in " ".join(known.casefold().split())


async def _through_cancellation(work: Any) -> None:
    """Finishes the work even if the surrounding run is cancelled, however often; the cancellation then proceeds."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
    task.result()
    if cancelled is not None:
        raise cancelled
