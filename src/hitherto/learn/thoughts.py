"""What a persona keeps in mind of what is open: made when a session closes, let go when the loop is.

A thought is derived from one loop and named after it, so that it is thought once, and found again when the loop ends."""

import re
from datetime import datetime, timedelta
from typing import Final

from hitherto.ids import derived_id
from hitherto.learn.rules.sentences import third_person
from hitherto.store.protocol import Change, RecordsById, UserStore
from hitherto.types import Loop, Thought

LASTS = timedelta(days=7)
_TO_ME: Final = (
    (re.compile(r"\byou're\b", re.IGNORECASE), "they are"),
    (re.compile(r"\byour\b", re.IGNORECASE), "their"),
    (re.compile(r"\byou\b", re.IGNORECASE), "them"),
)
_CLAUSE: Final = re.compile(r"^(?:I|we|it|that|there|he|she|they|my|the)\b", re.IGNORECASE)


def thought_id(loop_id: str) -> str:
    return derived_id("thought", loop_id)


def derived(loop: Loop, *, now: datetime) -> Thought | None:
    """What the persona thinks of something open: what it promised, what it was going to ask about."""
    if loop.kind not in ("promise", "commitment"):
        return None
    return Thought(
        id=thought_id(loop.id),
        text=_wording(loop),
        persona=loop.persona,
        sources=loop.sources,
        at=now,
        due=max(now, loop.due or now) + LASTS,
    )


async def let_go(store: UserStore, loop: Loop, *, now: datetime) -> None:
    """Ends what was thought about a loop that somebody closed by hand."""
    query = RecordsById(ids=(thought_id(loop.id),))
    await store.write(lambda answers: Change(retire=tuple(row.id for row in answers[query]), retired_at=now), query)


def _wording(loop: Loop) -> str:
    text = loop.text.strip().rstrip(".!")
    if loop.owner == "persona":
        for pattern, word in _TO_ME:
            text = pattern.sub(word, text)
        return f"I said: {text}." if _CLAUSE.match(text) else f"I said I would {_lowered(text)}."
    if _CLAUSE.match(text):
        return f"They told me: {third_person(text)}. I want to hear how it went."
    return f"They were going to {_lowered(third_person(text))}. I want to hear how it went."


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]
