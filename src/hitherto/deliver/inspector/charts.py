"""Charts as geometry: where lines, bars and labels stand. Templates draw them as SVG, so they need no script, print, and
work in a page that is a file."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil, floor, log10

WIDTH, HEIGHT = 640, 150
LEFT, RIGHT, TOP, BOTTOM = 48, 10, 10, 22


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """How full a budget is, in hundredths of its length; the end is the cap."""

    used: float
    target: float
    over: bool


def bar(tokens: int, target: int, cap: int) -> Bar:
    most = max(tokens, cap, 1)
    return Bar(used=round(100 * tokens / most, 2), target=round(100 * target / most, 2), over=tokens > target)


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One line: a value for each place, None where there is none."""

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
    """One bucket of a histogram: `height` in hundredths of the tallest."""

    words: str
    count: int
    height: float


def columns(buckets: Sequence[tuple[str, int]]) -> tuple[Column, ...]:
    most = max((count for _, count in buckets), default=0) or 1
    return tuple(Column(words=words, count=count, height=round(100 * count / most, 1)) for words, count in buckets)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartSpan:
    """A stretch of time on a timeline, in hundredths of its length. `open`: it has no end yet."""

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
        """The axis that holds all of them, with a little room on both sides."""
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
