"""What a later word ends of the earlier notes: the plan whose loop was closed, the figure that moved, what is said to be over
or to have been wrong.

Nothing is ended by resemblance alone. A clause ends a sentence of an earlier note when it says that something changed or is
over and speaks of the same matter: of a rare word of its, or of its people, and where figures changed of a figure. Of a note
with several sentences the others stay.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log
from typing import Final, Self

from hitherto.learn.notes import FactNote, LoopNote
from hitherto.learn.readers.clauses import TABLE, Clause, sentences
from hitherto.learn.readers.loose_ends import alike, content, speaks_of
from hitherto.learn.verify import same_words
from hitherto.text.numbers import number_at
from hitherto.types import Loop, Memory, Quote

__all__ = ["endings"]

_CHANGED, _OVER, _SPLIT, _PARTNER, _CORRECTS, _NAMELY = map(
    TABLE.cue, ("changed", "over", "split", "partner", "corrects", "namely")
)
_MONTHS: Final = content("january february march april may june july august september october november december log")
_QUOTE: Final = re.compile(
    r"^(?P<head>[^“]{1,80}(?:“[^”]*”)?[^“]*: “)(?P<words>.+)(?P<tail>”(?: \([^)]*\))?)$", re.DOTALL
)
_NUMBER: Final = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|eighteen|twenty|thirty"
    r"|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand)"
)
_FIGURE: Final = re.compile(
    rf"\d[\d.,:]*|\b{_NUMBER}(?:[ -]{_NUMBER})*\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b", re.IGNORECASE
)
_THINGS: Final = re.compile(
    rf"(?P<n>\d+|\b{_NUMBER})(?: (?P<one>[^\W\d_]{{3,}}))(?: (?P<two>[^\W\d_]{{3,}}))?", re.IGNORECASE
)
"""So many of something."""
_UNITS: Final = content(
    "second minute hour day week month year time percent euro dollar pound quid buck cent kilo gram km mile metre meter foot"
)
_INSTEAD: Final = re.compile(
    r"\b(?:from|not|instead of|rather than|had|statt|nicht|en vez de|no) (?P<x>[\w.,:]+(?: \w+)?)", re.IGNORECASE
)
WORTH: Final = 0.7
SAME: Final = 0.7
"""The cosine from which a later note is of the same matter as an earlier one, so that it takes its place."""
ALIKE: Final = 0.4
ALIKE_AT_ALL: Final = 0.3
"""The cosine from which something that is over, or a figure that changed, is of the same matter."""
SHARED: Final = 0.4
FEW: Final = 3
ALONE: Final = 0.6
"""How much of a sentence's telling words, the rare ones counting more, a change must share with it; with one word alone."""


@dataclass(frozen=True, slots=True)
class _Told:
    """A sentence of a known note."""

    memory: Memory
    words: str
    ideas: frozenset[str]


def endings(
    found: Sequence[Clause], known: Sequence[Memory], *, moving: Sequence[LoopNote], loops: Sequence[Loop]
) -> list[FactNote]:
    """The known notes that these clauses end, wholly or in part."""
    mine = [memory for memory in known if not memory.pinned and _QUOTE.match(memory.text)]
    ended = dict(_closed(mine, moving, loops))
    changes = [clause for clause in found if not (clause.asks or clause.unmeant) and _may_supersede(clause)]
    if changes:
        told = [one for memory in mine if memory.id not in ended for one in _sentences(memory)]
        for clause in changes:
            ended |= {memory: note for memory, note in _changed(clause, told) if memory not in ended}
    return list(ended.values())


def _closed(
    known: Sequence[Memory], moving: Sequence[LoopNote], loops: Sequence[Loop]
) -> Iterable[tuple[str, FactNote]]:
    """What was only the plan of a loop is over with it."""
    by_id = {loop.id: loop for loop in loops}
    for note in moving:
        loop = by_id.get(note.ref or "")
        if loop is None or note.op not in ("done", "missed", "dropped", "moved") or not note.quotes:
            continue
        closing = " ".join(quote.words for quote in note.quotes)
        said = content(closing)
        for memory in known:
            words = next((own.words for quote in loop.quotes for own in memory.quotes if _as_long(quote, own)), None)
            if memory.standing or words is None:
                continue
            if speaks_of(content(words), said, words, closing) > 1 or (
                note.op != "moved" and len(content(words)) < FEW
            ):
                yield memory.id, FactNote(op="over", ref=memory.id, quotes=note.quotes)


def _as_long(quote: Quote, own: Quote) -> bool:
    """Whether a note tells little more than a loop does."""
    return same_words(quote, own.turn, own.words) and len(own.words) < 1.6 * len(quote.words)


def _may_supersede(clause: Clause) -> bool:
    cues = any(cue.search(clause.words) for cue in (_CHANGED, _OVER, _SPLIT, _NAMELY, _CORRECTS))
    named = any(_figures(named["x"]) for named in _INSTEAD.finditer(clause.words))
    return cues or named or clause.judged.worth >= WORTH


def _sentences(memory: Memory) -> list[_Told]:
    quote = _QUOTE.match(memory.text)
    assert quote is not None, "only quotes are looked at"
    head = re.sub(r"^.{1,80}?\(.*?\)(?:, asked)?", "", quote["head"])
    spoken = sentences(quote["words"]) or [quote["words"]]
    return [_Told(memory, one, content(f"{head if len(spoken) == 1 else ''} {one}") - _MONTHS) for one in spoken]


