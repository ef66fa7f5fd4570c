"""Who answers whom, where several people talk at once.

Group chats without reply marks need a guess at what a message answers. Each earlier turn is scored from
signs that any chat has: who is addressed, whose turn it is, how long ago, which rare words are shared.
The weights are a conditional logit fitted on the reply links of public IRC logs and rounded. On those
logs the answered message comes first in 65 % and among five in 93 % of cases (64 % and 93 % when fitted
on other logs than measured); the previous message is it in 30 % and 76 % (`bench/anchor.py`).
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Final

from hitherto.types import StoredTurn

WINDOW: Final = 60
"""Turns looked at. Of the fitted logs' answers, 99 % lie within it."""

WEIGHTS: Final[Mapping[str, float]] = {
    "distance": -1.1,  # natural logarithm of how many turns back
    "minutes": -0.8,  # log(1 + minutes between)
    "previous": -1.0,  # the turn right before, in a room where talks interleave
    "addressed": 3.6,  # the message begins with the speaker's name
    "mentioned": 2.8,  # the name stands elsewhere in it
    "other_addressed": -2.2,  # it begins with someone else's name
    "addresses_me": 1.2,  # the earlier turn names the message's speaker
    "first_to_me": 0.6,  # and is the newest that does
    "addresses_other": -1.25,  # it begins with a third person's name
    "same_target": 1.7,  # both begin with the same name
    "same_target_mine": 0.8,  # and have the same speaker
    "same_speaker": 2.3,
    "own_run": 2.0,  # the same speaker goes on without a pause
    "newest_of_speaker": 0.7,
    "since_mine": 0.85,  # after the speaker's own last turn
    "asked": 0.45,  # a question by another, and the message is none
    "overlap": 3.4,  # share of the message's rare words that the turn has
    "i_named_them": 0.4,  # in the speaker's last three turns
    "they_named_me": 0.9,  # anywhere in the window
    "short": 0.55,  # nothing to compare: rather someone else's turn
    "run_start": 0.25,  # first of its speaker's run of turns
}

_WORD: Final = re.compile(r"[^\W_]{3,}(?:['’-][^\W_]+)*")
_TOKEN: Final = re.compile(r"[^\s:,;@!?()\"<>]+")
_HEAD: Final = 400
"""Characters in which names are looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A turn that the message may answer. `score` is its probability among the window; `parts` add up to
    its logit.
    """

    turn: StoredTurn
    score: float
    parts: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class _Said:
    """One utterance as the scoring sees it. `at_head` are the people it begins with, `names` all that it
    names.
    """

    speaker: str
    words: frozenset[str]
    at_head: frozenset[str]
    names: frozenset[str]
    asks: bool


def candidates(
    message: str, *, speaker: str | None, window: Sequence[StoredTurn], at: datetime | None = None
) -> list[Candidate]:
    """The turns of `window` (oldest first) that the message may answer, most likely first, ties to the
    newer.
    """
    turns = [turn for turn in window if turn.role in ("user", "assistant")][-WINDOW:]
    people = _aliases(_party(turn) for turn in turns)
    earlier = [_said(turn.text, _party(turn), people) for turn in turns]
    current = _said(message, speaker or "user", people)
    found = _parts(current, earlier, _gaps(turns, at))
    logits = [sum(parts.values()) for parts in found]
    highest = max(logits, default=0.0)
    total = sum(math.exp(logit - highest) for logit in logits)
    ranked = [
        Candidate(turn=turn, score=math.exp(logit - highest) / total, parts=parts)
        for turn, logit, parts in zip(turns, logits, found, strict=True)
    ]
    ranked.reverse()
    ranked.sort(key=lambda candidate: -candidate.score)
    return ranked


def _party(turn: StoredTurn) -> str:
    return turn.speaker or turn.role


def _gaps(turns: Sequence[StoredTurn], at: datetime | None) -> list[float]:
    """Minutes between each turn and the message; nothing is known about a clock that runs backwards."""
    now = at or (turns[-1].at if turns else None)
    return [max((now - turn.at).total_seconds() / 60, 0.0) if now else 0.0 for turn in turns]


