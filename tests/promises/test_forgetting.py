"""Forgetting is forgetting: after it, the word is nowhere, and nothing brings it back."""

from __future__ import annotations

import asyncio
import logging
import random
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hitherto import Hitherto, InvalidInput, NotFound, Turn
from hitherto.assemble import replay as replaying
from hitherto.deliver.cli import main
from hitherto.learn.notes import Cost, Line, Method, Passage, Reading, Sitting, SittingNotes
from hitherto.learn.readers.model import ModelReader
from hitherto.learn.readers.rules import RuleReader
from hitherto.learn.services import Services
from hitherto.store.catalog import UserKey
from hitherto.testing import FakeClock
from hitherto.work.worker import Worker
from tests.effort import count
from tests.postgres_server import PostgresServer
from tests.promises.canaries import PERSONA, canary, files_with, live, shown

USERS = 100
ON_SERVER = count(test=30, soak=100)
"""Fewer where each life is thousands of round trips."""
AT_ONCE = 8
KILLS = count(test=10, soak=100)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


async def _everywhere(memory: Hitherto, clock: FakeClock, words: Sequence[str]) -> None:
    await _some_at_once(lambda number, word: live(memory, clock, f"user{number}", word), words)


async def _some_at_once(each: Callable[[int, str], Coroutine[Any, Any, None]], words: Sequence[str]) -> None:
    for start in range(0, len(words), AT_ONCE):
        some = enumerate(words[start : start + AT_ONCE], start=start)
        await asyncio.gather(*(each(number, word) for number, word in some))


async def _forget_each(memory: Hitherto, words: Sequence[str]) -> None:
    """Each user in another way."""

    async def forget(number: int, word: str) -> None:
        user = f"user{number}"
        match number % 3:
            case 0:
                for turn in await memory.turns(user=user):
                    if word in turn.text.casefold():
                        await memory.forget(user=user, turn=turn.id)
            case 1:
                await memory.forget(user=user, entity=f"person:{word}")
            case _:
                await memory.forget(user=user, everything=True)

    await _some_at_once(forget, words)


@pytest.mark.promise("forgotten: no byte left", tries=USERS)
async def test_canaries_of_many_users_leave_no_byte(fast_folder: Path, clock: FakeClock) -> None:
    words = [canary(number) for number in range(USERS)]
    folder, exports = fast_folder / "memories", fast_folder / "exports"
    exports.mkdir()
    log = logging.FileHandler(fast_folder / "log.txt")
    logging.getLogger("hitherto").addHandler(log)
    logging.getLogger("hitherto").setLevel(logging.DEBUG)
    try:
        async with Hitherto(folder, clock=clock) as memory:
            await _everywhere(memory, clock, words)
            assert len(set(files_with(words, folder))) >= USERS, "the words were written"
            await _forget_each(memory, words)
            assert files_with(words, folder) == []
            clock.tick(days=1)
            await memory.settle()
            for number, word in enumerate(words):
                (exports / str(number)).write_text(await _nothing_of(memory, f"user{number}", word))
            await memory.flush()
            assert files_with(words, folder) == []
    finally:
        logging.getLogger("hitherto").removeHandler(log)
        log.close()
    assert files_with(words, fast_folder) == []


async def _nothing_of(memory: Hitherto, user: str, word: str) -> str:
    """No read path shows the word; the user's export."""
    assert word not in (await shown(memory, user, query="sister call")).casefold()
    context = await memory.context(user=user, persona=PERSONA, message="tell me more")
    assert word not in repr(context).casefold()
    return "\n".join([line async for line in memory.export(user=user)])


@pytest.mark.promise("forgotten: no byte left")
async def test_a_users_name_links_and_settings_leave_no_byte(fast_folder: Path, clock: FakeClock) -> None:
    word = canary(USERS)
    async with Hitherto(fast_folder / "memories", clock=clock) as memory:
        await live(memory, clock, word, word)
        await memory.set_user(word, name=word.title(), zone="Europe/Berlin")
        await memory.set_state(user=word, persona=PERSONA, chapter=word)
        await memory.link(word, "telegram", word)
        await memory.set_retention(user=word, turn=30)
        assert files_with([word], fast_folder / "memories" / "users")
        await memory.forget(user=word, everything=True)
        assert files_with([word], fast_folder) == []
    assert files_with([word], fast_folder) == []


