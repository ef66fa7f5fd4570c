"""A candidate: an entry that a section would like to show, in its final form, with its cost and the reason it is here.

One fact, once: the same memory, or nearly the same words, is shown only in the most precious place that has it. Nearly the
same means the same content words in the same order, whatever articles, capitals or plurals they carry. This is deliberately
narrow: "likes tea" and "does not like tea", or "at 3" and "at 5", are different facts.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final, NamedTuple

from hitherto.assemble.material import Material
from hitherto.assemble.render import bounded, indented, safe
from hitherto.clock import local
from hitherto.recipes.recipe import Recipe
from hitherto.recipes.titles import SectionId
from hitherto.safety.secrets import masked
from hitherto.text.time import written_clock, written_day
from hitherto.tokens import Tokenizer
from hitherto.types import Recalled, Record, StoredTurn

NOTHING: Final[Mapping[str, float]] = {}
_LONGEST: Final = 20_000
"""Characters of an entry that are considered; no recipe's cap has room for more."""


@dataclass(frozen=True, slots=True)
class Quota:
    """At most this many of a kind are shown."""

    name: str
    most: int


class Candidate(NamedTuple):
    """`text` is the entry as it would stand in the block; `tokens` counts it with its line feed.

    `said` is the bare content, by which near duplicates are found; `key` names the memory or turn it shows, if it is one.
    Entries with the same `card` share a line. `reason`, if set, keeps it out from the start.
    """

    section: SectionId
    kind: str
    id: str
    text: str
    tokens: int
    said: str = ""
    key: str = ""
    heading: str = ""
    card: str = ""
    score: float = 0.0
    parts: Mapping[str, float] = NOTHING
    sources: tuple[str, ...] = ()
    reason: str = ""
    divisible: bool = False
    """Whether showing part of it is better than leaving it out."""
    quota: Quota | None = None
    when: int = 0
    """When the first turn that it shows was said, for entries shown in time order."""


class Desk:
    """What the sections work with, and their ways of making candidates.

    Turns bring the tokens that were counted when they were written; `recount` counts their text instead. `quoted` is the
    most that the text of a quoted reply may take.
    """

    __slots__ = ("_days", "_labels", "material", "quoted", "recipe", "recount", "several", "tokenizer")

    def __init__(
        self,
        recipe: Recipe,
        material: Material,
        tokenizer: Tokenizer,
        *,
        quoted: int | None = None,
        recount: bool = False,
    ) -> None:
        self.quoted = recipe.history.quoted if quoted is None else quoted
        self.recount = recount
        self.recipe = recipe
        self.material = material
        self.tokenizer = tokenizer
        self._labels: dict[str, str] = {}
        chat = recipe.history.delivery == "messages" and recipe.long_term.form == "exchanges"
        self.several = chat and len({turn.speaker for turn in material.window if turn.role == "user"}) > 1
        """Whether several people talk in the chat messages, so that each message begins with a name."""
        self._days: dict[int, str] = {}
        """Keyed by quarter of an hour: no zone's day begins within one."""

    def given(self, section: SectionId, kind: str, name: str, text: str) -> list[Candidate]:
        """The application's text, unchanged."""
        if not text.strip():
            return []
        tokens = self.tokenizer.count(text + "\n\n")
        return [Candidate(section=section, kind=kind, id=name, text=text, tokens=tokens, divisible=True)]

    def entry(
        self,
        section: SectionId,
        source: Record | StoredTurn,
        text: str,
        *,
        prefix: str = "- ",
        heading: str = "",
        card: str = "",
        alone: bool = False,
        found: Recalled | None = None,
        reason: str = "",
        divisible: bool = False,
        quota: Quota | None = None,
    ) -> Candidate:
        """Stored text as one entry. `alone` if it shows everything that its source says, so that it counts as that memory."""
        text = bounded(text, _LONGEST)
        shown = prefix + indented(safe(text) if found else self.clean(text))  # recall has masked what it found
        kind = "turn" if isinstance(source, StoredTurn) else source.noun
        # Positional arguments, because keywords take three times as long and dozens of entries are made for each context.
        return Candidate(
            section,
            "card" if card else kind,
            source.id,
            shown,
            self.tokenizer.count(shown + "\n"),
            text,
            f"{kind}:{source.id}" if alone else "",
            heading,
            card,
            found.score if found else 0.0,
            found.parts if found else NOTHING,
            (source.id,) if isinstance(source, StoredTurn) else source.sources,
            reason or (found.reason if found else ""),
            divisible,
            quota,
        )

    def line(self, section: SectionId, kind: str, name: str, shown: str, *, divisible: bool = False) -> Candidate:
        """A text that is already safe and represents no record."""
        tokens = self.tokenizer.count(shown + "\n")
        return Candidate(section=section, kind=kind, id=name, text=shown, tokens=tokens, divisible=divisible)

    def clean(self, text: str, *, session: str | None = None) -> str:
        """Stored text in the form that is safe in a prompt: no marker, nothing hidden, and no secret except in the session
        in which the recipe allows it to be repeated."""
        return safe(self.masked(text, session=session))

    def masked(self, text: str, *, session: str | None = None) -> str:
        told = self.recipe.secrets == "session" and session is not None and session == self.material.session
        return text if told else masked(text)

    def speaker(self, turn: StoredTurn) -> str:
        """The speaker, as a label that cannot span lines. In exchanges, everybody has a name."""
        by_name = self.recipe.long_term.form == "exchanges"
        if turn.role == "assistant":
            name = (turn.speaker if by_name else None) or self.material.persona.name or "Assistant"
        else:
            name = turn.speaker or (self.material.profile.name if by_name else None) or turn.role.capitalize()
        return self.label(name) or "User"

    def label(self, name: str) -> str:
        """A name as the beginning of a line."""
        known = self._labels.get(name)
        if known is None:
            known = self._labels[name] = " ".join(safe(name).replace(":", " ").split())[:60]
        return known

    def day(self, source: Record | StoredTurn) -> str:
        """A day with its year, as the user's locale writes it, or in ISO 8601."""
        then, locale = self.here(source), self.material.profile.locale
        return written_day(then, locale, year=True) if locale else then.date().isoformat()

    def here(self, source: Record | StoredTurn) -> datetime:
        """The time on the user's clock."""
        return local(source.at, self.material.profile.zone)

    def weekday(self, source: Record | StoredTurn) -> str:
        """A day as people in the user's region write it, such as `Tue 3 Mar`, with the year if it is not the current one."""
        quarter = int(source.at.timestamp()) // 900
        known = self._days.get(quarter)
        if known is not None:
            return known
        then, profile = self.here(source), self.material.profile
        year = then.year != local(self.material.now, profile.zone).year
        found = self._days[quarter] = written_day(then, profile.locale, year=year)
        return found

    def time(self, source: Record | StoredTurn) -> str:
        """A time as people in the user's region write it."""
        return written_clock(self.here(source), self.material.profile.locale)

    def age(self, source: Record) -> timedelta:
        return self.material.now - (source.due or source.at)


