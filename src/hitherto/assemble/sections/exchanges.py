"""What was said earlier, as exchanges: a turn that answers comes with what it answers, one that asks with its answer.

A reader puts a story together from what was said in its order, so exchanges stand in time order under their day, with the
speakers by name. A turn without content never stands alone: "yes" is shown with its question or not at all, and an
unanswered question is cut from the end of a turn.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from hitherto.assemble.candidates import Candidate, Desk, Quota
from hitherto.assemble.render import bounded, safe
from hitherto.clock import micros
from hitherto.ingest.short import content_words
from hitherto.recall.passages import about, beginning
from hitherto.recall.traits import asking, asks
from hitherto.types import Recalled, StoredTurn

SAYS_NOTHING: Final = "says nothing by itself"
UNANSWERED: Final = "a question without its answer"
_TELLING: Final = 2
"""A text with fewer content words says nothing by itself."""
_LONG_ENOUGH: Final = 100
_ORDER: Final = 24
"""Bits of a turn's place that order turns of the same moment."""
_LEFT_OUT: Final = 400
"""Characters of what is left out that its receipt shows."""
_QUESTION: Final = 200
_ANSWER: Final = 300
"""Characters of a question or an answer that accompanies a turn."""
_SENTENCE: Final = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？؟])\s*|\n+")
# The same for ASCII, in half the time.
_ASCII_SENTENCE: Final = re.compile(r"\s(?:(?<=[.!?]\s)\s*|(?<=\n)\n*)")
_LATELY: Final = 400
"""Characters at the end of a long text."""