@pytest.mark.promise("forgotten: no byte left", tries=ON_SERVER)
async def test_postgres_holds_no_byte_after_a_scrub(own_server: PostgresServer, clock: FakeClock) -> None:
    words = [canary(number) for number in range(ON_SERVER)]
    async with Hitherto(own_server.url(), clock=clock) as memory:
        await _everywhere(memory, clock, words)
        await _forget_each(memory, words)
        for number, word in enumerate(words):
            await _nothing_of(memory, f"user{number}", word)
        await memory.flush()
        await asyncio.to_thread(_checkpoint, own_server)
        assert files_with(words, own_server.data), "before a scrub the server's files still hold them"
        scrubbed = await memory.scrub()
        assert scrubbed.left == ()
        assert files_with(words, own_server.data) == []


def _checkpoint(server: PostgresServer) -> None:
    import psycopg

    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute("checkpoint")


async def _said(memory: Hitherto, *texts: str) -> None:
    for number, text in enumerate(texts, start=1):
        await memory.record(Turn(user="ana", role="user", text=text, id=f"t{number}", persona=PERSONA))


@pytest.fixture
async def memory(store_url: str, clock: FakeClock):
    async with Hitherto(store_url, clock=clock) as engine:
        yield engine


async def _memories(memory: Hitherto) -> list[str]:
    return sorted(m.text for m in await memory.memories(user="ana"))


@pytest.mark.promise("forgotten: does not come back")
async def test_a_forgotten_memory_leaves_its_turn_and_does_not_come_back(memory: Hitherto, clock: FakeClock) -> None:
    await _said(memory, "I live in Austin.", "I work at Acme.")
    await memory.settle(user="ana")
    before = await memory.memories(user="ana")
    [austin] = [m for m in before if "Austin" in m.text]
    await memory.forget(user="ana", memory=austin.id)
    # What is learnt again from the same turn, because something else that rested on it goes, does not bring it back.
    await _said(memory, "I live in Austin.", "I work at Acme.", "I play chess.")
    await memory.revise(user="ana", turn="t1", text="I live in Austin. I love rain.")
    clock.tick(minutes=1)
    await memory.settle(user="ana")
    assert [t.text for t in await memory.turns(user="ana", ids=["t1"])] == ["I live in Austin. I love rain."]
    assert not [text for text in await _memories(memory) if "Austin" in text]
    assert [text for text in await _memories(memory) if "Acme" in text]


async def test_what_other_turns_state_is_learnt_again_from_them(memory: Hitherto, clock: FakeClock) -> None:
    await _said(memory, "I live in Austin.", "As I said: I live in Austin.", "I work at Acme.")
    await memory.settle(user="ana")
    [austin] = [m for m in await memory.memories(user="ana") if "Austin" in m.text]
    assert set(austin.sources) == {"t1", "t2"}
    for turn, left in (("t2", "t1"), ("t1", None)):
        await memory.forget(user="ana", turn=turn)
        assert not [text for text in await _memories(memory) if "Austin" in text]
        clock.tick(minutes=1)
        await memory.settle(user="ana")
        found = [m for m in await memory.memories(user="ana") if "Austin" in m.text]
        assert [m.sources for m in found] == ([(left,)] if left else [])
    assert [text for text in await _memories(memory) if "Acme" in text]


