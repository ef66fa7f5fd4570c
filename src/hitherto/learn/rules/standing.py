"""Lasting requests of the user to the persona: "always answer in Spanish", "never mention my ex"."""

import re
from collections.abc import Iterator
from typing import Final

from hitherto.learn.candidates import Candidate, Said
from hitherto.learn.rules.sentences import TABLE, sentences, third_person
from hitherto.text.names import slug

__all__ = ["standing"]

_ALWAYS: Final = TABLE.pattern("always")
_ONCE: Final = TABLE.pattern("once")


def standing(said: Said) -> Iterator[Candidate]:
    """What the user asks for once and for all. Nobody else's orders are read here."""
    if said.role != "user":
        return
    for sentence in sentences(said.text):
        found = _ALWAYS.search(sentence)
        if found is None or _ONCE.search(sentence) or (sentence.endswith("?") and not found["x"]):
            continue
        request = next(part for part in found.groups() if part).strip(" .!,?")
        if len(request.split()) < 2 or len(request) > 240:
            continue
        yield Candidate(
            text=f"Asks: {third_person(request)}",
            category="PREFERENCE",
            entities=("person:user",),
            fact_type="preference",
            attribute=slug("request " + " ".join(re.findall(r"[\w']+", request.lower())[:6])),
            value=request,
            importance=2,
            confidence=0.85,
            standing=True,
        )
