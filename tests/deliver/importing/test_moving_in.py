"""Moving in from other memories and chats. The SQLite files were written by the real packages: mem0 2.2.1 with qdrant-client
1.20.0, langchain-community 0.4.2, langgraph-checkpoint-sqlite 3.1.2."""

from __future__ import annotations

import gzip
import json
import os
import pickle
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hitherto.deliver.importing import FORMATS, Format, Imported, KnownFact, Source, read
from hitherto.errors import InvalidInput
from hitherto.sync import Hitherto
from hitherto.types import ToolCall, ToolReturn, Turn
from tests.deliver.cli.running import CommandLine

FILES = Path(__file__).parent / "files"


def unpacked(name: str, folder: Path, **given: Any) -> Source:
    path = folder / name
    path.write_bytes(gzip.decompress((FILES / f"{name}.gz").read_bytes()))
    return Source(path, **given)


def written(content: object, folder: Path, **given: Any) -> Source:
    path = folder / "export"
    path.write_text(content if isinstance(content, str) else json.dumps(content, ensure_ascii=False), "utf-8")
    whose: dict[str, Any] = {"user": "ana", **given}
    return Source(path, **whose)


def imported(source: Source, kind: Format) -> list[Imported]:
    found = list(read(source, format=kind))
    assert 0 < source.passed <= source.size
    assert [one.id for one in read(Source(source.path, user=source.user), format=kind)] == [one.id for one in found]
    return found


def facts(found: list[Imported]) -> list[tuple[str, str]]:
    return [(one.user, one.text) for one in found if isinstance(one, KnownFact)]


def said(found: list[Imported]) -> list[tuple[str, str]]:
    return [(one.role, one.text) for one in found if isinstance(one, Turn)]


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("content", ["", "hello", '[{"something": "else"}', '{"role": "user"'])
def test_a_file_of_something_else_is_named_and_never_an_import_of_nothing(
    kind: Format, content: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match=r"^export[,:]"):
        list(read(written(content, tmp_path), format=kind))


@pytest.mark.parametrize("kind", ["character", "langchain", "zep"])
def test_entries_of_something_else_are_told_as_left_out(kind: Format, tmp_path: Path) -> None:
    source = written({"something": "else"}, tmp_path)
    assert list(read(source, format=kind)) == []
    assert source.skipped


# --- mem0 -----------------------------------------------------------------------------------------------------------------


def test_mem0s_export_is_facts_of_their_users(tmp_path: Path) -> None:
    rows = [
        {"id": "1", "memory": "Is allergic to peanuts", "user_id": "bo", "created_at": "2026-03-05T10:00:00-08:00"},
        {"id": "2", "memory": "  ", "user_id": "bo"},
    ]
    source = written({"results": rows, "relations": []}, tmp_path, user=None)
    [fact] = imported(source, "mem0")
    assert fact == KnownFact(
        user="bo", id=fact.id or "", text="Is allergic to peanuts", at=datetime(2026, 3, 5, 18, tzinfo=UTC)
    )
    assert source.skipped == {"entry without a memory": 1}


def test_mem0s_own_qdrant_is_read_without_running_what_it_pickled(tmp_path: Path) -> None:
    found = imported(unpacked("qdrant.sqlite", tmp_path), "mem0")
    assert facts(found) == [("ana", "Allergic to peanuts"), ("ana", "Works at Acme"), ("bo", "Lives in Leeds")]


def test_a_pickle_that_would_run_something_runs_nothing(tmp_path: Path) -> None:
    import apsw

    ran = tmp_path / "ran"

    class Evil:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.mkdir, (str(ran),)

    connection = apsw.Connection(str(tmp_path / "evil.sqlite"))
    connection.execute("create table points (id text, point blob)")  # pyright: ignore[reportUnknownMemberType] -- apsw
    connection.execute("insert into points values ('1', ?)", (pickle.dumps(Evil()),))  # pyright: ignore[reportUnknownMemberType] -- apsw
    connection.close()
    assert list(read(Source(tmp_path / "evil.sqlite", user="ana"), format="mem0")) == []
    assert not ran.exists()