async def test_an_export_before_the_next_work_takes_along_what_is_to_be_learnt_again(
    memory: Hitherto, clock: FakeClock, tmp_path: Path
) -> None:
    await _said(memory, "I live in Austin.", "As I said: I live in Austin.", "I work at Acme.")
    await memory.settle(user="ana")
    await memory.forget(user="ana", turn="t2")
    lines = [line async for line in memory.export(user="ana")]
    (tmp_path / "ana.jsonl").write_text("\n".join(lines) + "\n")
    async with Hitherto(tmp_path / "elsewhere", clock=clock) as elsewhere:
        await elsewhere.load(tmp_path / "ana.jsonl")
        assert [line async for line in elsewhere.export(user="ana")] == lines
        clock.tick(minutes=1)
        for one in (memory, elsewhere):
            await one.settle(user="ana")
            assert [text for text in await _memories(one) if "Austin" in text]
        assert await _memories(elsewhere) == await _memories(memory)
        assert all('"waiting"' not in line for line in [line async for line in elsewhere.export(user="ana")])
    (tmp_path / "bad.jsonl").write_text("\n".join([lines[0].replace('"step"', '"stop"'), *lines[1:]]) + "\n")
    async with Hitherto(tmp_path / "third", clock=clock) as third:
        with pytest.raises(InvalidInput, match="waiting"):
            await third.load(tmp_path / "bad.jsonl")


async def test_what_ended_because_of_it_is_true_again(memory: Hitherto, clock: FakeClock) -> None:
    await _said(memory, "I live in Austin.")
    clock.tick(days=1)
    await memory.record(Turn(user="ana", role="user", text="I moved to Berlin. I live in Berlin now.", id="b"))
    await memory.settle(user="ana")
    [austin] = [m for m in await memory.memories(user="ana") if "Austin" in m.text]
    assert austin.valid_to is not None
    await memory.forget(user="ana", turn="b")
    [austin] = [m for m in await memory.memories(user="ana") if "Austin" in m.text]
    assert austin.valid_to is None


@pytest.mark.promise("forgotten: does not come back")
async def test_a_delivery_that_comes_again_does_not_bring_it_back(memory: Hitherto) -> None:
    await _said(memory, "I live in Austin.", "I work at Acme.")
    await memory.forget(user="ana", turn="t1")
    turn = Turn(user="ana", role="user", text="I live in Austin.", id="t1", persona=PERSONA)
    assert await memory.record(turn) == ["t1"]
    assert [turn.id for turn in await memory.turns(user="ana")] == ["t2"]


async def test_a_dry_run_counts_and_changes_nothing(memory: Hitherto, clock: FakeClock) -> None:
    await live(memory, clock, "ana", "zanzibar")
    lines = [line async for line in memory.export(user="ana")]
    for what in ({"entity": "person:zanzibar"}, {"turn": "ana-1"}, {"everything": True}):
        counted = await memory.forget(user="ana", dry_run=True, **what)  # pyright: ignore[reportArgumentType] -- one of three
        assert counted.dry_run
        assert counted.turns
        assert [line async for line in memory.export(user="ana")] == lines
    done = await memory.forget(user="ana", entity="person:zanzibar")
    assert done.turns >= 4
    assert done.records["memory"] >= 1


async def test_a_source_goes_with_all_that_it_brought(memory: Hitherto, clock: FakeClock) -> None:
    await _said(memory, "I live in Austin.")
    for number, (origin, conversation) in enumerate([("import", "old"), ("import", "older"), ("tool", None)]):
        await memory.record(
            Turn(
                user="ana",
                role="user" if origin == "import" else "tool",
                text=f"I collect stamps of kind {number}.",
                id=f"s{number}",
                origin="import" if origin == "import" else "tool",
                conversation=conversation,
            )
        )
    await memory.settle(user="ana")
    await memory.forget(user="ana", origin="import", conversation="old")
    assert [turn.id for turn in await memory.turns(user="ana")] == ["t1", "s1", "s2"]
    await memory.forget(user="ana", origin="import")
    await memory.forget(user="ana", origin="tool")
    assert [turn.id for turn in await memory.turns(user="ana")] == ["t1"]
    assert not [text for text in await _memories(memory) if "stamps" in text]
    with pytest.raises(NotFound):
        await memory.forget(user="ana", speaker="nobody")
    with pytest.raises(InvalidInput):
        await memory.forget(user="ana", origin="tool", turn="t1")


