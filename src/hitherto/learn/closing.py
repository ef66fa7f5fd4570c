"""Whether a later message closes something open, and how: done, not done, or no longer wanted.

People do not repeat the words of a promise when they keep it: "took a stroll" closes "go for a walk". So a message
is compared by ideas (stems through a small table of synonyms, and a vector similarity where the caller has one).
That alone is not enough: "I should go for a walk" speaks of the walk too. A message closes a loop only if it also
tells of something finished, failed or given up, by the one who owed it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from hitherto.learn.candidates import Stems
from hitherto.learn.rules.sentences import sentences
from hitherto.text.patterns import PatternTable
from hitherto.types import LoopKind

__all__ = ["Closing", "OpenLoop", "closing"]

Closing = Literal["done", "not_done", "dropped"]
Similarity = Callable[[str, str], float]

_TABLE: Final = PatternTable.read("hitherto.learn", "closing.toml")
_DROPPED, _MISSED, _PENDING, _QUESTION = map(_TABLE.pattern, ("dropped", "missed", "pending", "question"))
_OWN_PAST, _BARE_PAST, _STATE, _HERE = map(_TABLE.pattern, ("own_past", "bare_past", "state", "here"))
_GENERIC, _DENIED, _ABSENT, _NOT_BAD = map(_TABLE.pattern, ("generic", "denied", "absent", "not_bad"))
_ARRIVES, _PARTICIPLE, _HANDED, _NOUN_DONE = map(_TABLE.pattern, ("arrives", "participle", "handed", "noun_done"))
_LIGHT: Final = frozenset(_TABLE.texts("words", "light"))
_FINISHING: Final = frozenset(_TABLE.texts("words", "finishing"))
_GROUPS: Final = tuple(frozenset(line.split()) for line in _TABLE.texts("synonyms", "groups"))
_SYNONYMS: Final = {
    word: frozenset[str]().union(*(group for group in _GROUPS if word in group)) for group in _GROUPS for word in group
}
_ALIKE: Final = 0.62


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenLoop:
    """What is open. `asked` says that the turn before the message brought it up."""

    kind: LoopKind
    text: str
    asked: bool = False


def closing(loop: OpenLoop, message: str, *, stems: Stems, similarity: Similarity | None = None) -> Closing | None:
    """How the message of the one who owes the loop closes it, or `None` if it stays open.

    A message of several sentences is read as a whole, and then sentence by sentence: the last that settles it counts, and
    "I forgot to send the recipe. Here it is" keeps the promise.
    """
    plain = message.replace("’", "'").strip()
    whole = _read(loop, plain, stems=stems, similarity=similarity)
    spoken = sentences(plain)
    if len(spoken) < 2:
        return whole
    if whole == "not_done" and _HANDED.search(plain) and _linked(loop.text, plain, stems=stems, similarity=similarity):
        return "done"
    if whole is not None:
        return whole
    later = OpenLoop(kind=loop.kind, text=loop.text)
    read: list[Closing | None] = [
        _read(later if place else loop, one, stems=stems, similarity=similarity) for place, one in enumerate(spoken)
    ]
    return next((how for how in reversed(read) if how is not None), None)


def _read(loop: OpenLoop, plain: str, *, stems: Stems, similarity: Similarity | None) -> Closing | None:
    if not plain or _ABSENT.fullmatch(plain.lower()) or (_QUESTION.search(plain) and not _DROPPED.search(plain)):
        return None
    linked = _linked(loop.text, plain, stems=stems, similarity=similarity)
    if loop.kind == "question" and loop.asked:
        return "done"
    if not linked and not loop.asked:
        return None
    return _ending(loop, plain, linked=linked, stems=stems)


def _ending(loop: OpenLoop, plain: str, *, linked: bool, stems: Stems) -> Closing | None:
    if _NOT_BAD.search(plain) and loop.kind == "habit":
        return "done"
    if _DROPPED.search(plain) and not _quits(loop.text, plain):
        return "dropped"
    if _MISSED.search(plain) or (loop.asked and _DENIED.search(plain)):
        return None if re.search(r"\byet\b", plain, re.IGNORECASE) else "not_done"
    told = _OWN_PAST.search(plain)
    if loop.asked and not _PENDING.search(plain) and (_GENERIC.search(plain) or (told and _is_past(told["verb"]))):
        return "done"
    if not linked:
        return None
    return "done" if _finished(loop, plain, stems=stems) else None


def _finished(loop: OpenLoop, plain: str, *, stems: Stems) -> bool:
    """Whether the message tells of something that has come to pass."""
    if _HERE.search(plain) and (
        loop.kind in {"promise", "topic", "friction", "question"} or not _PENDING.search(plain)
    ):
        return not re.search(r"\bstill\b", plain, re.IGNORECASE)
    if _PENDING.search(plain):
        return False
    if any(pattern.search(plain) for pattern in (_STATE, _PARTICIPLE, _ARRIVES)):
        return True
    noun = _NOUN_DONE.match(plain)
    if noun is not None and _same_doing(noun["verb"], loop.text, stems=stems):
        return True
    own = _OWN_PAST.search(plain)
    if own is not None and _is_past(own["verb"]):
        return _same_doing(own["verb"], loop.text, stems=stems)
    if loop.kind in {"friction", "question"} and _any_past(plain):
        return not re.search(r"\b(?:again|still|another)\b", plain, re.IGNORECASE)
    bare = _BARE_PAST.match(plain)
    return bare is not None and _is_past(bare["verb"]) and _same_doing(bare["verb"], loop.text, stems=stems)


def _same_doing(verb: str, loop: str, *, stems: Stems) -> bool:
    """Riding the bike does not fix it: of a short loop, what was done must be what was to be done."""
    wanted = _ideas(loop, stems)
    did = frozenset((*stems(verb), verb.lower()))
    return len(wanted) > 2 or not did - _LIGHT - _FINISHING or any(_matches(idea, did) for idea in wanted)


_IRREGULAR: Final = frozenset(_TABLE.texts("words", "past"))


def _is_past(verb: str) -> bool:
    verb = verb.lower()
    return verb in _IRREGULAR or (verb.endswith("ed") and verb not in {"need", "feed", "bleed", "speed", "indeed"})


def _any_past(plain: str) -> bool:
    return any(_is_past(word) for word in re.findall(r"[a-z']+", plain.lower()))


def _quits(loop: str, plain: str) -> bool:
    """ "I quit smoking" keeps the promise to quit smoking, "membership cancelled" the one to cancel it."""
    giving = ((r"\b(?:quit|stop|give up)", r"\b(?:quit|stopped|gave up)\b"), (r"\bcancel", r"\bcancel"))
    return any(
        re.search(wanted, loop, re.IGNORECASE) is not None and re.search(did, plain, re.IGNORECASE) is not None
        for wanted, did in giving
    )


def _linked(loop: str, message: str, *, stems: Stems, similarity: Similarity | None) -> bool:
    """Whether the message speaks of what is open."""
    wanted, said = _ideas(loop, stems), frozenset(_ideas(message, stems))
    if not wanted:
        return False
    met = [idea for idea in wanted if _matches(idea, said)]
    if len(met) >= 2 and len(met) / len(wanted) >= 0.5:
        return True
    # Of "read the contract" it is the contract that must come up, not the reading.
    if len(wanted) <= 2 and wanted[-1] in met:
        return True
    return similarity is not None and bool(met) and similarity(loop, message) >= _ALIKE


def _ideas(text: str, stems: Stems) -> list[str]:
    return list(dict.fromkeys(stem for stem in stems(text) if stem not in _LIGHT and not stem.isdigit()))


def _matches(idea: str, said: frozenset[str]) -> bool:
    return idea in said or (idea in _SYNONYMS and not said.isdisjoint(_SYNONYMS[idea]))
