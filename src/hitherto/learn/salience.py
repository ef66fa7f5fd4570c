"""What of a conversation is worth keeping: its sentences, weighed, without secrets and without orders.

Summaries made by rules are extracts. A sentence weighs more when it states a fact, an event or something left open,
when it speaks of what the whole conversation speaks of, and when the user says it.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Final, Literal

from hitherto.learn.candidates import Extraction, Said, Stems
from hitherto.learn.rules.extracting import extract
from hitherto.learn.rules.sentences import dated, sentences
from hitherto.safety.quarantine import quarantine
from hitherto.safety.secrets import find_secrets
from hitherto.text.patterns import PatternTable
from hitherto.types import Role, Support

__all__ = ["TABLE", "Line", "Sentence", "Verbosity", "chosen", "names", "tone", "topics", "weighed"]

Verbosity = Literal["brief", "normal", "detailed"]

TABLE: Final = PatternTable.read("hitherto.learn", "salience.toml")
_MOODS: Final[dict[str, frozenset[str]]] = {mood: frozenset(words) for mood, words in TABLE.content["moods"].items()}
_NAME, _GREETING, _SMALL_TALK = map(TABLE.pattern, ("name", "greeting", "small_talk"))
_NO_NAME: Final = frozenset(TABLE.texts("words", "not_names"))
_LONGEST: Final = 240
_ALIKE: Final = 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A turn as summaries see it."""

    id: str
    speaker: str
    role: Role
    text: str
    at: datetime
    zone: str = "UTC"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence of a turn with its weight and what the rules found in it."""

    text: str
    line: Line
    weight: float
    place: int
    ideas: frozenset[str]
    found: Extraction

    @property
    def support(self) -> Support:
        return Support(text=f"{self.line.speaker}: {self.text}", sources=(self.line.id,))


def weighed(lines: Sequence[Line], *, stems: Stems) -> list[Sentence]:
    """All sentences of the conversation, in order, each with its weight."""
    spoken = [one for line in lines if line.role in {"user", "assistant"} for one in _read(line, stems)]
    counts = Counter(idea for one in spoken for idea in one.ideas)
    return [replace(one, place=place, weight=_weight(one, counts)) for place, one in enumerate(spoken)]


@lru_cache(maxsize=1_024)
def _read(line: Line, stems: Stems) -> tuple[Sentence, ...]:
    """The sentences of one turn that may be kept, not weighed yet. A turn goes into the summaries of its session, its day and
    its lane within one visit, so what was read is kept for a while.
    """
    return tuple(
        Sentence(
            text=dated(text, at=line.at, zone=line.zone),
            line=line,
            weight=0.0,
            place=0,
            ideas=frozenset(stems(text)),
            found=extract(Said(text=text, role=line.role, now=line.at, zone=line.zone)),
        )
        for text in sentences(line.text)
        if _keepable(text, line)
    )


def chosen(found: Iterable[Sentence], *, limit: int, most: int = 99) -> list[Sentence]:
    """The weightiest sentences that fit, none saying the same as another, in the order they were said.

    Greetings and small talk weigh nothing and are left out."""
    kept: list[Sentence] = []
    used = 0
    for one in sorted(found, key=lambda sentence: (-sentence.weight, sentence.place)):
        if one.weight <= 0:
            break
        size = len(one.support.text) + 1
        if used + size > limit or any(_alike(one.ideas, other.ideas) for other in kept):
            continue
        kept.append(one)
        used += size
        if len(kept) == most:
            break
    return sorted(kept, key=lambda sentence: sentence.place)


def topics(found: Sequence[Sentence], *, most: int = 5) -> list[tuple[str, tuple[str, ...]]]:
    """What was talked about most, as words people used, each with the turns that did."""
    said: dict[str, list[str]] = {}
    words: dict[str, Counter[str]] = {}
    idle: frozenset[str] = frozenset[str]().union(
        *_MOODS.values(), *(one.line.speaker.lower().split() for one in found)
    )
    for one in found:
        beginning: dict[str, list[str]] = {}
        for idea in one.ideas:
            said.setdefault(idea, []).append(one.line.id)
            if len(idea) > 3:
                beginning.setdefault(idea[:4], []).append(idea)
        for word in re.findall(r"[^\W\d_][\w'-]{3,}", one.text):
            lower = word.lower()
            for idea in beginning.get(lower[:4], ()) if lower not in idle else ():
                words.setdefault(idea, Counter())[word] += 1
    ranked = sorted((idea for idea in words if len(idea) > 3), key=lambda idea: (-len(set(said[idea])), idea))
    return [(_commonest(words[idea]), tuple(dict.fromkeys(said[idea]))) for idea in ranked[:most]]


def _commonest(words: Counter[str]) -> str:
    """The form used most; a capital that only begins sentences is none of the word's own."""
    forms = Counter[str]()
    for word, count in words.items():
        forms[word.lower() if word.lower() in words else word] += count
    return min(forms, key=lambda word: (-forms[word], word))


def names(found: Sequence[Sentence]) -> list[tuple[str, tuple[str, ...]]]:
    """People the conversation names, each with the turns that do."""
    seen: dict[str, list[str]] = {}
    known = {one.line.speaker.lower() for one in found}
    for memory in (memory for one in found for memory in one.found.memories):
        if memory.attribute in {"name", "home", "origin", "employer"}:
            known.add(memory.value.lower())
    for one in found:
        labels = [memory.label for memory in one.found.memories if memory.category == "PERSON" and memory.label]
        labels += [match["n"] for match in _NAME.finditer(one.text)]
        for label in labels:
            if label.split()[0] not in _NO_NAME and label.lower() not in known and label[0].isupper():
                seen.setdefault(label, []).append(one.line.id)
    return [(name, tuple(dict.fromkeys(ids))) for name, ids in seen.items()]


def tone(lines: Sequence[Line]) -> str:
    """The mood most words of the user speak of, or "neutral"."""
    words: Counter[str] = Counter()
    for line in lines:
        if line.role == "user":
            words.update(re.findall(r"[a-z]+", line.text.lower()))
    scores = {mood: sum(words[word] for word in members) for mood, members in _MOODS.items()}
    best = max(scores, key=lambda mood: (scores[mood], mood))
    return best if scores[best] > 0 else "neutral"


def _keepable(text: str, line: Line) -> bool:
    if len(text) > _LONGEST or find_secrets(text):
        return False
    return quarantine(text, "user" if line.role == "user" else "assistant") is None


def _weight(one: Sentence, counts: Counter[str]) -> float:
    if not one.ideas or _SMALL_TALK.fullmatch(one.text):
        return 0.0
    common = sum(math.log1p(counts[idea]) for idea in one.ideas) / math.sqrt(len(one.ideas) + 2)
    weight = common + 0.3 * min(len(one.ideas), 8)
    weight += 2.0 * min(2, sum(memory.importance for memory in one.found.memories))
    weight += 1.5 * bool([loop for loop in one.found.loops if loop.kind != "question"])
    weight += 0.5 * (one.line.role == "user")
    weight -= 1.5 * (_GREETING.match(one.text) is not None) + 1.0 * one.text.rstrip().endswith("?")
    return round(weight, 6)


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    both = len(one & other)
    return both > 0 and both / min(len(one), len(other)) >= _ALIKE
