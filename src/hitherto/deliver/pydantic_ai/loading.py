"""From a context's chat messages to PydanticAI's messages.

What comes out is only ever sent: it carries no run id, is not part of a run's own messages, and is never written back.
"""

from collections.abc import Mapping, Sequence

from pydantic_ai.messages import (
    CachePoint,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from hitherto.types import Context, Json


def before_the_message(context: Context, *, breakpoints: bool = False) -> list[ModelMessage]:
    """The turns of the window and whatever else the context puts between them and the message.

    With `breakpoints`, and if the context's beginning lasts, the last of the user's turns in the window ends in a cache
    point, for providers that take one.
    """
    window = loaded(context.history)
    if breakpoints and context.breakpoints:
        _mark_end(window)
    return window + loaded(context.messages[len(context.history) : -1])


def loaded(chat: Sequence[Mapping[str, Json]]) -> list[ModelMessage]:
    """Messages in OpenAI's chat shape as PydanticAI's; answers of tools that follow each other are one request."""
    messages: list[ModelMessage] = []
    names: dict[str, str] = {}
    for entry in chat:
        content = entry.get("content")
        text = content if isinstance(content, str) else ""
        match entry["role"]:
            case "assistant":
                parts: list[ModelResponsePart] = [TextPart(text)] if text else []
                for call in _calls(entry):
                    names[call.tool_call_id] = call.tool_name
                    parts.append(call)
                messages.append(ModelResponse(parts=parts))
            case "tool":
                link = str(entry["tool_call_id"])
                answer = ToolReturnPart(names.get(link, "tool"), text, link)
                last = messages[-1] if messages else None
                if isinstance(last, ModelRequest) and isinstance(last.parts[-1], ToolReturnPart):
                    last.parts = [*last.parts, answer]
                else:
                    messages.append(ModelRequest(parts=[answer]))
            case _:
                messages.append(ModelRequest(parts=[UserPromptPart(text)]))
    return messages


def system_first(messages: Sequence[ModelMessage], loaded: Sequence[ModelMessage]) -> list[ModelMessage]:
    """The run's messages after the loaded ones, but for the agent's own system prompt, which stays in front of all."""
    front: list[ModelRequestPart] = []
    rest = list(messages)
    if rest and isinstance(first := rest[0], ModelRequest):
        front = [part for part in first.parts if isinstance(part, SystemPromptPart)]
        others = [part for part in first.parts if not isinstance(part, SystemPromptPart)]
        if front and others:
            rest[0] = ModelRequest(
                parts=others, instructions=first.instructions, timestamp=first.timestamp, run_id=first.run_id
            )
        elif front:
            return list(messages)
    head: list[ModelMessage] = [ModelRequest(parts=front)] if front else []
    return [*head, *loaded, *rest]


def _calls(entry: Mapping[str, Json]) -> list[ToolCallPart]:
    calls = entry.get("tool_calls")
    return [
        ToolCallPart(str(function["name"]), str(function["arguments"]), str(call["id"]))
        for call in (calls if isinstance(calls, list) else ())
        if isinstance(call, dict) and isinstance(function := call["function"], dict)
    ]


def _mark_end(window: Sequence[ModelMessage]) -> None:
    """A cache point can only stand in the user's words, so it stands in the newest of them."""
    for message in reversed(window):
        if isinstance(message, ModelRequest) and isinstance(part := message.parts[-1], UserPromptPart):
            message.parts = [UserPromptPart([str(part.content), CachePoint()])]
            return
