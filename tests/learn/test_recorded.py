"""A whole conversation with a strong model's real words: what was learnt, what ended, what closed, and what it cost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.learn.replay import replayed

USER = "dani"


@pytest.mark.req("R2.1", "R2.2", "R2.3", "R2.12", "R2.14", "R3.8", "R1.3", "R1.14")
async def test_a_companions_three_weeks(tmp_path: Path) -> None:
    async with replayed("companion-1", tmp_path / "m") as (memory, replay):
        replay.check()
        [user] = await memory.users()
        live = [m for m in await memory.memories(user=user) if m.valid_to is None]
        texts = " | ".join(memory.text for memory in live)
        for words in (
            "allergic to cashews",
            "work(s|ed) at .*Spoke (n|&) Fern.* since (Monday )?2026-04-27",
            "(vents|venting).*(Wren must not give|give no) advice",
            "Odile is Wren's sister",
        ):
            assert re.search(words, texts)
        assert not re.search("boyfriend of 3 years|does claims calls|lottery|lighthouse|Virgo|TangerineMoth", texts)
        assert any(m.standing and "cashews" in m.text for m in live), "a danger is always given"
        ended = [m for m in await memory.memories(user=user) if m.valid_to is not None]
        assert any("Theo rent a place" in m.text for m in ended), "it is kept, with an end"
        for words in ("scream at Dani", "Insurance is stable"):
            assert any(words in m.text for m in ended), "what hung on the job went with it"
        assert any("Dani leaving drinks at" in m.text for m in ended), "a plan ends with its day"

        turns = {turn.id: turn.text for turn in await memory.turns(user=user, limit=500)}
        records = [*live, *await memory.loops(user=user, status=None)]
        assert all(record.quotes for record in records)
        assert all(_found(q.words, turns[q.turn]) for record in records for q in record.quotes)

        loops = {loop.text: loop for loop in await memory.loops(user=user, status=None)}
        assert next(loop for text, loop in loops.items() if "gym" in text).status == "not_done"
        assert next(loop for text, loop in loops.items() if "pottery" in text).status == "dropped"
        assert next(loop for text, loop in loops.items() if "lentil soup" in text).status == "open"
        visit = next(loop for text, loop in loops.items() if "Duluth Jess" in text)
        assert visit.due is not None
        assert visit.due.date().isoformat() == "2026-05-16", "moved twice"

        people = {entity.label: entity for entity in await memory.entities(user=user)}
        assert {"Jess", "Duluth Jess", "Priyanka", "Theo"} <= set(people), "two called Jess are two"
        assert "Dani's ex" in people["Theo"].text, "the later word on him"
        assert people["Gravy"].type == "animal"

        kinds = {summary.kind for summary in await memory.summaries(user=user)}
        assert {"rolling", "session", "daily"} <= kinds
        [rolling] = await memory.summaries(user=user, kind="rolling")
        assert len(rolling.text) <= 600
        assert all(s.quotes for summary in await memory.summaries(user=user) for s in summary.sentences)

        spent = await memory.costs(user=user)
        assert sum(one.calls for one in spent) == len(replay.asked) == 12, "one question for each session"
        assert sum(one.kept.get("fact new", 0) for one in spent) >= 35


@pytest.mark.req("R2.1", "R2.12", "R3.8", "R1.14")
async def test_two_weeks_of_calls(tmp_path: Path) -> None:
    """Transcripts: misheard names, false starts, numbers in words."""
    async with replayed("voice-1", tmp_path / "m") as (memory, replay):
        replay.check()
        assert len(replay.asked) == 10, "one question for each call"
        [user] = await memory.users()
        known = await memory.memories(user=user)
        live = {m.text for m in known if m.valid_to is None}
        texts = " | ".join(live)
        for words in (
            "allergic to amoxicillin",
            "72 Pemberton Court",
            "metformin 1000 twice a day",
            "Kayla and Jordan are expecting a baby",
        ):
            assert words in texts
        gone = " | ".join(m.text for m in known if m.text not in live)
        for words in (
            "metformin 500",
            "Ray has lived at 418 Alder Street for eleven years, since the divorce",
            "Mukesh waits for the part",
            "on an earlier flight",
        ):
            assert words in gone
            assert words not in texts
        people = {entity.label: entity for entity in await memory.entities(user=user)}
        assert {"Vince", "Vince Tully"} <= set(people), "two of one name"
        open_ones = {loop.text for loop in await memory.loops(user=user)}
        assert any("Grabowski" in text for text in open_ones)
        assert not any("toast" in text or "clindamycin" in text for text in open_ones)


@pytest.mark.req("R2.1", "R2.12")
@pytest.mark.parametrize(
    ("name", "lives", "over", "person"),
    [
        ("spanish-1", "Mafer vive .*Portales", "Mafer vive en la Narvarte", "Pau"),
        ("german-1", "Disponent in (der )?Tagschicht", "arbeitet Nachtschicht", "Ole"),
    ],
)
async def test_conversations_in_other_languages(tmp_path: Path, name: str, lives: str, over: str, person: str) -> None:
    """What is noted is noted in the language of the conversation, and what changed has ended."""
    async with replayed(name, tmp_path / "m") as (memory, replay):
        replay.check()
        [user] = await memory.users()
        known = await memory.memories(user=user)
        assert any(re.search(lives, m.text) for m in known if m.valid_to is None)
        assert any(re.search(over, m.text) for m in known if m.valid_to is not None)
        assert person in {entity.label for entity in await memory.entities(user=user)}
        assert all(m.quotes for m in known)


def _found(words: str, text: str) -> bool:
    return re.sub(r"\W+", " ", words.casefold()).strip() in re.sub(r"\W+", " ", text.casefold())
