"""Encrypted at rest: whoever has the data without the key has nothing, and destroying a key forgets a user everywhere."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree

import psycopg
import pytest

from hitherto import Hitherto, InvalidInput, StoreError
from hitherto.privacy.keyring import Keyring, master_key
from hitherto.testing import FakeClock
from tests.postgres_server import PostgresServer
from tests.promises.canaries import PERSONA, canary, files_with, live, shown

MASTER = "0f" * 32
OTHER = "f0" * 32
WORDS = [canary(number) for number in range(2)]
SENTENCES = ["good place", "hiking in the rain", "last week", "I promise", "is called"]
SAID = ["Lisbon", "hiking", "sister", "at Acme as"]
"""Long enough that megabytes of ciphertext do not spell one of them by chance, as they do four letters in any case."""


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


async def _two_lives(memory: Hitherto, clock: FakeClock) -> None:
    for number, word in enumerate(WORDS):
        await live(memory, clock, f"user{number}", word)


@pytest.mark.promise("encryption: no plain text")
async def test_no_plain_text_in_files_log_and_backup(tmp_path: Path, clock: FakeClock) -> None:
    folder, backup = tmp_path / "memories", tmp_path / "backup"
    async with Hitherto(folder, clock=clock, master_key=MASTER) as memory:
        await _two_lives(memory, clock)
        assert any(path.name.endswith("-wal") for path in folder.rglob("*"))
        assert files_with([*WORDS, *SAID], folder) == []
        await memory.backup(backup)
        assert WORDS[0] in (await shown(memory, "user0", query="sister")).casefold()
    assert files_with([*WORDS, *SAID], tmp_path) == []
    assert len(list((tmp_path / "memories.keys").iterdir())) == 2
    with pytest.raises(StoreError, match="is encrypted"):
        Hitherto(folder, clock=clock)
    for key, keys in ((OTHER, "memories.keys"), (None, "elsewhere")):
        (tmp_path / "memories.keys").rename(tmp_path / keys)
        async with Hitherto(folder, clock=clock, master_key=key) as memory:
            with pytest.raises(StoreError):
                await memory.turns(user="user0")


@pytest.mark.promise("encryption: a key destroyed")
async def test_destroying_a_key_forgets_the_user_in_backups_too(tmp_path: Path, clock: FakeClock) -> None:
    folder, backup, restored = tmp_path / "memories", tmp_path / "backup", tmp_path / "restored"
    keys = tmp_path / "keys"
    async with Hitherto(folder, clock=clock, master_key=MASTER, keys=keys) as memory:
        await _two_lives(memory, clock)
        await memory.backup(backup)
        receipt = await memory.forget(user="user0", everything=True)
        assert receipt.turns == 8
        assert "key" in [event.deed for event in await memory.events(user="user0")]
        assert len(list(keys.iterdir())) == 1
    async with Hitherto(backup, clock=clock, master_key=MASTER, keys=keys) as old:
        assert await old.users() == ["user1"], "its file is there, and nobody can read it"
        assert await old.turns(user="user0") == []
        await old.backup(restored)
    async with Hitherto(restored, clock=clock, master_key=MASTER, keys=keys) as memory:
        assert await memory.users() == ["user1"]
        assert WORDS[1] in (await shown(memory, "user1", query="sister")).casefold()


async def test_forgetting_again_destroys_a_key_that_came_back(tmp_path: Path, clock: FakeClock) -> None:
    folder, keys, ledger = tmp_path / "memories", tmp_path / "keys", tmp_path / "forgotten.jsonl"
    async with Hitherto(folder, clock=clock, master_key=MASTER, keys=keys, forgotten=ledger) as memory:
        await _two_lives(memory, clock)
    copytree(folder, tmp_path / "old")
    copytree(keys, tmp_path / "old keys")
    async with Hitherto(folder, clock=clock, master_key=MASTER, keys=keys, forgotten=ledger) as memory:
        await memory.forget(user="user0", everything=True)
    old = Hitherto(tmp_path / "old", clock=clock, master_key=MASTER, keys=tmp_path / "old keys", forgotten=ledger)
    async with old:
        assert [*await old.forget_again()] == ["user0"]
        assert await old.users() == ["user1"]
    assert len(list((tmp_path / "old keys").iterdir())) == 1


async def test_a_memory_whose_keys_are_not_there_is_left_alone(tmp_path: Path, clock: FakeClock) -> None:
    """Whoever has no key counts as forgotten and gets a new file: that must not happen to all for a folder not mounted."""
    folder, keys = tmp_path / "memories", tmp_path / "memories.keys"
    async with Hitherto(folder, clock=clock, master_key=MASTER) as memory:
        await _two_lives(memory, clock)
    keys.rename(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="HITHERTO_KEYS"):
        Hitherto(folder, clock=clock, master_key=MASTER)
    async with Hitherto(folder, clock=clock, master_key=MASTER, keys=tmp_path / "elsewhere") as memory:
        assert len(await memory.turns(user="user0")) == 8


@pytest.mark.parametrize("with_keys", [False, True], ids=["no folder of keys", "a folder of keys"])
async def test_a_plain_memory_that_is_opened_with_a_key_is_left_alone(
    tmp_path: Path, clock: FakeClock, *, with_keys: bool
) -> None:
    folder, keys = tmp_path / "memories", tmp_path / "keys"
    async with Hitherto(folder, clock=clock) as memory:
        await _two_lives(memory, clock)
    if with_keys:
        keys.mkdir()
    with pytest.raises(StoreError, match="without"):
        async with Hitherto(folder, clock=clock, master_key=MASTER, keys=keys) as memory:
            await memory.remember(user="user0", text="Likes tea")
    if with_keys:
        async with Hitherto(folder, clock=clock, master_key=MASTER, keys=keys) as memory:
            for call in (memory.users(), memory.turns(user="user0"), memory.backup(tmp_path / "backup")):
                with pytest.raises(StoreError, match="not encrypted"):
                    await call
    async with Hitherto(folder, clock=clock) as memory:
        assert [len(await memory.turns(user=f"user{number}")) for number in range(2)] == [8, 8]


async def test_nobody_is_added_under_another_master_key(tmp_path: Path, clock: FakeClock) -> None:
    async with Hitherto(tmp_path / "memories", clock=clock, master_key=MASTER) as memory:
        await memory.remember(user="ana", text="Likes tea")
    async with Hitherto(tmp_path / "memories", clock=clock, master_key=OTHER) as memory:
        with pytest.raises(StoreError, match="master key is another one"):
            await memory.remember(user="bo", text="Likes tea")
    async with Hitherto(tmp_path / "memories", clock=clock, master_key=MASTER) as memory:
        assert await memory.users() == ["ana"]


@pytest.mark.parametrize("left", [b"", b"short"], ids=["empty", "cut off"])
def test_a_key_that_is_cut_off_is_damage(tmp_path: Path, left: bytes) -> None:
    ring = Keyring(tmp_path / "keys", master=master_key(MASTER))
    ring("ab" * 16, create=True)
    (tmp_path / "keys" / f"{'ab' * 16}.key").write_bytes(left)
    with pytest.raises(StoreError, match="damaged"):
        ring("ab" * 16)


def test_destroying_a_key_leaves_nothing_of_a_change_that_was_cut_short(tmp_path: Path) -> None:
    ring = Keyring(tmp_path / "keys", master=master_key(MASTER))
    ring("ab" * 16, create=True)
    key = tmp_path / "keys" / f"{'ab' * 16}.key"
    key.with_suffix(".new").write_bytes(key.read_bytes())
    assert ring.destroy("ab" * 16)
    assert list((tmp_path / "keys").iterdir()) == []


@pytest.mark.promise("encryption: no plain text")
async def test_columns_are_sealed_and_everything_works(own_server: PostgresServer, tmp_path: Path) -> None:
    """The same life, plain and sealed: the same answers, and no word of it in the server's files."""
    answers: list[list[str]] = []
    for key in (MASTER, None):
        clock = FakeClock()
        with psycopg.connect(own_server.url(), autocommit=True) as connection:
            connection.execute("drop schema if exists hitherto cascade")
        keys = tmp_path / "keys" if key else None
        async with Hitherto(own_server.url(), clock=clock, master_key=key, keys=keys) as memory:
            await _two_lives(memory, clock)
            context = await memory.context(user="user0", persona=PERSONA, message="how is my sister?")
            found = await memory.search(user="user0", query="who is my sister", limit=5)
            lines = [line async for line in memory.export(user="user0")]
            turns = await memory.turns(user="user0")
            answers.append([context.system, repr(found), *lines, repr(turns)])
            if key:
                await memory.flush()
                with psycopg.connect(own_server.url(), autocommit=True) as connection:
                    connection.execute("checkpoint")
                # Names in memory keys and entity references stay readable; sentences and their words do not.
                assert files_with(SENTENCES, own_server.data) == []
                assert await memory.backup(tmp_path / "backup") == 2
                assert files_with(SENTENCES, tmp_path / "backup") == []
                await memory.forget(user="user1", everything=True)
                assert await memory.turns(user="user1") == []
                assert len(list((tmp_path / "keys").iterdir())) == 1
    assert answers[0] == answers[1]


