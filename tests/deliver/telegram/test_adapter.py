"""The adapter keeps a log in step with chats: order, repeats, edits, chains, deletions, moves."""

from typing import Any

import pytest

from hitherto.deliver.telegram import Bot, Edited, Posted, Telegram
from hitherto.errors import Conflict
from tests.deliver.telegram.memory_log import MemoryLog

BOT = Bot(id=900, username="nikita_bot", persona="nikita")
OWN = {"id": 900, "is_bot": True, "first_name": "Nikita"}
ANA = {"id": 42, "is_bot": False, "first_name": "Ana"}
PRIVATE = {"id": 42, "type": "private", "first_name": "Ana"}
GROUP = {"id": -700, "type": "group", "title": "Flat 3"}
SUPER = {"id": -1001, "type": "supergroup", "title": "Flat 3"}


def message(
    number: int, text: str, *, chat: dict[str, Any] = PRIVATE, sender: dict[str, Any] = ANA, **more: Any
) -> dict[str, Any]:
    return {
        "message_id": number,
        "from": sender,
        "chat": chat,
        "date": 1_772_445_600 + number,
        "text": text,
        **more,
    }


def update(number: int, kind: str = "message", **fields: Any) -> dict[str, Any]:
    return {"update_id": number, kind: fields.get("of", fields)}


@pytest.fixture
def log() -> MemoryLog:
    return MemoryLog()


@pytest.fixture
def telegram(log: MemoryLog) -> Telegram:
    return Telegram(log, bot=BOT, links=log, forgetter=log)


@pytest.mark.req("R4.1")
async def test_a_reply_chain_through_our_own_messages_is_one_lane(log: MemoryLog, telegram: Telegram) -> None:
    first = message(1, "shall we go to Rome?")
    answer = message(2, "When?", sender=OWN, reply_to_message=first)
    await telegram.handle(update(1, of=first))
    await telegram.record_sent(answer)
    await telegram.handle(update(2, of=message(3, "in May", reply_to_message=message(2, "When?", sender=OWN))))
    await telegram.handle(update(3, of=message(4, "or June", reply_to_message=message(3, "in May"))))
    await telegram.handle(update(4, of=message(5, "by the way")))
    turns = log.users["telegram:user:42"]
    assert [turn.lane for turn in turns.values()] == ["root:42", *["reply:42:1"] * 3, "root:42"]
    assert turns["telegram:42:2"].role == "assistant"
    assert turns["telegram:42:4"].reply_to == "telegram:42:3"


async def test_a_repeated_update_is_handled_once(log: MemoryLog, telegram: Telegram) -> None:
    posted = update(1, of=message(1, "hi"))
    assert isinstance(await telegram.handle(posted), Posted)
    assert await telegram.handle(posted) is None
    assert len(log.users["telegram:user:42"]) == 1


async def test_a_repeat_after_a_restart_and_an_edit_changes_nothing(log: MemoryLog, telegram: Telegram) -> None:
    await telegram.handle(update(1, of=message(1, "hi")))
    await telegram.handle(update(2, "edited_message", of=message(1, "hi there", edit_date=1)))
    restarted = Telegram(log, bot=BOT, links=log)
    await restarted.handle(update(1, of=message(1, "hi")))
    turn = log.users["telegram:user:42"]["telegram:42:1"]
    assert (turn.text, turn.version) == ("hi there", 2)


async def test_an_edit_of_a_message_never_seen_records_it(log: MemoryLog, telegram: Telegram) -> None:
    event = await telegram.handle(update(1, "edited_message", of=message(1, "hi!", edit_date=1)))
    assert isinstance(event, Edited)
    assert log.users["telegram:user:42"]["telegram:42:1"].version == 1


async def test_an_edit_that_changes_no_words_makes_no_version(log: MemoryLog, telegram: Telegram) -> None:
    await telegram.handle(update(1, of=message(1, "hi")))
    await telegram.handle(update(2, "edited_message", of=message(1, "hi", edit_date=1)))
    assert log.users["telegram:user:42"]["telegram:42:1"].version == 1