def _parts(current: _Said, earlier: Sequence[_Said], gaps: Sequence[float]) -> list[dict[str, float]]:
    weigh = _rarity(earlier)
    words = current.words - {word for name in current.names for word in _words_of(name)}
    whole = sum(map(weigh, words)) or 1.0
    mine = [at for at, said in enumerate(earlier) if said.speaker == current.speaker]
    named_by_me = frozenset[str]().union(*(earlier[at].names for at in mine[-3:]))
    naming_me = {said.speaker for said in earlier if current.speaker in said.names}
    newest_naming_me = max((at for at, said in enumerate(earlier) if current.speaker in said.names), default=-1)
    newest_of = {said.speaker: at for at, said in enumerate(earlier)}
    scored: list[dict[str, float]] = []
    for at, said in enumerate(earlier):
        same = said.speaker == current.speaker
        back = len(earlier) - at
        shared_target = bool(current.at_head & said.at_head)
        signs: dict[str, float] = {
            "distance": math.log(back),
            "minutes": math.log1p(gaps[at]),
            "previous": back == 1,
            "addressed": said.speaker in current.at_head,
            "mentioned": said.speaker in current.names - current.at_head,
            "other_addressed": bool(current.at_head) and not same and said.speaker not in current.at_head,
            "addresses_me": current.speaker in said.names,
            "first_to_me": at == newest_naming_me,
            "addresses_other": bool(said.at_head - {current.speaker}),
            "same_target": shared_target,
            "same_target_mine": same and bool(current.at_head & said.names),
            "same_speaker": same,
            "own_run": same and back == 1,
            "newest_of_speaker": newest_of[said.speaker] == at,
            "since_mine": at > (mine[-1] if mine else -1),
            "asked": said.asks and not same and not current.asks,
            "overlap": sum(map(weigh, words & said.words)) / whole,
            "i_named_them": said.speaker in named_by_me,
            "they_named_me": said.speaker in naming_me,
            "short": len(words) <= 1 and not same,
            "run_start": at == 0 or earlier[at - 1].speaker != said.speaker,
        }
        scored.append({name: WEIGHTS[name] * value for name, value in signs.items() if value})
    return scored


def _rarity(earlier: Sequence[_Said]) -> Callable[[str], float]:
    """How telling a word is in this room now: the fewer turns have it, the more."""
    having = Counter(word for said in earlier for word in said.words)
    turns = len(earlier) + 2
    return lambda word: math.log(turns / (having[word] + 0.5))


def _aliases(names: Iterable[str]) -> frozenset[tuple[str, str]]:
    """What people are called: their name, and its first word if no other name begins with it."""
    people = sorted(set(names))
    first_words = Counter(name.split()[0].casefold() for name in people if name.split())
    called = {(name.casefold(), name) for name in people}
    called |= {
        (first, name)
        for name in people
        for first in name.casefold().split()[:1]
        if len(first) >= 3 and first_words[first] == 1
    }
    return frozenset(called)


@lru_cache(maxsize=4096)
def _said(text: str, speaker: str, people: frozenset[tuple[str, str]]) -> _Said:
    called = dict(people)
    at_head: set[str] = set()
    names: set[str] = set()
    for place, token in enumerate(_TOKEN.findall(text[:_HEAD])):
        name = called.get(token.casefold().rstrip("."))
        if name is None or name == speaker:
            continue
        if place == 0 and (len(token) > 3 or _is_called(text, token)):
            at_head.add(name)
        if place == 0 or len(token) >= 4:
            names.add(name)
    return _Said(speaker, _words_of(text), frozenset(at_head), frozenset(names), "?" in text)


def _is_called(text: str, token: str) -> bool:
    """A name of two or three letters may be a word; a sign after it, or an @ before it, says that it is a
    name.
    """
    start = text.index(token)
    return text[start - 1 : start] == "@" or text[start + len(token) :].lstrip()[:1] in {":", ",", ">"}


@lru_cache(maxsize=4096)
def _words_of(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORD.findall(text))