def test_mem0s_history_gives_what_still_holds_and_the_messages_it_kept(tmp_path: Path) -> None:
    source = unpacked("history.db", tmp_path, user="ana")
    found = imported(source, "mem0")
    assert facts(found) == [("ana", "Works at Acme")]
    assert said(found) == [("user", "I start at Acme on Monday!"), ("assistant", "Shall I ask how it went?")]
    assert source.skipped["deleted memory"] == 1


# --- Zep, Letta -------------------------------------------------------------------------------------------------------------


def test_a_fact_of_a_graph_keeps_the_time_for_which_it_held(tmp_path: Path) -> None:
    export = {
        "messages": [
            {
                "uuid": "m1",
                "role": "Ana",
                "role_type": "user",
                "content": "I moved!",
                "created_at": "2026-03-01T09:00:00Z",
            },
            {"uuid": "m2", "role_type": "assistant", "content": "Where to?", "created_at": "2026-03-01T09:00:05Z"},
        ],
        "edges": [
            {
                "uuid": "e1",
                "fact": "Ana lives in Leeds",
                "valid_at": "2020-01-01T00:00:00Z",
                "invalid_at": "2026-03-01T00:00:00Z",
            }
        ],
    }
    found = imported(written(export, tmp_path), "zep")
    assert said(found) == [("user", "I moved!"), ("assistant", "Where to?")]
    [fact] = [one for one in found if isinstance(one, KnownFact)]
    assert (fact.valid_from, fact.valid_to) == (datetime(2020, 1, 1, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC))


