"""A model that follows a script and keeps what it was sent, and agents that use it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

Answer = str | ModelResponse | Exception


@dataclass
class Script:
    """Answers in order, the last one again and again; `seen` and `instructions` are what each request brought."""

    answers: Sequence[Answer] = ("all right",)
    seen: list[list[ModelMessage]] = field(default_factory=list[list[ModelMessage]])
    instructions: list[str] = field(default_factory=list[str])
    hang_after: int | None = None
    """When streaming, the model says so many words and then nothing more."""
    started: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def model(self) -> FunctionModel:
        return FunctionModel(self._answer, stream_function=self._stream)

    def _next(self, messages: list[ModelMessage], info: AgentInfo) -> Answer:
        self.seen.append(list(messages))
        self.instructions.append(info.instructions or "")
        return self.answers[min(len(self.seen), len(self.answers)) - 1]

    async def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        answer = self._next(messages, info)
        if isinstance(answer, Exception):
            raise answer
        self.started.set()
        if self.hang_after is not None:
            await asyncio.Event().wait()
        return answer if isinstance(answer, ModelResponse) else ModelResponse(parts=[TextPart(answer)])

    async def _stream(
        self, messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
        answer = self._next(messages, info)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, ModelResponse):
            for number, call in enumerate(answer.tool_calls):
                yield {number: DeltaToolCall(call.tool_name, str(call.args), tool_call_id=call.tool_call_id)}
            return
        for number, word in enumerate(answer.split(" ")):
            if number == self.hang_after:
                self.started.set()
                await asyncio.Event().wait()
            yield word if number == 0 else f" {word}"

    def told(self, request: int = -1) -> str:
        """Everything of one request as a transcript."""
        return transcript(self.seen[request])


def transcript(messages: Sequence[ModelMessage]) -> str:
    lines: list[str] = []
    for message in messages:
        if isinstance(message, ModelRequest):
            for part in message.parts:
                match part:
                    case UserPromptPart():
                        lines.append(f"user: {spoken(part)}")
                    case SystemPromptPart():
                        lines.append(f"system: {part.content}")
                    case ToolReturnPart():
                        lines.append(f"tool {part.tool_name}: {part.model_response_str()}")
                    case _:
                        lines.append(part.part_kind)
        else:
            for part in message.parts:
                match part:
                    case TextPart():
                        lines.append(f"assistant: {part.content}")
                    case ToolCallPart():
                        lines.append(f"call {part.tool_name}: {part.args}")
                    case _:
                        lines.append(part.part_kind)
    return "\n".join(lines)


def spoken(part: UserPromptPart) -> str:
    if isinstance(part.content, str):
        return part.content
    return " ".join(item if isinstance(item, str) else f"<{item.kind}>" for item in part.content)


def calls(*wanted: tuple[str, str, str]) -> ModelResponse:
    """A response that calls tools: name, arguments as JSON, id."""
    return ModelResponse(parts=[ToolCallPart(name, args, link) for name, args, link in wanted])
