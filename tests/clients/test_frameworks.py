"""The memory inside other people's frameworks, each with its real package."""

# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUntypedFunctionDecorator=false
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hitherto import Hitherto, Turn
from hitherto.deliver.telegram import Bot
from hitherto.errors import InvalidInput

pytestmark = pytest.mark.filterwarnings("default")  # What other packages warn of among themselves is theirs.


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Hitherto]:
    async with Hitherto(tmp_path / "m") as opened:
        yield opened


ITEMS: list[Any] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [
        {"type": "input_text", "text": "what is this?"},
        {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo=", "detail": "auto"},
        {"type": "input_image", "file_id": "file_1", "detail": "auto"},
        {"type": "input_file", "file_id": "file_2"},
        {"type": "input_file", "file_data": "data:application/pdf;base64,JVBERg==", "filename": "letter.pdf"},
    ]},
    {"type": "function_call", "call_id": "a", "name": "look", "arguments": '{"at": 1}'},
    {"type": "function_call_output", "call_id": "a", "output": [{"type": "input_text", "text": "a dog"}]},
    {"type": "custom_tool_call", "call_id": "b", "name": "draw", "input": "a cat"},
    {"type": "custom_tool_call_output", "call_id": "b", "output": "drawn"},
    {"type": "computer_call", "id": "cu", "call_id": "c", "status": "completed", "action": {"type": "screenshot"}},
    {"type": "computer_call_output", "call_id": "c", "output": {"type": "computer_screenshot", "file_id": "file_3"}},
    {"role": "assistant", "content": "A dog."},
]  # fmt: skip


@pytest.mark.client(
    "OpenAI Agents SDK", "openai-agents", "`Session` beside `SQLiteSession`: every kind of item, pop, clear"
)
async def test_the_agents_session_beside_sqlite(memory: Hitherto) -> None:
    agents: Any = pytest.importorskip("agents")
    from hitherto.integrations import AgentsSession

    theirs = agents.SQLiteSession("s")
    ours = AgentsSession(memory, user="ana", session_id="s", persona="nikita")
    other = AgentsSession(memory, user="ana", session_id="s", persona="max")
    for session in (theirs, ours):
        await session.add_items(ITEMS)
        assert await session.get_items() == ITEMS
        assert await session.get_items(limit=2) == ITEMS[-2:]
        assert await session.pop_item() == ITEMS[-1]
        assert await session.get_items() == ITEMS[:-1]
    await other.add_items([{"role": "user", "content": "to Max alone"}])
    await ours.clear_session()
    assert await ours.get_items() == []
    assert await ours.pop_item() is None
    assert len(await other.get_items()) == 1, "another persona's turns of that lane stay"


@pytest.mark.client(
    "LlamaIndex", "llama-index-core", "`Memory` with our block: flushed messages recorded, `aget` tells them"
)
async def test_llama_index(memory: Hitherto) -> None:
    pytest.importorskip("llama_index.core.memory")
    from llama_index.core.base.llms.types import ChatMessage
    from llama_index.core.memory import Memory

    from hitherto.integrations import LlamaIndexBlock

    block = LlamaIndexBlock(memory=memory, user="ana")
    chat: Any = Memory.from_defaults(
        session_id="s", token_limit=120, chat_history_token_ratio=0.3, token_flush_size=20, memory_blocks=[block],
        tokenizer_fn=str.split,
    )  # fmt: skip
    await chat.aput(ChatMessage(role="user", content="My sister Rita plays the cello in Oslo"))
    for number in range(12):
        role = "assistant" if number % 2 == 0 else "user"
        await chat.aput(ChatMessage(role=role, content=f"something else that is long enough, number {number}"))
    assert "My sister Rita plays the cello in Oslo" in [turn.text for turn in await memory.turns(user="ana")]
    await chat.aput(ChatMessage(role="user", content="what does Rita play?"))
    assert "cello" in str(await chat.aget())


@pytest.mark.client("Google ADK", "google-adk", "memory service: a session added twice, searched, users apart")
async def test_google_adk(memory: Hitherto) -> None:
    pytest.importorskip("google.adk.memory")
    from google.adk.events.event import Event
    from google.adk.sessions import InMemorySessionService
    from google.genai import types

    from hitherto.integrations import AdkMemory

    sessions: Any = InMemorySessionService()
    session = await sessions.create_session(app_name="app", user_id="ana")
    for author, words in (("user", "My sister Rita plays the cello"), ("ahab", "How lovely!")):
        content = types.Content(role="user", parts=[types.Part(text=words)])
        await sessions.append_event(session, Event(author=author, content=content))
    service = AdkMemory(memory)
    for _ in range(2):
        await service.add_session_to_memory(session)
    assert len(await memory.turns(user="app/ana")) == 2
    found = await service.search_memory(app_name="app", user_id="ana", query="who plays the cello?")
    assert found.memories[0].content.parts[0].text == "My sister Rita plays the cello"
    assert not (await service.search_memory(app_name="app", user_id="ben", query="cello")).memories


