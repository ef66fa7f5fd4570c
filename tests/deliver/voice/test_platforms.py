"""The three platforms' shapes: the question before a call, our answer, and the call as turns."""

import copy
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from types import ModuleType
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitherto.deliver.voice import Spoken, elevenlabs, prompts, retell, turns, vapi
from hitherto.errors import InvalidInput
from hitherto.types import ToolCall, ToolReturn

BEGAN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
STAMP = int(BEGAN.timestamp())
SPOKEN = Spoken(system="You know Ana.", fresh=True, snapshot="snap-1", variables={"memory": "You know Ana."})

ELEVENLABS: dict[str, Any] = {
    "type": "post_call_transcription",
    "event_timestamp": STAMP + 100,
    "data": {
        "agent_id": "agent-1",
        "conversation_id": "conv-1",
        "status": "done",
        "transcript": [
            {
                "role": "agent",
                "message": "Hi Ana!",
                "time_in_call_secs": 0,
                "tool_calls": None,
                "tool_results": None,
            },
            {"role": "user", "message": "Move my appointment.", "time_in_call_secs": 3},
            {
                "role": "agent",
                "message": None,
                "time_in_call_secs": 5,
                "tool_calls": [{"request_id": "r1", "tool_name": "move", "params_as_json": '{"to":"Friday"}'}],
                "tool_results": [{"request_id": "r1", "tool_name": "move", "result_value": "done"}],
            },
            {"role": "agent", "message": "Done, Friday.", "time_in_call_secs": 9},
        ],
        "metadata": {
            "start_time_unix_secs": STAMP,
            "call_duration_secs": 22,
            "phone_call": {
                "direction": "inbound",
                "external_number": "+34600123456",
                "agent_number": "+1555",
            },
        },
        "analysis": {"call_successful": "success", "transcript_summary": "Moved the appointment."},
    },
}
VAPI: dict[str, Any] = {
    "message": {
        "type": "end-of-call-report",
        "timestamp": (STAMP + 100) * 1000,
        "endedReason": "customer-ended-call",
        "startedAt": "2026-03-02T09:00:00.000Z",
        "endedAt": "2026-03-02T09:00:22.000Z",
        "call": {"id": "call-1", "type": "inboundPhoneCall", "assistantId": "assistant-1"},
        "customer": {"number": "+34600123456"},
        "artifact": {
            "messages": [
                {"role": "system", "message": "You are …", "time": STAMP * 1000, "secondsFromStart": 0},
                {"role": "bot", "message": "Hi Ana!", "time": STAMP * 1000, "secondsFromStart": 0},
                {"role": "user", "message": "Move my appointment.", "time": (STAMP + 3) * 1000},
                {
                    "role": "tool_calls",
                    "message": "",
                    "secondsFromStart": 5,
                    "toolCalls": [{"id": "r1", "function": {"name": "move", "arguments": '{"to":"Friday"}'}}],
                },
                {
                    "role": "tool_call_result",
                    "toolCallId": "r1",
                    "name": "move",
                    "result": "done",
                    "secondsFromStart": 5,
                },
                {"role": "bot", "message": "Done, Friday.", "secondsFromStart": 9},
            ]
        },
        "analysis": {"summary": "Moved the appointment."},
    }
}
RETELL: dict[str, Any] = {
    "event": "call_analyzed",
    "call": {
        "call_id": "call-1",
        "call_type": "phone_call",
        "agent_id": "agent-1",
        "direction": "inbound",
        "from_number": "+34600123456",
        "to_number": "+1555",
        "start_timestamp": STAMP * 1000,
        "end_timestamp": (STAMP + 22) * 1000,
        "transcript_with_tool_calls": [
            {"role": "agent", "content": "Hi Ana!", "words": [{"word": "Hi", "start": 0, "end": 0.5}]},
            {
                "role": "user",
                "content": "Move my appointment.",
                "words": [{"word": "Move", "start": 3, "end": 3.2}],
            },
            {
                "role": "tool_call_invocation",
                "tool_call_id": "r1",
                "name": "move",
                "arguments": '{"to":"Friday"}',
            },
            {"role": "tool_call_result", "tool_call_id": "r1", "content": "done"},
            {
                "role": "agent",
                "content": "Done, Friday.",
                "words": [{"word": "Done", "start": 9, "end": 9.5}],
            },
        ],
        "call_analysis": {"call_summary": "Moved the appointment."},
    },
}
ENDINGS = [
    pytest.param(elevenlabs, ELEVENLABS, "elevenlabs:conv-1", id="elevenlabs"),
    pytest.param(vapi, VAPI, "vapi:call-1", id="vapi"),
    pytest.param(retell, RETELL, "retell:call-1", id="retell"),
]


