"""Retell: the inbound webhook of a call, and the events after it."""

from datetime import datetime, timedelta
from typing import Final

from hitherto.deliver.untrusted import Raw, child, instant, number, objects, text
from hitherto.deliver.voice.lookups import TOOL, Asked
from hitherto.deliver.voice.prompts import Spoken
from hitherto.deliver.voice.transcripts import Call, Ringing, Utterance, offset
from hitherto.errors import InvalidInput
from hitherto.types import Json, Part, Role, ToolCall, ToolReturn

_ROLES: Final[dict[str, Role]] = {
    "user": "user",
    "agent": "assistant",
    "tool_call_invocation": "assistant",
    "tool_call_result": "tool",
}
_AFTER: Final = ("call_ended", "call_analyzed")
"""Both carry the whole call; the second adds the analysis. Turns have the same ids from both."""


def ringing(body: Raw) -> Ringing | None:
    """The inbound webhook of a call; None for other events (an SMS has its own)."""
    inbound = child(body, "call_inbound")
    if text(body, "event") != "call_inbound" or not inbound:
        return None
    return Ringing(
        platform="retell",
        caller=text(inbound, "from_number"),
        called=text(inbound, "to_number"),
        agent=text(inbound, "agent_id"),
    )


def answer(spoken: Spoken, *, agent: str | None = None) -> dict[str, Json]:
    """The response: dynamic variables, which Retell takes as strings; the agent's prompt uses
    `{{memory}}`.
    """
    inbound: dict[str, Json] = {"dynamic_variables": {**spoken.variables}}
    if agent is not None:
        inbound["override_agent_id"] = agent
    if spoken.snapshot is not None:
        inbound["metadata"] = {"snapshot": spoken.snapshot}
    return {"call_inbound": inbound}


def asked(body: Raw) -> Asked | None:
    """A custom function's request: the call as Retell knows it, beside the arguments; None for webhooks."""
    name, call = text(body, "name"), child(body, "call")
    if name is None or "event" in body:
        return None
    query = text(child(body, "args"), "query") if name == TOOL else None
    return Asked(caller=_person(call), call=text(call, "call_id"), query=query)


def tool_result(result: str) -> dict[str, Json]:
    return {"result": result}


def ended(body: Raw) -> Call | None:
    """The call of an event after it; None for the others (started, transferred)."""
    if text(body, "event") not in _AFTER:
        return None
    call = child(body, "call")
    identity = text(call, "call_id")
    if identity is None:
        raise InvalidInput("the Retell event has no call.call_id")
    began = _time(call, "start_timestamp") or _time(call, "end_timestamp")
    if began is None:
        raise InvalidInput(f"the Retell call {identity!r} says neither when it began nor when it ended")
    entries = objects(call, "transcript_with_tool_calls") or objects(call, "transcript_object")
    said = _utterances(entries)
    return Call(
        platform="retell",
        id=identity,
        person=_person(call),
        agent=text(call, "agent_id"),
        began=began,
        ended=max([_time(call, "end_timestamp") or began, *(began + one.offset for one in said)]),
        said=said,
        summary=text(child(call, "call_analysis"), "call_summary"),
    )


def _time(call: Raw, key: str) -> datetime | None:
    found = number(call, key)
    return None if found is None else instant(found / 1000)


def _person(call: Raw) -> str | None:
    """The human: the caller of an inbound call, the callee of an outbound one."""
    outbound = text(call, "direction") == "outbound"
    return text(call, "to_number" if outbound else "from_number") or text(child(call, "metadata"), "user_id")


def _utterances(entries: list[Raw]) -> tuple[Utterance, ...]:
    """Only words have times; anything without one happened when the words before it ended."""
    said: list[Utterance] = []
    latest = timedelta()
    names: dict[str, str] = {}
    for entry in entries:
        role = _ROLES.get(text(entry, "role") or "")
        words = "" if role == "tool" else text(entry, "content") or ""
        parts = _parts(entry, names)
        if role is None or not (words or parts):
            continue
        spoken = [number(word, "start") for word in objects(entry, "words")]
        latest = next((offset(at) for at in spoken if at is not None), latest)
        said.append(Utterance(role=role, text=words, offset=latest, parts=parts))
    return tuple(said)


def _parts(entry: Raw, names: dict[str, str]) -> tuple[Part, ...]:
    identity = text(entry, "tool_call_id")
    if identity is None:
        return ()
    if text(entry, "role") == "tool_call_result":
        return (ToolReturn(id=identity, name=names.get(identity, "tool"), content=text(entry, "content") or ""),)
    names[identity] = text(entry, "name") or "tool"
    return (ToolCall(id=identity, name=names[identity], args=text(entry, "arguments") or "{}"),)
