"""What rules learn from a conversation in each of six languages: facts, people, loops and their days, contexts."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from hitherto import Hitherto, Loop, Memory, Turn

FOLDER = Path(__file__).with_name("chats")
LANGUAGES = ("fr", "pt", "it", "nl", "ja", "zh")
APART = timedelta(minutes=31)
"""After a longer silence a session is over."""


@dataclass
class Chat:
    """A conversation and what is to be learnt from it."""

    user: str = ""
    name: str = ""
    zone: str = ""
    persona: tuple[str, str, str] = ("", "", "")
    turns: list[Turn] = field(default_factory=list[Turn])
    rows: dict[str, list[list[str]]] = field(default_factory=dict[str, list[list[str]]])

    @classmethod
    def read(cls, code: str) -> Chat:
        chat, section, day = cls(), "", ""
        for line in (FOLDER / f"{code}.txt").read_text("utf-8").splitlines():
            if line.startswith("== "):
                section = line[3:]
            elif section:
                chat.rows.setdefault(section, []).append(line.split(" | "))
            elif line.startswith("user "):
                _, chat.user, chat.name, chat.zone = line.split()
            elif line.startswith("persona "):
                head, _, text = line.partition(" | ")
                chat.persona = (head.split()[1], head.split()[2], text)
            elif line.startswith("day "):
                day = line[4:]
            else:
                clock, who, text = line.split(" ", 2)
                number = len(chat.turns) + 1
                role = "user" if who == "u" else "assistant"
                at = chat.at(f"{day} {clock}")
                chat.turns.append(
                    Turn(user=chat.user, id=f"t{number}", at=at, persona=chat.persona[0], role=role, text=text)
                )
        return chat

    def at(self, text: str) -> datetime:
        return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(self.zone))


@dataclass
class Learnt:
    """What is left at the end of it."""

    chat: Chat
    memories: list[Memory]
    people: frozenset[str]
    loops: list[Loop]
    missing: list[str]
    """What contexts lacked on the way."""


def says(pattern: str, text: str) -> bool:
    return all(re.search(one, text, re.IGNORECASE) for one in pattern.split(" ;; "))


@pytest.fixture(scope="module", params=LANGUAGES)
def learnt(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Learnt:
    return asyncio.run(played(Chat.read(request.param), tmp_path_factory.mktemp(request.param)))


async def played(chat: Chat, folder: Path) -> Learnt:
    """The conversation through the public calls, with work done after each session."""
    told = [(turn.at, turn) for turn in chat.turns if turn.at]
    now = [told[0][0]]
    missing: list[str] = []
    probes = [(chat.at(when), (message, must)) for when, message, must in chat.rows["probes"]]
    async with Hitherto(str(folder), clock=lambda: now[0]) as memory:
        await memory.set_user(chat.user, zone=chat.zone, name=chat.name)
        await memory.define_persona(chat.persona[0], name=chat.persona[1], text=chat.persona[2])
        for at, what in sorted([*told, *probes], key=lambda one: one[0]):
            if at - now[0] > APART:
                now[0] += APART
                await memory.settle(user=chat.user)
            now[0] = max(now[0], at)
            if isinstance(what, Turn):
                await memory.record(what)
                continue
            context = await memory.context(user=chat.user, persona=chat.persona[0], message=what[0], keep=False)
            shown = context.system + "\n".join(str(one.get("content")) for one in context.messages[:-1])
            missing += [] if says(what[1], shown) else [what[0]]
        now[0] += timedelta(days=1)
        await memory.settle(user=chat.user)
        return Learnt(
            chat,
            [one for one in await memory.memories(user=chat.user) if one.valid_to is None or one.valid_to > now[0]],
            frozenset(one.label for one in await memory.entities(user=chat.user)),
            list(await memory.loops(user=chat.user, status=None)),
            missing,
        )


def test_what_was_said_is_remembered_until_it_is_over(learnt: Learnt) -> None:
    texts = [one.text for one in learnt.memories]
    lasting = [(what, pattern) for head, what, pattern in learnt.chat.rows["facts"] if "until" not in head]
    over = [(what, pattern) for head, what, pattern in learnt.chat.rows["facts"] if "until" in head]
    missed = [what for what, pattern in lasting if not any(says(pattern, text) for text in texts)]
    assert len(missed) <= 2, missed
    assert [what for what, pattern in over if any(says(pattern, text) for text in texts)] == []


def test_what_was_not_meant_is_no_memory(learnt: Learnt) -> None:
    wrong = [one[2] for one in learnt.chat.rows.get("never", [])]
    assert [memory.text for memory in learnt.memories for pattern in wrong if says(pattern, memory.text)] == []


def test_people_and_animals_are_known_however_their_names_are_written(learnt: Learnt) -> None:
    missed = {row[0] for row in learnt.chat.rows["people"]} - learnt.people
    assert len(missed) <= 1, missed


def test_what_was_open_is_due_on_its_day_and_over_when_it_was_done(learnt: Learnt) -> None:
    found = {
        what: [one for one in learnt.loops if says(pattern, one.text)] for _, what, pattern in learnt.chat.rows["loops"]
    }
    assert [what for what, loops in found.items() if not loops] == []
    heads = {what: head.split() for head, what, _ in learnt.chat.rows["loops"]}
    zone = ZoneInfo(learnt.chat.zone)
    right = [
        what
        for what, loops in found.items()
        if any(one.due and one.due.astimezone(zone).date().isoformat() == heads[what][3] for one in loops)
    ]
    assert len(right) >= len(found) - 1, set(found) - set(right)
    still = [
        what for what, loops in found.items() if heads[what][4] != "-" and any(one.status == "open" for one in loops)
    ]
    assert still == []


def test_contexts_hold_what_an_answer_needs(learnt: Learnt) -> None:
    assert learnt.missing == []
