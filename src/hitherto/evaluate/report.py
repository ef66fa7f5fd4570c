"""Means over questions, for all of them and by category, with their intervals: what is printed, saved and drawn."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from statistics import median
from typing import Final

from hitherto.evaluate import engine_run
from hitherto.evaluate.engine_run import EVERY_KIND, LONG_TERM, WHOLE, Answered, Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportLine:
    """One metric: ours, the baseline's, and the gain paired by question."""

    metric: str
    ours: Interval
    bm25: Interval
    gain: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionGroup:
    """Questions of one category, or all of them."""

    name: str
    questions: int
    lines: tuple[ReportLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What one file gave."""

    name: str
    conversations: int
    turns: int
    questions: int
    search_ms: float
    """Median."""
    context_ms: float
    overall: QuestionGroup
    categories: tuple[QuestionGroup, ...]

    def line(self, metric: str) -> ReportLine:
        return next(line for line in self.overall.lines if line.metric == metric)


def report(name: str, answered: Sequence[Answered], *, conversations: int, turns: int) -> Report:
    """The report of one file's questions; there must be some."""
    categories = sorted({one.category for one in answered})
    return Report(
        name=name,
        conversations=conversations,
        turns=turns,
        questions=len(answered),
        search_ms=round(median(one.search_ms for one in answered), 3),
        context_ms=round(median(one.context_ms for one in answered), 3),
        overall=_group("all", answered),
        categories=tuple(_group(name, [one for one in answered if one.category == name]) for name in categories),
    )


def _group(name: str, answered: Sequence[Answered]) -> QuestionGroup:
    ours, plain = [one.ours for one in answered], [one.plain for one in answered]
    return QuestionGroup(
        name=name,
        questions=len(answered),
        lines=tuple(
            ReportLine(
                metric=metric,
                ours=engine_run.interval([row[metric] for row in ours]),
                bm25=engine_run.interval([row[metric] for row in plain]),
                gain=engine_run.gain(ours, plain, metric),
            )
            for metric in ours[0]
        ),
    )


# Reports as one SVG: for each file a row of bars, ours above the baseline's, with their intervals as whiskers.

SHOWN: Final = ("frac@10", "all@10", "session all@5", "frac 1k", "frac 2k", "frac 4k", EVERY_KIND, LONG_TERM, WHOLE)

_NAMES, _SCALE, _MARGIN = 150, 420, 20
_BAR, _STEP, _TITLE = 9, 26, 34
_OURS, _PLAIN, _INK = "#2563a8", "#b9c3cf", "#1f2933"


def svg(reports: Sequence[Report]) -> str:
    """The picture's text; the same reports give the same bytes."""
    height = _MARGIN * 2 + len(reports) * (_TITLE + len(SHOWN) * _STEP) + 20
    width = _NAMES + _SCALE + 90
    frame = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {frame} font-family="sans-serif" font-size="12" fill="{_INK}">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    top = _MARGIN
    for report in reports:
        title = f"{report.name}: {report.questions} questions"
        parts.append(f'<text x="{_MARGIN}" y="{top + 14}" font-size="14" font-weight="bold">{escape(title)}</text>')
        top += _TITLE
        for metric in SHOWN:
            line = report.line(metric)
            parts.append(f'<text x="{_NAMES - 8}" y="{top + 13}" text-anchor="end">{escape(metric)}</text>')
            parts.extend(_bar(line.ours, top=top, colour=_OURS))
            parts.extend(_bar(line.bm25, top=top + _BAR + 1, colour=_PLAIN))
            shown = f"{line.ours[0]:.3f} ({line.gain[0]:+.3f})"
            parts.append(f'<text x="{_NAMES + _SCALE + 6}" y="{top + 13}" font-size="10">{shown}</text>')
            top += _STEP
    parts.append(
        f'<text x="{_NAMES}" y="{top + 14}" font-size="11"><tspan fill="{_OURS}">■</tspan> Hitherto '
        f'<tspan fill="{_PLAIN}">■</tspan> BM25; lines are 95 % bootstrap intervals, in brackets the paired gain</text>'
    )
    return "\n".join([*parts, "</svg>", ""])


def _bar(value: Interval, *, top: int, colour: str) -> list[str]:
    mean, low, high = (round(_NAMES + max(0.0, min(1.0, share)) * _SCALE, 1) for share in value)
    middle = top + _BAR / 2
    return [
        f'<rect x="{_NAMES}" y="{top}" width="{round(mean - _NAMES, 1)}" height="{_BAR}" fill="{colour}"/>',
        f'<line x1="{low}" y1="{middle}" x2="{high}" y2="{middle}" stroke="{_INK}" stroke-width="1.2"/>',
    ]
