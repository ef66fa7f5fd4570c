"""Means over questions, for all of them and by category, with their intervals: what is printed, saved and drawn."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from hitherto.evaluate import measures
from hitherto.evaluate.engine_run import Answered
from hitherto.evaluate.measures import Interval


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
                ours=measures.interval([row[metric] for row in ours]),
                bm25=measures.interval([row[metric] for row in plain]),
                gain=measures.gain(ours, plain, metric),
            )
            for metric in ours[0]
        ),
    )
