"""The middle of a long conversation, when its first and its newest turns are shown and what lies between is
not.

The rolling summary says it best. Without one, the turns' own beginnings stand in for it.
"""

from typing import Final

from hitherto.assemble.candidate import Candidate, Desk
from hitherto.assemble.history import Past, Plan
from hitherto.assemble.render import indented, safe
from hitherto.assemble.shorten import shorten

_OPENING: Final = 24
"""Tokens of a turn's beginning where no summary stands for it."""


def earlier(past: Past, plan: Plan, desk: Desk, *, wrap: int) -> Candidate | None:
    """One entry for all turns that the plan leaves out between those it shows; None when it has no room for
    it.

    `wrap` are the tokens of the markers around it.
    """
    left = past.dropped(plan)
    limit = plan.middle - wrap
    if limit < _OPENING or not left or "earlier" not in desk.recipe.order:
        return None
    head = f"{len(left)} turns between the first and the newest, in short:"
    sources = tuple(exchange.turn.id for exchange in left)
    rolling = desk.material.rolling
    count = desk.tokenizer.count
    if rolling is not None and rolling.text.strip():
        body, kind, source = indented(safe(rolling.text)), "summary", rolling.id
        sources = (*sources, *rolling.sources)
        body = shorten(body, limit - count(head + "\n"), desk.tokenizer)
    else:
        kind, source = "turns", left[0].turn.id
        lines: list[str] = []
        room = limit - count(head + "\n")
        for exchange in reversed(left):
            line = f"{exchange.label}: {shorten(' '.join(exchange.text.split()), _OPENING, desk.tokenizer)}"
            room -= count(line + "\n")
            if room < 0:
                break
            lines.append(line)
        body = "\n".join(reversed(lines))
    text = f"{head}\n{body}" if body else head
    return Candidate(section="earlier", kind=kind, id=source, text=text, tokens=count(text + "\n"), sources=sources)
