"""Summaries without a model: extracts whose every sentence knows the turns it rests on.

Nothing here invents: a summary is made of sentences that were said, shortened to those that matter, with relative
days made absolute. A rolling summary carries the weightiest of its earlier sentences forward instead of forgetting
them. The same lines always give the same bytes.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from hitherto.learn.candidates import LoopCandidate, Stems
from hitherto.learn.closing import OpenLoop, closing
from hitherto.learn.rules.loops import outcome
from hitherto.learn.rules.sentences import shortened
from hitherto.learn.salience import TABLE, Line, Sentence, Verbosity, chosen, names, tone, topics, weighed
from hitherto.types import Json, MemoryType, Outcome, Support

__all__ = [
    "LANE_TITLES", "Digest", "Held", "LaneSection", "StillOpen",
    "daily", "episode", "lane", "rolling", "session", "spine", "still_open",
]  # fmt: skip

ROLLING_LIMIT: Final = 600
_SCALE: Final[dict[Verbosity, float]] = {"brief": 0.5, "normal": 1.0, "detailed": 2.0}
LaneSection = Literal["goals", "decisions", "facts", "outcomes", "pending"]
LANE_TITLES: Final[dict[LaneSection, str]] = {
    "goals": "Goals and open questions",
    "decisions": "Decisions",
    "facts": "Facts",
    "outcomes": "Outcomes",
    "pending": "Pending actions",
}
_GOAL, _DECISION, _OUTCOME = map(TABLE.pattern, ("goal", "decision", "outcome"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """A finished summary: its text, its structure, and the support of each sentence."""

    text: str
    sentences: tuple[Support, ...] = ()
    detail: dict[str, Json] = field(default_factory=dict[str, Json])
    outcome: Outcome = "SUCCESS"
    tone: str = "neutral"
    topics: tuple[str, ...] = ()
    method: Literal["rules", "model"] = "rules"


@dataclass(frozen=True, slots=True, kw_only=True)
class StillOpen:
    """A loop that no later line closed, and the turn that opened it."""

    loop: LoopCandidate
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A memory as the spine sees it."""

    text: str
    type: MemoryType
    importance: int
    sources: tuple[str, ...]


def still_open(lines: Sequence[Line], *, stems: Stems) -> list[StillOpen]:
    """What the conversation left open: loops of every line that no later line of their owner closed."""
    opened: list[StillOpen] = []
    before: Line | None = None
    for line in lines:
        opened = [one for one in opened if not _closes(one, line, before, stems=stems)]
        for sentence in weighed([line], stems=stems):
            opened.extend(StillOpen(loop=loop, source=line.id) for loop in sentence.found.loops)
        before = line
    return opened