def test_an_agent_of_letta_spoke_through_its_tool(tmp_path: Path) -> None:
    def message(role: str, content: str, **more: Any) -> dict[str, Any]:
        return {"role": role, "content": [{"type": "text", "text": content}], **more}

    def calling(name: str, args: dict[str, str]) -> list[dict[str, Any]]:
        return [{"id": "c1", "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}]

    agent = {
        "name": "nikita",
        "messages": [
            message("system", "You are …"),
            message("user", json.dumps({"type": "login", "last_login": "never"})),
            message("user", json.dumps({"type": "user_message", "message": "yes", "time": "now"}), id="u1"),
            message("assistant", "She agrees.", tool_calls=calling("search", {"q": "acme"})),
            message("tool", "2 results", tool_call_id="c1", name="search"),
            message("assistant", "inner voice", tool_calls=calling("send_message", {"message": "Then I will ask."})),
            message("tool", '{"status": "OK"}', tool_call_id="c1", name="send_message"),
        ],
    }
    blocks = [
        {"label": "human", "value": "Name: Ana\n- Allergic to peanuts\n"},
        {"label": "persona", "value": "I am Nikita."},
    ]
    source = written({"agents": [agent], "blocks": blocks}, tmp_path)
    found = imported(source, "letta")
    assert facts(found) == [("ana", "Name: Ana"), ("ana", "Allergic to peanuts")]
    assert said(found) == [
        ("user", "yes"),
        ("assistant", "She agrees."),
        ("tool", ""),
        ("assistant", "Then I will ask."),
    ]
    assert source.skipped["block persona"] == 1


# --- LangChain, LangGraph ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "export",
    [
        [
            {"type": "human", "data": {"content": "hi", "type": "human"}},
            {"type": "ai", "data": {"content": [{"type": "text", "text": "hello"}]}},
        ],
        [
            {"lc": 1, "id": ["langchain", "schema", "messages", "HumanMessage"], "kwargs": {"content": "hi"}},
            {"lc": 1, "id": ["langchain", "schema", "messages", "AIMessage"], "kwargs": {"content": ["hello"]}},
        ],
        {"messages": [{"type": "human", "content": "hi"}, {"type": "ai", "content": "hello"}]},
    ],
)
def test_langchains_messages_in_each_of_their_forms(export: object, tmp_path: Path) -> None:
    assert said(imported(written(export, tmp_path), "langchain")) == [("user", "hi"), ("assistant", "hello")]


def test_the_table_of_langchains_sql_history(tmp_path: Path) -> None:
    found = imported(unpacked("store.db", tmp_path, user="ana"), "langchain")
    assert said(found) == [("user", "I start at Acme on Monday!"), ("assistant", "Shall I ask how it went?")]


def test_a_threads_newest_checkpoint_with_its_tool_call(tmp_path: Path) -> None:
    found = imported(unpacked("checkpoints.db", tmp_path, user="ana"), "langchain")
    assert said(found) == [("user", "Weather in Lisbon?"), ("assistant", ""), ("tool", ""), ("assistant", "Sunny.")]
    parts = [part for one in found if isinstance(one, Turn) for part in one.parts or ()]
    assert parts == [
        ToolCall(id="c1", name="weather", args='{"city": "Lisbon"}'),
        ToolReturn(id="c1", name="weather", content="sunny"),
    ]


# --- characters, WhatsApp ---------------------------------------------------------------------------------------------------


def test_a_characters_turns_come_newest_first_with_candidates(tmp_path: Path) -> None:
    def turn(name: str, at: str, *words: str, human: bool = False) -> dict[str, Any]:
        candidates = [{"candidate_id": f"{name}{n}", "raw_content": word} for n, word in enumerate(words)]
        author = {"is_human": True} if human else {"author_id": "c"}
        key = {"chat_id": "x", "turn_id": name}
        return {
            "turn_key": key,
            "author": author,
            "create_time": at,
            "candidates": candidates,
            "primary_candidate_id": f"{name}{len(words) - 1}",
        }

    turns = [
        turn("b", "2026-03-01T09:01:00Z", "No.", "Yes!"),
        turn("a", "2026-03-01T09:00:00Z", "Are you real?", human=True),
    ]
    assert said(imported(written({"turns": turns}, tmp_path), "character")) == [
        ("user", "Are you real?"),
        ("assistant", "Yes!"),
    ]


def test_a_chat_file_of_names_and_messages(tmp_path: Path) -> None:
    rows = [
        {"user_name": "Ana", "character_name": "Nikita"},
        {"name": "Nikita", "is_user": False, "mes": "Hello", "send_date": "March 1, 2026 9:00am"},
        {"name": "Ana", "is_user": True, "mes": "hi", "send_date": 1772355660000},
    ]
    found = imported(written("\n".join(map(json.dumps, rows)), tmp_path), "character")
    assert said(found) == [("assistant", "Hello"), ("user", "hi")]
    assert isinstance(found[0], Turn)
    assert found[0].at == datetime(2026, 3, 1, 9, tzinfo=UTC)


def whatsapp(text: str, folder: Path, **given: Any) -> list[Turn]:
    return [one for one in read(written(text, folder, **given), format="whatsapp") if isinstance(one, Turn)]


def test_whatsapps_text_with_long_messages_notices_and_media(tmp_path: Path) -> None:
    text = (
        "[13/04/26, 18:03:22] \u200eMessages and calls are end-to-end encrypted.\n"
        "[13/04/26, 18:03:25] Ana: one\ntwo: three\n"
        "[13/04/26, 18:04:00] Nikita: \u200eimage omitted\n"
        "[13/04/26, 18:05:00] Nikita: nice\n"
    )
    turns = whatsapp(text, tmp_path, assistant="Nikita", zone="Europe/Berlin")
    assert [(t.role, t.speaker, t.text) for t in turns] == [
        ("user", "Ana", "one\ntwo: three"),
        ("assistant", None, "nice"),
    ]
    assert turns[0].at == datetime(2026, 4, 13, 16, 3, 25, tzinfo=UTC)


def test_what_whatsapp_says_in_a_messages_place_is_not_said_by_anybody(tmp_path: Path) -> None:
    text = (
        "[13.04.26, 18:03:25] Ana: Hallo: wie geht's?\n"
        "[13.04.26, 18:04:00] Nikita: \u200eBild weggelassen\n"
        "\u200e[13.04.26, 18:04:10] Ana: \u200eDiese Nachricht wurde gelöscht.\n"
        "[13.04.26, 18:05:00] Ana: IMG-20260413-WA0001.jpg (Datei angehängt)\n"
        "[13.04.26, 18:05:10] Ana: IMG-20260413-WA0002.jpg (Datei angehängt)\nmein Hund\n"
        "[13.04.26, 18:06:00] Ana: This message was deleted\n"
    )
    assert [turn.text for turn in whatsapp(text, tmp_path)] == ["Hallo: wie geht's?", "mein Hund"]


def test_a_chat_did_not_happen_after_its_export(tmp_path: Path) -> None:
    source = written("3/12/26, 6:10 PM - Ana: a", tmp_path)
    for month, found in ((11, (2026, 3, 12)), (12, (2026, 12, 3))):
        day = datetime(2026, month, 20, tzinfo=UTC).timestamp()
        os.utime(source.path, (day, day))
        [turn] = read(source, format="whatsapp")
        assert isinstance(turn, Turn)
        assert turn.at is not None
        assert (turn.at.year, turn.at.month, turn.at.day) == found


def test_an_assistant_who_says_nothing_in_the_chat_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="'Nikta' says nothing in it; those who do are Ana, Nikita"):
        whatsapp("13.04.26, 18:03 - Ana: hi\n13.04.26, 18:04 - Nikita: hi", tmp_path, assistant="Nikta")