class _Slow:
    """A reader that has read its turns and is not done yet."""

    method: Method = "rules"

    def __init__(self) -> None:
        self._rules = RuleReader()
        self.reading, self.go_on = asyncio.Event(), asyncio.Event()

    def small_talk(self, lines: Sequence[Line]) -> bool:
        return self._rules.small_talk(lines)

    async def read(self, passage: Passage) -> Reading:
        found = await self._rules.read(passage)
        self.reading.set()
        await self.go_on.wait()
        return found

    async def close(self, sitting: Sitting) -> SittingNotes:
        return await self._rules.close(sitting)


class _Understanding:
    """A model that puts in its notes what another line said: names for "she", and a secret of the line before."""

    async def ask(self, question: str, *, instructions: str, schema: Mapping[str, Any]) -> tuple[dict[str, Any], Cost]:
        notes: list[dict[str, Any]] = [
            {"k": "fact", "text": "Zanzibar plays the cello.", "who": "Zanzibar; Ana", "q": ["she plays the cello"]},
            {"k": "fact", "text": "Zanzibar moved in with Rita.", "kind": "event", "q": ["she moved in with rita"]},
            {"k": "loop", "text": "Ana calls Zanzibar", "q": ["i will call her"]},
            {"k": "fact", "text": "Ana works at Acme.", "who": "Ana", "q": ["i work at acme"]},
            {"k": "person", "who": "Rita", "text": "Zanzibar's flatmate"},
            {"k": "now", "text": "Ana is to call Zanzibar.", "q": ["i will call her"]},
            {"k": "sum", "text": "Ana told of Zanzibar.", "q": ["she plays the cello"]},
            {"k": "tone", "text": "fond of zanzibar"},
            {"k": "thought", "text": "I wonder how Zanzibar is."},
        ]
        said = question.casefold()
        known = [note for note in notes if "zanzibar" in said or "zanzibar" not in str(note).casefold()]
        return {"notes": known}, Cost(calls=1)


@pytest.mark.promise("forgotten: does not come back")
@pytest.mark.parametrize("sessions", [1, 2])
async def test_words_that_only_it_said_go_from_what_rests_on_other_turns(
    store_url: str, clock: FakeClock, sessions: int
) -> None:
    async with Hitherto(store_url, clock=clock, reader=ModelReader(_Understanding()), pace="live") as memory:
        await memory.set_user("ana", name="Ana")
        await _said(memory, "My sister is called Zanzibar, she is in Kenya.")
        for number, text in enumerate(
            ("she plays the cello", "she moved in with rita", "i will call her", "i work at acme")
        ):
            clock.tick(minutes=1 if sessions == 1 else 45)
            await memory.record(Turn(user="ana", role="user", text=text, id=f"s{number}", persona=PERSONA))
            await memory.settle(user="ana")
        clock.tick(minutes=45)
        await memory.settle(user="ana")
        await memory.context(user="ana", persona=PERSONA, message="so?")
        await memory.remember(user="ana", text="Kenya is warm.")
        assert (await shown(memory, "ana", query="cello")).casefold().count("zanzibar") > 5
        await memory.forget(user="ana", turn="t1")
        for _ in range(2):
            left = (await shown(memory, "ana", query="cello")).casefold()
            assert "zanzibar" not in left
            clock.tick(minutes=45)
            await memory.settle(user="ana")
        assert [text for text in await _memories(memory) if "Acme" in text], (
            "what does not speak of it stays, or is learnt again"
        )
        assert "Kenya is warm." in await _memories(memory), "what a person wrote is theirs"


