"""Conversations in the shape of OpenAI's chat API.

Accepted are a list of messages, an object with `messages`, a list of such objects, and one of them per line. Messages carry
no id, so each gets one from everything said before it: importing a conversation that has grown only adds what is new.
"""

import json
from collections.abc import Iterator
from typing import Final

from hitherto.deliver.importing.source import JsonStream, Source
from hitherto.deliver.untrusted import Raw, child, instant, mapping, number, objects, storable, text
from hitherto.errors import InvalidInput
from hitherto.ids import derived_id
from hitherto.types import Media, Part, Role, ToolCall, ToolReturn, Turn

_ROLES: Final[dict[str, Role]] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}


def turns(source: Source) -> Iterator[Turn]:
    user = source.owner(of="a chat in OpenAI's shape")
    with source.path.open("rb") as file:
        stream = JsonStream(file, name=source.path.name)
        while stream.peek():
            for conversation in _conversations(stream, source=source):
                yield from _turns(conversation, user=user, source=source)


def _conversations(stream: JsonStream, *, source: Source) -> Iterator[Raw]:
    """Each as an object with `messages`. A list holds conversations, or is one itself."""
    if stream.peek() != b"[":
        yield _checked(stream, mapping(stream.value()), source=source)
        source.passed = stream.offset
        return
    loose: list[object] = []
    for _ in stream.elements():
        element = mapping(stream.value())
        source.passed = stream.offset
        if "messages" in element:
            yield _checked(stream, element, source=source)
        else:
            loose.append(element)
    if loose:
        yield {"messages": loose}


def _checked(stream: JsonStream, conversation: Raw, *, source: Source) -> Raw:
    if not isinstance(conversation.get("messages"), list):
        raise InvalidInput(f"{source.path.name}, line {stream.line}: expected an object with a list of `messages`")
    return conversation


def _turns(conversation: Raw, *, user: str, source: Source) -> Iterator[Turn]:
    known = text(conversation, "id") or text(conversation, "conversation_id")
    chain = derived_id("openai", known or "")
    name = known and f"openai:{known}"
    called: dict[str, str] = {}
    for message in objects(conversation, "messages"):
        role = _ROLES.get(text(message, "role") or "")
        if role is None:
            source.skip(f"role {message.get('role')!r}")
            continue
        chain = derived_id(chain, json.dumps(message, sort_keys=True, ensure_ascii=False))
        name = name or f"openai:{chain}"
        said, parts = content(message, called=called)
        if not said and not parts:
            source.skip("empty message")
            continue
        yield Turn(
            user,
            role,
            said,
            id=f"openai:{chain}",
            at=instant(_seconds(message)),
            persona=source.persona,
            conversation=name,
            speaker=text(message, "name") if role == "user" else None,
            parts=parts or None,
            origin="import",
        )


def _seconds(message: Raw) -> float | None:
    return next((found for key in ("created_at", "created", "timestamp") if (found := number(message, key))), None)


def content(message: Raw, *, called: dict[str, str]) -> tuple[str, tuple[Part, ...]]:
    given = message.get("content")
    if isinstance(given, str):
        said, shown = storable(given), []
    else:
        pieces = objects(message, "content")
        said = "\n".join(filter(None, (text(piece, "text") or text(piece, "refusal") for piece in pieces)))
        shown = [media for piece in pieces if (media := _media(piece)) is not None]
    answered = text(message, "tool_call_id")
    if answered is not None:
        name = called.get(answered) or text(message, "name") or "tool"
        return "", (ToolReturn(id=answered, name=name, content=said), *shown)
    calls = [_call(call) for call in objects(message, "tool_calls")]
    called |= {call.id: call.name for call in calls}
    return said, (*calls, *shown)


def _call(call: Raw) -> ToolCall:
    custom = child(call, "custom")
    function = custom or child(call, "function")
    given = json.dumps({"input": custom.get("input")}) if custom else text(function, "arguments")
    return ToolCall(id=text(call, "id") or "", name=text(function, "name") or "tool", args=given or "{}")


_MEDIA: Final = {
    "image_url": ("image/*", "image"),
    "input_image": ("image/*", "image"),
    "input_audio": ("audio/*", "audio"),
    "file": ("application/octet-stream", "file"),
    "input_file": ("application/octet-stream", "file"),
}


def _media(piece: Raw) -> Media | None:
    """Attachments: a picture by its address; inline content is named without its bytes."""
    kind = text(piece, "type") or ""
    if kind not in _MEDIA:
        return None
    media_type, caption = _MEDIA[kind]
    address = text(child(piece, "image_url"), "url") or text(piece, "image_url") or text(piece, "file_url") or "data:"
    return Media(media_type=media_type, url="data:" if address.startswith("data:") else address, caption=caption)
