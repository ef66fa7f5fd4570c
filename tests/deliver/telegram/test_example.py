"""The example bot, against a Bot API on loopback and a memory on disk."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from examples import telegram_bot
from examples.telegram_bot import BotApi
from hitherto import Hitherto
from tests.deliver.telegram.fake_bot_api import TOKEN, FakeBotApi, serving

ANA = {"id": 42, "is_bot": False, "first_name": "Ana"}
PRIVATE = {"id": 42, "type": "private", "first_name": "Ana"}
FORUM = {"id": -1002, "type": "supergroup", "title": "Team", "is_forum": True}


@pytest.fixture(autouse=True)
def no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture
def telegram() -> Iterator[FakeBotApi]:
    with serving() as api:
        yield api


def message(number: int, text: str, *, chat: dict[str, Any], **more: Any) -> dict[str, Any]:
    said = {
        "message_id": number,
        "from": ANA,
        "chat": chat,
        "date": 1_772_445_600 + number,
        "text": text,
        **more,
    }
    return {"update_id": 500 + number, "message": said}


async def served(api: FakeBotApi, folder: Path) -> None:
    """Polls until the bot has confirmed every update, and not longer than a few rounds."""
    rounds = iter(range(5))

    def going_on() -> bool:
        return next(rounds, None) is not None and api.confirmed <= api.updates[-1]["update_id"]

    async with Hitherto(folder) as memory:
        await telegram_bot.serve(BotApi(TOKEN, api.base), memory, going_on=going_on)


@pytest.mark.req("R4.1")
async def test_it_answers_in_the_lane_it_was_asked_in_and_remembers_its_answer(
    telegram: FakeBotApi, tmp_path: Path
) -> None:
    topic = {"message_thread_id": 5, "is_topic_message": True}
    telegram.updates = [
        message(1, "I start at Acme on Monday!", chat=PRIVATE),
        message(2, "no bot needed here", chat=FORUM, **topic),
        message(3, "@nikita_bot what did I just say?", chat=FORUM, **topic),
    ]
    await served(telegram, tmp_path)
    assert [sent["chat"]["id"] for sent in telegram.sent] == [42, -1002]
    assert telegram.sent[1]["message_thread_id"] == 5
    assert "no bot needed here" in telegram.sent[1]["text"]
    assert "Acme" not in telegram.sent[1]["text"]
    async with Hitherto(tmp_path) as memory:
        turns = await memory.turns(user="telegram:chat:-1002", lane="topic:-1002:5")
        assert [turn.role for turn in turns] == ["user", "user", "assistant"]
        assert turns[-1].snapshot is not None


async def test_a_restart_that_sees_old_updates_again_records_nothing_twice(
    telegram: FakeBotApi, tmp_path: Path
) -> None:
    telegram.updates = [message(1, "hello", chat=PRIVATE)]
    await served(telegram, tmp_path)
    telegram.confirmed = 0
    await served(telegram, tmp_path)
    async with Hitherto(tmp_path) as memory:
        turns = await memory.turns(user="telegram:user:42")
    assert [turn.text for turn in turns if turn.role == "user"] == ["hello"]


async def test_a_busy_telegram_is_waited_for(telegram: FakeBotApi, tmp_path: Path) -> None:
    telegram.refusals = [{"ok": False, "error_code": 429, "description": "wait", "parameters": {"retry_after": 0}}]
    telegram.updates = [message(1, "hello", chat=PRIVATE)]
    await served(telegram, tmp_path)
    assert len(telegram.sent) == 1


async def test_a_wrong_token_is_said_clearly(telegram: FakeBotApi) -> None:
    with pytest.raises(RuntimeError, match="getMe: Unauthorized"):
        await BotApi("1:wrong", telegram.base).call("getMe")


async def test_one_person_who_blocks_the_bot_stops_nobody(telegram: FakeBotApi, tmp_path: Path) -> None:
    ben = {"id": 43, "type": "private", "first_name": "Ben"}
    telegram.updates = [message(1, "hello?", chat=PRIVATE), message(2, "and hello", chat=ben)]
    telegram.refusals = [{"ok": False, "error_code": 403, "description": "Forbidden: bot was blocked by the user"}]
    await served(telegram, tmp_path / "m")
    assert [sent["chat"]["id"] for sent in telegram.sent] == [43]
    assert telegram.confirmed == 503, "nothing comes again after a restart"
    async with Hitherto(tmp_path / "m") as memory:
        assert [turn.text for turn in await memory.turns(user="telegram:user:42")][:1] == ["hello?"]