_SIGN: Final = re.compile(r"[\W_]+")
_ASCII_SIGNS: Final = bytes(code if chr(code).isalnum() else 32 for code in range(256))
_EMPTY_WORDS: Final = frozenset(b"i my me user the a an am are ha have that".split())
"""Words that do not matter for sameness, each without a final s."""
_LONGEST_FACT: Final = 400
"""Longer texts are never duplicates of another; facts are shorter."""
_ENDING: Final = 32

Print = bytes
"""Space-separated words: thousands are remembered, so each fingerprint is one string."""


def fingerprint(text: str) -> Print:
    """What two near duplicates share; empty if there is too little to compare."""
    return _fingerprint(text) if len(text) <= _LONGEST_FACT else b""


@lru_cache(maxsize=4_096)
def _fingerprint(text: str) -> Print:
    if text.isascii():
        folded = text.lower().encode().translate(_ASCII_SIGNS)
    else:
        folded = _SIGN.sub(" ", unicodedata.normalize("NFKC", text).casefold()).encode("utf-8", "replace")
    words = [word for word in (folded + b" ").replace(b"s ", b" ").split() if word not in _EMPTY_WORDS]
    return b" ".join(words) if len(words) > 1 or (words and len(words[0]) > 3) else b""


class Claim(NamedTuple):
    """Something that wants to be shown: its number, the memory or turn it is, and its words."""

    number: int
    key: str
    said: str


def duplicates(claims: Sequence[Claim], *, turns: Sequence[Claim], before: int) -> dict[int, int]:
    """Which claim repeats which other, in order of worth; the window's turns come before claim `before`.

    A turn is never left out because it was said before, so turns only displace the claims that follow them.
    """
    keys: dict[str, int] = {}
    prints: dict[Print, int] = {}
    found: dict[int, int] = {}
    words = [fingerprint(claim.said) if claim.said else b"" for claim in claims]
    for place, claim in enumerate(claims):
        if place == before:
            _hold_turns(turns, words[before:], keys, prints)
        holder = keys.get(claim.key) if claim.key else None
        if holder is None and words[place]:
            holder = prints.get(words[place])
        if holder is not None:
            found[claim.number] = holder
            continue
        if claim.key:
            keys[claim.key] = claim.number
        if words[place]:
            prints[words[place]] = claim.number
    return found


def _hold_turns(
    turns: Sequence[Claim],
    after: Sequence[Print],
    keys: dict[str, int],
    prints: dict[Print, int],
) -> None:
    """Most turns end in a word that no later claim ends in, so few have to be read in full."""
    endings = {words.rpartition(b" ")[2] for words in after if words}
    for turn in turns:
        keys.setdefault(turn.key, turn.number)
        before, _, end = fingerprint(turn.said[-_ENDING:]).rpartition(b" ")
        if end and (end in endings or not before):
            words = fingerprint(turn.said)
            if words:
                prints.setdefault(words, turn.number)
