"""ElevenLabs: the initiation webhook of an incoming call, and the transcript after it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from hitherto.deliver.untrusted import Raw, child, instant, number, objects, text
from hitherto.deliver.voice.lookups import Asked
from hitherto.deliver.voice.prompts import Spoken
from hitherto.deliver.voice.transcripts import Call, Ringing, Utterance, offset
from hitherto.errors import InvalidInput
from hitherto.types import Json, Part, Role, ToolCall, ToolReturn

_ROLES: Final[dict[str, Role]] = {"user": "user", "agent": "assistant"}
TRANSCRIPT: Final = "post_call_transcription"


def ringing(body: Raw) -> Ringing:
    """The request that asks how to begin: `caller_id`, `agent_id`, `called_number`, `call_sid`."""
    return Ringing(
        platform="elevenlabs",
        caller=text(body, "caller_id"),
        called=text(body, "called_number"),
        agent=text(body, "agent_id"),
        call=text(body, "call_sid"),
    )


def answer(spoken: Spoken, *, first_message: str | None = None) -> dict[str, Json]:
    """The response: always dynamic variables; a prompt of our own only if there is one."""
    agent: dict[str, Json] = {}
    if spoken.system:
        agent["prompt"] = {"prompt": spoken.system}
    if first_message is not None:
        agent["first_message"] = first_message
    response: dict[str, Json] = {
        "type": "conversation_initiation_client_data",
        "dynamic_variables": {**spoken.variables},
    }
    if agent:
        response["conversation_config_override"] = {"agent": agent}
    return response


def asked(body: Raw, *, caller: str | None, call: str | None) -> Asked:
    """A server tool's request. Its body is what the model filled in, so the caller is in headers that the model cannot set."""
    return Asked(caller=caller, call=call, query=text(body, "query"))


def tool_result(result: str) -> dict[str, Json]:
    return {"result": result}


def ended(body: Raw) -> Call | None:
    """The call of a transcript webhook; None for the other kinds (audio, failed initiation)."""
    if text(body, "type") != TRANSCRIPT:
        return None
    data = child(body, "data")
    identity = text(data, "conversation_id")
    if identity is None:
        raise InvalidInput("the post-call webhook has no data.conversation_id")
    metadata = child(data, "metadata")
    said = tuple(one for entry in objects(data, "transcript") for one in _utterances(entry))
    began = instant(number(metadata, "start_time_unix_secs")) or _stamp(body)
    length = offset(number(metadata, "call_duration_secs"))
    return Call(
        platform="elevenlabs",
        id=identity,
        person=_person(data),
        agent=text(data, "agent_id"),
        began=began,
        ended=began + max([length, *(one.offset for one in said)]),
        said=said,
        summary=text(child(data, "analysis"), "transcript_summary"),
    )


def _stamp(body: Raw) -> datetime:
    found = instant(number(body, "event_timestamp"))
    if found is None:
        raise InvalidInput("the post-call webhook says neither when the call began nor when it was sent")
    return found


def _person(data: Raw) -> str | None:
    """The number at the other end; for calls without a telephone, the user id that the application gave."""
    phone = text(child(child(data, "metadata"), "phone_call"), "external_number")
    given: Mapping[str, object] = child(child(data, "conversation_initiation_client_data"), "dynamic_variables")
    return phone or text(given, "system__caller_id") or text(data, "user_id")


def _utterances(entry: Raw) -> list[Utterance]:
    """An entry is words, tool calls with them, or the tools' results, which are turns of their own."""
    role = _ROLES.get(text(entry, "role") or "")
    since = offset(number(entry, "time_in_call_secs"))
    if role is None:
        return []
    calls: tuple[Part, ...] = tuple(
        ToolCall(
            id=text(call, "request_id") or "",
            name=text(call, "tool_name") or "tool",
            args=text(call, "params_as_json") or "{}",
        )
        for call in objects(entry, "tool_calls")
    )
    results = [
        ToolReturn(
            id=text(result, "request_id") or "",
            name=text(result, "tool_name") or "tool",
            content=text(result, "result_value") or "",
        )
        for result in objects(entry, "tool_results")
    ]
    words = text(entry, "message") or ""
    spoken = [Utterance(role=role, text=words, offset=since, parts=calls)] if words or calls else []
    return spoken + [Utterance(role="tool", text="", offset=since, parts=(result,)) for result in results]