@pytest.mark.parametrize(
    ("lines", "day"),
    [
        (["4/5/26, 9:03 PM - Ana: a", "4/13/26, 9:03 PM - Ana: c"], datetime(2026, 4, 5, 21, 3, tzinfo=UTC)),
        (["30.04.2026, 21:03 - Ana: a", "05.05.2026, 21:03 - Ana: b"], datetime(2026, 4, 30, 21, 3, tzinfo=UTC)),
        (["04/05/2026, 21:03 - Ana: a", "01/06/2026, 21:03 - Ana: b"], datetime(2026, 5, 4, 21, 3, tzinfo=UTC)),
        (["2026/04/05, 21:03 - Ana: a"], datetime(2026, 4, 5, 21, 3, tzinfo=UTC)),
    ],
)
def test_the_order_of_a_date_is_the_one_that_fits_the_chat(lines: list[str], day: datetime, tmp_path: Path) -> None:
    assert whatsapp("\n".join(lines), tmp_path)[0].at == day


@pytest.mark.parametrize("text", ["hello", "[99/99/26, 18:03:22] Ana: hi"])
def test_what_is_no_chat_of_whatsapp_says_so(text: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="export"):
        whatsapp(text, tmp_path)


# --- on the command line ----------------------------------------------------------------------------------------------------


def test_facts_move_in_once_with_their_origin_and_a_dry_run_changes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export = tmp_path / "mem0.json"
    data = tmp_path / "memories"
    hitherto = CommandLine(data, capsys)
    row = {
        "id": "1",
        "memory": "Ana is allergic to peanuts",
        "user_id": "ana",
        "created_at": "2026-03-05T10:00:00+00:00",
    }

    def moved(*more: str) -> Any:
        export.write_text(json.dumps([row]), "utf-8")
        return hitherto.json("import", str(export), "--format", "mem0", *more)

    assert moved("--dry-run")["facts"] == 1
    assert not data.exists()
    assert moved() == {"turns": 0, "facts": 1, "users": 1, "skipped": {}, "dry_run": False}
    moved()
    row["memory"] = "Ana is severely allergic to peanuts"
    moved()
    with Hitherto(data) as memory:
        [kept] = memory.memories(user="ana")
    assert (kept.text, kept.origin, kept.version) == ("Ana is severely allergic to peanuts", "import", 2)
    assert kept.at == datetime(2026, 3, 5, 10, tzinfo=UTC)
