"""A memory that leaves as a file and comes back: whole, or not at all, and with nothing that was forgotten meanwhile."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hitherto import Conflict, Hitherto, InvalidInput
from hitherto.testing import FakeClock
from tests.engine.talking import Talk

Line = dict[str, Any]


async def exported(memory: Hitherto, user: str) -> list[str]:
    return [line async for line in memory.export(user=user)]


async def saved(memory: Hitherto, user: str, folder: Path) -> Path:
    file = folder / "export.jsonl"
    file.write_text("".join(f"{line}\n" for line in await exported(memory, user)), "utf-8", newline="\n")
    return file


def _turn(**changes: object) -> Callable[[list[Line]], None]:
    return lambda lines: next(line for line in lines if "turn" in line)["turn"].update(changes)


def _row(**changes: object) -> Callable[[list[Line]], None]:
    return lambda lines: next(line for line in lines if "row" in line)["row"].update(changes)


def _entry(**changes: object) -> Callable[[list[Line]], None]:
    return lambda lines: lines[3].update(changes)


DAMAGE: dict[str, Callable[[list[Line]], None]] = {
    "a number for a text": _turn(text=5),
    "a NUL": _turn(text="a\0b"),
    "half a character": _turn(text="\ud800"),
    "a time without an offset": _turn(at="2026-01-01T00:00:00"),
    "a time that no zone has room for": _turn(at="9999-12-31T23:59:59+00:00"),
    "another number inside": _turn(seq=77),
    "a role that there is not": _turn(role="god"),
    "parts that there are not": _turn(parts=[{"kind": "hologram"}]),
    "a noun that there is not": _row(noun="alien"),
    "a body that is no JSON": _row(body="{"),
    "a body of another kind": _row(body="[]"),
    "sources that are a text": _row(sources="t1"),
    "an operation that there is not": _entry(op="zap"),
    "an id that is a number": _entry(id=7),
    "a number that is too large": _entry(seq=2**70),
    "a number twice": lambda lines: lines.insert(3, lines[2]),
    "an entry behind the end": lambda lines: lines.append(lines[2]),
    "no end": lambda lines: lines.__delitem__(-1),
    "no user": lambda lines: lines[0].__delitem__("user"),
    "a user without a name": lambda lines: lines[0].update(user=""),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
async def test_a_file_that_could_not_be_read_again_is_refused_as_a_whole(
    memory: Hitherto, talk: Talk, tmp_path: Path, damage: Callable[[list[Line]], None]
) -> None:
    await talk.user_says("I live in Rome.", "I love tea.")
    await talk.settle()
    file = await saved(memory, "ana", tmp_path)
    await memory.forget(user="ana", everything=True)
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    damage(lines)
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    with pytest.raises(InvalidInput):
        await memory.load(file)
    assert await memory.users() == []


async def test_what_is_wrong_with_a_file_is_said_with_its_line(memory: Hitherto, talk: Talk, tmp_path: Path) -> None:
    await talk.user_says("I live in Rome.")
    file = await saved(memory, "ana", tmp_path)
    file.write_text(file.read_text("utf-8").replace('"role":"user"', '"role":"god"'), "utf-8")
    with pytest.raises(InvalidInput, match=r"export.jsonl line 2: .*'god'.*nothing was loaded"):
        await memory.load(file, user="bo")


async def test_a_user_with_a_memory_of_their_own_keeps_it(memory: Hitherto, talk: Talk, tmp_path: Path) -> None:
    """Entries have numbers: those of two lives cannot be in one log, and what finds its number taken would be lost."""
    await talk.user_says("I live in Rome.", "I love tea.", "I love jazz.")
    file = await saved(memory, "ana", tmp_path)
    await Talk(memory, talk.clock, user="bo").user_says("I live in Paris.")
    before = await exported(memory, "bo")
    with pytest.raises(Conflict, match="memory of their own"):
        await memory.load(file, user="bo")
    assert await exported(memory, "bo") == before


async def test_an_older_export_brings_back_nothing_that_was_forgotten_since(
    memory: Hitherto, clock: FakeClock, talk: Talk, tmp_path: Path
) -> None:
    _, secret, _ = await talk.user_says("I live in Rome.", "My sister is called Zelda.", "I love tea.")
    clock.tick(minutes=45)
    await talk.settle()
    file = await saved(memory, "ana", tmp_path)
    await memory.forget(user="ana", turn=secret)
    await talk.user_says("I love jazz.")
    clock.tick(minutes=45)
    await talk.settle()
    before = await exported(memory, "ana")
    assert await memory.load(file) > 0
    assert await exported(memory, "ana") == before
    assert "Zelda" not in repr(before)


async def test_an_earlier_copy_takes_over_what_was_added_and_forgotten_since(
    memory: Hitherto, talk: Talk, tmp_path: Path
) -> None:
    first, second = await talk.user_says("I live in Rome.", "My sister is called Zelda.")
    await memory.load(await saved(memory, "ana", tmp_path), user="copy")
    await memory.revise(user="ana", turn=first, text="I live in Paris.")
    await memory.forget(user="ana", turn=second)
    file = await saved(memory, "ana", tmp_path)
    await memory.load(file, user="copy")
    assert (await exported(memory, "copy"))[1:] == (await exported(memory, "ana"))[1:]


async def test_the_work_goes_on_where_it_had_ended(
    memory: Hitherto, clock: FakeClock, talk: Talk, tmp_path: Path
) -> None:
    """Read again, an old home would end the new one, and a loop that was opened again be closed again."""
    await talk.user_says("I live in Austin.", "I live in Austin.", "I need to call the bank.", "I called the bank.")
    await talk.user_says("I moved to Denver.")
    clock.tick(days=40)
    await talk.settle()
    clock.tick(days=2)
    await talk.user_says("Hi!")
    await talk.settle()
    for loop in await memory.loops(user="ana", status=None):
        await memory.update(loop.id, user="ana", status="open")
    file = await saved(memory, "ana", tmp_path)
    await memory.load(file, user="bo")
    await memory.settle(user="bo")
    for call in (memory.memories, memory.loops):
        assert [(r.id, r.version) for r in await call(user="bo")] == [(r.id, r.version) for r in await call(user="ana")]
    [home] = [m for m in await memory.memories(user="bo") if "Denver" in m.text]
    assert home.valid_to is None


async def test_turns_that_were_not_read_yet_are_read_after_loading(
    memory: Hitherto, talk: Talk, tmp_path: Path
) -> None:
    await talk.user_says("I live in Rome.")
    await talk.settle()
    await talk.user_says("I love tea.")
    await memory.load(await saved(memory, "ana", tmp_path), user="bo")
    await memory.settle(user="bo")
    assert {m.quotes[0].words for m in await memory.memories(user="bo")} == {"I live in Rome.", "I love tea."}