@dataclass(slots=True)
class Exchanges:
    """Earlier turns on their way into one block; lives while its candidates are made."""

    desk: Desk
    recalled: Sequence[Recalled]
    shown: dict[str, str] = field(default_factory=dict[str, str])
    """Turns that are already shown, here or in the window, and the exchange that shows them."""
    found: Mapping[str, Recalled] = field(default_factory=dict[str, Recalled])
    days: Mapping[str, str] = field(default_factory=dict[str, str])
    headings: Mapping[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    """The heading of a session's exchanges on a day with several sessions."""
    quota: Quota = field(init=False)

    def __post_init__(self) -> None:
        material = self.desk.material
        self.quota = Quota("said", self.desk.recipe.long_term.turns)
        self.shown = dict.fromkeys(material.certain, "")
        if material.message_id is not None:
            self.shown[material.message_id] = ""
        if material.quoted is not None:
            self.shown[material.quoted.id] = ""
        turns = [(hit.what, hit) for hit in self.recalled if isinstance(hit.what, StoredTurn) and not hit.reason]
        self.found = {turn.id: hit for turn, hit in turns}
        self.days = {turn.id: self.desk.weekday(turn) for turn, _ in turns}
        self.headings = _headings(self.desk, [turn for turn, _ in turns], self.days)

    def candidate(self, hit: Recalled, turn: StoredTurn) -> Candidate:
        """The exchange around one found turn; with a reason if it must stay out."""
        holder = self.shown.get(turn.id)
        if holder:
            return self._out(hit, turn, f"shown with {holder}")
        if hit.reason:
            return self._out(hit, turn, hit.reason)
        lines, reason = self._lines(hit, turn)
        if reason:
            return self._out(hit, turn, reason)
        for said, _ in lines:
            self.shown.setdefault(said.id, turn.id)
        return self._entry(hit, turn, lines)

    def holder(self, turn: str) -> str:
        """The turn whose exchange shows this one."""
        return self.shown.get(turn) or turn

    def _lines(self, hit: Recalled, turn: StoredTurn) -> tuple[list[tuple[StoredTurn, str]], str]:
        """Who says what in the exchange, or why there is none."""
        text = hit.text
        question = self._question(hit.before, turn)
        lines = [(hit.before, question)] if hit.before is not None and question else []
        if not asks(text):
            return (
                ([*lines, (turn, text)], "")
                if _tells(question, text, least=1 if question else _TELLING)
                else ([], SAYS_NOTHING)
            )
        told = without_question(text)
        if _tells(told) and (hit.after is None or hit.after.id not in self.found):
            return [*lines, (turn, told)], ""
        answer = self._answer(hit, turn)
        if hit.after is not None and answer and _tells(text, answer, least=1):
            return [*lines, (turn, text), (hit.after, answer)], ""
        return ([*lines, (turn, told)], "") if _tells(told) else ([], UNANSWERED)

    def _question(self, before: StoredTurn | None, turn: StoredTurn) -> str:
        """What the turn answers, if it was somebody else's question and is not shown yet."""
        if before is None or before.id in self.shown or _same_speaker(before, turn) or not asks(before.text):
            return ""
        if before.id in self.found:
            return self.found[before.id].text
        return _ending(only_question(before.text), _QUESTION)

    def _answer(self, hit: Recalled, turn: StoredTurn) -> str:
        """What was said to the turn's question, without a question of its own at the end; of a long answer, the part that
        says most of what is asked."""
        after = hit.after
        if after is None or after.id in self.shown or _same_speaker(after, turn):
            return ""
        if after.id in self.found:
            text = self.found[after.id].text
        else:
            text = beginning(about(after.text, hit.asked, most=_ANSWER) or after.text, _ANSWER)
        return without_question(text) if asks(text) else text

    def _entry(self, hit: Recalled, turn: StoredTurn, lines: Sequence[tuple[StoredTurn, str]]) -> Candidate:
        desk = self.desk
        shown = "- " + "\n  ".join([self._spoken(said, text) for said, text in lines])
        return Candidate(
            "long_term",
            "turn",
            turn.id,
            shown,
            desk.tokenizer.count(shown + "\n"),
            lines[-1][1] if len(lines) == 1 else "",
            f"turn:{turn.id}",
            self.headings.get((turn.session, day := self.days[turn.id])) or f"Said on {day}:",
            score=hit.score,
            parts=hit.parts,
            sources=(turn.id,) if len(lines) == 1 else tuple(dict.fromkeys((turn.id, *(said.id for said, _ in lines)))),
            quota=self.quota,
            when=_when(lines[0][0]) if len(lines) == 1 else min(_when(said) for said, _ in lines),
        )

    def _spoken(self, said: StoredTurn, text: str) -> str:
        line = f"{self.desk.speaker(said)}: {safe(text if len(text) <= _LONGEST else bounded(text, _LONGEST))}".strip()
        return line.replace("\n", "\n    ") if "\n" in line else line

    def _out(self, hit: Recalled, turn: StoredTurn, reason: str) -> Candidate:
        return self.desk.entry("long_term", turn, bounded(hit.text, _LEFT_OUT), found=hit, reason=reason)


_LONGEST: Final = 20_000


def _headings(desk: Desk, turns: Sequence[StoredTurn], days: Mapping[str, str]) -> Mapping[tuple[str, str], str]:
    """By session and day: the heading, and the time from which its exchanges are shown. A day with several conversations
    has several headings, so that one does not read on into the next."""
    begins: dict[tuple[str, str], StoredTurn] = {}
    for turn in turns:
        begun = (turn.session, days[turn.id])
        first = begins.setdefault(begun, turn)
        if (turn.at, turn.place) < (first.at, first.place):
            begins[begun] = turn
    several = Counter(day for _, day in begins)
    return {
        (session, day): f"Said on {day} from {desk.time(turn)}:"
        for (session, day), turn in begins.items()
        if several[day] > 1
    }


def _when(said: StoredTurn) -> int:
    return micros(said.at) << _ORDER | said.place & ~(-1 << _ORDER)


def _tells(*texts: str, least: int = _TELLING) -> bool:
    """Whether texts say anything by themselves in the form that is shown: links and tags do not say what they lead to.
    Longer texts always do."""
    shown = safe(texts[0]) if len(texts) == 1 else " ".join([safe(text) for text in texts])
    return len(shown) > _LONG_ENOUGH or _telling(shown) >= least


@lru_cache(maxsize=4_096)
def _telling(text: str) -> int:
    """The same short turns are examined for every message of a conversation."""
    return content_words(text)


def without_question(text: str) -> str:
    """A text without the questions that it ends with."""
    for parts in _endings(text):
        while parts and (asking(parts[-1]) or not re.search(r"\w", parts[-1])):
            parts.pop()
        if parts:
            return text[: text.index(parts[-1]) + len(parts[-1])]
    return ""


def only_question(text: str) -> str:
    """The questions that a text ends with."""
    kept: list[str] = []
    for parts in _endings(text):
        while parts and not asking(parts[-1]):
            parts.pop()
        kept.clear()
        while parts and asking(parts[-1]):
            kept.append(parts.pop())
        if parts:
            break
    return " ".join(reversed(kept))


def _endings(text: str) -> Iterator[list[str]]:
    """The last sentences of a long text, which nearly always tell, in a quarter of the time; then all of them."""
    if len(text) > 2 * _LATELY:
        yield _sentences(text[-_LATELY:])[1:]
    yield _sentences(text)


def _sentences(text: str) -> list[str]:
    ends = _ASCII_SENTENCE if text.isascii() else _SENTENCE
    return [part for part in ends.split(text) if part.strip()]


def _ending(text: str, most: int) -> str:
    return text if len(text) <= most else "… " + text[-most:].split(maxsplit=1)[-1]


def _same_speaker(one: StoredTurn, other: StoredTurn) -> bool:
    return one.role == other.role and one.speaker == other.speaker
