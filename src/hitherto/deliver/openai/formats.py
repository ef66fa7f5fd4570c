"""The two shapes a conversation comes in, chat completions and responses, read into one and written back.

Only what memory needs is touched: the messages and, for responses, the instructions. Every other field, known or not, is
the upstream server's business and passes as it came.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, cast

from hitherto.deliver.importing.openai import content
from hitherto.deliver.openai.places import Said, spoken
from hitherto.deliver.untrusted import Raw, child, mapping, objects, text
from hitherto.errors import InvalidInput
from hitherto.types import Json, Media, Role, ToolCall

Message = dict[str, Any]

_ROLES: Final[dict[str, Role]] = {"user": "user", "assistant": "assistant", "tool": "tool", "function": "tool"}
_CAPTIONS: Final = re.compile(r"^(?:\((?:image/\*: image|audio/\*: audio|application/octet-stream: file)\)\n?)+")
STATED: Final = ("system", "developer")
"""The roles of the client's own instructions."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One message of a request: the items it came as, and what it says. A system message says nothing that is recorded, nor
    does reasoning alone."""

    raws: tuple[Message, ...]
    said: Said | None

    @property
    def stated(self) -> bool:
        return self.raws[0].get("role") in STATED

    @property
    def media(self) -> list[Raw]:
        """The pieces of its content that are no text."""
        return [piece for raw in self.raws for piece in objects(raw, "content") if text(piece, "text") is None]


Kept = Mapping[str, Said]
"""What the upstream server keeps under ids that a request names, as far as it was said here."""


class Format(Protocol):
    """How one of the two APIs writes a conversation."""

    path: str

    def references(self, body: Message) -> list[str]:
        """Ids of items that the upstream server keeps, which the request names in place of the items."""
        ...

    def continues(self, body: Message) -> str | None:
        """The id of the answer that the request goes on from, whose past the upstream server keeps."""
        ...

    def keeps(self, body: Message) -> bool:
        """Whether the upstream server keeps the turns before."""
        ...

    def entries(self, body: Message, *, kept: Kept) -> list[Entry]:
        """The messages of a request."""
        ...

    def shown(self, message: Message, *, media: Sequence[Raw] = ()) -> list[Message]:
        """A chat message of ours, with what was attached to it."""
        ...

    def with_memory(
        self, body: Message, *, own: Sequence[Message], system: str, messages: Sequence[Message]
    ) -> Message:
        """The request with its own system messages, the assembled text, and these messages."""
        ...


class Chat:
    """`/v1/chat/completions`."""

    path = "/chat/completions"

    def references(self, body: Message) -> list[str]:
        return []

    def continues(self, body: Message) -> str | None:
        return None

    def keeps(self, body: Message) -> bool:
        return False

    def entries(self, body: Message, *, kept: Kept) -> list[Entry]:
        given = body.get("messages")
        if not isinstance(given, list) or not given:
            raise InvalidInput("messages must be a list of at least one message")
        called: dict[str, str] = {}
        found = [_object(raw, what="messages") for raw in cast("list[Any]", given)]
        return [Entry((raw,), _said(raw, called=called)) for raw in found]

    def shown(self, message: Message, *, media: Sequence[Raw] = ()) -> list[Message]:
        if not media:
            return [message]
        words = [{"type": "text", "text": said}] if (said := _uncaptioned(message)) else []
        return [{**message, "content": [*words, *media]}]

    def with_memory(
        self, body: Message, *, own: Sequence[Message], system: str, messages: Sequence[Message]
    ) -> Message:
        first: Message = {"role": "system", "content": system}
        if own:
            first = {**own[0], "content": _joined(own[0].get("content"), system)}
        return {**body, "messages": [first, *own[1:], *messages]}


class Responses:
    """`/v1/responses`. With `previous_response_id` or `conversation` the upstream server keeps the turns before. What the
    assistant says in a row (reasoning, words, calls) is one message, as it is one turn."""

    path = "/responses"

    def references(self, body: Message) -> list[str]:
        named = [text(item, "id") or "" for item in objects(body, "input") if text(item, "type") == "item_reference"]
        continued = self.continues(body)
        return [*filter(None, named), *([continued] if continued else [])]

    def continues(self, body: Message) -> str | None:
        return text(body, "previous_response_id")

    def keeps(self, body: Message) -> bool:
        return bool(self.continues(body) or body.get("conversation"))

    def entries(self, body: Message, *, kept: Kept) -> list[Entry]:
        given = body.get("input")
        if isinstance(given, str):
            return [Entry(({"role": "user", "content": given},), Said("user", given))]
        if not isinstance(given, list) or not given:
            raise InvalidInput("input must be a text or a list of at least one item")
        called: dict[str, str] = {}
        found: list[Entry] = []
        row: list[Entry] = []
        for raw in cast("list[Any]", given):
            entry = self._entry(_object(raw, what="input"), called=called, kept=kept)
            if _is_assistants(entry):
                row.append(entry)
                continue
            found += _as_one(row)
            row = []
            found.append(entry)
        return [*found, *_as_one(row)]

    def _entry(self, item: Message, *, called: dict[str, str], kept: Kept) -> Entry:
        if text(item, "type") == "item_reference":
            said = kept.get(text(item, "id") or "")
            called |= {part.id: part.name for part in (said.parts if said else ()) if isinstance(part, ToolCall)}
            return Entry((item,), said)
        return Entry((item,), said_in(item, called=called))

    def shown(self, message: Message, *, media: Sequence[Raw] = ()) -> list[Message]:
        if not media:
            return _as_items(message)
        words = [{"type": "input_text", "text": said}] if (said := _uncaptioned(message)) else []
        return [{"role": message["role"], "content": [*words, *media]}]

    def with_memory(
        self, body: Message, *, own: Sequence[Message], system: str, messages: Sequence[Message]
    ) -> Message:
        instructions = body.get("instructions")
        return {
            **body,
            "instructions": f"{instructions}\n\n{system}" if isinstance(instructions, str) and instructions else system,
            "input": [*own, *messages],
        }


def said_in(item: Message, *, called: dict[str, str]) -> Said | None:
    """What an input item says, if it says anything that is recorded. `called` collects tools' names by their calls' ids."""
    return _said(_as_chat(item), called=called)


def attached(said: Said, form: Format) -> list[Raw]:
    """Pictures of a turn whose address is known, as pieces of a message."""
    found: list[Raw] = []
    for part in said.parts:
        if isinstance(part, Media) and part.media_type.startswith("image/") and part.url.startswith("http"):
            chat: Raw = {"type": "image_url", "image_url": {"url": part.url}}
            found.append(chat if isinstance(form, Chat) else {"type": "input_image", "image_url": part.url})
    return found


def _uncaptioned(message: Message) -> str:
    """What was said with a picture, without the words that stand for the picture."""
    return _CAPTIONS.sub("", str(message.get("content") or ""))


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
    words = spoken(words) if role == "assistant" else words
    if not words and not parts:
        return None
    return Said(role, words, parts, text(message, "name") if role == "user" else None)


def _joined(content: object, system: str) -> Json:
    if isinstance(content, list):
        return [*cast("list[Json]", content), {"type": "text", "text": system}]
    return f"{content}\n\n{system}" if isinstance(content, str) and content else system


def _is_assistants(entry: Entry) -> bool:
    """Whether an item is part of what the assistant said or did in one answer."""
    if entry.said is not None:
        return entry.said.role == "assistant"
    return entry.raws[0].get("role") in (None, "assistant") and not _is_output(entry.raws[0])


def _is_output(item: Raw) -> bool:
    return (text(item, "type") or "").endswith("_output")


def _as_one(row: Sequence[Entry]) -> list[Entry]:
    """The items of one answer as one message."""
    if not row:
        return []
    said = [entry.said for entry in row if entry.said is not None]
    raws = tuple(raw for entry in row for raw in entry.raws)
    if not said:
        return [Entry(raws, None)]
    words = "\n\n".join(one.text for one in said if one.text)
    return [Entry(raws, Said("assistant", words, tuple(part for one in said for part in one.parts)))]


def _as_chat(item: Raw) -> Raw:
    """An input item as a chat message; one that is neither said nor a tool's is none."""
    kind = text(item, "type") or "message"
    match kind:
        case "message":
            return item
        case "function_call" | "custom_tool_call":
            given = item.get("arguments") if kind == "function_call" else json.dumps({"input": item.get("input")})
            call = {"id": item.get("call_id"), "function": {"name": item.get("name"), "arguments": given}}
            return {"role": "assistant", "content": "", "tool_calls": [call]}
        case _ if kind.endswith("_call") and text(item, "call_id"):
            # A computer, a shell: the provider's own tools whose results the client brings.
            call = {"id": item.get("call_id"), "function": {"name": kind, "arguments": json.dumps(dict(item))}}
            return {"role": "assistant", "content": "", "tool_calls": [call]}
        case _ if _is_output(item) and text(item, "call_id"):
            return {"role": "tool", "tool_call_id": item.get("call_id"), "content": output_text(item.get("output"))}
        case _:
            return {}


def output_text(output: object) -> str:
    """What a tool gave back, in words: its text, or the pieces of it that are text."""
    if isinstance(output, str):
        return output
    if isinstance(output, list):
        pieces = [mapping(piece) for piece in cast("list[object]", output)]
        return "\n".join(text(piece, "text") or f"({text(piece, 'type') or 'something'})" for piece in pieces)
    return "" if output is None else json.dumps(output, ensure_ascii=False)


def _as_items(message: Message) -> list[Message]:
    """A chat message as input items."""
    if message["role"] == "tool":
        return [{"type": "function_call_output", "call_id": message["tool_call_id"], "output": message["content"]}]
    items: list[Message] = []
    if message.get("content"):
        items.append({"role": message["role"], "content": message["content"]})
    for call in message.get("tool_calls") or ():
        function = child(call, "function")
        items.append(
            {
                "type": "function_call",
                "call_id": call["id"],
                "name": function["name"],
                "arguments": function["arguments"],
            }
        )
    return items
