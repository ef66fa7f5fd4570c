"""Shares out the tokens.

Sections are filled from the most precious to the least: first what the minimum of turns needs, then every group to its
target, then every group to its cap, always within the room that the total leaves. What is trimmed first is filled last, so
running out of room *is* trimming in the recipe's order, and a failed final check only has to repeat this with less room.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hitherto.assemble.candidates import Candidate
from hitherto.assemble.history import Past, Plan
from hitherto.errors import ImpossibleBudget
from hitherto.recipes.recipe import Recipe
from hitherto.recipes.titles import SectionId

LEAST_PART = 24
"""A divisible entry is not cut below this many tokens: it is better left out."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """A section's candidates by number, best first, and the section's own cost."""

    section: SectionId
    entries: Sequence[tuple[int, Candidate]]
    wrap: int
    """Tokens of the markers, charged with the first entry."""
    headings: Mapping[str, int]
    """Tokens of each heading, charged with the first entry under it."""


@dataclass(frozen=True, slots=True)
class Share:
    """The outcome: candidates by number with the tokens they may use, the turns, and each group's use."""

    given: dict[int, int]
    plan: Plan
    used: dict[str, int]


@dataclass(slots=True)
class _Purse:
    """The room that is left while sections are filled; lives inside `share` only."""

    recipe: Recipe
    room: int
    used: dict[str, int]
    given: dict[int, int] = field(default_factory=dict[int, int])
    paid: set[tuple[SectionId, str]] = field(default_factory=set[tuple[SectionId, str]])

    def fill(self, shelf: Shelf, limit: int) -> bool:
        """Spends tokens on a section's entries in order; returns whether the total, not the limit, cut one short."""
        group = self.recipe.group_of[shelf.section]
        starved = False
        for number, candidate in shelf.entries:
            had = self.given.get(number, 0)
            if had == candidate.tokens:
                continue
            extra = 0 if had else self._extra(shelf, candidate)
            cost = candidate.tokens - had + extra
            allowed = limit - self.used[group]
            if cost > min(self.room, allowed):
                starved = starved or self.room < allowed
                cost = min(self.room, allowed)
                if not candidate.divisible or had + cost - extra < LEAST_PART or cost <= 0:
                    continue
            for heading in ("", candidate.heading, candidate.card):
                self.paid.add((shelf.section, heading))
            self.given[number] = had + cost - extra
            self.used[group] += cost
            self.room -= cost
        return starved

    def exchange(self, group: str, plan: Plan, larger: Plan) -> Plan:
        """Trades a plan of the turns for a larger one, if there is one and it fits."""
        more = larger.tokens - plan.tokens
        if not 0 < more <= self.room:
            return plan
        self.room -= more
        self.used[group] += more
        return larger

    def _extra(self, shelf: Shelf, candidate: Candidate) -> int:
        extra = 0 if (shelf.section, "") in self.paid else shelf.wrap
        for heading in (candidate.heading, candidate.card):
            if heading and (shelf.section, heading) not in self.paid:
                extra += shelf.headings[heading]
        return extra


def share(
    recipe: Recipe,
    shelves: Mapping[SectionId, Shelf],
    past: Past,
    *,
    room: int,
    outside: int,
    spent: Mapping[str, int],
    ample: int | None = None,
) -> Share:
    """Fills the sections within `room`, and beyond their targets only within `ample`.

    `outside` is what the message and wrapping take, which comes out of the history's budget; `spent` is what groups have
    already used.
    """
    plan = past.plan(0)
    if plan.tokens > room:
        plan = past.plan(0, least=True)
    if plan.tokens > room:
        raise ImpossibleBudget(
            f"persona, message, reserve and wrapping leave {room} of the {recipe.total.cap} tokens of recipe"
            f" {recipe.name!r}, and wrapping its minimum of turns takes {plan.tokens};"
            " shorten the message or the persona"
        )
    turns = recipe.group_of["working"]
    purse = _Purse(recipe, room - plan.tokens, {name: spent.get(name, 0) for name in recipe.groups})
    purse.used[turns] += plan.tokens
    worth = sorted(shelves, key=lambda section: recipe.precious[section])
    for goal in ("floor", "target", "cap"):
        if goal == "cap" and ample is not None:
            purse.room = max(0, min(purse.room, ample - (room - purse.room)))
        for section in worth:
            group = recipe.groups[recipe.group_of[section]]
            final = goal == "cap" or section in recipe.last_resort
            limit = group.cap if final else group.target if goal == "target" else group.floor
            starved = False
            if section == "working":
                aim = max(limit, min(past.wanted + outside, group.cap)) if goal == "target" else limit
                larger = past.plan(min(aim - outside, purse.room + plan.tokens)) if aim > outside else plan
                starved = aim - outside > purse.room + plan.tokens and past.more(larger)
                plan = purse.exchange(turns, plan, larger)
            if limit > purse.used[recipe.group_of[section]]:
                starved = purse.fill(shelves[section], limit) or starved
            if starved and goal == "target":
                worth = worth[: worth.index(section) + 1]
                break
    return Share(purse.given, plan, purse.used)
