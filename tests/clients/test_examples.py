"""A new user's path with each framework: its example runs as it is, and "yes" is understood on the second run."""

# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from hitherto import Hitherto
from tests.deliver.telegram.fake_bot_api import TOKEN, FakeBotApi, serving

pytestmark = pytest.mark.filterwarnings("default")  # What other packages warn of among themselves is theirs.

FIRST = "May I bring a cake to Acme on Monday?"
PATHS = [
    ("PydanticAI", "pydantic-ai-slim", "pydantic_ai", "pydantic_ai_companion"),
    ("OpenAI Agents SDK", "openai-agents", "agents", "openai_agents_session"),
    ("LangGraph", "langgraph", "langgraph", "langgraph_memory"),
    ("Google ADK", "google-adk", "google.adk", "google_adk_agent"),
    ("LlamaIndex", "llama-index-core", "llama_index.core", "llama_index_chat"),
    ("CrewAI", "crewai", "crewai", "crewai_crew"),
    ("Pipecat", "pipecat-ai", "pipecat", "pipecat_call"),
    ("LiveKit Agents", "livekit-agents", "livekit.agents", "livekit_call"),
]
BOTS = [
    ("aiogram", "aiogram", "aiogram", "aiogram_bot"),
    ("python-telegram-bot", "python-telegram-bot", "telegram.ext", "python_telegram_bot"),
]


def marked(rows: list[tuple[str, str, str, str]], driven: str) -> list[Any]:
    return [
        pytest.param(module, f"examples.{example}", id=example, marks=pytest.mark.client(client, package, driven))
        for client, package, module, example in rows
    ]


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "GOOGLE_API_KEY", "MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CREWAI_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")


@pytest.mark.parametrize(("module", "example"), marked(PATHS, 'its example, run twice: "yes" is understood'))
async def test_the_second_run_understands_yes(module: str, example: str, tmp_path: Path) -> None:
    pytest.importorskip(module)
    main: Any = import_module(example).main
    for folder, said, answer in (("m", FIRST, "the cake"), ("m", "yes", "the cake"), ("other", "yes", "no cake")):
        made = (
            main(tmp_path / folder, said)
            if inspect.iscoroutinefunction(main)
            else asyncio.to_thread(main, tmp_path / folder, said)
        )
        assert await made == f"I know of {answer}."


@pytest.fixture
def api() -> Iterator[FakeBotApi]:
    with serving() as running:
        yield running


def message(number: int, text: str, *, user: int) -> dict[str, Any]:
    who = {"id": user, "first_name": f"user {user}"}
    said = {"message_id": number, "date": 1_772_445_600 + number, "text": text,
            "from": {**who, "is_bot": False}, "chat": {**who, "type": "private"}}  # fmt: skip
    return {"update_id": 500 + number, "message": said}


async def polled(main: Any, api: FakeBotApi, memory: Hitherto, folder: Path, *, until: int) -> None:
    """Runs a bot until all updates are confirmed and so many turns of the one who is answered are there."""
    running = asyncio.create_task(main(folder, token=TOKEN, api=api.base))
    async with asyncio.timeout(60):
        while api.confirmed <= api.updates[-1]["update_id"] or len(await memory.turns(user="telegram:user:43")) < until:
            assert not running.done(), running.exception()
            await asyncio.sleep(0.02)
    running.cancel()
    await asyncio.wait([running])


@pytest.mark.parametrize(
    ("module", "example"), marked(BOTS, "its example against a Bot API: blocked by one, started twice")
)
async def test_one_person_who_blocks_the_bot_stops_nobody(
    module: str, example: str, api: FakeBotApi, tmp_path: Path
) -> None:
    pytest.importorskip(module)
    main = import_module(example).main
    api.updates = [message(1, "hello?", user=42), message(2, FIRST, user=43)]
    api.refused[42] = {"ok": False, "error_code": 403, "description": "Forbidden: bot was blocked by the user"}
    async with Hitherto(tmp_path / "m") as memory:
        await polled(main, api, memory, tmp_path / "m", until=2)
        api.updates += [message(3, "are you there?", user=42), message(4, "yes", user=43)]
        await polled(main, api, memory, tmp_path / "m", until=4)
        blocked, other = [await memory.turns(user=f"telegram:user:{number}") for number in (42, 43)]
    assert [(sent["chat"]["id"], sent["text"]) for sent in api.sent] == [(43, "I know of the cake.")] * 2
    assert [turn.text for turn in blocked] == ["hello?", "are you there?"]
    assert [turn.text for turn in other] == [FIRST, "I know of the cake.", "yes", "I know of the cake."]
