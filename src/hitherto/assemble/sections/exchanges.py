"""What was said earlier, as exchanges: a turn that answers comes with what it answers, one that asks with its answer.

A reader puts a story together from what was said in its order, so exchanges stand in time order under their day, with the
speakers by name. What has no content of its own never stands alone: "yes" is shown with its question or not at all, and a
question that nobody answered is left off the end of a turn.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from hitherto.assemble.candidates import Candidate, Desk, Quota
from hitherto.assemble.render import bounded, safe
from hitherto.clock import micros
from hitherto.ingest.short import content_words
from hitherto.recall.traits import asks
from hitherto.types import Recalled, StoredTurn

SAYS_NOTHING: Final = "says nothing by itself"
UNANSWERED: Final = "a question without its answer"
_TELLING: Final = 2
"""A text of fewer content words says nothing by itself."""
_LONG_ENOUGH: Final = 100
_ORDER: Final = 24
"""Bits of a turn's place that tell which of two at the same moment came first."""
_LEFT_OUT: Final = 400
"""Characters of what is left out that its receipt shows."""
_QUESTION: Final = 200
_ANSWER: Final = 300
"""Characters of a question or an answer that comes along with a turn."""
_SENTENCE: Final = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？؟])\s*|\n+")
_ASKING: Final = "?？؟\u037e"


@dataclass(slots=True)
class Exchanges:
    """Earlier turns on their way into one block; lives while its candidates are made."""

    desk: Desk
    recalled: Sequence[Recalled]
    shown: dict[str, str] = field(default_factory=dict[str, str])
    """Turns that are shown already, here or in the window, and the exchange that shows them."""
    found: Mapping[str, Recalled] = field(default_factory=dict[str, Recalled])

    def __post_init__(self) -> None:
        material = self.desk.material
        self.shown = {turn.id: "" for turn in material.window}
        if material.message_id is not None:
            self.shown[material.message_id] = ""
        if material.quoted is not None:
            self.shown[material.quoted.id] = ""
        self.found = {hit.what.id: hit for hit in self.recalled if isinstance(hit.what, StoredTurn) and not hit.reason}

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
        whole = len(lines) == 1 and lines[0][1] == turn.text
        return self._entry(hit, turn, lines, key=f"turn:{turn.id}" if whole else "")

    def _lines(self, hit: Recalled, turn: StoredTurn) -> tuple[list[tuple[StoredTurn, str]], str]:
        """Who says what in the exchange, or why there is none."""
        text = hit.text
        question = self._question(hit.before, turn)
        lines = [(hit.before, question)] if hit.before is not None and question else []
        if not asks(text):
            return (
                ([*lines, (turn, text)], "")
                if _tells(f"{question} {text}", least=1 if question else _TELLING)
                else ([], SAYS_NOTHING)
            )
        told = without_question(text)
        if _tells(told) and (hit.after is None or hit.after.id not in self.found):
            return [*lines, (turn, told)], ""
        answer = self._answer(hit.after, turn)
        if hit.after is not None and answer and _tells(f"{text} {answer}", least=1):
            return [*lines, (turn, text), (hit.after, answer)], ""
        return ([*lines, (turn, told)], "") if _tells(told) else ([], UNANSWERED)

    def _question(self, before: StoredTurn | None, turn: StoredTurn) -> str:
        """What the turn answers, if it was a question of somebody else's that is not shown yet."""
        if before is None or before.id in self.shown or _same_speaker(before, turn) or not asks(before.text):
            return ""
        if before.id in self.found:
            return self.found[before.id].text
        return _ending(only_question(before.text), _QUESTION)

    def _answer(self, after: StoredTurn | None, turn: StoredTurn) -> str:
        """What was said to the turn's question, without a question of its own at the end."""
        if after is None or after.id in self.shown or _same_speaker(after, turn):
            return ""
        text = self.found[after.id].text if after.id in self.found else _beginning(after.text, _ANSWER)
        return without_question(text) if asks(text) else text

    def _entry(
        self, hit: Recalled, turn: StoredTurn, lines: Sequence[tuple[StoredTurn, str]], *, key: str
    ) -> Candidate:
        desk = self.desk
        spoken = [f"{desk.speaker(said)}: {safe(bounded(text, _LONGEST))}" for said, text in lines]
        shown = "- " + "\n  ".join(line.strip().replace("\n", "\n    ") for line in spoken)
        return Candidate(
            "long_term",
            "turn",
            turn.id,
            shown,
            desk.tokenizer.count(shown + "\n"),
            lines[-1][1] if len(lines) == 1 else "",
            key,
            f"Said on {desk.weekday(turn)}:",
            score=hit.score,
            parts=hit.parts,
            sources=tuple(dict.fromkeys((turn.id, *(said.id for said, _ in lines)))),
            quota=Quota("said", desk.recipe.long_term.turns),
            when=min(micros(said.at) << _ORDER | said.place & ~(-1 << _ORDER) for said, _ in lines),
        )

    def _out(self, hit: Recalled, turn: StoredTurn, reason: str) -> Candidate:
        return self.desk.entry("long_term", turn, bounded(hit.text, _LEFT_OUT), found=hit, reason=reason)


_LONGEST: Final = 20_000


def _tells(text: str, *, least: int = _TELLING) -> bool:
    """Whether a text says anything by itself; a longer one always does."""
    return len(text) > _LONG_ENOUGH or content_words(text) >= least


def without_question(text: str) -> str:
    """A text without the questions that it ends with."""
    parts = _sentences(text)
    while parts and (_asking(parts[-1]) or not re.search(r"\w", parts[-1])):
        parts.pop()
    return text[: text.index(parts[-1]) + len(parts[-1])] if parts else ""


def only_question(text: str) -> str:
    """The questions that a text ends with."""
    parts = _sentences(text)
    while parts and not _asking(parts[-1]):
        parts.pop()
    kept: list[str] = []
    while parts and _asking(parts[-1]):
        kept.append(parts.pop())
    return " ".join(reversed(kept))


def _sentences(text: str) -> list[str]:
    return [part for part in _SENTENCE.split(text) if part.strip()]


def _asking(sentence: str) -> bool:
    return any(sign in sentence for sign in _ASKING)


def _beginning(text: str, most: int) -> str:
    """The first whole sentences within so many characters, or at least a part of the first one."""
    if len(text) <= most:
        return text
    end = 0
    for gap in _SENTENCE.finditer(text):
        if gap.start() > most:
            break
        end = gap.start()
    return text[:end].rstrip() + " …" if end else text[:most].rsplit(maxsplit=1)[0] + " …"


def _ending(text: str, most: int) -> str:
    return text if len(text) <= most else "… " + text[-most:].split(maxsplit=1)[-1]


def _same_speaker(one: StoredTurn, other: StoredTurn) -> bool:
    return one.role == other.role and one.speaker == other.speaker