@pytest.mark.req("R0.12")
@pytest.mark.parametrize(("platform", "body", "key"), ENDINGS)
def test_a_call_becomes_turns_with_their_times(platform: ModuleType, body: dict[str, Any], key: str) -> None:
    call = platform.ended(body)
    assert (call.key, call.person, call.began, call.ended) == (
        key, "+34600123456", BEGAN, BEGAN + timedelta(seconds=22),
    )  # fmt: skip
    assert call.summary == "Moved the appointment."
    said = turns(call, user="ana", persona="nikita")
    assert [(turn.role, turn.text) for turn in said] == [
        ("assistant", "Hi Ana!"),
        ("user", "Move my appointment."),
        ("assistant", ""),
        ("tool", ""),
        ("assistant", "Done, Friday."),
    ]
    times = [turn.at for turn in said]
    assert times[0] == BEGAN
    assert times[1] == BEGAN + timedelta(seconds=3)
    assert times[-1] == BEGAN + timedelta(seconds=9)
    assert times == sorted(time for time in times if time)
    assert said[2].parts == (ToolCall(id="r1", name="move", args='{"to":"Friday"}'),)
    assert said[3].parts == (ToolReturn(id="r1", name="move", content="done"),)
    assert [turn.id for turn in said] == [f"{key}:{place}" for place in range(5)]
    assert {(turn.user, turn.persona, turn.conversation) for turn in said} == {("ana", "nikita", key)}


@pytest.mark.parametrize(("platform", "body", "key"), ENDINGS)
def test_delivered_again_it_is_the_same_call(platform: ModuleType, body: dict[str, Any], key: str) -> None:
    assert platform.ended(copy.deepcopy(body)) == platform.ended(body)
    assert platform.ended(body).key == key


def test_retells_two_events_of_a_call_give_the_same_turns() -> None:
    early = copy.deepcopy(RETELL)
    early["event"] = "call_ended"
    del early["call"]["call_analysis"]
    first, second = retell.ended(early), retell.ended(RETELL)
    assert first is not None
    assert second is not None
    assert turns(first, user="ana") == turns(second, user="ana")


@pytest.mark.parametrize(
    ("platform", "body"),
    [
        (elevenlabs, {"type": "post_call_audio", "data": {}}),
        (elevenlabs, {}),
        (vapi, {"message": {"type": "status-update"}}),
        (retell, {"event": "call_started", "call": {"call_id": "x"}}),
    ],
)
def test_other_events_are_no_call(platform: ModuleType, body: dict[str, Any]) -> None:
    assert platform.ended(body) is None


@pytest.mark.parametrize(
    ("platform", "body"),
    [
        (elevenlabs, {"type": "post_call_transcription", "data": {}}),
        (elevenlabs, {"type": "post_call_transcription", "data": {"conversation_id": "c"}}),
        (vapi, {"message": {"type": "end-of-call-report"}}),
        (vapi, {"message": {"type": "end-of-call-report", "call": {"id": "c"}}}),
        (retell, {"event": "call_ended", "call": {}}),
        (retell, {"event": "call_ended", "call": {"call_id": "c"}}),
    ],
)
def test_a_call_without_its_id_or_time_is_a_clear_error(platform: ModuleType, body: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=r"has no|neither"):
        platform.ended(body)


def test_who_is_at_the_other_end_of_an_outbound_call() -> None:
    outbound = copy.deepcopy(RETELL)
    outbound["call"]["direction"] = "outbound"
    call = retell.ended(outbound)
    assert call is not None
    assert call.person == "+1555"


