"""What a persona keeps in mind about open loops: made when a session closes, dropped when the loop is.

A thought is derived from one loop and named after it, so that it is thought once, and found again when the loop ends.
"""

import re
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from hitherto.ids import derived_id
from hitherto.store.protocol import Change, RecordsById, UserStore
from hitherto.types import Loop, Thought

LASTS = timedelta(days=7)
_PROMISED: Final = re.compile(r"^\W*I(?:['’]ll| will| promise to)\s+(?P<what>[a-z][^.!?;\n]{3,120})", re.IGNORECASE)
_PLANNED: Final = re.compile(
    r"^\W*I(?:['’]m going to| am going to| need to| have to| plan to)\s+(?P<what>[a-z][^.!?;\n]{3,120})", re.IGNORECASE
)
_UNPLAIN: Final = re.compile(
    r"\b(?:if|when|what|how|that|whether|as|because|until|so|and|but|or) you\b|\byou['’]|\byourself\b|\bmyself\b"
    r"|\byou (?:are|were|have|know|see|can|will|want|need|do|did|could|should|would|might)\b|\b(?:me|I|we|us|our)\b"
)
"""Words that keep a clause from becoming another person's by changing one word."""
_YOURS: Final = re.compile(r"\byou(?P<r>r?)\b", re.IGNORECASE)
_SOON: Final = re.compile(
    r"\b(?:later )?(?:tomorrow|tmrw|tonight|today|this)(?: (?:morning|afternoon|evening|night))?\b"
    r"(?! (?:week|month|year|one|is))",
    re.IGNORECASE,
)
_MINE: Final = re.compile(r"\bmy\b", re.IGNORECASE)


def thought_id(loop_id: str) -> str:
    return derived_id("thought", loop_id)


def thought(loop: Loop, text: str, *, now: datetime) -> Thought:
    return Thought(
        id=thought_id(loop.id),
        text=" ".join(text.split()),
        persona=loop.persona,
        lane=loop.lane,
        sources=loop.sources,
        quotes=loop.quotes,
        at=now,
        due=max(now, loop.due or now) + LASTS,
    )


def derived(loop: Loop, *, now: datetime, zone: str, user: str) -> Thought | None:
    """What the persona thinks about a promise or a plan, close to the words that were said and with the user's name; None if
    they do not make a plain sentence."""
    if loop.kind not in ("promise", "commitment"):
        return None
    pattern = _PROMISED if loop.owner == "persona" else _PLANNED
    for quote in loop.quotes:
        said = pattern.match(quote.words)
        if said is None or _UNPLAIN.search(said["what"]):
            continue
        what = _dated(said["what"].rstrip(" ,"), loop.due, zone=zone)
        if what is None:
            continue
        if loop.owner == "user":
            told = _MINE.sub("their", what)
            return thought(
                loop, f"{user[:1].upper()}{user[1:]} was going to {told}. I want to hear how it went.", now=now
            )
        first = _YOURS.sub(lambda found: f"{user}'s" if found["r"] else user, what, count=1)
        told = _YOURS.sub(lambda found: "their" if found["r"] else "them", first)
        return thought(loop, f"I said I would {told}.", now=now)
    return None


def _dated(what: str, due: datetime | None, *, zone: str) -> str | None:
    """The clause with a date for "tomorrow", which will be another day when the thought is read."""
    if _SOON.search(what) is None:
        return what
    return _SOON.sub(f"on {due.astimezone(ZoneInfo(zone)):%Y-%m-%d}", what) if due is not None else None


async def let_go(store: UserStore, loop: Loop, *, now: datetime) -> None:
    """Ends what was thought about a loop that somebody closed by hand."""
    query = RecordsById(ids=(thought_id(loop.id),))
    await store.write(lambda answers: Change(retire=tuple(row.id for row in answers[query]), retired_at=now), query)