@pytest.mark.promise("forgotten: does not come back")
async def test_work_under_way_does_not_write_it_back(memory: Hitherto, clock: FakeClock) -> None:
    await _said(memory, "My sister is called Zanzibar.", "I work at Acme.")
    worker: Worker[Services] = await memory.worker()
    slow, usual = _Slow(), worker._services  # pyright: ignore[reportPrivateUsage] -- one part is to be slower

    async def slower(key: UserKey) -> Services:
        return replace(await usual(key), plain=slow)

    worker._services = slower  # pyright: ignore[reportPrivateUsage] -- as above
    working = asyncio.create_task(worker.settle(UserKey("default", "ana")))
    await slow.reading.wait()
    await memory.forget(user="ana", turn="t1")
    slow.go_on.set()
    assert (await working).busy, "what was read before is refused"
    clock.tick(minutes=45)
    await memory.settle(user="ana")
    assert "zanzibar" not in (await shown(memory, "ana", query="sister")).casefold()
    assert [text for text in await _memories(memory) if "Acme" in text]


@pytest.mark.promise("forgotten: does not come back")
async def test_work_under_way_is_refused_by_somebody_who_is_back(memory: Hitherto, clock: FakeClock) -> None:
    """Another worker has begun with what was said since: its lease is the first one of that log, as the other one's was."""
    working: list[asyncio.Task[Any]] = []
    parts = [_Slow(), _Slow()]
    for slow, said in zip(parts, ("My sister is called Zanzibar.", "I work at Acme."), strict=True):
        await memory.forget(user="ana", everything=True)
        await _said(memory, said, "Hello.")
        worker: Worker[Services] = await memory.worker()
        usual = worker._services  # pyright: ignore[reportPrivateUsage] -- one part is to be slower

        async def slower(
            key: UserKey, slow: _Slow = slow, usual: Callable[[UserKey], Awaitable[Services]] = usual
        ) -> Services:
            return replace(await usual(key), plain=slow)

        worker._services = slower  # pyright: ignore[reportPrivateUsage] -- as above
        working.append(asyncio.create_task(worker.settle(UserKey("default", "ana"))))
        await slow.reading.wait()
    for slow, task in zip(parts, working, strict=True):
        slow.go_on.set()
        await task
    assert working[0].result().busy, "what was read before is refused"
    clock.tick(minutes=45)
    await memory.settle(user="ana")
    assert "zanzibar" not in (await shown(memory, "ana", query="sister")).casefold()
    assert [text for text in await _memories(memory) if "Acme" in text]


