"""Charts as geometry: where lines, bars and labels go. Templates draw them as SVG, so they need no script, can be printed,
and work in a page saved as a file."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import combinations
from math import ceil, cos, floor, hypot, log10, pi, sin, sqrt

from hitherto.types import Entity

WIDTH, HEIGHT = 640, 150
LEFT, RIGHT, TOP, BOTTOM = 48, 10, 10, 22


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """How full a budget is, in percent of the bar; its end is the cap."""

    used: float
    target: float
    over: bool


def bar(tokens: int, target: int, cap: int) -> Bar:
    most = max(tokens, cap, 1)
    return Bar(used=round(100 * tokens / most, 2), target=round(100 * target / most, 2), over=tokens > target)


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One line: a value for each place, None if there is none."""

    name: str
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    x: float
    y: float
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartLine:
    """A drawn series; `points` is SVG's own form."""

    name: str
    points: str
    dots: tuple[Dot, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    at: float
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A drawn chart of lines over the places of a conversation."""

    title: str
    meaning: str
    unit: str
    lines: tuple[ChartLine, ...]
    rows: tuple[Tick, ...]
    columns: tuple[Tick, ...]
    summary: str
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    floor: int = HEIGHT - BOTTOM


def plot(title: str, meaning: str, series: Sequence[Series], labels: Sequence[str], *, unit: str = "") -> Plot:
    """The series over their labels. The vertical axis begins at zero, so that lengths compare."""
    known = [value for line in series for value in line.values if value is not None]
    top = _round_up(max(known, default=0.0))
    count = max((len(line.values) for line in series), default=0)

    def x(place: int) -> float:
        room = WIDTH - LEFT - RIGHT
        return round(LEFT + (room / 2 if count < 2 else room * place / (count - 1)), 1)

    def y(value: float) -> float:
        return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / top, 1)

    def drawn(line: Series) -> ChartLine:
        dots = tuple(
            Dot(x=x(place), y=y(value), words=f"{line.name}: {_number(value)}{unit} ({label})")
            for place, (value, label) in enumerate(zip(line.values, labels, strict=True))
            if value is not None
        )
        return ChartLine(name=line.name, dots=dots, points=" ".join(f"{dot.x},{dot.y}" for dot in dots))

    shown = sorted({0, count // 2, count - 1}) if count else []
    return Plot(
        title=title,
        meaning=meaning,
        unit=unit,
        lines=tuple(drawn(line) for line in series),
        rows=tuple(Tick(at=y(top * part), words=f"{_number(top * part)}{unit}") for part in (0, 0.5, 1)),
        columns=tuple(Tick(at=x(place), words=labels[place]) for place in shown),
        summary="; ".join(_in_words(line, unit) for line in series),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One bucket of a histogram: `height` in percent of the tallest."""

    words: str
    count: int
    height: float


def columns(buckets: Sequence[tuple[str, int]]) -> tuple[Column, ...]:
    most = max((count for _, count in buckets), default=0) or 1
    return tuple(Column(words=words, count=count, height=round(100 * count / most, 1)) for words, count in buckets)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartSpan:
    """A stretch of time on a timeline, in percent of its length. `open` says that it has no end yet."""

    start: float
    length: float
    open: bool


@dataclass(frozen=True, slots=True)
class Timeline:
    """A stretch of time as an axis."""

    first: datetime
    last: datetime

    @staticmethod
    def over(moments: Sequence[datetime]) -> "Timeline":
        """The axis that spans all of them, with a little room on both sides."""
        first, last = min(moments), max(moments)
        room = max((last - first) * 0.02, timedelta(hours=1))
        return Timeline(first - room, last + room)

    def at(self, moment: datetime) -> float:
        whole = (self.last - self.first).total_seconds() or 1.0
        return round(min(100.0, max(0.0, 100 * (moment - self.first).total_seconds() / whole)), 2)

    def span(self, start: datetime, end: datetime | None) -> ChartSpan:
        begin = self.at(start)
        return ChartSpan(start=begin, length=max(0.6, self.at(end or self.last) - begin), open=end is None)

    @property
    def ticks(self) -> tuple[Tick, ...]:
        """Five dates along the axis."""
        step = (self.last - self.first) / 4
        form = "%H:%M" if step < timedelta(hours=12) else "%d %b" if step < timedelta(days=90) else "%b %Y"
        return tuple(Tick(at=25.0 * part, words=f"{self.first + step * part:{form}}") for part in range(5))


def _round_up(value: float) -> float:
    """The next round number."""
    if value <= 0:
        return 1.0
    size = 10.0 ** max(floor(log10(value)), -9)
    return next(size * step for step in (1, 2, 2.5, 5, 10) if size * step >= value * 0.999)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == ceil(value) or value >= 100 else f"{value:.1f}"


def _in_words(line: Series, unit: str) -> str:
    known = sorted(value for value in line.values if value is not None)
    if not known:
        return f"{line.name}: nothing"
    middle = known[len(known) // 2]
    return f"{line.name}: {_number(known[0])} to {_number(known[-1])}{unit}, median {_number(middle)}{unit}"


# Entities and their links as a drawing: who is mentioned together. The layout is a deterministic spring model, so the same
# entities always appear in the same places.

GRAPH_WIDTH, GRAPH_HEIGHT = 720, 420
MARGIN = 60
MOST = 30
"""Entities in one drawing; a drawing of more says nothing."""
ROUNDS = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    ref: str
    label: str
    type: str
    mentions: int
    x: float
    y: float
    radius: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """Two entities that `count` memories name together."""

    a: Node
    b: Node
    count: int
    width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    left_out: int
    width: int = GRAPH_WIDTH
    height: int = GRAPH_HEIGHT


def graph(entities: Sequence[Entity], named: Iterable[Sequence[str]]) -> Graph:
    """The drawing. `named` are the references in each memory, episode or loop."""
    mentions: Counter[str] = Counter()
    together: Counter[tuple[str, str]] = Counter()
    for refs in named:
        several = sorted(set(refs))
        mentions.update(several)
        together.update(combinations(several, 2))
    known = {entity.key: entity for entity in entities if entity.key and entity.merged_into is None}
    ranked = sorted(known, key=lambda ref: (-mentions[ref], ref))
    shown = ranked[:MOST]
    links = {pair: count for pair, count in together.items() if pair[0] in shown and pair[1] in shown}
    places = _settled(shown, links)
    nodes = {
        ref: Node(
            ref=ref,
            label=known[ref].label or ref,
            type=known[ref].type,
            mentions=mentions[ref],
            x=round(places[ref][0], 1),
            y=round(places[ref][1], 1),
            radius=round(9 + 3 * sqrt(mentions[ref]), 1),
        )
        for ref in shown
    }
    edges = tuple(
        Edge(a=nodes[a], b=nodes[b], count=count, width=min(6.0, 1.0 + count * 0.8))
        for (a, b), count in sorted(links.items())
    )
    return Graph(nodes=tuple(nodes.values()), edges=edges, left_out=len(ranked) - len(shown))


def _settled(refs: Sequence[str], links: Mapping[tuple[str, str], int]) -> dict[str, tuple[float, float]]:
    """The positions at which springs pull linked entities together while all push each other apart."""
    count = max(1, len(refs))
    at = {ref: (cos(2 * pi * n / count), sin(2 * pi * n / count)) for n, ref in enumerate(refs)}
    ideal = sqrt(4.0 / count)
    for turn in range(ROUNDS):
        heat = 0.15 * (1 - turn / ROUNDS)
        moved = dict.fromkeys(refs, (0.0, 0.0))
        for a, b in combinations(refs, 2):
            dx, dy = at[a][0] - at[b][0], at[a][1] - at[b][1]
            apart = max(0.01, hypot(dx, dy))
            pull = links.get((a, b) if a < b else (b, a), 0)
            force = ideal * ideal / apart - (apart * apart / ideal) * min(pull, 3) * 0.5 - apart * 0.08
            fx, fy = dx / apart * force, dy / apart * force
            moved[a] = (moved[a][0] + fx, moved[a][1] + fy)
            moved[b] = (moved[b][0] - fx, moved[b][1] - fy)
        for ref, (fx, fy) in moved.items():
            length = max(0.01, hypot(fx, fy))
            step = min(length, heat) / length
            at[ref] = (at[ref][0] + fx * step, at[ref][1] + fy * step)
    return _fitted(at)


def _fitted(at: Mapping[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    """The positions stretched to the drawing's size."""
    if not at:
        return {}
    left, right = min(x for x, _ in at.values()), max(x for x, _ in at.values())
    top, bottom = min(y for _, y in at.values()), max(y for _, y in at.values())

    def scaled(value: float, low: float, high: float, room: int) -> float:
        return room / 2 if high - low < 1e-6 else MARGIN + (room - 2 * MARGIN) * (value - low) / (high - low)

    return {
        ref: (scaled(x, left, right, GRAPH_WIDTH), scaled(y, top, bottom, GRAPH_HEIGHT)) for ref, (x, y) in at.items()
    }