def _changed(clause: Clause, told: Sequence[_Told]) -> Iterable[tuple[str, FactNote]]:
    """The sentences that a clause supersedes, as what becomes of their notes."""
    often = Counter(idea for one in told for idea in one.ideas)
    said = content(f"{clause.question} {clause.words}")
    right = _PutRight.by(clause)
    gone: dict[str, list[_Told]] = {}
    for one in told:
        if clause.line.turn.id in one.memory.sources or not _same_side(clause, one.memory):
            continue
        if right.holds_for(one) or _supersedes(clause, said, one, often, len(told)):
            gone.setdefault(one.memory.id, []).append(one)
    quotes = (_quote(clause),)
    for memory, parts in gone.items():
        yield memory, _left(parts, quotes)


def _quote(clause: Clause) -> Quote:
    return Quote(turn=clause.line.turn.id, words=clause.words)


def _same_side(clause: Clause, memory: Memory) -> bool:
    if clause.line.turn.speaker and not memory.text.startswith(clause.line.speaker):
        return False
    return clause.persona == (memory.subject == "persona")


def _supersedes(clause: Clause, said: frozenset[str], one: _Told, often: Counter[str], total: int) -> bool:
    words = clause.words
    if _SPLIT.search(words):
        people = _named(one.memory) - {"user", "persona"}
        theirs = any(name in words.casefold() for name in people) if people else said & content(one.memory.text)
        return _PARTNER.search(one.memory.text) is not None and bool(theirs)
    met = said & one.ideas
    if not met:
        return False
    rare = {idea: log((total + 1) / often[idea]) for idea in one.ideas}
    share = sum(rare[idea] for idea in met) / max(sum(rare.values()), 0.1)
    old, new = _figures(one.words), _figures(words)
    if old and any(figure in old for named in _INSTEAD.finditer(words) for figure in _figures(named["x"])):
        return share >= SHARED / 2
    if share < SHARED or (len(met) < 2 and share < ALONE):
        return False
    close = alike(one.words, words)
    if close >= SAME and met != one.ideas and not one.memory.standing and not one.memory.value:
        return clause.judged.worth >= WORTH
    if old and new and not new & old and _CHANGED.search(words):
        return close >= ALIKE_AT_ALL
    return close >= ALIKE and _OVER.search(words) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class _PutRight:
    """What a clause says of somebody else, or in another figure, than was said before."""

    namely: tuple[tuple[str, frozenset[str]], ...]
    figures: frozenset[str]
    things: Mapping[str, frozenset[str]]
    ideas: frozenset[str]

    @classmethod
    def by(cls, clause: Clause) -> Self:
        words, line = clause.words, clause.line.text
        corrects = _CORRECTS.search(words) is not None
        counts = corrects or _CORRECTS.search(line) is not None or _CHANGED.search(words) is not None
        return cls(
            namely=tuple((found["x"].casefold(), content(found["rest"])) for found in _NAMELY.finditer(words)),
            figures=_figures(words) if corrects else frozenset(),
            things=_things(words) if counts else {},
            ideas=content(line) if counts else frozenset(),
        )

    def holds_for(self, one: _Told) -> bool:
        for name, told in self.namely:
            if len(told & one.ideas) > 1 and name not in one.memory.text.casefold():
                return True
        if len(self.figures) > 1 and len(content(one.words)) <= FEW:
            old = _figures(one.words)
            if old and old < self.figures:
                return True
        if not self.things:
            return False
        was = _things(one.words)
        other = any(thing in was and not was[thing] & self.things[thing] for thing in self.things)
        return other and len(self.ideas & content(one.memory.text)) > 1


@lru_cache(maxsize=4_096)
def _things(words: str) -> Mapping[str, frozenset[str]]:
    """What is counted in a sentence, with how many there are."""
    found: dict[str, frozenset[str]] = {}
    for one in _THINGS.finditer(words):
        for thing in content(f"{one['one']} {one['two'] or ''}") - _UNITS:
            found[thing] = found.get(thing, frozenset()) | {_figure(one["n"])}
    return found


def _named(memory: Memory) -> frozenset[str]:
    return frozenset(ref.partition(":")[2].replace("_", " ") for ref in memory.entities)


def _figures(words: str) -> frozenset[str]:
    return frozenset(_figure(found[0]) for found in _FIGURE.finditer(words))


def _figure(said: str) -> str:
    """A figure in digits, however it is said: "six forty" and "six hundred forty" are one."""
    words = [word for word in re.split(r"[ -]", said.casefold().rstrip(".,:")) if word != "hundred"]
    numbers: list[int] = []
    place = 0
    while (found := number_at(words, place)) is not None and found[0] == int(found[0]):
        numbers.append(int(found[0]))
        place = found[1]
    if not numbers or place < len(words):
        return " ".join(words)
    whole = numbers[0]
    for part in numbers[1:]:
        whole = whole * 100 + part
    return str(whole * 100 if "hundred" in said.casefold() and len(numbers) == 1 else whole)


def _left(parts: Sequence[_Told], quotes: tuple[Quote, ...]) -> FactNote:
    """The note without these sentences, or its end if they were all that it told."""
    memory = parts[0].memory
    quote = _QUOTE.match(memory.text)
    assert quote is not None, "only quotes are looked at"
    rest = quote["words"]
    for part in parts:
        rest = rest.replace(part.words, "…", 1)
    rest = re.sub(r"(?:…\s*)+", "… ", rest).strip()
    if len(content(rest)) < 2:
        return FactNote(op="over", ref=memory.id, quotes=quotes)
    return FactNote(op="sharper", ref=memory.id, text=f"{quote['head']}{rest}{quote['tail']}", quotes=quotes)