@pytest.fixture
def forgotten(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Until it is set, no snapshot is written."""
    keep, done = replaying.keep, asyncio.Event()

    async def late(*args: Any) -> None:
        await done.wait()
        await keep(*args)

    monkeypatch.setattr(replaying, "keep", late)
    return done


@pytest.mark.promise("forgotten: does not come back")
@pytest.mark.parametrize("what", [{"turn": "t1"}, {"everything": True}], ids=["turn", "everything"])
async def test_a_context_under_way_does_not_write_it_back(
    store_url: str, clock: FakeClock, forgotten: asyncio.Event, what: dict[str, Any]
) -> None:
    """Its snapshot is written behind the answer, when another process has forgotten what it shows."""
    async with Hitherto(store_url, clock=clock) as memory, Hitherto(store_url, clock=clock) as other:
        await _said(memory, "My sister is called Zanzibar.", "I work at Acme.")
        context = await memory.context(user="ana", persona=PERSONA, message="what about my sister?")
        assert "Zanzibar" in repr(context)
        await other.forget(user="ana", **what)
        forgotten.set()
        await memory.flush()
        assert "Zanzibar" not in await shown(other, "ana", query="sister")
        kept = await other.snapshots(user="ana")
        assert len(kept) == (0 if "everything" in what else 1)
        assert await other.users() == ([] if "everything" in what else ["ana"])


@pytest.mark.promise("forgotten: does not come back")
async def test_a_context_under_way_is_not_written_to_somebody_who_is_back(
    store_url: str, clock: FakeClock, forgotten: asyncio.Event
) -> None:
    """As much was said since as before, under the same ids: the head of the log alone would not tell."""
    async with Hitherto(store_url, clock=clock) as memory, Hitherto(store_url, clock=clock) as other:
        await _said(memory, "My sister is called Zanzibar.", "I work at Acme.")
        await memory.context(user="ana", persona=PERSONA, message="what about my sister?")
        before = await other.head(user="ana")
        await other.forget(user="ana", everything=True)
        await _said(other, "Hello.", "I live in Austin.")
        assert await other.head(user="ana") == before
        forgotten.set()
        await memory.flush()
        assert "Zanzibar" not in await shown(other, "ana", query="sister")
        assert await other.snapshots(user="ana") == []


async def test_what_was_learnt_again_is_in_the_replay(memory: Hitherto, clock: FakeClock) -> None:
    await _said(memory, "I live in Austin.", "As I said: I live in Austin.")
    await memory.settle(user="ana")
    await memory.forget(user="ana", turn="t2")
    clock.tick(minutes=1)
    await memory.settle(user="ana")
    context = await memory.context(user="ana", persona=PERSONA, message="where do I live?")
    replayed = await memory.replay(user="ana", snapshot=context.snapshot)
    assert (replayed.system, replayed.messages) == (context.system, context.messages)
    assert [item.text for item in replayed.items] == [item.text for item in context.items]


_KILLED = """
import asyncio, sys
from hitherto import Hitherto
async def main():
    async with Hitherto(sys.argv[1]) as memory:
        print("ready", flush=True)
        await memory.forget(user="user0", entity="person:" + sys.argv[2])
        print("done", flush=True)
asyncio.run(main())
"""


def _killed_while_forgetting(folder: Path, word: str, after: float) -> bool:
    """Whether it was acknowledged before the process was killed."""
    command = [sys.executable, "-c", _KILLED, str(folder), word]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={"PYTHONPATH": "src"}) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(after)
        process.send_signal(signal.SIGKILL)
        return process.stdout.read() == b"done\n"


@pytest.mark.promise("forgotten: whole or not at all", tries=KILLS)
async def test_a_crash_in_the_middle_forgets_all_or_nothing(tmp_path: Path, rng: random.Random) -> None:
    """Killed at any moment, the next start finds everything there or nothing at all, and finishes what was begun."""
    word, outcomes = canary(7), set[str]()
    for round_ in range(KILLS):
        folder, clock = tmp_path / f"m{round_}", FakeClock()
        async with Hitherto(folder, clock=clock) as memory:
            await live(memory, clock, "user0", word)
            before = [line async for line in memory.export(user="user0")]
        acknowledged = await asyncio.to_thread(_killed_while_forgetting, folder, word, rng.uniform(0, 0.12))
        async with Hitherto(folder, clock=clock) as memory:
            after = [line async for line in memory.export(user="user0")]
            gone = after != before
            outcomes.add("gone" if gone else "there")
            assert gone or not acknowledged
            if gone:
                assert files_with([word], folder) == []
    assert outcomes


@pytest.mark.promise("forgotten: does not come back")
async def test_an_older_backup_does_not_bring_it_back(tmp_path: Path, clock: FakeClock) -> None:
    """One forgets a turn and one everything, after the backup; a third one says something since."""
    words = [canary(number) for number in range(3)]
    folder, backup, restored = tmp_path / "memories", tmp_path / "backup", tmp_path / "restored"
    async with Hitherto(folder, clock=clock) as memory:
        await _everywhere(memory, clock, words)
        await memory.link("user1", "telegram", "4711")
        await memory.backup(backup)
        clock.tick(minutes=1)
        await memory.forget(user="user0", entity=f"person:{words[0]}")
        await memory.forget(user="user1", everything=True)
        ledger = folder / "forgotten.jsonl"
    assert files_with(words[:2], backup), "the backup is older than the forgetting"
    assert files_with([*words[:2], "user1"], folder) == []
    async with Hitherto(backup, clock=clock) as old:
        await old.backup(restored)
    async with Hitherto(restored, clock=clock) as memory:
        done = await memory.forget_again(ledger)
        assert set(done) == {"user0", "user1"}
        assert await memory.forget_again(ledger) == {}
        assert await memory.users() == ["user0", "user2"]
        assert await memory.resolve("telegram", "4711") is None
        assert words[0] not in (await shown(memory, "user0", query="sister call")).casefold()
        assert words[2] in (await shown(memory, "user2", query="sister call")).casefold()
    assert files_with(words[:2], restored) == []


@pytest.mark.promise("forgotten: does not come back")
async def test_an_older_backup_does_not_bring_it_back_if_the_clock_went_back(tmp_path: Path, clock: FakeClock) -> None:
    """What was recorded while the clock was ahead is later than the moment at which it was forgotten."""
    folder, backups = tmp_path / "memories", (tmp_path / "before", tmp_path / "after")
    async with Hitherto(folder, clock=clock) as memory:
        for number, name in enumerate(("Zanzibar", "Zelda")):
            said = f"My sister is called {name}. I live in Austin."
            await memory.record(Turn("ana", "user", said, id=f"t{number}", persona=PERSONA))
        await memory.settle(user="ana")
        await memory.backup(backups[0])
        clock.tick(hours=-2)
        await memory.forget(user="ana", turn="t0")
        await memory.settle(user="ana")
        await memory.backup(backups[1])
    for backup in backups:
        async with Hitherto(backup, clock=clock) as memory:
            await memory.forget_again(folder / "forgotten.jsonl")
            await memory.settle(user="ana")
            assert "zanzibar" not in (await shown(memory, "ana", query="sister")).casefold()
            [austin] = [m for m in await memory.memories(user="ana") if "Austin" in m.text]
            assert (austin.attribute, austin.value, austin.sources) == ("home", "Austin", ("t1",)), (
                "the other turn says so"
            )


@pytest.mark.promise("forgotten: does not come back")
@pytest.mark.parametrize("hours", [-2, 2])
async def test_a_life_that_ended_is_told_from_the_next_whatever_the_clock_says(
    tmp_path: Path, clock: FakeClock, hours: int
) -> None:
    """Somebody is forgotten, comes back and says the same under the same id, while the clock jumps."""
    folder, first, second = tmp_path / "memories", tmp_path / "first", tmp_path / "second"
    async with Hitherto(folder, clock=clock) as memory:
        await memory.record(Turn("ana", "user", "My sister is called Zanzibar.", id="t0", persona=PERSONA))
        await memory.backup(first)
        clock.tick(hours=hours)
        await memory.forget(user="ana", everything=True)
        clock.tick(hours=-hours, minutes=-1 if hours > 0 else 1)
        await memory.record(Turn("ana", "user", "My sister is called Zelda.", id="t0", persona=PERSONA))
        await memory.backup(second)
        assert await memory.forget_again(folder / "forgotten.jsonl") == {}
    async with Hitherto(first, clock=clock) as memory:
        assert set(await memory.forget_again(folder / "forgotten.jsonl")) == {"ana"}
        assert await memory.users() == []
    async with Hitherto(second, clock=clock) as memory:
        assert await memory.forget_again(folder / "forgotten.jsonl") == {}
        assert [turn.text for turn in await memory.turns(user="ana")] == ["My sister is called Zelda."]


@pytest.mark.promise("forgotten: does not come back")
async def test_an_older_backup_of_postgres_does_not_bring_it_back(
    postgres_url: str, second_postgres_url: str, tmp_path: Path, clock: FakeClock
) -> None:
    """By the command that operators use, which needs the ledger."""
    words = [canary(number) for number in range(3)]
    backup, ledger = tmp_path / "backup", tmp_path / "forgotten.jsonl"
    async with Hitherto(postgres_url, clock=clock, forgotten=ledger) as memory:
        await _everywhere(memory, clock, words)
        await memory.backup(backup)
        clock.tick(minutes=1)
        await memory.forget(user="user0", entity=f"person:{words[0]}")
        await memory.forget(user="user1", everything=True)
    command = ["--data", second_postgres_url, "restore", str(backup), "--forgotten", str(ledger)]
    assert await asyncio.to_thread(main, command) == 0
    async with Hitherto(second_postgres_url, clock=clock) as memory:
        assert await memory.users() == ["user0", "user2"]
        assert words[0] not in (await shown(memory, "user0", query="sister call")).casefold()
        assert words[2] in (await shown(memory, "user2", query="sister call")).casefold()
