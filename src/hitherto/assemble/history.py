"""Which turns are shown, and how much of each.

The newest turns are worth most. A window that fits is shown whole. One that does not is shortened before turns are dropped:
long older turns are cut to a limit, then the oldest are dropped. The recipe's minimum of turns is never dropped: its tools'
output is shortened, then its longest texts, the newest last of all.

What the message answers is a labelled message of its own, never mixed into the user's words. If the first and the newest
turns are shown but not those between, the rolling summary stands for them; without one, the beginnings of the turns
themselves.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from hitherto.assemble.candidates import Candidate, Desk
from hitherto.assemble.exchange import LONGEST, Exchange, Leftover, exchanges, shortened, without_secrets
from hitherto.assemble.material import Material
from hitherto.assemble.render import bounded, indented, level, shorten
from hitherto.ingest.short import stands_alone
from hitherto.text.time import written_clock, written_day
from hitherto.tokens import MESSAGE
from hitherto.types import StoredTurn

_LEAST_TOOL: Final = 8
"""Tokens that a tool's output is shortened to before any text is."""
_WHOLE: Final = 1 << 60


@dataclass(frozen=True, slots=True)
class Cut:
    """Limits for one exchange; `tool` None leaves tools whole, 0 leaves them out."""

    text: int = _WHOLE
    tool: int | None = None


_UNCUT: Final = Cut()


@dataclass(frozen=True, slots=True)
class Plan:
    """Which exchanges are shown within which limits, oldest first, and the most that they can cost.

    `middle` is the share of that for a summary of what is left out between the first and the newest.
    """

    cuts: dict[int, Cut]
    tokens: int
    middle: int = 0


