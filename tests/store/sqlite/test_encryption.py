"""With a key per user, a file says nothing to whoever has not got it."""

from pathlib import Path

import pytest

from hitherto.errors import StoreCorrupt
from hitherto.store.protocol import Change, Erasure, TurnList, UserKey
from hitherto.store.sqlite.connections import no_secret
from hitherto.store.sqlite.layout import Layout
from hitherto.store.sqlite.store import SqliteStore
from hitherto.testing import moment, put, turn_draft

ANA = UserKey("default", "ana")
WORD = "canaryzebra"
TURNS = TurnList(limit=9)


def _right(digest: str, *, create: bool = False) -> bytes:
    del create
    return bytes.fromhex(digest) * 2


def _wrong(digest: str, *, create: bool = False) -> bytes:
    del create
    return bytes.fromhex(digest)[::-1] * 2


async def test_a_file_is_encrypted_with_its_users_key(tmp_path: Path) -> None:
    folder, backup = tmp_path / "memories", tmp_path / "backup"
    store = SqliteStore(folder, secret=_right)
    await store.open()
    user = store.user(ANA)
    await put(user, Change(turns=(turn_draft("t1", WORD), turn_draft("t2", f"{WORD} again"))))
    await put(user, Change(erase=Erasure(turns=("t2",)), retired_at=moment(1)))
    assert await store.backup(str(backup)) == 1
    assert await store.catalog.users() == (ANA,)
    await store.close()
    for place in (folder, backup):
        for secret in (_wrong, no_secret):
            closed = SqliteStore(place, secret=secret)
            await closed.open()
            with pytest.raises(StoreCorrupt):
                await closed.user(ANA).read(TURNS)
            await closed.close()
        opened = SqliteStore(place, secret=_right)
        await opened.open()
        assert [turn.text for turn in (await opened.user(ANA).read(TURNS))[TURNS]] == [WORD]
        await opened.close()
        assert WORD.encode() not in Layout(place).user(ANA.digest).read_bytes()
