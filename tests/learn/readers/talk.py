"""Conversations as a reader sees them, written in a line each."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from hitherto.learn.notes import Line, Passage, Reading, Scene, Sitting, SittingNotes
from hitherto.learn.readers.rules import RuleReader
from hitherto.safety.secrets import redact
from hitherto.types import Entity, Loop, Memory, StoredTurn

THURSDAY = datetime(2026, 3, 5, 18, 0, tzinfo=UTC)


def scene(
    at: datetime = THURSDAY,
    *,
    user: str = "Ana",
    people: Sequence[Entity] = (),
    speakers: Sequence[str] = (),
    zone: str = "UTC",
) -> Scene:
    return Scene(user=user, persona="Nikita", zone=zone, now=at, people=tuple(people), speakers=tuple(speakers))


def lines(*said: str, at: datetime = THURSDAY, user: str = "Ana", start: int = 1) -> tuple[Line, ...]:
    """What is said, a minute apart; "N: " begins the persona's lines, "Dev: " a speaker's in a group."""
    made: list[Line] = []
    for number, text in enumerate(said, start):
        persona = text.startswith("N: ")
        head, colon, rest = text.partition(": ")
        speaker = head if colon and head.istitle() and " " not in head and not persona else None
        words = rest if persona or speaker else text
        turn = StoredTurn(
            seq=number,
            place=number,
            id=f"t{number}",
            version=1,
            role="assistant" if persona else "user",
            text=words,
            at=at + timedelta(minutes=number),
            recorded_at=at,
            retired=None,
            persona="nikita",
            lane=None,
            conversation=None,
            speaker=speaker,
            reply_to=None,
            origin="assistant" if persona else "user",
            parts=(),
            snapshot=None,
            session="s1",
            position=number,
            number=number,
            tokens=1,
            family="o200k",
        )
        made.append(Line(turn=turn, speaker=speaker or ("Nikita" if persona else user), text=redact(words)))
    return tuple(made)


def read(
    *said: str,
    at: datetime = THURSDAY,
    before: Sequence[str] = (),
    memories: Sequence[Memory] = (),
    loops: Sequence[Loop] = (),
    people: Sequence[Entity] = (),
    zone: str = "UTC",
) -> Reading:
    speakers = [line.turn.speaker for line in lines(*said) if line.turn.speaker]
    passage = Passage(
        scene=scene(at, people=people, speakers=tuple(dict.fromkeys(speakers)), zone=zone),
        before=lines(*before, at=at - timedelta(minutes=30), start=100),
        new=lines(*said, at=at),
        memories=tuple(memories),
        loops=tuple(loops),
    )
    return asyncio.run(RuleReader().read(passage))


def close(*said: str, at: datetime = THURSDAY, people: Sequence[Entity] = ()) -> SittingNotes:
    return asyncio.run(RuleReader().close(Sitting(scene=scene(at, people=people), lines=lines(*said, at=at))))


def loop(text: str, **fields: object) -> Loop:
    return Loop(id="l1", text=text, at=THURSDAY - timedelta(days=1), **fields)  # pyright: ignore[reportArgumentType] - any of its fields


def memory(id: str, text: str, **fields: object) -> Memory:
    return Memory(id=id, text=text, at=THURSDAY - timedelta(days=1), **fields)  # pyright: ignore[reportArgumentType] - any of its fields
