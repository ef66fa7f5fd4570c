"""The two shapes a conversation comes in, chat completions and responses, read into one and written back.

Only what memory needs is touched: the messages and, for responses, the instructions. Every other field, known or not, is
the upstream server's business and passes as it came.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from hitherto.deliver.importing.openai import content
from hitherto.deliver.openai.recognise import Said
from hitherto.deliver.untrusted import Raw, mapping, text
from hitherto.errors import InvalidInput
from hitherto.types import Json, Role

Message = dict[str, Any]

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "tool": "tool", "function": "tool"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One message of a request as it came, and what it says; a system message says nothing that is recorded."""

    raw: Message
    said: Said | None


class Format(Protocol):
    """How one of the two APIs writes a conversation."""

    path: str

    def entries(self, body: Message) -> list[Entry]:
        """The messages of a request."""
        ...

    def with_memory(
        self, body: Message, *, own: Sequence[Message], system: str, messages: Sequence["Message | Entry"]
    ) -> Message:
        """The request with its own system messages, the assembled text, and these messages: chat messages of ours and
        entries of its own."""
        ...


class Chat:
    """`/v1/chat/completions`."""

    path = "/chat/completions"

    def entries(self, body: Message) -> list[Entry]:
        given = body.get("messages")
        if not isinstance(given, list) or not given:
            raise InvalidInput("messages must be a list of at least one message")
        called: dict[str, str] = {}
        return [Entry(_object(raw, what="messages"), _said(raw, called=called)) for raw in cast("list[Any]", given)]

    def with_memory(
        self, body: Message, *, own: Sequence[Message], system: str, messages: Sequence[Message | Entry]
    ) -> Message:
        first: Message = {"role": "system", "content": system}
        if own:
            first = {**own[0], "content": _joined(own[0].get("content"), system)}
        shown = [one.raw if isinstance(one, Entry) else one for one in messages]
        return {**body, "messages": [first, *own[1:], *shown]}


class Responses:
    """`/v1/responses`. With `previous_response_id` the upstream server keeps the turns before."""

    path = "/responses"

    def entries(self, body: Message) -> list[Entry]:
        given = body.get("input")
        if isinstance(given, str):
            return [Entry({"role": "user", "content": given}, Said("user", given))]
        if not isinstance(given, list) or not given:
            raise InvalidInput("input must be a text or a list of at least one item")
        called: dict[str, str] = {}
        found = [_object(raw, what="input") for raw in cast("list[Any]", given)]
        return [Entry(raw, _said(_as_chat(raw), called=called)) for raw in found]

    def with_memory(
        self, body: Message, *, own: Sequence[Message], system: str, messages: Sequence[Message | Entry]
    ) -> Message:
        instructions = body.get("instructions")
        items = [item for one in messages for item in ([one.raw] if isinstance(one, Entry) else _as_items(one))]
        return {
            **body,
            "instructions": f"{instructions}\n\n{system}" if isinstance(instructions, str) else system,
            "input": [*own, *items],
        }


def _object(raw: object, *, what: str) -> Message:
    if not isinstance(raw, dict):
        raise InvalidInput(f"{what} must hold objects only")
    return cast(Message, raw)


def _said(raw: object, *, called: dict[str, str]) -> Said | None:
    message = mapping(raw)
    role = _ROLES.get(text(message, "role") or "")
    if role is None:
        return None
    words, parts = content(message, called=called)
    if not words and not parts:
        return None
    return Said(role, words, parts, text(message, "name") if role == "user" else None)


def _joined(content: object, system: str) -> Json:
    if isinstance(content, list):
        return [*cast("list[Json]", content), {"type": "text", "text": system}]
    return f"{content}\n\n{system}" if isinstance(content, str) and content else system


def _as_chat(item: Raw) -> Raw:
    """An input item as a chat message; one that is neither said nor a tool's is none."""
    match text(item, "type") or "message":
        case "message":
            return item
        case "function_call":
            function = {"name": item.get("name"), "arguments": item.get("arguments")}
            return {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": item.get("call_id"), "function": function}],
            }
        case "function_call_output":
            return {"role": "tool", "tool_call_id": item.get("call_id"), "content": str(item.get("output") or "")}
        case _:
            return {}


def _as_items(message: Message) -> list[Message]:
    """A chat message as input items."""
    if message["role"] == "tool":
        return [{"type": "function_call_output", "call_id": message["tool_call_id"], "output": message["content"]}]
    items: list[Message] = []
    if message.get("content"):
        items.append({"role": message["role"], "content": message["content"]})
    for call in message.get("tool_calls") or ():
        function = call["function"]
        items.append(
            {
                "type": "function_call",
                "call_id": call["id"],
                "name": function["name"],
                "arguments": function["arguments"],
            }
        )
    return items
