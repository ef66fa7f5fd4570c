"""Whether what a model says was really said. Pure.

A model that summarises also invents. What it states is kept only if the turns it names hold it: every name and number in
it stands in one of them (or is the date that a turn's own words mean), and so do most of its other words. And it may hold
neither a secret nor an order, whoever put it there.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from hitherto.learn.candidates import Stems
from hitherto.safety.quarantine import quarantine
from hitherto.safety.secrets import find_secrets
from hitherto.text.time.spans import ranges

_NAME: Final = re.compile(r"(?<![.!?:\"“]\s)(?<!^)\b[A-Z][\w'’-]+", re.MULTILINE)
_NUMBER: Final = re.compile(r"\d+(?:[.,:/-]\d+)*")
_FRAME: Final = frozenset(
    (
        *(
            "user",
            "assist",
            "persona",
            "person",
            "name",
            "call",
            "say",
            "said",
            "tell",
            "told",
            "ask",
            "talk",
            "discuss",
        ),
        *("mention", "live", "work", "want", "plan", "decid", "agre", "feel", "felt", "like", "love", "prefer", "have"),
        *("has", "had", "will", "would", "also", "about", "their", "they", "them", "someon", "thing", "know"),
    )
)
"""Stems that frame a statement and need not have been said."""
_ENOUGH: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A turn, or a sentence of an earlier summary, that a model can name: its words, when they were said, their turns."""

    text: str
    at: datetime
    sources: tuple[str, ...]
    speaker: str = ""


def supported(text: str, said: Sequence[Said], *, stems: Stems, zone: str = "UTC") -> bool:
    """Whether these turns say this."""
    if not said or not text.strip():
        return False
    whole = "\n".join(f"{one.speaker} {one.text}" for one in said)
    lowered = whole.lower().replace("’", "'")
    if any(name.lower().removesuffix("'s") not in lowered for name in _NAME.findall(text.replace("’", "'"))):
        return False
    if not _numbers_said(text, said, lowered, zone=zone):
        return False
    words = {stem for stem in stems(_NUMBER.sub(" ", text)) if stem not in _FRAME}
    spoken = set(stems(whole))
    return not words or len(words & spoken) >= _ENOUGH * len(words)


def harmless(text: str) -> bool:
    """Neither a secret nor an order to whoever reads it."""
    return not find_secrets(text) and quarantine(text, "assistant") is None


def _numbers_said(text: str, said: Sequence[Said], lowered: str, *, zone: str) -> bool:
    missing = [number for number in _NUMBER.findall(text) if number not in lowered]
    if not missing:
        return True
    days: set[str] = set()
    for one in said:
        moments = [one.at, *(found.start for found in ranges(one.text, now=one.at, zone=zone))]
        days |= {
            form for at in moments for form in (f"{at:%Y-%m-%d}", f"{at:%Y}", f"{at.day}", f"{at:%d}", f"{at:%H:%M}")
        }
    return all(number in days for number in missing)
