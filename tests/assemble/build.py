"""Values for tests of the assembly, each with everything that a test does not care about filled in."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from hitherto.assemble.assemble import assemble
from hitherto.assemble.material import Assembled, Material
from hitherto.assemble.render import Block, blocks
from hitherto.recipes.book import load
from hitherto.recipes.recipe import Recipe
from hitherto.tokens import Tokenizer, tokenizer
from hitherto.types import (
    Episode,
    Item,
    Loop,
    Memory,
    Part,
    Persona,
    Profile,
    Recalled,
    Record,
    Role,
    State,
    StoredTurn,
    Summary,
    Thought,
)

NOW = datetime(2026, 3, 2, 17, 5, tzinfo=UTC)
O200K = tokenizer("o200k")
PERSONA = Persona(
    id="nikita",
    name="Nikita",
    text="You are Nikita, curious and warm.",
    boundaries="Never give medical advice.",
    style="Short, playful answers.",
)
PROFILE = Profile(id="profile", at=NOW, zone="Europe/Berlin")


def turn(number: int, text: str, *, role: Role | None = None, parts: Sequence[Part] = (), **fields: Any) -> StoredTurn:
    """Turn `number`, from the user when it is odd, a minute after the one before."""
    speaker: Role = role or ("user" if number % 2 else "assistant")
    whole = StoredTurn(
        seq=number,
        place=number,
        id=f"t{number}",
        version=1,
        role=speaker,
        text=text,
        at=NOW - timedelta(hours=5) + timedelta(minutes=number),
        recorded_at=NOW,
        retired=None,
        persona="nikita",
        lane=None,
        conversation=None,
        speaker=None,
        reply_to=None,
        origin="tool" if speaker == "tool" else "assistant" if speaker == "assistant" else "user",
        parts=tuple(parts),
        snapshot=None,
        session="s1",
        position=number,
        number=number,
        tokens=O200K.turn(text, parts),
        family="o200k",
    )
    return replace(whole, **fields)


def turns(count: int, text: str = "turn {}: nothing much happened", *, first: int = 1) -> tuple[StoredTurn, ...]:
    return tuple(turn(number, text.format(number)) for number in range(first, first + count))


def memory(name: str, text: str, **fields: Any) -> Memory:
    return Memory(id=name, text=text, at=fields.pop("at", NOW - timedelta(days=2)), **fields)


def episode(name: str, text: str, **fields: Any) -> Episode:
    return Episode(id=name, text=text, at=fields.pop("at", NOW - timedelta(days=9)), **fields)


def loop(name: str, text: str, **fields: Any) -> Loop:
    return Loop(id=name, text=text, at=fields.pop("at", NOW - timedelta(days=1)), **fields)


def thought(name: str, text: str, **fields: Any) -> Thought:
    return Thought(id=name, text=text, at=fields.pop("at", NOW - timedelta(hours=8)), **fields)


def summary(name: str, text: str, **fields: Any) -> Summary:
    return Summary(id=name, text=text, at=fields.pop("at", NOW - timedelta(days=1)), **fields)


def state(**fields: Any) -> State:
    return State(id="state", at=NOW, fields=fields)


def recalled(*found: StoredTurn | Record, reason: str = "") -> tuple[Recalled, ...]:
    """Found in this order, best first."""
    return tuple(
        Recalled(what=what, score=1 - place / 100, parts={"bm25": 1 - place / 100}, reason=reason)
        for place, what in enumerate(found)
    )


def material(**fields: Any) -> Material:
    basics: dict[str, Any] = {
        "user": "ana",
        "now": NOW,
        "known": 100,
        "persona": PERSONA,
        "profile": PROFILE,
        "message": "yes",
    }
    return Material(**{**basics, **fields})


def everything(**fields: Any) -> Material:
    """Something for every section of every recipe."""
    basics: dict[str, Any] = {
        "profile": replace(PROFILE, name="Ana", stage="COMFORTABLE"),
        "window": turns(8),
        "last_interaction": NOW - timedelta(hours=3),
        "state": state(chapter=2, relationship_score=61, metrics={"intimacy": 40, "trust": 55}, conflict="none"),
        "today": summary(
            "day", "Work was long.", kind="daily", detail={"key_moments": ["Got the job", "Lunch with John"]}
        ),
        "today_turns": (turn(900, "I am off to the interview now", role="user"),),
        "last_time": summary(
            "last",
            "You spoke about the interview. Ana was nervous.",
            kind="session",
            detail={
                "what_mattered": ["the interview"],
                "commitments": ["call John"],
                "people": ["John"],
                "tone": "tense",
            },
        ),
        "rolling": summary("rolling", "Ana prepares for a new job.", kind="rolling"),
        "lane_summary": summary(
            "lane",
            "",
            kind="lane",
            detail={"goals": ["plan the trip"], "decisions": ["by train"], "pending": ["book it"]},
        ),
        "other_lanes": (summary("other", "The garden is being dug.", kind="lane", lane="topic:1:7"),),
        "spine": summary(
            "spine", "", kind="spine", detail={"PROFILE": ["Ana lives in Lisbon"], "OPEN_LOOPS": ["not hers"]}
        ),
        "loops": (
            loop("promise", "Tell him about the interview", kind="promise"),
            loop("ask", "Which train?", kind="question"),
        ),
        "thoughts": (thought("idea", "I wonder how it went"),),
        "foundation": (memory("core", "Her name is Ana Moreira", importance=3, pinned=True),),
        "recalled": recalled(
            memory("fact", "Ana plays the cello"),
            episode("paris", "They talked about Paris for an hour"),
            memory("event", "Nikita adopted a cat", subject="persona"),
            turn(800, "my sister is called Rita", role="user"),
        ),
        "requests": (memory("wish", "Answer in Portuguese on Sundays", standing=True),),
        "inputs": {
            "policy": "Follow the law.",
            "augmentations": "Talk slowly.",
            "task_state": "Plan: greet\nObservation: it rains",
            "boundaries": "No alcohol tonight.",
        },
    }
    return material(**{**basics, **fields})


def made(recipe: str | Recipe, given: Material, *, counting: Tokenizer = O200K) -> Assembled:
    return assemble(load(recipe) if isinstance(recipe, str) else recipe, given, counting)


def block(context: Assembled, title: str) -> Block:
    """The one block of that title."""
    (found,) = [found for found in all_blocks(context) if found.title == title]
    return found


def all_blocks(context: Assembled) -> list[Block]:
    """Those of the system text, then those that follow the history."""
    return [*blocks(context.system), *blocks("".join(piece.text for piece in context.tail))]


def titles(context: Assembled) -> list[str]:
    return [found.title for found in all_blocks(context)]


def shown(context: Assembled, section: str) -> list[Item]:
    return [item for item in context.items if item.section == section and item.included]


def left_out(context: Assembled, section: str) -> dict[str, str]:
    """Ids and reasons, each once."""
    found = [(item.id, item.reason) for item in context.items if item.section == section and not item.included]
    assert len(dict(found)) == len(found)
    return dict(found)


def check_pairs(context: Assembled) -> None:
    """What providers demand: every call is answered right after it, every answer follows its call."""
    waiting: list[str] = []
    for message in context.messages:
        if message["role"] == "tool":
            assert str(message["tool_call_id"]) in waiting
            waiting.remove(str(message["tool_call_id"]))
            continue
        assert not waiting
        calls = message.get("tool_calls") or []
        assert isinstance(calls, list)
        for found in calls:
            assert isinstance(found, dict)
            waiting.append(str(found["id"]))
            assert isinstance(found["function"], dict)
            json.loads(str(found["function"]["arguments"]))
    assert not waiting