async def test_a_sealed_database_is_left_alone_without_its_keys(
    postgres_url: str, tmp_path: Path, clock: FakeClock
) -> None:
    async with Hitherto(postgres_url, clock=clock, master_key=MASTER, keys=tmp_path / "keys") as memory:
        await memory.remember(user="ana", text="Likes tea")
    with pytest.raises(StoreError, match="encrypted"):
        await Hitherto(postgres_url, clock=clock).open()
    async with Hitherto(postgres_url, clock=clock, master_key=MASTER, keys=tmp_path / "keys") as memory:
        assert [memory.text for memory in await memory.memories(user="ana")] == ["Likes tea"]


def test_a_change_of_the_master_key_that_is_cut_short_is_finished(tmp_path: Path) -> None:
    names = [f"{number:032x}" for number in range(4)]
    old, new = (Keyring(tmp_path / "keys", master=master_key(key)) for key in (MASTER, OTHER))
    keys = {name: old(name, create=True) for name in names}
    kept = {name: (tmp_path / "keys" / f"{name}.key").read_bytes() for name in names}
    assert old.rewrap(master_key(OTHER)) == len(names)
    for name in names[2:]:
        (tmp_path / "keys" / f"{name}.key").write_bytes(kept[name])
    again = Keyring(tmp_path / "keys", master=master_key(MASTER))
    assert again.rewrap(master_key(OTHER)) == len(names)
    assert {name: new(name) for name in names} == keys
    with pytest.raises(StoreError, match="another one"):
        Keyring(tmp_path / "keys", master=master_key(MASTER)).rewrap(master_key("ab" * 32))
    assert {name: new(name) for name in names} == keys, "and with a wrong one nothing changes"


def test_keys_are_wrapped_by_the_master_key(tmp_path: Path) -> None:
    ring = Keyring(tmp_path / "keys", master=master_key(MASTER))
    key = ring("ab" * 16, create=True)
    assert ring("ab" * 16) == key
    assert files_with([key.hex()], tmp_path) == []
    assert not [path for path in tmp_path.rglob("*.key") if key in path.read_bytes()]
    with pytest.raises(StoreError, match="another one"):
        Keyring(tmp_path / "keys", master=master_key(OTHER))("ab" * 16)
    assert ring.rewrap(master_key(OTHER)) == 1
    assert Keyring(tmp_path / "keys", master=master_key(OTHER))("ab" * 16) == key
    assert ring.destroy("ab" * 16)
    assert not ring.destroy("ab" * 16)
    with pytest.raises(StoreError, match="destroyed"):
        ring("ab" * 16)
    with pytest.raises(InvalidInput, match="32"):
        master_key("abcd")
