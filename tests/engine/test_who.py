"""Who is who: variants of a name are one, two people stay two, and a person can correct either."""

import pytest

from hitherto import Hitherto, InvalidInput, NotFound
from tests.engine.talking import Talk


async def known(memory: Hitherto) -> dict[str, tuple[str, ...]]:
    entities = await memory.entities(user="ana")
    return {
        e.key or "": e.aliases
        for e in entities
        if e.merged_into is None and e.type == "person" and e.key != "person:user"
    }


@pytest.mark.req("R3.13", "R3.2")
async def test_variants_that_speech_recognition_makes_are_one_person(memory: Hitherto, talk: Talk) -> None:
    await talk.user_says("My boss Mukesh is a chess player.")
    await talk.settle()
    await talk.user_says("My boss Makesh owns a boat.")
    await talk.settle()
    assert await known(memory) == {"person:mukesh": ("Makesh",)}
    about = {m.text for m in await memory.memories(user="ana", entity="person:mukesh")}
    assert about == {"Mukesh is the user's boss", "Mukesh is a chess player", "Makesh owns a boat"}
    context = await memory.context(user="ana", persona="coach", message="does Mukesh own a boat?", recipe="personas")
    assert "[person:mukesh]: Mukesh is the user's boss" in context.system


@pytest.mark.req("R3.13")
async def test_two_people_named_side_by_side_stay_two(memory: Hitherto, talk: Talk) -> None:
    await talk.user_says("My boss Mukesh is a chess player.")
    await talk.settle()
    await talk.user_says("My colleague Makesh is a nurse, not to be mixed up with Mukesh.")
    await talk.settle()
    assert await known(memory) == {"person:mukesh": (), "person:makesh": ()}


@pytest.mark.req("R3.13", "R3.2")
async def test_a_merge_takes_everything_along(memory: Hitherto, talk: Talk) -> None:
    await talk.user_says(
        "My friend Siobhan is a nurse.", "My friend Shevaun is a nurse.", "My friend Shevaun owns a boat."
    )
    await talk.settle()
    assert set(await known(memory)) == {"person:siobhan", "person:shevaun"}
    kept = await memory.merge(user="ana", entities=["person:siobhan", "person:shevaun"])
    assert (kept.key, kept.aliases) == ("person:siobhan", ("Shevaun",))
    about = await memory.memories(user="ana", entity="person:siobhan")
    assert sorted(m.text for m in about) == [
        "Shevaun owns a boat",
        "Siobhan is a nurse",
        "Siobhan is the user's friend",
    ]
    [nurse] = [m for m in about if m.text == "Siobhan is a nurse"]
    assert len(nurse.sources) == 2, "what was said of both is said once, with all its turns"
    assert await memory.memories(user="ana", entity="person:shevaun") == []
    await talk.user_says("My friend Shevaun is a nurse.")
    await talk.settle()
    assert set(await known(memory)) == {"person:siobhan"}
    assert len(await memory.memories(user="ana", entity="person:siobhan")) == 3


@pytest.mark.req("R3.13")
async def test_a_split_undoes_a_wrong_guess_for_good(memory: Hitherto, talk: Talk) -> None:
    await talk.user_says("My boss Mukesh is a chess player.", "My boss Makesh owns a boat.")
    await talk.settle()
    apart = await memory.split(user="ana", entity="person:mukesh", name="Makesh")
    assert (apart.key, apart.apart_from) == ("person:makesh", ("person:mukesh",))
    assert await known(memory) == {"person:mukesh": (), "person:makesh": ()}
    assert [m.text for m in await memory.memories(user="ana", entity="person:makesh")] == ["Makesh owns a boat"]
    await talk.user_says("My boss Makesh likes opera.")
    await talk.settle()
    assert "Makesh likes opera" in [m.text for m in await memory.memories(user="ana", entity="person:makesh")]
    assert await known(memory) == {"person:mukesh": (), "person:makesh": ()}


async def test_a_correction_of_nobody_says_who_there_is(memory: Hitherto, talk: Talk) -> None:
    await talk.user_says("My boss Mukesh is a chess player.")
    await talk.settle()
    with pytest.raises(NotFound, match="person:mukesh"):
        await memory.merge(user="ana", entities=["person:mukesh", "person:nobody"])
    with pytest.raises(InvalidInput, match="at least two"):
        await memory.merge(user="ana", entities=["person:mukesh"])
    with pytest.raises(InvalidInput, match="alias"):
        await memory.split(user="ana", entity="person:mukesh", name="Mukesh")