def test_a_call_without_a_telephone_is_the_users_own_id() -> None:
    web = copy.deepcopy(ELEVENLABS)
    del web["data"]["metadata"]["phone_call"]
    web["data"]["user_id"] = "ana"
    call = elevenlabs.ended(web)
    assert call is not None
    assert call.person == "ana"


# --- before the call


def test_elevenlabs_asks_and_is_answered() -> None:
    asked = elevenlabs.ringing({"caller_id": "+34600", "agent_id": "a", "called_number": "+1555", "call_sid": "CA1"})
    assert (asked.caller, asked.called, asked.agent, asked.call) == ("+34600", "+1555", "a", "CA1")
    assert elevenlabs.answer(SPOKEN, first_message="Hi Ana!") == {
        "type": "conversation_initiation_client_data",
        "dynamic_variables": {"memory": "You know Ana."},
        "conversation_config_override": {"agent": {"prompt": {"prompt": "You know Ana."}, "first_message": "Hi Ana!"}},
    }


@pytest.mark.req("R0.12")
def test_elevenlabs_keeps_its_own_prompt_for_a_stranger() -> None:
    response = elevenlabs.answer(prompts.unknown())
    assert "conversation_config_override" not in response
    assert response["dynamic_variables"] == {"user_name": "", "known_caller": "false", "memory": ""}


def test_vapi_asks_and_is_answered() -> None:
    call = {"id": "c", "customer": {"number": "+34600"}, "phoneNumber": {"number": "+1555"}}
    asked = vapi.ringing({"message": {"type": "assistant-request", "call": call}})
    assert asked is not None
    assert (asked.caller, asked.called, asked.call) == ("+34600", "+1555", "c")
    assert vapi.ringing({"message": {"type": "hang"}}) is None
    assert vapi.answer(SPOKEN, assistant="a1") == {
        "assistantId": "a1",
        "assistantOverrides": {"variableValues": {"memory": "You know Ana."}},
    }
    replaced = cast("dict[str, Any]", vapi.answer(SPOKEN, assistant="a1", model=("openai", "gpt-4o")))
    assert replaced["assistantOverrides"]["model"] == {
        "provider": "openai",
        "model": "gpt-4o",
        "messages": [{"role": "system", "content": "You know Ana."}],
    }


def test_retell_asks_and_is_answered() -> None:
    inbound = {"agent_id": "a", "from_number": "+34600", "to_number": "+1555"}
    asked = retell.ringing({"event": "call_inbound", "call_inbound": inbound})
    assert asked is not None
    assert (asked.caller, asked.called, asked.agent) == ("+34600", "+1555", "a")
    assert retell.ringing({"event": "chat_inbound", "chat_inbound": inbound}) is None
    assert retell.answer(SPOKEN, agent="a2") == {
        "call_inbound": {
            "dynamic_variables": {"memory": "You know Ana."},
            "override_agent_id": "a2",
            "metadata": {"snapshot": "snap-1"},
        }
    }


# --- bad input

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def _paths(node: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """The way to every value of a JSON document."""
    yield path
    if isinstance(node, dict):
        steps: Iterable[Any] = cast("dict[str, Any]", node)
    else:
        steps = range(len(cast("list[Any]", node))) if isinstance(node, list) else ()
    for step in steps:
        yield from _paths(cast("Any", node)[step], (*path, step))


@given(body=st.sampled_from([ELEVENLABS, VAPI, RETELL]), data=st.data())
def test_a_field_of_any_other_shape_is_at_worst_a_clear_error(body: dict[str, Any], data: st.DataObject) -> None:
    changed = copy.deepcopy(body)
    paths = [path for path in _paths(changed, ()) if path]
    *way, last = data.draw(st.sampled_from(paths))
    node: Any = changed
    for step in way:
        node = node[step]
    node[last] = data.draw(json_values)
    for platform in (elevenlabs, vapi, retell):
        platform.ringing(changed)
        try:
            call = platform.ended(changed)
        except InvalidInput:
            continue
        if call is not None:
            assert all(turn.at is not None for turn in turns(call, user="ana"))
