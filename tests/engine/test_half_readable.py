"""A folder of which a part cannot be read: a context has the other part, and says what is missing."""

from pathlib import Path

import pytest

from hitherto import Hitherto, Turn
from hitherto.errors import StoreUnavailable
from hitherto.recall.search import UserRecall
from hitherto.store.catalog import UserKey


async def told(folder: Path) -> Path:
    """A persona and a turn; the user's file."""
    async with Hitherto(folder) as memory:
        await memory.define_persona("nikita", name="Nikita", text="You are Nikita, a retired diver.")
        await memory.record(Turn("ana", "user", "I live in Austin.", persona="nikita"))
    digest = UserKey("default", "ana").digest
    return folder / "users" / digest[:2] / f"{digest}.db"


@pytest.mark.req("R1.10")
async def test_with_a_damaged_file_the_persona_still_answers(tmp_path: Path) -> None:
    file = await told(tmp_path)
    file.write_bytes(b"no database" * 1_000)
    async with Hitherto(tmp_path) as memory:
        context = await memory.context(user="ana", persona="nikita", message="Where do I live?")
    assert "a retired diver" in context.system
    assert not context.history
    [warning] = context.warnings
    assert warning.startswith("the store could not be read")


@pytest.mark.req("R1.10")
async def test_when_the_catalog_is_lost_the_conversation_is_still_there(tmp_path: Path) -> None:
    await told(tmp_path)
    async with Hitherto(tmp_path) as memory:
        await memory.context(user="ana", persona="nikita", message="Where do I live?")
        (tmp_path / "catalog.db").unlink()
        context = await memory.context(user="ana", persona="nikita", message="Where do I live?")
    assert [message["content"] for message in context.history] == ["I live in Austin."]
    assert "You are Nikita." in context.system
    assert "a retired diver" not in context.system
    [warning] = context.warnings
    assert warning.startswith("personas could not be read")


@pytest.mark.req("R1.10")
async def test_without_recall_the_conversation_is_still_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(*_: object, **__: object) -> None:
        raise StoreUnavailable("the index cannot be read")

    await told(tmp_path)
    async with Hitherto(tmp_path) as memory:
        monkeypatch.setattr(UserRecall, "recall", fails)
        context = await memory.context(user="ana", persona="nikita", message="Where do I live?")
        [snapshot] = await memory.snapshots(user="ana")
    assert [message["content"] for message in context.history] == ["I live in Austin."]
    assert "a retired diver" in context.system
    assert context.warnings == ("recall failed: the index cannot be read",)
    assert "recall failed" in repr(snapshot)