@pytest.mark.client(
    "Google ADK", "google-adk", "session service beside `InMemorySessionService`: events, state, filters, errors"
)
async def test_google_adk_sessions(memory: Hitherto) -> None:
    pytest.importorskip("google.adk.sessions")
    from google.adk.events.event import Event
    from google.adk.events.event_actions import EventActions
    from google.adk.sessions import InMemorySessionService
    from google.adk.sessions.base_session_service import GetSessionConfig
    from google.genai import types

    from hitherto.integrations import AdkMemory, AdkSessions

    def event(author: str, *parts: Any, at: float, **state: Any) -> Any:
        content = types.Content(role="user" if author == "user" else "model", parts=list(parts)) if parts else None
        delta = {name.replace("_", ":", 1): value for name, value in state.items()}
        return Event(id=f"e{at:.0f}", invocation_id="i", author=author, content=content, timestamp=at,
                     actions=EventActions(state_delta=delta))  # fmt: skip

    def run() -> list[Any]:
        call = types.Part(function_call=types.FunctionCall(id="c", name="look", args={"at": 1}))
        back = types.Part(function_response=types.FunctionResponse(id="c", name="look", response={"seen": "a dog"}))
        return [
            event("user", types.Part(text="My sister Rita plays"), types.Part(text="the cello"), at=1e9 + 1, user_name="Ana"),
            event("ahab", types.Part(text="hm", thought=True), call, at=1e9 + 2, app_greeting="Ahoy", temp_step=1),
            event("ahab", back, at=1e9 + 3, mood=["calm"]),
            event("ahab", types.Part(text="How lovely!"), at=1e9 + 4),
        ]  # fmt: skip

    seen: list[Any] = []
    ours, theirs = AdkSessions(memory), InMemorySessionService()
    for service in (theirs, ours):
        at = {"app_name": "app", "user_id": "ana"}
        state = {"user:zone": "UTC", "app:version": 2, "step": 1, "temp:x": 1}
        session = await service.create_session(**at, state=state, session_id="s")
        with pytest.raises(Exception, match="already exists"):
            await service.create_session(**at, session_id="s")
        session.last_update_time = 1e9
        if service is ours:
            await ours._change("app/ana", ("adk:session:s",), lambda found: {
                "adk:session:s": {**found["adk:session:s"], "at": 1e9}})  # fmt: skip
        for one in run():
            await service.append_event(session, one)
        await service.append_event(
            session, event("ahab", types.Part(text="par"), at=1e9 + 5).model_copy(update={"partial": True})
        )
        other = await service.create_session(app_name="app", user_id="ben")
        whole = await service.get_session(**at, session_id="s")
        last = await service.get_session(**at, session_id="s", config=GetSessionConfig(num_recent_events=1))
        late = await service.get_session(**at, session_id="s", config=GetSessionConfig(after_timestamp=1e9 + 3))
        assert whole is not None and last is not None and late is not None  # noqa: PT018
        assert await service.get_session(**at, session_id="none") is None
        assert await service.get_session(app_name="app", user_id="ben", session_id="s") is None
        seen.append([
            [one.model_dump(mode="json", exclude_none=True) for one in whole.events], whole.state, other.state,
            [one.id for one in last.events], [one.id for one in late.events], session.state,
            [one.id for one in (await service.list_sessions(**at)).sessions],
            sorted(one.user_id for one in (await service.list_sessions(app_name="app")).sessions),
            (await service.list_sessions(app_name="app2")).sessions,
        ])  # fmt: skip
        await service.delete_session(app_name="app", user_id="ben", session_id=other.id)
        assert not (await service.list_sessions(app_name="app", user_id="ben")).sessions
    assert seen[1] == seen[0]

    await ours.create_session(app_name="a/b", user_id="c", session_id="theirs")
    assert await ours.get_session(app_name="a", user_id="b/c", session_id="theirs") is None
    assert not (await ours.list_sessions(app_name="a")).sessions
    with pytest.raises(InvalidInput, match="user_id is empty"):
        await ours.create_session(app_name="app", user_id="")

    session = await ours.get_session(app_name="app", user_id="ana", session_id="s")
    stale = await ours.get_session(app_name="app", user_id="ana", session_id="s")
    assert session is not None and stale is not None  # noqa: PT018
    await ours.append_event(session, event("user", types.Part(text="and where?"), at=1e9 + 9))
    with pytest.raises(ValueError, match="get it again"):
        await ours.append_event(stale, event("user", types.Part(text="too late"), at=1e9 + 10))

    found = await AdkMemory(memory).search_memory(app_name="app", user_id="ana", query="who plays the cello?")
    assert "cello" in str(found.memories[0].content), "what a session says is remembered without being added"
    turns = await memory.turns(user="app/ana", lane="s")
    await memory.forget(user="app/ana", turn=turns[0].id)
    left = await ours.get_session(app_name="app", user_id="ana", session_id="s")
    assert "cello" not in str(left), "what is forgotten is gone from the session too"
    await ours.delete_session(app_name="app", user_id="ana", session_id="s")
    assert await memory.turns(user="app/ana") == []


