"""Where entries stand in the system text: sections in the recipe's order, entries under their headings, cards
on one line.

The text is made of pieces, each an item's or the renderer's own, so that a snapshot can name the items and
hold nothing else. Every entry is whole lines that begin with a sign of the renderer; the o200k and cl100k
vocabularies never join across such a line feed, so the tokens of the pieces add up to those of the text.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from typing import Final, NamedTuple

from hitherto.assemble.assembled import Piece
from hitherto.assemble.sections.memories import EPISODES, USER_FACTS
from hitherto.recipes.model import Recipe
from hitherto.recipes.titles import HEADINGS, SectionId
from hitherto.tokens import Tokenizer

HEADING_ORDER: Final = (USER_FACTS, EPISODES)
"""Headings that stand in this order, whatever their entries rank; others follow as they come."""


class Entry(NamedTuple):
    """A candidate that is shown: its number and its text as it is shown, perhaps shortened."""

    number: int
    text: str
    heading: str = ""
    card: str = ""


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands before and after a section's entries, and its tokens."""

    opening: str
    closing: str
    tokens: int


def frames(recipe: Recipe, persona: str, tokenizer: Tokenizer) -> dict[SectionId, Frame]:
    """The frame of every section; `persona` is the name as titles show it."""
    titles, leads = recipe.titles, recipe.leads
    return {s: _frame(s, titles.get(s), leads.get(s), persona, tokenizer) for s in recipe.order}


@lru_cache(maxsize=1024)
def _frame(section: SectionId, title: str | None, lead: str | None, persona: str, tokenizer: Tokenizer) -> Frame:
    """A section's markers, or the plain title of a trusted one."""
    heading = HEADINGS[section]
    if title is not None:
        heading = replace(heading, title=title)
    above = f"{lead}\n" if lead else ""
    if heading.trusted:
        opening, closing = above + (f"{heading.title}\n" if heading.title else ""), ""
    else:
        inside = f"{heading.lead}\n" if heading.lead else ""
        opening, closing = f"{above}{heading.opened(persona)}\n{inside}", f"{heading.closed(persona)}\n\n"
    return Frame(opening, closing, tokenizer.count(opening) + tokenizer.count(closing))


def pieces(section: SectionId, entries: Sequence[Entry], around: Frame) -> Iterator[Piece]:
    """One section with these entries, none for a section that has nothing to show."""
    if not entries:
        return
    if HEADINGS[section].trusted:
        if around.opening:
            yield Piece(around.opening)
        for shown in entries:
            yield Piece(shown.text, shown.number)
            yield Piece("\n\n")
        return
    yield Piece(around.opening)
    for heading, under in groupby(sorted(entries, key=_place(entries)), key=lambda shown: shown.heading):
        if heading:
            yield Piece(f"{heading}\n")
        yield from _lines(under)
    yield Piece(around.closing)


def _place(entries: Sequence[Entry]) -> "_Place":
    return _Place({heading: place for place, heading in reversed(list(enumerate(shown.heading for shown in entries)))})


@dataclass(frozen=True, slots=True)
class _Place:
    """Sorts by heading: known ones in their own order, others as they first appear, entries without one first
    of all.
    """

    first: Mapping[str, int]

    def __call__(self, shown: Entry) -> tuple[int, int]:
        if not shown.heading:
            return (0, 0)
        return (
            (1, HEADING_ORDER.index(shown.heading))
            if shown.heading in HEADING_ORDER
            else (2, self.first[shown.heading])
        )


def _lines(entries: Iterator[Entry]) -> Iterator[Piece]:
    for card, facts in groupby(entries, key=lambda shown: shown.card):
        for place, shown in enumerate(facts):
            if card:
                # The reference names someone, so it is the first fact's and is forgotten with it.
                yield Piece(card, shown.number) if place == 0 else Piece("; ")
            yield Piece(shown.text, shown.number)
            if not card:
                yield Piece("\n")
        if card:
            yield Piece("\n")
