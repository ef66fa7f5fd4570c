"""PydanticAI's conversation store on a user's memory."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from pydantic_ai import Agent

from hitherto import Hitherto, Turn
from hitherto.store import records as nouns
from hitherto.store.protocol import RecordList
from hitherto.types import Progress
from tests.deliver.pydantic_ai.scripted import Script, calls, transcript

pytest.importorskip(
    "pydantic_ai.conversation_store", reason="this version of PydanticAI has no conversation store to build on"
)
from pydantic_ai.conversation import Conversation, ConversationTypeAdapter
from pydantic_ai.conversation_store import ConversationConflict

from hitherto.deliver.pydantic_ai import Conversations


@pytest.fixture
def conversations(memory: Hitherto) -> Conversations:
    return Conversations(memory, user="ana")


async def test_a_conversation_goes_on_where_it_was_saved(conversations: Conversations, memory: Hitherto) -> None:
    script = Script([calls(("look", '{"at": "it"}', "a")), "seen", "as I said"])
    agent = Agent(script.model, instructions="Assembled for one request.")

    @agent.tool_plain
    def look(at: str) -> str:
        return f"{at} is blue"

    saved = await conversations.save(await agent.run("look", conversation=Conversation(conversation_id="c")))
    assert len(saved) == 4
    loaded = await conversations.load("c")
    assert loaded is not None
    assert "Assembled" not in str(ConversationTypeAdapter.dump_python(loaded))
    again = await agent.run("and?", conversation=loaded)
    assert len(await conversations.save(again)) == 2
    assert transcript(script.seen[-1]).splitlines() == [
        "user: look",
        'call look: {"at": "it"}',
        "tool look: it is blue",
        "assistant: seen",
        "user: and?",
    ]
    assert [turn.role for turn in await memory.turns(user="ana")] == [
        "user", "assistant", "tool", "assistant", "user", "assistant",
    ]  # fmt: skip


async def test_two_writers_cannot_overwrite_each_other(conversations: Conversations) -> None:
    agent = Agent(Script().model)
    await conversations.save(await agent.run("one", conversation=Conversation(conversation_id="c")))
    loaded = await asyncio.gather(conversations.load("c"), conversations.load("c"))
    results = [await agent.run("two", conversation=conversation) for conversation in loaded if conversation]
    done = await asyncio.gather(*(conversations.save(result) for result in results), return_exceptions=True)
    assert sorted(type(one).__name__ for one in done) == ["ConversationConflict", "list"]
    final = await conversations.load("c")
    assert final is not None
    assert len(final.messages) == 4


async def test_a_conversation_that_travelled_as_json_is_recognised(conversations: Conversations) -> None:
    agent = Agent(Script().model, instructions="assembled")
    await conversations.save(await agent.run("one", conversation=Conversation(conversation_id="c")))
    loaded = await conversations.load("c")
    travelled = ConversationTypeAdapter.validate_json(ConversationTypeAdapter.dump_json(loaded))  # pyright: ignore[reportArgumentType] -- it was just saved
    await conversations.save(await agent.run("two", conversation=travelled))
    final = await conversations.load("c")
    assert final is not None
    assert len(final.messages) == 4
    record = await conversations.read_record("c")
    assert record is not None
    assert record.branches == []


async def test_branches_and_forks(conversations: Conversations) -> None:
    script = Script(["first", "second"])
    agent = Agent(script.model)
    await conversations.save(await agent.run("one", conversation=Conversation(conversation_id="c")))
    first = await conversations.load("c")
    assert first is not None
    branched = await conversations.branch("c", at=1, expected_revision=first.revision)
    assert len(branched.messages) == 1
    fork = await conversations.fork("c", new_conversation_id="d")
    await conversations.save(await agent.run("go on", conversation=fork))
    forked = await conversations.load("d")
    assert forked is not None
    assert [record.conversation_id for record in await conversations.list_conversations()] == ["d", "c"]
    assert len(forked.messages) == 3
    await conversations.delete("c")
    assert await conversations.load("c") is None
    assert await conversations.load("d") is not None


async def test_a_message_of_an_unknown_kind_costs_only_itself(conversations: Conversations, memory: Hitherto) -> None:
    agent = Agent(Script(["answer"]).model)
    await conversations.save(await agent.run("one", conversation=Conversation(conversation_id="c")))
    store = memory._user("ana")  # pyright: ignore[reportPrivateUsage] -- spoils what is stored
    query = RecordList(noun="progress", key_prefix="entry:", limit=10)
    rows = nouns.records((await store.read(query))[query], Progress)
    spoilt = next(row for row in rows if "answer" in str(row.fields["message"]))
    message = {"kind": "response", "parts": [{"part_kind": "telepathy", "content": "?"}]}
    await memory.update(spoilt.id, user="ana", fields={**spoilt.fields, "message": message})
    loaded = await conversations.load("c")
    assert loaded is not None
    assert transcript(loaded.messages) == "user: one"


async def test_scopes_and_users_are_apart(conversations: Conversations, memory: Hitherto) -> None:
    agent = Agent(Script().model)
    result = await agent.run("one", conversation=Conversation(conversation_id="c"))
    await conversations.save(result, scope="web")
    assert await conversations.load("c", scope="phone") is None
    assert await Conversations(memory, user="ben").load("c") is None
    loaded = await conversations.load("c", scope="web")
    assert loaded is not None
    stale = replace(loaded, revision="other")
    with pytest.raises(ConversationConflict):
        await conversations.save(stale)


async def test_turns_are_left_to_the_memory_when_there_is_one(memory: Hitherto) -> None:
    quiet = Conversations(memory, user="ana", turns=False)
    await quiet.save(await Agent(Script().model).run("one", conversation=Conversation(conversation_id="c")))
    assert await memory.turns(user="ana") == []
    loaded = await quiet.load("c", limit=1)
    assert loaded is not None
    assert transcript(loaded.messages) == "assistant: all right"


@pytest.mark.parametrize("turns", [True, False], ids=["recorded", "recorded by others"])
async def test_a_forgotten_message_leaves_a_gap_that_the_conversation_goes_on_behind(
    memory: Hitherto, turns: bool
) -> None:
    store = Conversations(memory, user="ana", turns=turns)
    script = Script(["hi", "noted", "so?", "and on"])
    agent, conversation = Agent(script.model), Conversation(conversation_id="c")
    for message in ("hello", "my sister is called Zanzibar", "well"):
        await store.save(await agent.run(message, conversation=conversation))
        loaded = await store.load("c")
        assert loaded is not None
        conversation = loaded
    if not turns:
        await memory.record(Turn(user="ana", role="user", text="my sister is called Zanzibar", id="t1"))
    [named] = [turn.id for turn in await memory.turns(user="ana") if "Zanzibar" in turn.text]
    receipt = await memory.forget(user="ana", turn=named)
    assert receipt.records["progress"] == 1
    left = await store.load("c")
    assert left is not None
    assert transcript(left.messages).splitlines() == [
        "user: hello", "assistant: hi", "assistant: noted", "user: well", "assistant: so?",
    ]  # fmt: skip
    await store.save(await agent.run("go on", conversation=left))
    assert "Zanzibar" not in "".join([line async for line in memory.export(user="ana")])
    again = await store.load("c")
    assert again is not None
    assert transcript(again.messages).splitlines()[-2:] == ["user: go on", "assistant: and on"]


async def test_a_conversation_whose_newest_message_was_forgotten_goes_on(
    conversations: Conversations, memory: Hitherto
) -> None:
    agent = Agent(Script(["my sister is called Zanzibar", "and on"]).model)
    await conversations.save(await agent.run("hello", conversation=Conversation(conversation_id="c")))
    [_, newest] = await memory.turns(user="ana")
    await memory.forget(user="ana", turn=newest.id)
    left = await conversations.load("c")
    assert left is not None
    await conversations.save(await agent.run("go on", conversation=left))
    again = await conversations.load("c")
    assert again is not None
    assert transcript(again.messages).splitlines() == ["user: hello", "user: go on", "assistant: and on"]
