"""What wants to be in a context, and a choice among it written out: the system text in its pieces, the chat messages, and
what they cost as they will be sent.

Sections stand in the recipe's order, entries under their headings, cards on one line. The text is made of pieces, each an
item's or the renderer's own, so that a snapshot can name the items and hold nothing else. Every entry is whole lines that
begin with a sign of the renderer; the o200k and cl100k vocabularies never join across such a line feed, so the tokens of the
pieces add up to those of the text.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from typing import Final, NamedTuple

from hitherto.assemble.budget import Share
from hitherto.assemble.candidates import Candidate, Desk
from hitherto.assemble.exchange import Exchange, message_tokens, messages, transcript
from hitherto.assemble.history import Past, Quoted, earlier, quoted_reply
from hitherto.assemble.material import Piece
from hitherto.assemble.render import name_in_title, shorten
from hitherto.assemble.sections import candidates as wanting
from hitherto.assemble.sections.memories import EPISODES, USER_FACTS
from hitherto.recipes.recipe import Recipe
from hitherto.recipes.titles import UNTRIMMED, Heading, SectionId
from hitherto.safety.visible import visible
from hitherto.tokens import MESSAGE, REQUEST, Tokenizer
from hitherto.types import Json

HEADING_ORDER: Final = (USER_FACTS, EPISODES)
"""Headings that come in this order, whatever their entries rank; others follow as they appear."""
_BLANK_LINE: Final = Piece("\n\n")
_LINE_END: Final = Piece("\n")
_FACTS_APART: Final = Piece("; ")
"""Made once: a context has hundreds, and making each anew took a fiftieth of its time."""


class Entry(NamedTuple):
    """A candidate that is shown: its number, and its text in the form shown, perhaps shortened."""

    number: int
    text: str
    heading: str = ""
    card: str = ""
    when: int = 0


@dataclass(frozen=True, slots=True)
class Frame:
    """What surrounds a section's entries, and its tokens."""

    opening: str
    closing: str
    tokens: int
    trusted: bool


def frames(recipe: Recipe, persona: str, tokenizer: Tokenizer) -> dict[SectionId, Frame]:
    """The frame of every section; `persona` is the name as titles show it."""
    titles, leads = recipe.titles, recipe.leads
    return {s: _frame(recipe.heading(s), titles.get(s), leads.get(s), persona, tokenizer) for s in recipe.order}


@lru_cache(maxsize=1024)
def _frame(heading: Heading, title: str | None, lead: str | None, persona: str, tokenizer: Tokenizer) -> Frame:
    """A section's markers, or the plain title of a trusted one."""
    if title is not None:
        heading = replace(heading, title=title)
    above = f"{lead}\n" if lead else ""
    if heading.trusted:
        opening, closing = above + (f"{heading.title}\n" if heading.title else ""), ""
    else:
        inside = f"{heading.lead}\n" if heading.lead else ""
        opening, closing = f"{above}{heading.opened(persona)}\n{inside}", f"{heading.closed(persona)}\n\n"
    return Frame(opening, closing, tokenizer.count(opening) + tokenizer.count(closing), heading.trusted)


def pieces(entries: Sequence[Entry], around: Frame) -> Iterator[Piece]:
    """One section with these entries; empty for a section that has nothing to show."""
    if not entries:
        return
    if around.trusted:
        if around.opening:
            yield Piece(around.opening)
        for shown in entries:
            yield Piece(shown.text, shown.number)
            yield _BLANK_LINE
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
    """Sorts by heading: known ones in their own order, others as they first appear, entries without one first, and entries
    in time order last.
    """

    first: Mapping[str, int]

    def __call__(self, shown: Entry) -> tuple[int, int]:
        if shown.when:
            return (3, shown.when)
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
                # The reference names someone, so it belongs to the first fact and is forgotten with it.
                yield Piece(card, shown.number) if place == 0 else _FACTS_APART
            yield Piece(shown.text, shown.number)
            if not card:
                yield _LINE_END
        if card:
            yield _LINE_END


@dataclass(frozen=True, slots=True)
class Table:
    """What wants in, numbered: candidates first, then the turns of the window, the message, the quoted reply."""

    desk: Desk
    candidates: tuple[Candidate, ...]
    past: Past
    quoted: Quoted | None
    message: str
    message_tokens: int
    frames: Mapping[SectionId, Frame]
    spent: Mapping[str, int]
    """What the untrimmed sections of each group take."""
    outside: int
    """Tokens of the message and the wrapping, which come out of the history's budget."""
    fixed: int
    """Tokens of everything that no budget may remove."""

    def turn_number(self, place: int) -> int:
        return len(self.candidates) + place

    @property
    def message_number(self) -> int:
        return len(self.candidates) + len(self.past.shown)

    @property
    def quoted_number(self) -> int:
        return self.message_number + 1

    @property
    def earlier_number(self) -> int:
        return self.message_number + (2 if self.quoted else 1)

    @property
    def transcript(self) -> bool:
        return self.desk.recipe.history.delivery == "transcript"