@pytest.mark.client("CrewAI", "crewai", "`Memory` with our storage and embedder: remember, recall, scopes, forget")
async def test_crewai(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CREWAI_DISABLE_TELEMETRY", "true")
    pytest.importorskip("crewai.memory.unified_memory")
    from crewai.memory.storage.backend import StorageBackend
    from crewai.memory.unified_memory import Memory

    from examples.crewai_crew import StandIn
    from hitherto.integrations import CrewStorage
    from hitherto.sync import Hitherto as Blocking

    model: Any = StandIn(model="stand-in")  # Everything is said here that a model would be asked for.

    def drive() -> None:
        with Blocking(tmp_path / "crew") as memory:
            storage = CrewStorage(memory, user="ana")
            assert isinstance(storage, StorageBackend)
            crew = Memory(storage=storage, embedder=storage.embed, llm=model)
            fields: dict[str, Any] = {"importance": 0.5, "metadata": {"kind": "fact"}}
            rita = crew.remember("Rita plays the cello in Oslo", scope="/ana/people", categories=["family"], **fields)
            crew.remember("The garden needs water", scope="/ana/home", categories=["garden"], **fields)
            crew.remember("A note of another crew", scope="/anabel", categories=["other"], **fields)
            assert rita is not None
            found = crew.recall("who plays the cello?", depth="shallow")
            assert found[0].record.content == "Rita plays the cello in Oslo"
            assert found[0].record.metadata == {"kind": "fact"}
            inside = crew.recall("who plays the cello?", scope="/ana", depth="shallow")
            assert {one.record.scope for one in inside} == {"/ana/people", "/ana/home"}
            assert crew.list_scopes("/ana") == ["/ana/home", "/ana/people"]
            assert crew.list_categories() == {"family": 1, "garden": 1, "other": 1}
            info = crew.info("/ana")
            assert (info.record_count, info.child_scopes) == (2, ["/ana/home", "/ana/people"])
            changed = crew.update(rita.id, content="Rita plays the viola in Oslo")
            kept = storage.get_record(rita.id)
            assert kept is not None
            assert (kept.content, kept.created_at) == (changed.content, rita.created_at)
            context = memory.context(user="ana", message="what does Rita play?")
            assert "viola" in context.system, "a crew's record is a memory like any other"
            garden = next(fact for fact in memory.memories(user="ana") if "garden" in fact.text)
            memory.forget(user="ana", memory=garden.id)
            assert {one.record.scope for one in crew.recall("garden", depth="shallow")} == {"/ana/people", "/anabel"}
            assert crew.forget(scope="/ana") == 1
            assert storage.count() == 1
        with Blocking(tmp_path / "crew") as memory:
            storage = CrewStorage(memory, user="ana")
            again = Memory(storage=storage, embedder=storage.embed, llm=model)
            assert [one.record.scope for one in again.recall("a note", depth="shallow")] == ["/anabel"]
            again.reset()
            assert storage.count() == 0

    await asyncio.to_thread(drive)


@pytest.mark.client("Pipecat", "pipecat-ai", "processor in a pipeline, with its own `run_test`")
async def test_pipecat(memory: Hitherto) -> None:
    pytest.importorskip("pipecat")
    from pipecat.frames.frames import LLMContextFrame
    from pipecat.processors.aggregators.llm_context import LLMContext
    from pipecat.tests.utils import run_test

    from hitherto.integrations import PipecatMemory

    await memory.record(Turn("ana", "user", "My sister Rita plays the cello", lane="earlier"))
    said: list[Any] = [
        {"role": "system", "content": "You are Ahab."},
        {"role": "user", "content": "what does Rita play?"},
    ]
    context: Any = LLMContext(list(said))
    for answer in (None, "The cello."):
        if answer:
            context.add_message({"role": "assistant", "content": answer})
            context.add_message({"role": "user", "content": "and where?"})
        await run_test(
            PipecatMemory(memory, user="ana", lane="call"),
            frames_to_send=[LLMContextFrame(context)],
            expected_down_frames=[LLMContextFrame],
            start_timeout=60,  # Theirs is a second, which a busy machine does not keep.
        )
    told = [message["content"] for message in context.get_messages() if message["role"] == "developer"]
    assert len(told) == 1
    assert "cello" in told[0]
    assert [turn.text for turn in await memory.turns(user="ana", lane="call")] == [
        "what does Rita play?", "The cello.", "and where?",
    ]  # fmt: skip


@pytest.mark.client("LiveKit Agents", "livekit-agents", "agent in an `AgentSession`: first word, a turn, an answer")
async def test_livekit(memory: Hitherto) -> None:
    pytest.importorskip("livekit.agents")
    from livekit.agents import AgentSession, llm

    from hitherto.integrations import LiveKitMemory

    await memory.record(Turn("ana", "user", "My sister Rita plays the cello", lane="earlier"))
    agent = LiveKitMemory(instructions="You are Ahab.", memory=memory, user="ana", lane="call")
    async with AgentSession() as session:
        await session.start(agent)
        async with asyncio.timeout(30):
            while not agent.instructions.startswith("You are Ahab.\n\n"):  # memory before the first word  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        turn = llm.ChatContext.empty()
        await agent.on_user_turn_completed(turn, llm.ChatMessage(role="user", content=["what does Rita play?"]))
        assert "cello" in str(turn.items[0].text_content)
        session.history.add_message(role="assistant", content="The cello.")
        session.emit("conversation_item_added", type("E", (), {"item": session.history.items[-1]})())
        await agent.on_exit()
    assert [turn.text for turn in await memory.turns(user="ana", lane="call")] == ["what does Rita play?", "The cello."]


BOT = Bot(id=900, username="nikita_bot", persona="nikita")
UPDATE: dict[str, Any] = {
    "update_id": 1,
    "message": {
        "message_id": 7, "date": 1_772_445_600, "text": "I start at Acme on Monday!",
        "from": {"id": 42, "is_bot": False, "first_name": "Ana"}, "chat": {"id": 42, "type": "private", "first_name": "Ana"},
    },
}  # fmt: skip
SENT: dict[str, Any] = {
    **UPDATE["message"], "message_id": 8, "text": "Good luck!",
    "from": {"id": 900, "is_bot": True, "first_name": "Nikita", "username": "nikita_bot"},
}  # fmt: skip


async def check_bot(memory: Hitherto) -> None:
    turns = await memory.turns(user="telegram:user:42")
    assert [(turn.role, turn.text) for turn in turns] == [
        ("user", "I start at Acme on Monday!"), ("assistant", "Good luck!"),
    ]  # fmt: skip
    assert turns[0].at == datetime.fromtimestamp(1_772_445_600, UTC)


@pytest.mark.client("aiogram", "aiogram", "outer middleware in a `Dispatcher`: message and answer recorded")
async def test_aiogram(memory: Hitherto) -> None:
    aiogram: Any = pytest.importorskip("aiogram")
    from hitherto.integrations import AiogramMemory

    dispatcher, seen = aiogram.Dispatcher(), list[Any]()

    @dispatcher.message()
    async def handle(message: Any, posted: Any, remember_sent: Any) -> None:
        if posted is None:
            return  # It came before, and was answered.
        seen.append((posted.addressed, len(await memory.turns(user=posted.turn.user))))
        await remember_sent(aiogram.types.Message.model_validate(SENT))

    dispatcher.update.outer_middleware(AiogramMemory(memory, BOT))
    bot = aiogram.Bot("900:test-token-that-is-not-used-at-all-here")
    for _ in range(2):
        await dispatcher.feed_update(bot, aiogram.types.Update.model_validate(UPDATE))
    assert seen == [(True, 1)]
    await check_bot(memory)


@pytest.mark.client(
    "python-telegram-bot", "python-telegram-bot", "a handler before the others: message and answer recorded"
)
async def test_python_telegram_bot(memory: Hitherto) -> None:
    pytest.importorskip("telegram.ext")
    from telegram import Message, Update
    from telegram.ext import ApplicationBuilder, MessageHandler, filters

    from hitherto.integrations import PtbMemory

    application: Any = ApplicationBuilder().token("900:test").updater(None).build()
    application._initialized = True  # Otherwise it asks Telegram who it is.
    remembering, seen = PtbMemory(memory, BOT), list[Any]()

    async def handle(update: Any, context: Any) -> None:
        seen.append(context.chat_data["posted"].turn.text)
        sent: Any = Message.de_json(SENT, application.bot)
        await remembering.sent(sent)

    application.add_handler(remembering.handler(), group=-1)
    application.add_handler(MessageHandler(filters.ALL, handle))
    await application.process_update(Update.de_json(UPDATE, application.bot))
    assert seen == ["I start at Acme on Monday!"]
    await check_bot(memory)
