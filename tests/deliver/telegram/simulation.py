"""A group with topics and reply chains, talking all at once: what each message should find in its lane.

Every step is an update as Telegram would send it, or a message of the bot's own. The expectations are
kept by the simulation itself, from what it decided to write, never by the code under test.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hitherto.deliver.telegram import Bot

BOT = Bot(id=900, username="nikita_bot", persona="nikita")
CHAT = -1_001_234
PEOPLE = ("Ana", "Bo", "Cleo", "Dave", "Eva", "Finn")
SUBJECTS = (
    "budget",
    "venue",
    "menu",
    "music",
    "travel",
    "prizes",
    "weather",
    "posters",
    "tickets",
    "parking",
)
OWN: dict[str, Any] = {"id": BOT.id, "is_bot": True, "first_name": "Nikita", "username": BOT.username}
FORUM: dict[str, Any] = {"id": CHAT, "type": "supergroup", "title": "Party", "is_forum": True}
START = 1_772_445_600


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One message of the group. `anchor` is the turn a short message would refer to, `before` its lane so
    far.
    """

    update: dict[str, Any] | None
    sent: dict[str, Any] | None
    id: str
    text: str
    lane: str
    anchor: str | None
    before: tuple[str, ...]


@dataclass(slots=True)
class _Strand:
    """A topic, a reply chain or the root lane: its name, its turns, and which of them the bot said last."""

    lane: str
    topic: int | None = None
    root: int | None = None
    messages: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    ids: list[str] = field(default_factory=list[str])
    newest_answer: str | None = None


def simulate(seed: int, *, messages: int = 2_000, topics: int = 5) -> Iterator[Step]:
    """The steps of one talk, the same for the same seed."""
    rng = random.Random(seed)
    clock, number = START, 10 + topics
    strands = [_Strand(f"topic:{CHAT}:{10 + at}", topic=10 + at) for at in range(topics)]
    root = _Strand(f"root:{CHAT}")
    chains: list[_Strand] = []
    for count in range(messages):
        number += 1
        clock += rng.randrange(1, 90)
        strand = rng.choice([*strands, *strands, root, *chains[-6:]])
        target = rng.choice(strand.messages[-4:]) if strand.messages and rng.random() < 0.5 else None
        if strand is root and target is not None:
            strand = _chain(chains, target)
        elif strand.root is not None and target is None:
            target = strand.messages[-1] if strand.messages else None
        own = bool(strand.messages) and rng.random() < 0.3
        text = f"{rng.choice(SUBJECTS)} {count}"
        said = _message(number, text, at=clock, sender=OWN if own else _person(rng), strand=strand, target=target)
        turn = f"telegram:{CHAT}:{number}"
        yield Step(
            update=None if own else {"update_id": 70_000 + count, "message": said},
            sent=said if own else None,
            id=turn,
            text=text,
            lane=strand.lane,
            anchor=_id(target) or strand.newest_answer,
            before=tuple(strand.ids),
        )
        strand.messages.append(said)
        strand.ids.append(turn)
        strand.newest_answer = turn if own else strand.newest_answer


def _chain(chains: list[_Strand], first: dict[str, Any]) -> _Strand:
    """The reply chain that this message of the root lane begins."""
    number = first["message_id"]
    for chain in chains:
        if chain.root == number:
            return chain
    chains.append(_Strand(f"reply:{CHAT}:{number}", root=number, messages=[first]))
    return chains[-1]


def _person(rng: random.Random) -> dict[str, Any]:
    at = rng.randrange(len(PEOPLE))
    return {"id": 100 + at, "is_bot": False, "first_name": PEOPLE[at]}


def _message(
    number: int,
    text: str,
    *,
    at: int,
    sender: dict[str, Any],
    strand: _Strand,
    target: dict[str, Any] | None,
) -> dict[str, Any]:
    """The message as the Bot API shows it: a target without its own target, a topic's creation when there
    is none.
    """
    said: dict[str, Any] = {"message_id": number, "from": sender, "chat": FORUM, "date": at, "text": text}
    if strand.topic is not None:
        created = {
            "message_id": strand.topic,
            "from": OWN,
            "chat": FORUM,
            "date": START,
            "forum_topic_created": {},
        }
        said |= {"message_thread_id": strand.topic, "is_topic_message": True, "reply_to_message": created}
    elif target is not None:
        said["message_thread_id"] = strand.root
    if target is not None:
        said["reply_to_message"] = {key: value for key, value in target.items() if key != "reply_to_message"}
    return said


def _id(target: dict[str, Any] | None) -> str | None:
    return None if target is None else f"telegram:{CHAT}:{target['message_id']}"