def table(desk: Desk) -> Table:
    """Collects what the recipe names from the material."""
    recipe, material, count = desk.recipe, desk.material, desk.tokenizer.count
    persona = name_in_title(material.persona.name)
    around = frames(recipe, persona, desk.tokenizer)
    candidates = tuple(wanting(desk))
    past = Past(desk, empty=recipe.history.delivery == "moments")
    reply = quoted_reply(desk)
    message = visible(material.message)
    tokens = MESSAGE + count(message)

    spent: dict[str, int] = dict.fromkeys(recipe.groups, 0)
    fixed = 0
    opened: set[SectionId] = set()
    for candidate in candidates:
        section = candidate.section
        if section in UNTRIMMED:
            cost = candidate.tokens + (0 if section in opened else around[section].tokens)
            opened.add(section)
            fixed += cost
            if section in recipe.group_of:
                spent[recipe.group_of[section]] += cost
    notice = sum(candidate.tokens for candidate in candidates if candidate.section == "notice")
    outside = REQUEST + MESSAGE + notice + tokens + (reply.tokens if reply else 0)
    if recipe.history.delivery == "transcript":
        outside += around["working"].tokens
    if recipe.tail:
        outside += MESSAGE
    return Table(
        desk=desk,
        candidates=candidates,
        past=past,
        quoted=reply,
        message=message,
        message_tokens=tokens,
        frames=around,
        spent=spent,
        outside=outside,
        fixed=fixed - notice + outside,
    )


@dataclass(frozen=True, slots=True)
class Choice:
    """What gets in, which number repeats which, and which exceed the number of their kind."""

    shared: Share
    twins: Mapping[int, int]
    surplus: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Draft:
    """The context as it will be sent. `carriers` are the numbers of the items that each chat message before the last ones
    shows.
    """

    texts: Mapping[int, str]
    sections: tuple[tuple[SectionId, tuple[Piece, ...]], ...]
    pieces: tuple[Piece, ...]
    system: str
    tail: tuple[Piece, ...]
    exchanges: Mapping[int, Exchange]
    history: tuple[dict[str, Json], ...]
    carriers: tuple[int, ...]
    costs: tuple[int, ...]
    """Tokens of each message of the history."""
    tail_tokens: int
    middle: Candidate | None
    tokens: int

    @property
    def turn_tokens(self) -> int:
        return sum(self.costs)


def drafted(wanted: Table, choice: Choice) -> Draft:
    desk, shared = wanted.desk, choice.shared
    texts: dict[int, str] = {}
    shown: dict[SectionId, list[Entry]] = {section: [] for section in desk.recipe.order}
    for number, candidate in enumerate(wanted.candidates):
        if candidate.section in UNTRIMMED:
            text = candidate.text
        elif number not in shared.given:
            continue
        elif shared.given[number] < candidate.tokens:
            text = shorten(candidate.text, shared.given[number] - 1, desk.tokenizer)
        else:
            text = candidate.text
        texts[number] = text
        shown[candidate.section].append(Entry(number, text, candidate.heading, candidate.card, candidate.when))

    exchanges = dict(zip(shared.plan.cuts, wanted.past.carried_out(shared.plan, desk), strict=True))
    middle = earlier(
        wanted.past,
        shared.plan,
        desk,
        wrap=wanted.frames["earlier"].tokens if "earlier" in wanted.frames else 0,
    )
    if middle is not None:
        shown["earlier"].append(Entry(wanted.earlier_number, middle.text))
    history: list[dict[str, Json]] = []
    carriers: list[int] = []
    for place, exchange in exchanges.items():
        if wanted.transcript:
            shown["working"].append(Entry(wanted.turn_number(place), transcript(exchange)))
        else:
            found = messages(exchange)
            history += found
            carriers += [wanted.turn_number(place)] * len(found)

    sections: tuple[tuple[SectionId, tuple[Piece, ...]], ...] = tuple(
        (s, tuple(pieces(shown[s], wanted.frames[s]))) for s in desk.recipe.arranged
    )
    written = _joined(made for section, made in sections if section not in desk.recipe.tail)
    tail = _joined(made for section, made in sections if section in desk.recipe.tail)
    system = "".join([piece.text for piece in written])
    costs = tuple(message_tokens(message, desk.tokenizer) for message in history)
    after = MESSAGE + desk.tokenizer.count("".join([piece.text for piece in tail])) if tail else 0
    final = wanted.message_tokens + (wanted.quoted.tokens if wanted.quoted else 0)
    return Draft(
        texts=texts,
        sections=sections,
        pieces=written,
        system=system,
        tail=tail,
        exchanges=exchanges,
        history=tuple(history),
        carriers=tuple(carriers),
        costs=costs,
        tail_tokens=after,
        middle=middle,
        tokens=REQUEST + MESSAGE + desk.tokenizer.count(system) + sum(costs) + after + final,
    )


def _joined(sections: Iterable[tuple[Piece, ...]]) -> tuple[Piece, ...]:
    """Joins the pieces of sections, without the line feeds that would end the text."""
    written = [piece for made in sections for piece in made]
    while written and written[-1].item is None and written[-1].text.isspace():
        written.pop()
    if written and written[-1].item is None:
        written[-1] = Piece(written[-1].text.rstrip("\n"))
    return tuple(written)
