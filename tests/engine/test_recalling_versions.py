"""A memory that was said again, corrected or has faded is found by its newest version, as long as it is one."""

import pytest

from hitherto import Hitherto
from tests.engine.talking import Talk


async def found(memory: Hitherto, query: str, kind: str = "memory") -> list[str]:
    return [hit.text for hit in await memory.search(user="ana", query=query, kinds=(kind,))]  # pyright: ignore[reportArgumentType] -- the tests pass the type's literals


@pytest.mark.req("R2.14", "R3.13")
async def test_what_was_said_again_is_still_found(memory: Hitherto, talk: Talk) -> None:
    """A version with the same words is no duplicate of the one that it replaces."""
    for _ in range(3):
        await talk.user_says("My sister Mary lives in Oslo.")
        await talk.settle()
        assert "The user (2 March): “My sister Mary lives in Oslo.”" in await found(memory, "where does Mary live")
    [fact] = [m for m in await memory.memories(user="ana") if "Oslo" in m.text]
    assert fact.mentions == 3
    await memory.update(fact.id, user="ana", text="Mary lives in Bergen")
    assert not [text for text in await found(memory, "where does Mary live") if "Oslo" in text]
    assert "Mary lives in Bergen" in await found(memory, "where does Mary live")


async def test_many_versions_leave_room_for_others(memory: Hitherto) -> None:
    fact = await memory.remember(user="ana", text="Practises the cello at home")
    for n in range(120):
        await memory.update(fact.id, user="ana", text=f"Practises the cello at home, piece number {n}")
    await memory.remember(user="ana", text="Lent the cello bow to Priya")
    assert set(await found(memory, "the cello")) == {
        "Practises the cello at home, piece number 119",
        "Lent the cello bow to Priya",
    }


async def test_a_revised_turn_is_found_by_its_new_words(memory: Hitherto, talk: Talk) -> None:
    [turn] = await talk.user_says("The key is under the red flower pot.")
    await talk.user_says("We had soup.")
    for place in ("blue", "green", "green"):
        await memory.revise(user="ana", turn=turn, text=f"The key is under the {place} flower pot.")
        assert (await found(memory, "flower pot key", "turn"))[0] == f"The key is under the {place} flower pot."


async def test_what_was_known_then_is_found_as_it_was(memory: Hitherto) -> None:
    fact = await memory.remember(user="ana", text="Mary lives in Oslo")
    before = await memory.head(user="ana")
    await memory.update(fact.id, user="ana", text="Mary lives in Bergen")
    then = await memory.context(user="ana", message="where does Mary live?", known=before)
    now = await memory.context(user="ana", message="where does Mary live?")
    assert ("Oslo" in then.system, "Bergen" in then.system) == (True, False)
    assert ("Oslo" in now.system, "Bergen" in now.system) == (False, True)
