"""What a turn leaves open: promises, questions, commitments, habits to keep, frictions, topics put off."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from hitherto.learn.candidates import LoopCandidate, Owner, Said
from hitherto.learn.rules.sentences import TABLE, claims, plain_end, sentences, shortened
from hitherto.text.time.spans import due
from hitherto.types import LoopKind, Outcome

__all__ = ["loops", "outcome"]

_PROMISE, _COMMITMENT, _REMIND = map(TABLE.pattern, ("promise", "commitment", "remind"))
_HABIT, _FRICTION, _TOPIC = map(TABLE.pattern, ("habit", "friction", "topic"))
_ASKED, _IDLE = map(TABLE.pattern, ("asked", "idle"))
# Asked of an assistant and answered in its next turn; nothing stays open.
_SERVICE: Final = TABLE.pattern("service")
_OUTCOMES: Final[tuple[tuple[Outcome, re.Pattern[str]], ...]] = (
    ("INTERRUPTED", TABLE.pattern("outcome_interrupted")),
    ("PARTIAL", TABLE.pattern("outcome_partial")),
    ("SUCCESS", TABLE.pattern("outcome_success")),
)
_LONGEST: Final = 160


def loops(said: Said) -> Iterator[LoopCandidate]:
    """What is still open after this turn."""
    owner: Owner = "persona" if said.role == "assistant" else "user"
    other: Owner = "user" if owner == "persona" else "persona"
    for sentence in claims(said.text):
        opened = _opened(sentence, said=said, owner=owner, other=other)
        if opened is not None:
            yield opened
    question = _question(said)
    if question is not None:
        yield LoopCandidate(kind="question", text=shortened(question, most=_LONGEST), owner=other, confidence=0.6)


def _opened(sentence: str, *, said: Said, owner: Owner, other: Owner) -> LoopCandidate | None:
    """The one thing a sentence leaves open; the first kind that fits wins."""
    kinds: tuple[tuple[LoopKind, re.Pattern[str], Owner, float], ...] = (
        ("commitment", _REMIND, other, 0.85),
        ("topic", _TOPIC, owner, 0.7),
        ("promise", _PROMISE, owner, 0.8),
        ("habit", _HABIT, owner, 0.65),
        ("friction", _FRICTION, owner, 0.7),
        ("commitment", _COMMITMENT, owner, 0.65),
    )
    for kind, pattern, owes, confidence in kinds:
        found = pattern.search(sentence)
        if found is None:
            continue
        about = plain_end(next((part for part in found.groups() if part), "")).strip(" .!,")
        if len(about) < 4 or (owner == "persona" and kind in {"habit", "friction"}):
            return None
        at = due(sentence, now=said.now, zone=said.zone)
        loop = LoopCandidate(kind=kind, text=shortened(about, most=_LONGEST), owner=owes, due=at, confidence=confidence)
        if kind == "commitment" and at is None and pattern is _COMMITMENT:
            return _undated(loop, found)
        return loop
    return None


def _undated(loop: LoopCandidate, found: re.Match[str]) -> LoopCandidate | None:
    """A commitment without a time counts when it was put as a duty, not as a mere "I'll"."""
    duty = found.groupdict().get("x") or found.groupdict().get("w")
    return replace(loop, confidence=0.5) if duty else None


def _question(said: Said) -> str | None:
    """The question a turn ends with, if it really asks the other side for something."""
    spoken = sentences(said.text)
    if not spoken or not spoken[-1].rstrip("\"' )").endswith("?"):
        return None
    last = spoken[-1]
    if len(last.split()) < 4 or _IDLE.search(last) or len(last) > _LONGEST:
        return None
    if _ASKED.search(last) is None or (said.role == "user" and _SERVICE.search(last)):
        return None
    return last


def outcome(text: str) -> Outcome | None:
    """How something ended, if the turn says so."""
    for result, pattern in _OUTCOMES:
        if pattern.search(text):
            return result
    return None
