"""Which of the known facts a reader is shown beside new lines."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from hitherto.learn.notes import Scene
from hitherto.learn.scene import _named, relevant  # pyright: ignore[reportPrivateUsage]
from hitherto.types import Entity, Memory
from tests.learn.said import NOW, line

JOB = (
    "Ana works at Acme as a claims clerk.",
    "Callers shout at claims clerks like Ana.",
)
OTHERS = (
    "Ana's brother Leo plays the cello in a youth orchestra.",
    "Ana likes oat milk in her coffee.",
    "Ana has a one-eyed cat called Gravy.",
    "Ana's grandfather repaired bicycles in Utrecht.",
    "Ana learnt to swim when she was nineteen.",
    "Ana reads detective novels on the tram.",
    "Ana's mother grows tomatoes on the balcony.",
    "Ana has never seen the sea in winter.",
)


def memories(*texts: str) -> list[Memory]:
    return [
        Memory(id=f"m{n}", text=text, at=NOW - timedelta(days=30 - n), seq=n, entities=("person:user",))
        for n, text in enumerate(texts, start=1)
    ]


def scene(*people: Entity) -> Scene:
    named = frozenset(one.key for one in people if one.key)
    return Scene(user="Ana", persona="Nika", zone="UTC", now=NOW, people=people, named=named)


def shown(known: list[Memory], said: str, *, about: Scene | None = None, limit: int = 240) -> set[str]:
    found = relevant(known, [line("t1", said)], scene=about or scene(), limit=limit)
    return {memory.text for memory in found}


def test_what_ends_brings_along_what_hangs_on_it() -> None:
    known = memories(*OTHERS[:4], *JOB, *OTHERS[4:])
    assert shown(known, "acme is history, i quit working there") >= set(JOB), "one of them shares no word with the line"
    assert JOB[1] not in shown(known, "leo has a concert tomorrow")


def test_whoever_is_named_brings_along_what_is_told_of_them() -> None:
    leo = Entity(id="e1", key="person:leo", label="Leo", type="person", at=NOW)
    known = memories(*OTHERS)
    known[0] = replace(known[0], text="He plays in a youth orchestra.", entities=("person:leo", "person:user"))
    assert known[0].text in shown(known, "leo is ill", about=scene(leo))
    assert known[0].text not in shown(known, "im ill", about=scene()), "nobody is named"


def test_dangers_requests_and_what_has_come_to_its_day_are_always_shown() -> None:
    known = memories(*OTHERS, "Ana sees the dentist on 2026-03-02.")
    known[3] = Memory(id="m4", text="Ana is allergic to peanuts.", at=NOW, standing=True)
    found = relevant(known, [line("t1", "what a day")], scene=scene(), come={"m9"}, limit=80)
    assert [memory.id for memory in found] == ["m9", "m4"]


def test_what_has_nothing_to_do_with_the_lines_costs_nothing() -> None:
    known = memories(*JOB, *OTHERS)
    assert len(shown(known, "the tomatoes on mums balcony are ripe", limit=10_000)) < 6
    assert relevant([], [line("t1", "hi")], scene=scene(), limit=100) == ()


def test_a_long_line_is_near_what_one_of_its_sentences_is_about() -> None:
    told = (
        "It rained all week and the cat slept. I walked to the harbour and back. My brother rang. The soup was good. "
    )
    known = memories(
        *OTHERS, "Ana takes ramipril for her blood pressure.", "Ana walked to the harbour with her brother once."
    )
    found = shown(known, told * 3 + "And they stopped my ramipril, the blood pressure tablet.", limit=60)
    assert found == {"Ana takes ramipril for her blood pressure."}


def test_what_happened_once_gives_way_to_what_may_change() -> None:
    known = memories(*OTHERS[:3], "Ana sold her bike to Leo in May.", "Ana rides her bike to work.")
    known[3] = replace(known[3], category="EVENT")
    assert shown(known, "the bike is broken", limit=40) == {"Ana rides her bike to work."}


def test_what_has_come_to_its_day_brings_along_what_is_told_of_the_same_house() -> None:
    known = memories(*OTHERS, "Ana's last day at Acme is 2026-03-02.", "Ana gets up at five for the early shift.")
    known[-2:] = [replace(memory, entities=("person:user", "org:acme")) for memory in known[-2:]]
    found = relevant(known, [line("t1", "done. i cried a bit")], scene=scene(), come={known[-2].id}, limit=90)
    assert [memory.id for memory in found] == [known[-2].id, known[-1].id]


def test_a_letter_or_an_article_names_nobody() -> None:
    gull = Entity(id="e1", key="org:gull", label="the Old Gull's", type="org", at=NOW)
    own = ("Ana", "Nika")
    assert not _named([gull], ["the kettle's on"], own=own)
    assert _named([gull], ["drinks at the gull"], own=own) == {"org:gull"}
