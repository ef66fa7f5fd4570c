"""Updates in the shapes that the Bot API documents, and what each of them means. The cases are in
`updates.jsonl`.
"""

import copy
import json
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitherto.deliver.telegram import Bot, Deleted, Edited, Event, Posted, read, sent
from hitherto.types import Media

BOT = Bot(id=900, username="nikita_bot", persona="nikita")
CASES = [
    cast("dict[str, Any]", json.loads(line))
    for line in (Path(__file__).parent / "updates.jsonl").read_text("utf-8").splitlines()
]


def facts(event: Event) -> dict[str, object]:
    """What a case may expect of an event, by name."""
    posted = event.posted if isinstance(event, Edited) else event
    found: dict[str, object] = {"event": type(event).__name__}
    if not isinstance(posted, Posted):
        fields = {field: getattr(posted, field) for field in posted.__dataclass_fields__}
        if isinstance(posted, Deleted):
            fields |= {"user": posted.owner.user, "turns": list(posted.turns)}
        return found | fields
    turn, quoted = posted.turn, posted.quoted
    found |= {name: getattr(turn, name) for name in ("lane", "user", "role", "id", "text", "speaker")}
    found |= {"reply_to": turn.reply_to, "conversation": turn.conversation}
    found["media"] = next((part.url for part in turn.parts or () if isinstance(part, Media)), None)
    found |= {name: getattr(posted, name) for name in ("chain", "addressed", "album")}
    found |= {name: getattr(posted.to, name) for name in ("topic", "business", "direct")}
    found["quoted"] = quoted and quoted.text
    if quoted is not None:
        found |= {f"quoted_{name}": getattr(quoted, name) for name in ("speaker", "role", "origin", "lane")}
    return found


def test_there_are_enough_shapes() -> None:
    names = [case["name"] for case in CASES]
    assert len(names) == len(set(names)) >= 60


@pytest.mark.req("R4.1")
@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_update(case: dict[str, Any]) -> None:
    found = facts(read(case["update"], bot=BOT))
    assert {name: found.get(name) for name in case["expect"]} == case["expect"]


@pytest.mark.req("R4.1")
@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_reading_is_deterministic_and_leaves_the_update_alone(case: dict[str, Any]) -> None:
    before = copy.deepcopy(case["update"])
    assert read(case["update"], bot=BOT) == read(case["update"], bot=BOT)
    assert case["update"] == before


def message(**fields: object) -> dict[str, object]:
    chat = {"id": -1001, "type": "supergroup", "title": "Book club"}
    return {"message_id": 9, "date": 1_772_445_600, "chat": chat, **fields}


def test_what_we_send_is_the_assistants_turn_without_a_speaker() -> None:
    own = {"id": 900, "is_bot": True, "first_name": "Nikita"}
    event = sent(message(**{"from": own}, text="Done.", message_thread_id=5), bot=BOT)
    assert isinstance(event, Posted)
    assert (event.turn.role, event.turn.speaker, event.turn.persona) == ("assistant", None, "nikita")
    assert event.turn.id == "telegram:-1001:9"
    assert not event.addressed


def test_after_a_migration_the_root_lane_goes_on_and_message_ids_do_not_collide() -> None:
    update = {
        "update_id": 1,
        "message": message(**{"from": {"id": 42, "first_name": "Ana"}}, text="here again"),
    }
    event = read(update, bot=BOT, origins={-1001: -700})
    assert isinstance(event, Posted)
    assert event.turn.user == event.turn.conversation == "telegram:chat:-700"
    assert (event.turn.lane, event.turn.id, event.to.chat) == ("root:-700", "telegram:-1001:9", -1001)


def test_an_answer_goes_to_the_topic_and_never_to_a_mere_thread() -> None:
    by_name = {case["name"]: case["update"] for case in CASES}
    topic = read(by_name["forum topic message; its creation is no reply"], bot=BOT)
    thread = read(by_name["supergroup reply: thread id is the chain's first message"], bot=BOT)
    assert isinstance(topic, Posted)
    assert isinstance(thread, Posted)
    assert topic.to.params() == {"chat_id": -1002, "message_thread_id": 5}
    assert thread.to.params() == {"chat_id": -1001}


def test_a_chain_is_joined_only_when_the_message_replied_to_is_in_one() -> None:
    by_name = {case["name"]: case["update"] for case in CASES}
    event = read(by_name["private reply to a reply names the message replied to until the log knows more"], bot=BOT)
    assert isinstance(event, Posted)
    assert event.joining("reply:42:3").turn.lane == "reply:42:3"
    assert event.joining("root:42").turn.lane == "reply:42:4"
    assert event.joining(None).turn.lane == "reply:42:4"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(case=st.sampled_from(CASES), data=st.data())
def test_a_field_of_any_other_shape_never_raises(case: dict[str, Any], data: st.DataObject) -> None:
    update = copy.deepcopy(case["update"])
    node: dict[str, Any] = update
    for _ in range(data.draw(st.integers(1, 4))):
        key = data.draw(st.sampled_from(sorted(node)))
        inner = node[key]
        if not isinstance(inner, dict) or not inner or data.draw(st.booleans()):
            node[key] = data.draw(json_values)
            break
        node = cast("dict[str, Any]", inner)
    read(update, bot=BOT)
