"""Charts, timelines and graphs as geometry: inside their frame, and the same every time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from hitherto.deliver.inspector.charts import HEIGHT, MOST, WIDTH, Series, Timeline, bar, columns, graph, plot
from hitherto.deliver.inspector.compare import folded, lines
from hitherto.deliver.inspector.work import latencies
from hitherto.types import Entity

NOW = datetime(2026, 3, 14, tzinfo=UTC)
NUMBERS = st.floats(min_value=0, max_value=1e7, allow_nan=False) | st.none()


@given(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=60))
def test_lines_stay_in_their_frame(values: list[tuple[float | None, float | None]]) -> None:
    series = [Series(name=name, values=tuple(pair[n] for pair in values)) for n, name in enumerate("ab")]
    made = plot("t", "m", series, [str(n) for n in range(len(values))])
    for line in made.lines:
        assert all(0 <= dot.x <= WIDTH and 0 <= dot.y <= HEIGHT for dot in line.dots)
        assert len(line.points.split()) == len(line.dots)


@given(st.integers(0, 10_000), st.integers(0, 10_000), st.integers(0, 10_000))
def test_bars_never_leave_their_track(tokens: int, target: int, cap: int) -> None:
    made = bar(tokens, target, max(target, cap))
    assert 0 <= made.used <= 100
    assert 0 <= made.target <= 100
    assert made.over == (tokens > target)


@given(st.lists(st.datetimes(datetime(2000, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC)), min_size=1))  # noqa: DTZ001 -- Hypothesis adds the zone
def test_spans_stay_on_the_axis(moments: list[datetime]) -> None:
    axis = Timeline.over(moments)
    for moment in moments:
        span = axis.span(moment, None)
        assert 0 <= span.start <= 100
        assert span.open
        assert span.length > 0
    assert axis.at(min(moments)) <= axis.at(max(moments))
    assert len(axis.ticks) == 5


def test_the_tallest_column_fills_the_chart() -> None:
    assert [column.height for column in columns([("a", 1), ("b", 4), ("c", 0)])] == [25, 100, 0]
    assert [column.height for column in columns([("a", 0)])] == [0]


def entities(count: int) -> list[Entity]:
    return [Entity(id=f"e{n}", key=f"person:p{n}", label=f"P{n}", at=NOW) for n in range(count)]


@settings(max_examples=12)  # A drawing takes its time, and one more says little.
@given(st.lists(st.lists(st.integers(0, 39), max_size=5), max_size=30))
def test_the_graph_is_the_same_every_time_and_fits(named: list[list[int]]) -> None:
    refs = [[f"person:p{n}" for n in several] for several in named]
    made = graph(entities(40), refs)
    assert made == graph(entities(40), refs)
    assert len(made.nodes) == MOST
    assert made.left_out == 10
    assert all(0 < node.x < made.width and 0 < node.y < made.height for node in made.nodes)
    shown = {node.ref for node in made.nodes}
    assert all(edge.a.ref in shown and edge.b.ref in shown for edge in made.edges)


def test_who_was_merged_is_not_drawn_twice() -> None:
    both = [*entities(1), Entity(id="x", key="person:x", label="X", at=NOW, merged_into="person:p0")]
    assert [node.ref for node in graph(both, [["person:p0", "person:x"]]).nodes] == ["person:p0"]
    assert graph([], []).nodes == ()


@given(st.lists(st.sampled_from("abc")), st.lists(st.sampled_from("abc")))
def test_side_by_side_loses_no_line(before: list[str], after: list[str]) -> None:
    rows = list(lines("\n".join(before), "\n".join(after)))
    assert [row.a for row in rows if row.a is not None] == "\n".join(before).split("\n")
    assert [row.b for row in rows if row.b is not None] == "\n".join(after).split("\n")
    shortened = list(folded(rows))
    assert sum(row.count if row.kind == "gap" else 1 for row in shortened) == len(rows)
    assert [row for row in shortened if row.kind not in ("same", "gap")] == [row for row in rows if row.kind != "same"]


def test_latencies_are_counted_per_bucket() -> None:
    (one,) = latencies({"/v1/context": [(0.001, 2), (0.01, 10), (float("inf"), 11)], "/quiet": [(float("inf"), 0)]})
    assert (one.count, one.median) == (11, "10 ms")
    assert [(column.words, column.count) for column in one.columns] == [("1 ms", 2), ("10 ms", 8), ("longer", 1)]


def test_a_day_of_the_axis_is_named_by_its_hours() -> None:
    assert all(":" in tick.words for tick in Timeline.over([NOW, NOW + timedelta(hours=5)]).ticks)
    assert all(":" not in tick.words for tick in Timeline.over([NOW, NOW + timedelta(days=50)]).ticks)
