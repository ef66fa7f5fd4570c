"""A choice written out: the system text in its pieces, the chat messages, and what they cost as they will be
sent.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hitherto.assemble.assembled import Piece
from hitherto.assemble.budget import Share
from hitherto.assemble.candidate import Candidate
from hitherto.assemble.earlier import earlier
from hitherto.assemble.exchange import Exchange, message_tokens, messages, transcript
from hitherto.assemble.layout import Entry, pieces
from hitherto.assemble.shorten import shorten
from hitherto.assemble.table import Table
from hitherto.recipes.titles import UNTRIMMED, SectionId
from hitherto.tokens import MESSAGE, REQUEST
from hitherto.types import Json


@dataclass(frozen=True, slots=True)
class Choice:
    """Who gets in, which number repeats which, and who is one too many of its kind."""

    shared: Share
    twins: Mapping[int, int]
    surplus: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Draft:
    """The context as it will be sent. `carriers` are the numbers of what each chat message before the last
    ones shows.
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
        shown[candidate.section].append(Entry(number, text, candidate.heading, candidate.card))

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
        (s, tuple(pieces(s, shown[s], wanted.frames[s]))) for s in desk.recipe.arranged
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
    """The pieces of sections one after another, without the line feeds that would end the text."""
    written = [piece for made in sections for piece in made]
    while written and written[-1].item is None and written[-1].text.isspace():
        written.pop()
    if written and written[-1].item is None:
        written[-1] = Piece(written[-1].text.rstrip("\n"))
    return tuple(written)
