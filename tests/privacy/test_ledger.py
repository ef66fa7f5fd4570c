"""The ledger of what was forgotten: whole lines or none, and an error by name when there is no room."""

import os
from pathlib import Path

import pytest

from hitherto import Hitherto, Turn
from hitherto.errors import StoreFull, StoreUnavailable
from hitherto.privacy.ledger import Forgotten, Ledger
from hitherto.testing import moment


def line(user: str) -> Forgotten:
    return Forgotten(user=user, at=moment(1), hashes=("h1", "h2"))


def test_a_line_that_was_cut_off_does_not_spoil_the_next(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "forgotten.jsonl")
    ledger.add(line("ana"))
    with ledger.path.open("a") as file:
        file.write('{"user": "bo", "at": "2026-')
    ledger.add(line("cy"))
    assert ledger.read() == {"ana": [line("ana")], "cy": [line("cy")]}


def test_a_line_for_which_there_is_no_room_leaves_no_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, write = Ledger(tmp_path / "forgotten.jsonl"), os.write
    ledger.add(line("ana"))

    def half(descriptor: int, data: bytes) -> int:
        return write(descriptor, data[:20])

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", half)
        with pytest.raises(StoreFull, match="nothing was forgotten"):
            ledger.add(line("bo"))
    ledger.add(line("cy"))
    assert ledger.read() == {"ana": [line("ana")], "cy": [line("cy")]}


async def test_what_cannot_be_noted_is_not_forgotten(tmp_path: Path) -> None:
    (tmp_path / "ledger").mkdir()
    async with Hitherto(tmp_path / "data", forgotten=tmp_path / "ledger") as memory:
        await memory.record(Turn("ana", "user", "I live in Austin.", id="t1"))
        with pytest.raises(StoreUnavailable, match="nothing was forgotten"):
            await memory.forget(user="ana", turn="t1")
        assert [turn.id for turn in await memory.turns(user="ana")] == ["t1"]
