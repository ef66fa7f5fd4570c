"""Vapi: the assistant request of an incoming call, and the report after it."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from hitherto.clock import EPOCH
from hitherto.deliver.untrusted import Raw, child, instant, mapping, number, objects, text
from hitherto.deliver.voice.lookups import TOOL, Asked
from hitherto.deliver.voice.prompts import Spoken
from hitherto.deliver.voice.transcripts import Call, Ringing, Utterance, offset
from hitherto.errors import InvalidInput
from hitherto.types import Json, Part, Role, ToolCall, ToolReturn

_ROLES: Final[dict[str, Role]] = {
    "user": "user",
    "bot": "assistant",
    "assistant": "assistant",
    "tool_calls": "assistant",
    "tool_call_result": "tool",
}
"""The system message is the prompt that was given, not something said."""


def ringing(body: Raw) -> Ringing | None:
    """The assistant request; None for Vapi's other messages to a server."""
    message = child(body, "message")
    if text(message, "type") != "assistant-request":
        return None
    call = child(message, "call")
    number_called = child(message, "phoneNumber") or child(call, "phoneNumber")
    return Ringing(
        platform="vapi",
        caller=_person(message),
        called=text(number_called, "number"),
        agent=text(call, "assistantId"),
        call=text(call, "id"),
    )


def answer(
    spoken: Spoken, *, assistant: str, model: tuple[str, str] | None = None, first_message: str | None = None
) -> dict[str, Json]:
    """The saved assistant with our variables. Its prompt can use `{{memory}}`.

    With `model` (provider and name, which Vapi wants together with a prompt) the prompt is replaced as a whole.
    """
    overrides: dict[str, Json] = {"variableValues": {**spoken.variables}}
    if model is not None and spoken.system:
        provider, name = model
        messages: list[Json] = [{"role": "system", "content": spoken.system}]
        overrides["model"] = {"provider": provider, "model": name, "messages": messages}
    if first_message is not None:
        overrides["firstMessage"] = first_message
    return {"assistantId": assistant, "assistantOverrides": overrides}


def asked(body: Raw) -> list[Asked] | None:
    """The tool calls of a message, which come in two shapes; None for Vapi's other messages. A call of another tool has no
    query.
    """
    message = child(body, "message")
    if text(message, "type") != "tool-calls":
        return None
    call = text(child(message, "call"), "id")
    found: list[Asked] = []
    for entry in objects(message, "toolCallList") or objects(message, "toolCalls"):
        function = child(entry, "function") or entry
        name = text(function, "name") or "tool"
        given = _arguments(function, "arguments") or _arguments(function, "parameters")
        query = text(given, "query") if name == TOOL else None
        found.append(Asked(caller=_person(message), call=call, query=query, id=text(entry, "id") or "", tool=name))
    return found


def _arguments(function: Raw, key: str) -> Raw:
    """The arguments of a call: an object, or the JSON of one as OpenAI writes it."""
    given = function.get(key)
    if not isinstance(given, str):
        return mapping(given)
    try:
        return mapping(json.loads(given))
    except (ValueError, RecursionError):
        return {}


def tool_result(results: Sequence[tuple[Asked, str]]) -> dict[str, Json]:
    """The answers to the calls, each on one line: Vapi does not accept line breaks."""
    found: list[Json] = [
        {"toolCallId": asked.id, "name": asked.tool, "result": " ".join(one.split("\n"))} for asked, one in results
    ]
    return {"results": found}


def ended(body: Raw) -> Call | None:
    """The call of an end-of-call report; None for Vapi's other messages."""
    message = child(body, "message")
    if text(message, "type") != "end-of-call-report":
        return None
    call = child(message, "call")
    identity = text(call, "id")
    if identity is None:
        raise InvalidInput("the end-of-call report has no message.call.id")
    entries = objects(child(message, "artifact"), "messages") or objects(message, "messages")
    began = _began(message, call, entries)
    said = tuple(one for entry in entries if (one := _utterances(entry, began=began)) is not None)
    ended_at = _iso(message, "endedAt") or _iso(call, "endedAt") or began
    return Call(
        platform="vapi",
        id=identity,
        person=_person(message),
        agent=text(call, "assistantId") or text(child(message, "assistant"), "id"),
        began=began,
        ended=max([ended_at, *(began + one.offset for one in said)]),
        said=said,
        summary=text(child(message, "analysis"), "summary") or text(message, "summary"),
    )


def _person(message: Raw) -> str | None:
    call = child(message, "call")
    for customer in (child(message, "customer"), child(call, "customer")):
        found = text(customer, "number") or text(customer, "sipUri") or text(customer, "externalId")
        if found is not None:
            return found
    return None


def _began(message: Raw, call: Raw, entries: list[Raw]) -> datetime:
    spoken = (instant((number(entry, "time") or 0) / 1000) for entry in entries if number(entry, "time"))
    found = _iso(message, "startedAt") or _iso(call, "startedAt") or next(spoken, None)
    found = found or instant((number(message, "timestamp") or -1) / 1000)
    if found is None:
        raise InvalidInput("the end-of-call report says neither when the call began nor when it was sent")
    return found


def _iso(raw: Raw, key: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text(raw, key) or "")
    except ValueError:
        return None
    aware = found if found.tzinfo else found.replace(tzinfo=UTC)
    return aware if aware >= EPOCH else None


def _utterances(entry: Raw, *, began: datetime) -> Utterance | None:
    role = _ROLES.get(text(entry, "role") or "")
    if role is None:
        return None
    parts = _parts(entry, role=role)
    words = "" if role == "tool" else text(entry, "message") or text(entry, "content") or ""
    if not words and not parts:
        return None
    return Utterance(role=role, text=words, offset=_offset(entry, began=began), parts=parts)


def _offset(entry: Raw, *, began: datetime) -> timedelta:
    seconds = number(entry, "secondsFromStart")
    at = instant((number(entry, "time") or -1) / 1000)
    if seconds is None and at is not None:
        seconds = (at - began).total_seconds()
    return offset(seconds)


def _parts(entry: Raw, *, role: Role) -> tuple[Part, ...]:
    if role == "tool":
        name, result = text(entry, "name") or "tool", text(entry, "result") or text(entry, "message") or ""
        return (ToolReturn(id=text(entry, "toolCallId") or "", name=name, content=result),)
    calls = objects(entry, "toolCalls")
    return tuple(
        ToolCall(
            id=text(call, "id") or "",
            name=text(child(call, "function"), "name") or "tool",
            args=text(child(call, "function"), "arguments") or "{}",
        )
        for call in calls
    )