class Past:
    """The turns before the message, ready to be planned for any budget."""

    __slots__ = ("_cap", "_costs", "_firsts", "_least", "_most", "_must", "_order", "beyond", "left", "rules", "shown")

    def __init__(self, desk: Desk, *, empty: bool = False) -> None:
        rules = desk.recipe.history
        turns, foreign = ([], []) if empty else _of_this_lane(desk.material)
        shown, left = exchanges(turns, desk)
        self.rules = rules
        self._cap = desk.recipe.history_group.cap
        self.shown = shown
        self._firsts = frozenset(_first(shown, desk.material, rules.keep_first))
        inside = [i for i in range(len(shown)) if i >= len(shown) - rules.window or i in self._firsts]
        must = {*self._firsts, *inside[max(0, len(inside) - rules.minimum) :]} if inside else set[int]()
        self._must = sorted(must)
        self._order = [i for i in reversed(inside) if i not in must]
        self._costs = [exchange.whole for exchange in shown]
        self._least = sum(self._costs[i] for i in self._must)
        self._most = self._least + sum(self._costs[i] for i in self._order)
        self.beyond = frozenset(range(len(shown))).difference(inside)
        self.left: list[Leftover] = [*foreign, *left]

    @property
    def wanted(self) -> int:
        """Tokens of as many of the newest turns as the recipe wants in any case."""
        newest = self._costs[max(0, len(self._costs) - self.rules.wanted) :] if self.rules.wanted else ()
        return sum(newest)

    def plan(self, budget: int, *, least: bool = False) -> Plan:
        """The best plan within the budget, exceeding it only by what the minimum needs. `least` gives the smallest plan of
        all.
        """
        if least:
            return self._costed({i: Cut(1, 0) for i in self._must})
        if self._least > budget:
            return self._squeezed(budget)
        if self.rules.step and (steady := self._steady(budget)):
            return steady
        if self._most <= budget:
            return Plan(dict.fromkeys(sorted((*self._must, *self._order)), _UNCUT), self._most)
        middle = min(self.rules.middle, budget - self._least)
        room = budget - self._least - middle
        cuts = dict.fromkeys(self._must, _UNCUT)
        for i in self._order:
            cut, cost = _UNCUT, self._costs[i]
            if cost > self.rules.turn:
                cut = _within(self.shown[i], self.rules.turn)
                cost = self.shown[i].cost(text=cut.text, tool=cut.tool)
            if cost > room:
                break
            cuts[i] = cut
            room -= cost
        return self._costed(cuts, middle=middle)

    def _steady(self, budget: int) -> Plan | None:
        """The longest plan that begins where a step begins, with every turn cut alike, whatever the others are.

        If a step of turns would take more than two thirds of the budget, as in conversations with long turns, steps are
        measured in tokens instead, half of the cap each, counted from where the window begins.
        """
        inside = sorted((*self._must, *self._order))
        cuts = {i: _within(self.shown[i], self.rules.turn) for i in inside}
        costs = [self.shown[i].cost(text=cut.text, tool=cut.tool) for i, cut in cuts.items()]
        step, total = self.rules.step, sum(costs)
        if total <= budget and len(self.shown) < self.rules.window:
            return self._costed(cuts)
        if 3 * step * total <= 2 * budget * len(inside):
            steps = [self.shown[i].turn.number // step for i in inside]
        else:
            steps = self._by_tokens(inside, costs, budget=budget)
        for place in range(1, len(inside) - self.rules.minimum + 1):
            total -= costs[place - 1]
            if total <= budget and steps[place - 1] != steps[place]:
                return self._costed({i: cuts[i] for i in inside[place:]})
        return None

    def _by_tokens(self, inside: Sequence[int], costs: Sequence[int], *, budget: int) -> list[int]:
        """Which step of tokens each turn falls into. A full window is counted from where one of its steps of turns begins,
        because its oldest turn changes every time.
        """
        stride = self._cap // 2
        while stride > 1 and 5 * stride > 4 * budget:
            stride = stride * 2 // 3
        numbers = [self.shown[i].turn.number // self.rules.step for i in inside]
        full = len(self.shown) >= self.rules.window
        begin = next((i for i in range(1, len(inside)) if numbers[i] != numbers[i - 1]), 0) if full else 0
        before = list(accumulate(costs[begin:], initial=0))
        return [-1] * begin + [tokens // stride for tokens in before[:-1]]

    def _squeezed(self, budget: int) -> Plan:
        """Only the minimum, shortened: tools first, then the longest texts, the newest last."""
        must = [self.shown[i] for i in self._must]
        outputs = [tokens for exchange in must for use in exchange.uses for tokens in (use.tokens, use.args_tokens)]
        bare = self._costed({i: Cut(tool=_LEAST_TOOL) for i in self._must})
        if bare.tokens <= budget and outputs:
            low, high = _LEAST_TOOL, max(outputs)
            while low < high:
                middle = (low + high + 1) // 2
                if self._costed({i: Cut(tool=middle) for i in self._must}).tokens <= budget:
                    low = middle
                else:
                    high = middle - 1
            return self._costed({i: Cut(tool=low) for i in self._must})
        room = budget - (bare.tokens - sum(exchange.tokens for exchange in must))
        older = [exchange.tokens for exchange in must[:-1]]
        newest = must[-1].tokens if must else 0
        least = self.rules.least
        limit = max(least, level(older, room - newest))
        spent = sum(min(tokens, limit) for tokens in older)
        last = max(least, min(newest, room - spent))
        cuts = {i: Cut(limit, _LEAST_TOOL) for i in self._must}
        if self._must:
            cuts[self._must[-1]] = Cut(last, _LEAST_TOOL)
        return self._costed(cuts)

    def _costed(self, cuts: dict[int, Cut], *, middle: int = 0) -> Plan:
        ordered = dict(sorted(cuts.items()))
        tokens = sum(
            self._costs[i] if cut is _UNCUT else self.shown[i].cost(text=cut.text, tool=cut.tool)
            for i, cut in ordered.items()
        )
        return Plan(ordered, tokens + middle, middle)

    def more(self, plan: Plan) -> bool:
        """Whether a larger budget would show more than this plan."""
        return plan.tokens < self._most

    def carried_out(self, plan: Plan, desk: Desk) -> list[Exchange]:
        """The planned exchanges without secrets, shortened as planned, oldest first."""
        shown = [(without_secrets(self.shown[i], desk), cut) for i, cut in plan.cuts.items()]
        return [
            one if cut is _UNCUT else shortened(one, text=cut.text, tool=cut.tool, tokenizer=desk.tokenizer)
            for one, cut in shown
        ]

    def dropped(self, plan: Plan) -> list[Exchange]:
        """Exchanges of the window that the plan leaves out."""
        considered = {*self._must, *self._order}
        return [self.shown[i] for i in sorted(considered) if i not in plan.cuts]


def _of_this_lane(material: Material) -> tuple[list[StoredTurn], list[Leftover]]:
    """First and recent turns, each once, without the message itself or another lane's."""
    turns: list[StoredTurn] = []
    foreign: list[Leftover] = []
    seen = {material.message_id}
    recent = {turn.id for turn in material.window}
    for turn in (*(turn for turn in material.first_turns if turn.id not in recent), *material.window):
        if turn.id in seen:
            continue
        seen.add(turn.id)
        if turn.lane == material.lane:
            turns.append(turn)
        else:
            foreign.append(Leftover(turn, "other lane"))
    return turns, foreign


def _first(shown: Sequence[Exchange], material: Material, keep: int) -> list[int]:
    """The positions of the turns that begin the session; without a list of them, the window begins it."""
    firsts = {turn.id for turn in material.first_turns}
    return [i for i, exchange in enumerate(shown) if not firsts or exchange.turn.id in firsts][:keep]


def _within(exchange: Exchange, limit: int) -> Cut:
    """Limits that bring one exchange within so many tokens, shortening its tools' output first."""
    if exchange.uses:
        room = limit - exchange.cost(text=exchange.tokens, tool=_LEAST_TOOL)
        if room >= 0:
            return Cut(tool=_LEAST_TOOL + room // (2 * len(exchange.uses)))
    tool = _LEAST_TOOL if exchange.uses else None
    text = limit - exchange.cost(text=0, tool=tool)
    if exchange.uses and text < _LEAST_TOOL:
        return Cut(max(1, limit - exchange.around), 0)
    return Cut(max(1, text), tool)


QUOTED: Final = "QUOTED REPLY"
FOCUS: Final = "MESSAGE REFERRED TO"


@dataclass(frozen=True, slots=True)
class Quoted:
    """The block in the pieces before, of and after the quoted text, and its tokens as a message."""

    turn: StoredTurn
    before: str
    text: str
    after: str
    tokens: int

    @property
    def content(self) -> str:
        return self.before + self.text + self.after


def quoted_reply(desk: Desk) -> Quoted | None:
    """The reply's target; without one, the focus anchor if the window does not reach back to it."""
    material = desk.material
    turn, title = material.quoted, QUOTED
    if turn is None:
        anchor = material.anchor
        if anchor is None or any(anchor.id == seen.id for seen in material.window) or stands_alone(material.message):
            return None
        turn, title = anchor, FOCUS
    then, locale = desk.here(turn), material.profile.locale
    iso = then.isoformat(sep=" ", timespec="minutes")[:16]
    when = f"{written_day(then, locale, year=True)}, {written_clock(then, locale)}" if locale else iso
    text = shorten(indented(desk.clean(bounded(turn.text, LONGEST), session=turn.session)), desk.quoted, desk.tokenizer)
    before, after = f"[{title}]\n{desk.speaker(turn)} ({when}): ", f"\n[/{title}]"
    return Quoted(turn, before, text, after, MESSAGE + desk.tokenizer.count(before + text + after))


_OPENING: Final = 24
"""Tokens of a turn's beginning if no summary stands for it."""


def earlier(past: Past, plan: Plan, desk: Desk, *, wrap: int) -> Candidate | None:
    """One entry for all turns that the plan leaves out between those it shows; None if there is no room for it.

    `wrap` counts the tokens of the markers around it.
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
        body, kind, source = indented(desk.clean(rolling.text)), "summary", rolling.id
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
