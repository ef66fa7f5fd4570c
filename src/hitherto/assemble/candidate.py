"""A candidate: one entry that a section would like to show, as it would stand there, with what it costs and
why it is here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, NamedTuple

from hitherto.assemble.material import Material
from hitherto.assemble.render import bounded, indented, safe
from hitherto.clock import local
from hitherto.recipes.model import Recipe
from hitherto.recipes.titles import SectionId
from hitherto.tokens import Tokenizer
from hitherto.types import Recalled, Record, StoredTurn

NOTHING: Final[Mapping[str, float]] = {}
_LONGEST: Final = 20_000
"""Characters of an entry that are looked at; no cap of any recipe has room for more."""


@dataclass(frozen=True, slots=True)
class Quota:
    """At most so many of a kind are shown."""

    name: str
    most: int


class Candidate(NamedTuple):
    """`text` is the entry as it would stand in the block; `tokens` counts it with its line feed.

    `said` is the bare content, by which near duplicates are found; `key` names the memory or turn it shows,
    if it is one. Entries with the same `card` share a line. `reason`, when set, keeps it out from the start.
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
    """Whether a part of it is better than nothing."""
    quota: Quota | None = None


class Desk:
    """What the sections work with, and the few ways in which they make candidates.

    Turns bring the tokens that were counted when they were written; `recount` looks at their text instead. `quoted` is the
    most that the text of a quoted reply may take.
    """

    __slots__ = ("_labels", "material", "quoted", "recipe", "recount", "tokenizer")

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

    def given(self, section: SectionId, kind: str, name: str, text: str) -> list[Candidate]:
        """Text of the application, as it is."""
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
        """Stored text as one entry. `alone` when it shows all that its source says, so that it counts as that
        memory.
        """
        text = bounded(text, _LONGEST)
        shown = prefix + indented(safe(text))
        kind = "turn" if isinstance(source, StoredTurn) else source.noun
        # In order, not by name, which takes three times as long: dozens are made for each context.
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
        """A text that is safe already and stands for no record."""
        tokens = self.tokenizer.count(shown + "\n")
        return Candidate(section=section, kind=kind, id=name, text=shown, tokens=tokens, divisible=divisible)

    def speaker(self, turn: StoredTurn) -> str:
        """Who said it, as a label that cannot span lines."""
        name = (
            self.material.persona.name or "Assistant"
            if turn.role == "assistant"
            else turn.speaker or turn.role.capitalize()
        )
        return self.label(name) or "User"

    def label(self, name: str) -> str:
        """A name as the beginning of a line."""
        known = self._labels.get(name)
        if known is None:
            known = self._labels[name] = " ".join(safe(name).replace(":", " ").split())[:60]
        return known

    def day(self, source: Record | StoredTurn) -> str:
        return local(source.at, self.material.profile.zone).date().isoformat()

    def age(self, source: Record) -> timedelta:
        return self.material.now - (source.due or source.at)