def rolling(
    lines: Sequence[Line], *, previous: Sequence[Support] = (), stems: Stems, verbosity: Verbosity = "normal"
) -> Digest:
    """At most 600 characters of what has been said lately, with the weightiest of before carried forward."""
    limit = min(ROLLING_LIMIT, round(ROLLING_LIMIT * _SCALE[verbosity]))
    fresh = chosen(weighed(lines, stems=stems), limit=limit if not previous else limit * 2 // 3)
    room = limit - sum(len(one.support.text) + 1 for one in fresh)
    said = [frozenset(one.ideas) for one in fresh]
    carried: list[Support] = []
    for one in sorted(previous, key=lambda support: -_carry(support)):
        ideas = frozenset(stems(one.text))
        if len(one.text) + 1 <= room and not any(ideas and ideas <= other for other in said):
            carried.append(one)
            room -= len(one.text) + 1
    kept = [one for one in previous if one in carried]
    return _joined((*kept, *(one.support for one in fresh)))


def session(lines: Sequence[Line], *, stems: Stems, verbosity: Verbosity = "normal") -> Digest:
    """A session in six fields; each entry rests on turns. The text is its two or three sentences for next time."""
    found = weighed(lines, stems=stems)
    scale = _SCALE[verbosity]
    best = chosen(found, limit=round(700 * scale), most=max(1, round(4 * scale)))
    about = topics(found, most=3)
    opened = still_open(lines, stems=stems)
    told = _told(best, opened)
    first = max(best, key=lambda one: (one.weight, -one.place)).support if best else None
    one_liner = first or Support(text="A short exchange", sources=tuple(line.id for line in lines[:1]))
    commitments = [one for one in opened if one.loop.kind in {"promise", "commitment"}]
    others = [one for one in opened if one.loop.kind not in {"promise", "commitment"}]
    sentences = (*told, *(one.support for one in best), *(_support(one) for one in opened))
    detail: dict[str, Json] = {
        "one_liner": shortened(one_liner.text, most=160),
        "what_mattered": [one.support.text for one in best],
        "open_loops": [one.loop.text for one in others],
        "commitments": [f"{one.loop.owner}: {one.loop.text}" for one in commitments],
        "people": [name for name, _ in names(found)],
        "tone": tone(lines),
    }
    return Digest(
        text=" ".join(part.text for part in told) or one_liner.text,
        sentences=tuple(dict.fromkeys(sentences)) or (one_liner,) * bool(lines), detail=detail, tone=tone(lines),
        outcome=_outcome(lines), topics=tuple(word for word, _ in about),
    )  # fmt: skip


def daily(lines: Sequence[Line], *, stems: Stems, verbosity: Verbosity = "normal") -> Digest:
    """The user's day: a few sentences, and its key moments in order."""
    scale = _SCALE[verbosity]
    found = weighed(lines, stems=stems)
    moments = chosen((one for one in found if one.weight > 0), limit=round(900 * scale), most=max(2, round(6 * scale)))
    heart = chosen(moments, limit=round(400 * scale), most=max(1, round(2 * scale)))
    summary = _joined(tuple(one.support for one in heart))
    detail: dict[str, Json] = {
        "summary": summary.text,
        "key_moments": [one.support.text for one in moments],
    }
    return Digest(
        text=summary.text, sentences=tuple(one.support for one in moments), detail=detail, tone=tone(lines),
        outcome=_outcome(lines), topics=tuple(word for word, _ in topics(found)),
    )  # fmt: skip


def lane(
    lines: Sequence[Line],
    *,
    previous: dict[LaneSection, tuple[Support, ...]] | None = None,
    stems: Stems,
    verbosity: Verbosity = "normal",
) -> dict[LaneSection, tuple[Support, ...]]:
    """A lane's five sections; what an earlier version said stays unless a later line closed or repeated it."""
    most = max(2, round(6 * _SCALE[verbosity]))
    found = weighed(lines, stems=stems)
    opened = still_open(lines, stems=stems)
    pending = [_support(one) for one in opened if one.loop.kind in {"promise", "commitment"}]
    goals = [one for one in found if _GOAL.search(one.text) and not _DECISION.search(one.text)]
    asked = [_support(one) for one in opened if one.loop.kind == "question"]
    fresh: dict[LaneSection, list[Support]] = {
        "goals": [*_best(goals, most), *asked],
        "decisions": _best([one for one in found if _DECISION.search(one.text)], most),
        "facts": _best([one for one in found if one.found.memories], most),
        "outcomes": _best([one for one in found if _OUTCOME.search(one.text) and one.line.role == "user"], most),
        "pending": pending,
    }
    earlier = previous or {}
    merged: dict[LaneSection, tuple[Support, ...]] = {}
    for section, entries in fresh.items():
        kept = [one for one in earlier.get(section, ()) if not _outdated(one, lines, section=section, stems=stems)]
        merged[section] = tuple(_distinct((*kept, *entries), stems=stems))[-most * 2 :]
    return merged


def spine(
    memories: Sequence[Held], *, loops: Sequence[StillOpen] = (), most: int = 12
) -> dict[Literal["PROFILE", "PROJECTS", "PEOPLE", "OPEN_LOOPS"], tuple[Support, ...]]:
    """The long-term summary: what is known in each section, the most important first."""

    def section(kind: MemoryType) -> tuple[Support, ...]:
        held = sorted((one for one in memories if one.type == kind), key=lambda one: (-one.importance, one.text))
        return tuple(Support(text=one.text, sources=one.sources) for one in held[:most])

    return {
        "PROFILE": section("PROFILE"),
        "PROJECTS": section("PROJECT"),
        "PEOPLE": section("PEOPLE"),
        "OPEN_LOOPS": tuple(_support(one) for one in loops[:most]),
    }


def episode(lines: Sequence[Line], *, stems: Stems, verbosity: Verbosity = "normal") -> Digest:
    """What happened in a session, as something to remember: how it ended, its tone, its topics."""
    found = weighed(lines, stems=stems)
    best = chosen(found, limit=round(360 * _SCALE[verbosity]), most=max(1, round(3 * _SCALE[verbosity])))
    joined = _joined(tuple(one.support for one in best))
    return Digest(
        text=joined.text, sentences=joined.sentences, tone=tone(lines), outcome=_outcome(lines),
        topics=tuple(word for word, _ in topics(found)),
    )  # fmt: skip


def _closes(one: StillOpen, line: Line, before: Line | None, *, stems: Stems) -> bool:
    speaks = "persona" if line.role == "assistant" else "user"
    if one.loop.owner != speaks:
        return False
    asked = before is not None and before.id == one.source and one.loop.kind == "question"
    loop = OpenLoop(kind=one.loop.kind, text=one.loop.text, asked=asked)
    return closing(loop, line.text, stems=stems) is not None


def _outcome(lines: Sequence[Line]) -> Outcome:
    """How it ended: the last line of the user that says so."""
    for line in reversed(lines):
        said = outcome(line.text) if line.role == "user" else None
        if said is not None:
            return said
    return "SUCCESS"


def _carry(support: Support) -> float:
    """How much a sentence of an earlier summary is worth keeping: facts and dates before chatter."""
    dated = re.search(r"\d", support.text) is not None
    named = re.search(r"\b(?:my|I'm|I am|live|work|allergic|married|promise|decided)\b", support.text) is not None
    return 1.0 * dated + 1.5 * named + min(len(support.text), 160) / 320


def _joined(parts: Sequence[Support]) -> Digest:
    return Digest(text=_labelled(parts), sentences=tuple(parts))


def _labelled(parts: Iterable[Support]) -> str:
    """Extracts in one text; who speaks is said once, until another one does."""
    said: list[str] = []
    before = ""
    for part in parts:
        speaker, mark, words = part.text.partition(": ")
        said.append(words if mark and speaker == before else part.text)
        before = speaker if mark else ""
    return " ".join(said)


def _told(best: Sequence[Sentence], opened: Sequence[StillOpen]) -> list[Support]:
    """The heart of a session in the words that were said, and what it left open: two or three sentences."""
    told: list[Support] = []
    heart = sorted(sorted(best, key=lambda one: (-one.weight, one.place))[:2], key=lambda one: one.place)
    if heart:
        sources = tuple(dict.fromkeys(source for one in heart for source in one.support.sources))
        told.append(Support(text=shortened(_labelled(one.support for one in heart), most=320), sources=sources))
    waiting = [one for one in opened if one.loop.kind in {"promise", "commitment", "topic"}][:2]
    if waiting:
        left = "; ".join(_open_words(one) for one in waiting)
        told.append(Support(text=f"Left open: {left}.", sources=tuple(dict.fromkeys(one.source for one in waiting))))
    return told


def _support(one: StillOpen) -> Support:
    return Support(text=f"({one.loop.kind}, {one.loop.owner}) {_open_words(one)}", sources=(one.source,))


def _open_words(one: StillOpen) -> str:
    """What is open, with the day it is due."""
    due = f" [{one.loop.due:%Y-%m-%d}]" if one.loop.due else ""
    return f"{one.loop.text.rstrip('.')}{due}"


def _best(found: Iterable[Sentence], most: int) -> list[Support]:
    return [one.support for one in chosen(found, limit=1200, most=most)]


def _outdated(one: Support, lines: Sequence[Line], *, section: LaneSection, stems: Stems) -> bool:
    """A goal or pending action of before that a later line closed."""
    if section not in {"goals", "pending"}:
        return False
    about = re.sub(r"^\([^)]*\) |^[^:]{1,40}: ", "", one.text)
    loop = OpenLoop(kind="commitment", text=about)
    return any(closing(loop, line.text, stems=stems) is not None for line in lines if line.role == "user")


def _distinct(parts: Iterable[Support], *, stems: Stems) -> list[Support]:
    kept: list[Support] = []
    seen: set[frozenset[str]] = set()
    for part in parts:
        ideas = frozenset(stems(part.text))
        if ideas not in seen:
            seen.add(ideas)
            kept.append(part)
    return kept
