"""PydanticAI's messages: converts a context's chat messages into them, and those of a run into turns.

What is made from a context is only ever sent: it carries no run id, is not part of a run's own messages, and is never
written back.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from pydantic_ai.messages import (
    BinaryContent,
    CachePoint,
    FilePart,
    FileUrl,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    NativeToolCallPart,
    NativeToolReturnPart,
    SystemPromptPart,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UploadedFile,
    UserContent,
    UserPromptPart,
)

from hitherto.deliver.untrusted import storable
from hitherto.types import Context, Json, Media, Part, Role, Thinking, ToolCall, ToolReturn


def before_the_message(context: Context, *, breakpoints: bool = False) -> list[ModelMessage]:
    """The turns of the window and everything else that the context puts between them and the message.

    With `breakpoints`, and if the context's beginning is stable, the last of the user's turns in the window ends in a cache
    point, for providers that accept one.
    """
    window = loaded(context.history)
    if breakpoints and context.breakpoints:
        _mark_end(window)
    return window + loaded(context.messages[len(context.history) : -1])


def loaded(chat: Sequence[Mapping[str, Json]]) -> list[ModelMessage]:
    """Messages in OpenAI's chat shape as PydanticAI's; consecutive tool answers are one request."""
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
    """The run's messages after the loaded ones, except the agent's own system prompt, which stays in front."""
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
    """A cache point can only stand in the user's words, so it goes into the newest of them."""
    for message in reversed(window):
        if isinstance(message, ModelRequest) and isinstance(part := message.parts[-1], UserPromptPart):
            message.parts = [UserPromptPart([str(part.content), CachePoint()])]
            return


# --- from the messages of a run to turns ---------------------------------------------------------------------------------
# Recorded are what was said, which tools were called with what answer, and the reasoning; not recorded are system prompts
# and instructions, because they are the application's or were assembled from memory in the first place. An answer that the
# run rejected (output that failed validation) was never said, so it is kept as reasoning.

Keep = Callable[[BinaryContent], str]
"""Stores the bytes of an image, sound or document somewhere and returns the address."""


@dataclass(frozen=True, slots=True)
class SaidPart:
    """A future turn: who spoke, the words, and what came with them."""

    role: Role
    text: str
    parts: tuple[Part, ...] = ()

    @property
    def empty(self) -> bool:
        return not self.text.strip() and not self.parts


def prompted(prompt: str | Sequence[UserContent], *, keep: Keep | None = None) -> SaidPart:
    """The user's prompt: its text, and a reference for everything that is not text."""
    if isinstance(prompt, str):
        return SaidPart("user", storable(prompt))
    texts: list[str] = []
    media: list[Part] = []
    for item in prompt:
        if isinstance(item, str):
            texts.append(item)
        elif isinstance(item, TextContent):
            texts.append(item.content)
        elif isinstance(item, CachePoint):
            continue
        else:
            media.append(_medium(item, keep))
    return SaidPart("user", storable("\n".join(texts)), tuple(media))


def recorded_parts(
    messages: Sequence[ModelMessage],
    *,
    outputs: Collection[str] = (),
    answer: str | None = None,
    keep: Keep | None = None,
) -> list[SaidPart]:
    """The turns of a run's messages, in order, including the first prompt.

    `outputs` are the names of the tools through which the model returns structured output: the accepted one is the answer,
    in the words of `answer` if given and otherwise as its JSON.
    """
    accepted = {
        part.tool_call_id
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, ToolReturnPart) and part.tool_name in outputs and part.outcome == "success"
    }
    found: list[SaidPart] = []
    for message in messages:
        if isinstance(message, ModelResponse):
            found.append(_answered(message, outputs=outputs, accepted=accepted, answer=answer, keep=keep))
        else:
            if found and any(part.part_kind == "retry-feedback" for part in message.parts):
                found[-1] = _rejected(found[-1])
            found += _asked(message, outputs=outputs, keep=keep)
    return [one for one in found if not one.empty]


def _asked(request: ModelRequest, *, outputs: Collection[str], keep: Keep | None) -> list[SaidPart]:
    answers: tuple[Part, ...] = tuple(
        ToolReturn(id=part.tool_call_id, name=part.tool_name, content=storable(part.model_response_str()))
        for part in request.parts
        if isinstance(part, ToolReturnPart) and part.tool_name not in outputs
    )
    # Coordination a tool's answer, user content is the files of that answer and nothing that the user said.
    prompts = [part for part in request.parts if isinstance(part, UserPromptPart)] if not answers else []
    return [SaidPart("tool", "", answers), *(prompted(part.content, keep=keep) for part in prompts)]


def _answered(
    response: ModelResponse,
    *,
    outputs: Collection[str],
    accepted: Collection[str],
    answer: str | None,
    keep: Keep | None,
) -> SaidPart:
    texts: list[str] = []
    parts: list[Part] = []
    for part in response.parts:
        match part:
            case TextPart():
                texts.append(part.content)
            case ThinkingPart() if part.content:
                parts.append(Thinking(text=storable(part.content)))
            case ToolCallPart() if part.tool_name in outputs:
                if part.tool_call_id in accepted:
                    texts.append(_args(part) if answer is None else answer)
            case ToolCallPart():
                parts.append(ToolCall(id=part.tool_call_id, name=part.tool_name, args=storable(_args(part))))
            case NativeToolCallPart():
                # The provider ran it: no other may be shown a call of a tool that it does not have.
                parts.append(Thinking(text=storable(f"{part.tool_name} {_args(part)}")))
            case NativeToolReturnPart():
                parts.append(Thinking(text=storable(f"{part.tool_name}: {part.model_response_str()}")))
            case FilePart():
                parts.append(_medium(part.content, keep))
            case _:
                pass
    return SaidPart("assistant", storable("".join(texts)), tuple(parts))


def _args(part: ToolCallPart | NativeToolCallPart) -> str:
    """The arguments as the model wrote them; anything but JSON is wrapped, because providers want JSON."""
    if isinstance(part.args, str) and part.args:
        try:
            json.loads(part.args)
        except ValueError:
            return part.args_as_json_str()
        return part.args
    return part.args_as_json_str()


def _rejected(answer: SaidPart) -> SaidPart:
    if not answer.text:
        return answer
    return replace(answer, text="", parts=(*answer.parts, Thinking(text=answer.text)))


def _medium(item: FileUrl | BinaryContent | UploadedFile, keep: Keep | None) -> Media:
    """A reference: the address if there is one, else where `keep` put the bytes, else the bytes' hash."""
    if isinstance(item, FileUrl):
        return Media(media_type=_type(item), url=item.url)
    if isinstance(item, UploadedFile):
        return Media(media_type=_type(item), url=f"upload:{item.file_id}")
    if keep is not None:
        return Media(media_type=item.media_type, url=keep(item))
    return Media(media_type=item.media_type, url=f"sha256:{sha256(item.data).hexdigest()}")


def _type(item: FileUrl | UploadedFile) -> str:
    try:
        return item.media_type
    except ValueError:
        return "application/octet-stream"  # An address without an ending, or an upload of an unknown kind.
