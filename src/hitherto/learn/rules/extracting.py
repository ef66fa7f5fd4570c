"""One turn in, candidates out: the rules in one place, and what they agree on only once."""

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Final

from hitherto.learn.candidates import Candidate, Extraction, LoopCandidate, Said
from hitherto.learn.rules.events import events, persona_events
from hitherto.learn.rules.facts import facts
from hitherto.learn.rules.loops import loops, outcome
from hitherto.learn.rules.people import people
from hitherto.learn.rules.sentences import TABLE
from hitherto.learn.rules.standing import standing
from hitherto.safety.secrets import find_secrets

__all__ = ["extract"]

_MOST: Final = 12
_CONFIDED: Final = TABLE.pattern("confided")


@lru_cache(maxsize=2_048)
def extract(said: Said) -> Extraction:
    """What a turn of the user or the persona gives; tool output and system text give nothing.

    A statement in which a secret stands is left out here, so that no later step has to know. Several steps read the same
    turn within a moment, so what was found is kept for a while.
    """
    if said.role == "user":
        found: Iterable[Candidate] = (*standing(said), *facts(said), *people(said), *events(said))
        if _CONFIDED.search(said.text):
            found = [replace(one, private=True) for one in found]
    elif said.role == "assistant":
        found = persona_events(said)
    else:
        return Extraction()
    return Extraction(
        memories=_once(found),
        loops=tuple(loop for loop in _once_each(loops(said)) if not find_secrets(loop.text))[:_MOST],
        outcome=outcome(said.text),
    )


def _once(found: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """One candidate for each key and value, the surest; a standing request is no taste as well."""
    best: dict[tuple[str, str], Candidate] = {}
    requests: list[str] = []
    for one in found:
        if find_secrets(one.text) or find_secrets(one.value):
            continue
        if one.standing:
            requests.append(one.value.lower())
        elif any(one.value.lower() in request for request in requests):
            continue
        place = (one.key, one.value.lower())
        if place not in best or best[place].confidence < one.confidence:
            best[place] = one
    return tuple(best.values())[:_MOST]


def _once_each(found: Iterable[LoopCandidate]) -> Iterable[LoopCandidate]:
    seen: set[str] = set()
    for loop in found:
        if loop.text.lower() not in seen:
            seen.add(loop.text.lower())
            yield loop
