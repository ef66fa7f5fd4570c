"""Everything that wants to be in a context, gathered and counted before anyone is chosen."""

from collections.abc import Mapping
from dataclasses import dataclass

from hitherto.assemble.candidate import Candidate, Desk
from hitherto.assemble.history import Past
from hitherto.assemble.layout import Frame, frames
from hitherto.assemble.quoted import Quoted, quoted_reply
from hitherto.assemble.render import name_in_title
from hitherto.assemble.sections.table import SECTIONS
from hitherto.recipes.titles import UNTRIMMED, SectionId
from hitherto.safety.visible import visible
from hitherto.tokens import MESSAGE, REQUEST


@dataclass(frozen=True, slots=True)
class Table:
    """What wants in, numbered: first the candidates, then the turns of the window, the message, the quoted
    reply.
    """

    desk: Desk
    candidates: tuple[Candidate, ...]
    past: Past
    quoted: Quoted | None
    message: str
    message_tokens: int
    frames: Mapping[SectionId, Frame]
    spent: Mapping[str, int]
    """What each group's untrimmed sections take."""
    outside: int
    """Tokens of the message and the wrapping, which come out of the history's budget."""
    fixed: int
    """Tokens of all that no budget may take away."""

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
    """Gathers what the recipe names from the material."""
    recipe, material, count = desk.recipe, desk.material, desk.tokenizer.count
    persona = name_in_title(material.persona.name)
    around = frames(recipe, persona, desk.tokenizer)
    candidates = tuple(candidate for section in recipe.order for candidate in SECTIONS[section](desk))
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
