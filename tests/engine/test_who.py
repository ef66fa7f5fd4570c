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
    await talk.user_says("My boss Mukesh lives in Leeds.")
    await talk.settle()
    await talk.user_says("My boss Makesh plays the cello.")
    await talk.settle()
    assert await known(memory) == {"person:mukesh": ("Makesh",)}
    about = {m.text for m in await memory.memories(user="ana", entity="person:mukesh")}
    assert about == {
        "The user (2 March): “My boss Mukesh lives in Leeds.”",
        "The user (2 March): “My boss Makesh plays the cello.”",
    }
    context = await memory.context(
        user="ana", persona="coach", message="does Mukesh play the cello?", recipe="personas"
    )
    assert "My boss Makesh plays the cello" in context.system


@pytest.mark.req("R3.13")
async def test_two_people_named_side_by_side_stay_two(memory: Hitherto, talk: Talk) -> None:
    await talk.user_says("My boss Mukesh lives in Leeds.")
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
        "The user (2 March): “My friend Shevaun owns a boat.”",
        "The user (2 March): “My friend Siobhan is a nurse.”",
    ]
    [nurse] = [m for m in about if "nurse" in m.text]
    assert len(nurse.sources) == 2, "what was said of both is said once, with all its turns"
    assert await memory.memories(user="ana", entity="person:shevaun") == []
    await talk.user_says("My friend Shevaun is a nurse.")
    await talk.settle()
    assert set(await known(memory)) == {"person:siobhan"}
    again = await memory.memories(user="ana", entity="person:siobhan")
    assert [(m.id, len(m.sources)) for m in again if "nurse" in m.text] == [(nurse.id, 3)]
    assert len(again) == 2


@pytest.mark.req("R3.13")
async def test_a_split_undoes_a_wrong_guess_for_good(memory: Hitherto, talk: Talk) -> None:
    await talk.user_says("My boss Mukesh lives in Leeds.", "My boss Makesh plays the cello.")
    await talk.settle()
    apart = await memory.split(user="ana", entity="person:mukesh", name="Makesh")
    assert (apart.key, apart.apart_from) == ("person:makesh", ("person:mukesh",))
    assert await known(memory) == {"person:mukesh": (), "person:makesh": ()}
    cello = "The user (2 March): “My boss Makesh plays the cello.”"
    assert [m.text for m in await memory.memories(user="ana", entity="person:makesh")] == [cello]
    await talk.user_says("My boss Makesh comes from Leeds.")
    await talk.settle()
    both = [m.text for m in await memory.memories(user="ana", entity="person:makesh")]
    assert sorted(both) == ["The user (2 March): “My boss Makesh comes from Leeds.”", cello]
    assert await known(memory) == {"person:mukesh": (), "person:makesh": ()}


async def test_a_correction_of_nobody_says_who_there_is(memory: Hitherto, talk: Talk) -> None:
    await talk.user_says("My boss Mukesh lives in Leeds.")
    await talk.settle()
    with pytest.raises(NotFound, match="person:mukesh"):
        await memory.merge(user="ana", entities=["person:mukesh", "person:nobody"])
    with pytest.raises(InvalidInput, match="at least two"):
        await memory.merge(user="ana", entities=["person:mukesh"])
    with pytest.raises(InvalidInput, match="alias"):
        await memory.split(user="ana", entity="person:mukesh", name="Mukesh")