async def test_an_edited_reply_stays_in_its_lane(log: MemoryLog, telegram: Telegram) -> None:
    first, second = message(1, "one"), message(2, "two")
    for number, one in enumerate((first, {**second, "reply_to_message": first}), 1):
        await telegram.handle(update(number, of=one))
    third = message(3, "three", reply_to_message=second)
    await telegram.handle(update(3, of=third))
    event = await telegram.handle(update(4, "edited_message", of={**third, "text": "3", "edit_date": 1}))
    assert isinstance(event, Edited)
    assert event.posted.turn.lane == log.users["telegram:user:42"]["telegram:42:3"].lane == "reply:42:1"


async def test_a_message_replied_to_that_was_never_seen_is_recorded_first(log: MemoryLog, telegram: Telegram) -> None:
    target = message(7, "the bins go out on Tuesday", chat=GROUP, sender={"id": 43, "first_name": "Bo"})
    await telegram.handle(update(1, of=message(8, "thanks", chat=GROUP, reply_to_message=target)))
    turns = list(log.users["telegram:chat:-700"].values())
    assert [(turn.id, turn.speaker) for turn in turns] == [
        ("telegram:-700:7", "Bo"),
        ("telegram:-700:8", "Ana"),
    ]


async def test_a_linked_person_is_the_applications_user_in_private_and_never_in_a_group(
    log: MemoryLog, telegram: Telegram
) -> None:
    await log.link("ana", "telegram", "42")
    await telegram.handle(update(1, of=message(1, "private")))
    await telegram.handle(update(2, of=message(2, "public", chat=GROUP)))
    assert {user: len(turns) for user, turns in log.users.items()} == {"ana": 1, "telegram:chat:-700": 1}


@pytest.mark.parametrize("restart", [False, True])
async def test_a_group_that_moves_keeps_its_memory_and_root_lane(
    log: MemoryLog, telegram: Telegram, restart: bool
) -> None:
    await telegram.handle(update(1, of=message(1, "before", chat=GROUP)))
    moved = {"message_id": 2, "from": ANA, "chat": GROUP, "date": 1_772_445_700, "migrate_to_chat_id": -1001}
    arrived = {
        "message_id": 1,
        "from": ANA,
        "chat": SUPER,
        "date": 1_772_445_700,
        "migrate_from_chat_id": -700,
    }
    await telegram.handle(update(2, of=moved))
    await telegram.handle(update(3, of=arrived))
    later = Telegram(log, bot=BOT, links=log) if restart else telegram
    await later.handle(update(4, of=message(1, "after", chat=SUPER)))
    turns = log.users["telegram:chat:-700"]
    assert [(turn.id, turn.lane) for turn in turns.values()] == [
        ("telegram:-700:1", "root:-700"),
        ("telegram:-1001:1", "root:-700"),
    ]
    assert "telegram:chat:-1001" not in log.users


async def test_deleted_business_messages_are_forgotten(log: MemoryLog, telegram: Telegram) -> None:
    shop = {"id": 77, "type": "private", "first_name": "Cora"}
    customer = {"id": 77, "first_name": "Cora"}
    said = message(5, "my card is …", chat=shop, sender=customer, business_connection_id="bc1")
    await telegram.handle(update(1, "business_message", of=said))
    gone = {"business_connection_id": "bc1", "chat": shop, "message_ids": [5, 6]}
    await telegram.handle(update(2, "deleted_business_messages", of=gone))
    assert log.users["telegram:business:bc1:77"] == {}


async def test_an_update_that_could_not_be_stored_is_not_taken_as_handled(log: MemoryLog, telegram: Telegram) -> None:
    class Full(MemoryLog):
        async def record(self, turn: Any, /) -> list[str]:
            raise Conflict("no")

    failing = Telegram(Full(), bot=BOT)
    posted = update(1, of=message(1, "hi"))
    for _ in range(2):
        with pytest.raises(Conflict):
            await failing.handle(posted)


async def test_an_answer_carries_its_snapshot(log: MemoryLog, telegram: Telegram) -> None:
    await telegram.record_sent(message(3, "Yes.", sender=OWN), snapshot="snap-1")
    assert log.users["telegram:user:42"]["telegram:42:3"].snapshot == "snap-1"
