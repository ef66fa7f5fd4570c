"""What every format has in common, and those of chats: what becomes a turn, under which id, and what a bad file says."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hitherto.deliver.importing import FORMATS, Format, Source, read
from hitherto.errors import InvalidInput
from hitherto.types import Media, Thinking, ToolCall, ToolReturn, Turn

Write = Callable[[Any], Source]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(content: Any) -> Source:
        path = tmp_path / "export.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content, ensure_ascii=False), "utf-8")
        return Source(path, user="ana", persona="nikita")

    return written


def imported(source: Source, kind: Format) -> list[Any]:
    turns = list(read(source, format=kind))
    assert source.passed <= source.size
    return turns


def lines(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


# --- jsonl


def test_a_line_is_a_turn(write: Write) -> None:
    call = {"kind": "tool_call", "id": "c1", "name": "book", "args": "{}"}
    row = {
        "user": "bo",
        "role": "assistant",
        "text": "Done",
        "id": "t1",
        "at": "2026-03-02T09:00:00Z",
        "persona": "mateo",
        "lane": "trip",
        "conversation": "c",
        "speaker": None,
        "reply_to": "t0",
        "parts": [call],
        "snapshot": "s",
    }
    assert imported(write(lines(row)), "jsonl") == [
        Turn(
            "bo",
            "assistant",
            "Done",
            id="t1",
            at=datetime(2026, 3, 2, 9, tzinfo=UTC),
            persona="mateo",
            lane="trip",
            conversation="c",
            reply_to="t0",
            parts=(ToolCall(id="c1", name="book", args="{}"),),
            snapshot="s",
        )
    ]


def test_the_callers_user_and_persona_fill_what_a_line_leaves_out(write: Write) -> None:
    [turn] = imported(write(lines({"role": "user", "text": "hi"})), "jsonl")
    assert (turn.user, turn.persona) == ("ana", "nikita")


def test_lines_without_ids_get_the_same_ones_again_and_equal_lines_different_ones(write: Write) -> None:
    rows = lines(*[{"role": "user", "text": "hi"}] * 2, {"role": "user", "text": "there"})
    first, second = (imported(write(rows), "jsonl") for _ in range(2))
    assert first == second
    assert len({turn.id for turn in first}) == 3


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ('{"role": "user", "text": "a", "txt": 1}', r"line 2.*no field 'txt'; did you mean 'text'"),
        ('{"role": "usr", "text": "a"}', r"line 2: role='usr'"),
        ('{"role": "user"}', "line 2: 'text' is missing"),
        (
            '{"role": "user", "text": "a", "at": "2026-03-02T09:00:00"}',
            "line 2: at=2026-03-02T09:00:00 has no time zone",
        ),
        ("[1]", "line 2.*object"),
        ("{", "line 2.*not JSON"),
    ],
)
def test_a_bad_line_is_named(write: Write, row: str, complaint: str) -> None:
    source = write(f'{{"role": "user", "text": "fine"}}\n{row}\n')
    turns = read(source, format="jsonl")
    assert next(turns).text == "fine"
    with pytest.raises(InvalidInput, match=complaint):
        next(turns)


# --- telegram


def message(number: int, text: Any, **more: Any) -> dict[str, Any]:
    sender = {"from": "Ana", "from_id": "user42"}
    return {"id": number, "type": "message", "date_unixtime": str(1_772_445_600 + number), "text": text} | sender | more


def supergroup(*messages: dict[str, Any]) -> dict[str, Any]:
    return {"name": "Team", "type": "private_supergroup", "id": 1234, "messages": list(messages)}


@pytest.mark.req("R4.1")
def test_a_supergroups_history_has_the_ids_and_lanes_of_the_bot_api(write: Write) -> None:
    topic = {
        "id": 5,
        "type": "service",
        "date_unixtime": "1772445600",
        "action": "topic_created",
        "title": "plans",
    }
    source = write(
        supergroup(
            topic,
            message(6, "in the topic", reply_to_message_id=5),
            message(7, "an answer in it", reply_to_message_id=6),
            message(8, "General"),
            message(9, "a reply", reply_to_message_id=8),
            message(10, "a reply to the reply", reply_to_message_id=9),
        )
    )
    source.user = None
    turns = imported(source, "telegram")
    assert {turn.user for turn in turns} == {turn.conversation for turn in turns} == {"telegram:chat:-1000000001234"}
    chat = -1_000_000_001_234
    assert [(turn.id, turn.lane) for turn in turns] == [
        (f"telegram:{chat}:6", f"topic:{chat}:5"),
        (f"telegram:{chat}:7", f"topic:{chat}:5"),
        (f"telegram:{chat}:8", f"root:{chat}"),
        (f"telegram:{chat}:9", f"reply:{chat}:8"),
        (f"telegram:{chat}:10", f"reply:{chat}:8"),
    ]
    assert [turn.reply_to for turn in turns] == [None, turns[0].id, None, turns[2].id, turns[3].id]
    assert {turn.speaker for turn in turns} == {"Ana"}
    assert source.skipped == {"service message": 1}


def test_a_whole_account_holds_many_chats(write: Write) -> None:
    bot = {"name": "Nikita", "type": "bot_chat", "id": 900}
    said = [message(1, "hi"), message(2, "hello!", **{"from": "Nikita", "from_id": "user900"})]
    export = {
        "about": "x",
        "personal_information": {"user_id": 42},
        "chats": {"about": "y", "list": [{**bot, "messages": said}, supergroup(message(8, "General"))]},
        "left_chats": {"list": [{"type": "private_group", "id": 77, "messages": [message(3, "old flat")]}]},
    }
    turns = imported(write(export), "telegram")
    assert [(turn.role, turn.speaker, turn.conversation) for turn in turns] == [
        ("user", None, "telegram:chat:900"),
        ("assistant", None, "telegram:chat:900"),
        ("user", "Ana", "telegram:chat:-1000000001234"),
        ("user", "Ana", "telegram:chat:-77"),
    ]
    assert {turn.origin for turn in turns} == {"import"}


def test_formatted_text_and_media_have_words(write: Write) -> None:
    turns = imported(
        write(
            supergroup(
                message(1, ["see ", {"type": "link", "text": "example.org"}, "!"]),
                message(2, "", photo="(File not included.)"),
                message(3, "", media_type="voice_message", file="x"),
                message(4, "", media_type="sticker", sticker_emoji="😂"),
                message(5, "", location_information={"latitude": 1.5, "longitude": 2}),
                message(6, "", poll={"question": "Pizza?", "answers": [{"text": "yes"}, {"text": "no"}]}),
                message(7, ""),
            )
        ),
        "telegram",
    )
    assert [turn.text for turn in turns] == [
        "see example.org!",
        "(photo)",
        "(voice message)",
        "(sticker: 😂)",
        "(location: 1.5, 2.0)",
        "(poll: Pizza? yes / no)",
    ]


def test_whose_messages_are_the_personas_can_be_said(write: Write) -> None:
    source = write({"name": "Bo", "type": "personal_chat", "id": 43, "messages": [message(1, "hi", **{"from": "Bo"})]})
    source.assistant = "Bo"
    assert imported(source, "telegram")[0].role == "assistant"


def test_a_private_chat_needs_its_owner(write: Write) -> None:
    source = write({"name": "Bo", "type": "personal_chat", "id": 43, "messages": [message(1, "hi")]})
    source.user = None
    with pytest.raises(InvalidInput, match="pass the user"):
        imported(source, "telegram")


def test_an_old_export_without_unix_times_is_read(write: Write) -> None:
    old = {"id": 1, "type": "message", "date": "2020-01-02T03:04:05", "from": "Ana", "text": "hi"}
    assert imported(write(supergroup(old)), "telegram")[0].at == datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC)


# --- chatgpt


def node(name: str, parent: str | None, role: str | None, *parts: Any, at: float = 1.0, **more: Any) -> dict[str, Any]:
    said = (
        None
        if role is None
        else {
            "id": name,
            "author": {"role": role},
            "create_time": at,
            "content": {"content_type": "text", "parts": list(parts)},
        }
        | more
    )
    return {"id": name, "parent": parent, "children": [], "message": said}


def conversation(identity: str, began: float, current: str | None, *nodes: dict[str, Any]) -> dict[str, Any]:
    mapping = {one["id"]: one for one in nodes}
    return {"id": identity, "title": "t", "create_time": began, "current_node": current, "mapping": mapping}


TREE = conversation(
    "c1",
    100.0,
    "d",
    node("root", None, None),
    node("sys", "root", "system", ""),
    node("a", "sys", "user", "What is the capital?", at=101),
    node("b", "a", "assistant", "Which country?", at=102),
    node("b2", "a", "assistant", "Paris.", at=110),
    node("c", "b", "user", "France", at=103),
    node("d", "c", "assistant", "Paris, then.", at=104),
)


def test_the_shown_branch_is_imported_and_the_other_counted(write: Write) -> None:
    source = write([TREE])
    turns = imported(source, "chatgpt")
    assert [(turn.role, turn.text) for turn in turns] == [
        ("user", "What is the capital?"),
        ("assistant", "Which country?"),
        ("user", "France"),
        ("assistant", "Paris, then."),
    ]
    assert [turn.id for turn in turns] == [f"chatgpt:c1:{name}" for name in "abcd"]
    assert turns[0].at == datetime(1970, 1, 1, 0, 1, 41, tzinfo=UTC)
    assert {turn.conversation for turn in turns} == {"chatgpt:c1"}
    assert source.skipped == {"message of another branch": 1, "hidden or empty message": 1}


def test_conversations_come_in_their_order_of_time(write: Write) -> None:
    newer = conversation("c2", 900.0, "x", node("x", None, "user", "later"))
    assert [turn.text for turn in imported(write([newer, TREE]), "chatgpt")][-1] == "later"


def test_without_a_current_node_the_newest_leaf_ends_the_branch(write: Write) -> None:
    tree = json.loads(json.dumps(TREE)) | {"current_node": None}
    for name, one in tree["mapping"].items():
        one["children"] = [other["id"] for other in tree["mapping"].values() if other["parent"] == name]
    assert [turn.text for turn in imported(write([tree]), "chatgpt")][-1] == "Paris."


def test_reasoning_and_pictures_are_parts(write: Write) -> None:
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://abc"}
    thoughts = {"content_type": "thoughts", "thoughts": [{"summary": "s", "content": "hmm"}]}
    tree = conversation(
        "c3",
        1.0,
        "z",
        node("x", None, "user", picture, "what is this?"),
        node("y", "x", "assistant", content=thoughts),
        node("z", "y", "assistant", "A cat."),
    )
    asked, answered = imported(write([tree]), "chatgpt")
    assert asked.parts == (Media(media_type="image/*", url="file-service://abc", caption="image"),)
    assert answered.parts == (Thinking(text="hmm"),)


def test_a_tree_that_bites_its_tail_ends(write: Write) -> None:
    tree = conversation("c4", 1.0, "y", node("x", "y", "user", "one"), node("y", "x", "assistant", "two"))
    assert [turn.text for turn in imported(write([tree]), "chatgpt")] == ["one", "two"]


@pytest.mark.parametrize(("content", "complaint"), [({}, "list of conversations"), ([{"title": "x"}], "no `mapping`")])
def test_another_file_is_refused(write: Write, content: Any, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        imported(write(content), "chatgpt")


# --- openai

CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be kind."},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "and this?"},
            {"type": "image_url", "image_url": {"url": "https://x/y.png"}},
        ],
    },
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "a cat"},
    {"role": "assistant", "content": "A cat."},
]


@pytest.mark.parametrize(
    "content",
    [
        CHAT,
        {"messages": CHAT},
        [{"messages": CHAT}],
        lines({"messages": CHAT}),
        lines({"messages": CHAT}) * 2,
    ],
)
def test_every_shape_of_the_chat_api_gives_the_same_turns(write: Write, content: Any) -> None:
    turns = imported(write(content), "openai")
    unique = list({turn.id: turn for turn in turns}.values())
    assert [(turn.role, turn.text) for turn in unique] == [
        ("system", "Be kind."),
        ("user", "and this?"),
        ("assistant", ""),
        ("tool", ""),
        ("assistant", "A cat."),
    ]
    assert unique[1].parts == (Media(media_type="image/*", url="https://x/y.png", caption="image"),)
    assert unique[2].parts == (ToolCall(id="c1", name="look", args="{}"),)
    assert unique[3].parts == (ToolReturn(id="c1", name="look", content="a cat"),)


def test_a_conversation_that_has_grown_keeps_its_ids(write: Write) -> None:
    before = imported(write(CHAT[:3]), "openai")
    after = imported(write(CHAT), "openai")
    assert [turn.id for turn in after][:3] == [turn.id for turn in before]
    assert len({turn.id for turn in after}) == 5


def test_what_is_no_conversation_is_refused_with_its_line(write: Write) -> None:
    with pytest.raises(InvalidInput, match="line 2"):
        imported(write(lines({"messages": CHAT}) + '{"prompt": "x"}'), "openai")


# --- all


@pytest.mark.parametrize("kind", [kind for kind in FORMATS if kind not in ("jsonl", "whatsapp")])
def test_text_that_no_store_can_keep_is_made_keepable(write: Write, kind: Format) -> None:
    bad = "a\0b\ud800c"
    contents: dict[str, Any] = {
        "telegram": supergroup(message(1, bad)),
        "chatgpt": [conversation("c", 1.0, "x", node("x", None, "user", bad))],
        "openai": [{"role": "user", "content": bad}],
        "character": [{"is_user": True, "mes": bad}],
        "langchain": [{"type": "human", "data": {"content": bad}}],
        "mem0": [{"memory": bad}],
        "zep": [{"fact": bad}],
        "letta": {"messages": [{"role": "user", "content": bad}]},
    }
    source = write(json.dumps(contents[kind]))
    assert [turn.text for turn in imported(source, kind)] == ["ab?c"]


@pytest.mark.parametrize("kind", list(FORMATS))
def test_importing_again_gives_the_same_turns(write: Write, kind: Format) -> None:
    contents: dict[str, Any] = {
        "jsonl": lines({"role": "user", "text": "hi"}),
        "telegram": supergroup(message(1, "hi")),
        "chatgpt": [TREE],
        "openai": CHAT,
        "whatsapp": "13/04/26, 18:03 - Ana: hi\n13/04/26, 18:03 - Ana: hi\n",
        "character": [{"is_user": True, "mes": "hi"}, {"is_user": True, "mes": "hi"}],
        "langchain": [{"type": "human", "data": {"content": "hi"}}] * 2,
        "mem0": [{"memory": "likes tea"}],
        "zep": [{"role": "user", "content": "hi"}, {"fact": "likes tea"}],
        "letta": {"messages": [{"role": "user", "content": "hi"}]},
    }
    first, second = (imported(write(contents[kind]), kind) for _ in range(2))
    assert first == second
    assert all(turn.id for turn in first)
    assert len({turn.id for turn in first}) == len(first)
