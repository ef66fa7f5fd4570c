"""How the benchmarks measure: interleaved rounds on a noisy machine, medians with their spread, ratios within one run."""

from __future__ import annotations

import json
import platform
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True, slots=True)
class Spread:
    """Milliseconds: median, 95th percentile, quartiles."""

    p50: float
    p95: float
    low: float
    high: float
    count: int

    def __str__(self) -> str:
        return f"{self.p50:.3f} (p95 {self.p95:.3f})"


def spread(seconds: Sequence[float]) -> Spread:
    values = sorted(value * 1000 for value in seconds)
    low, _, high = statistics.quantiles(values, n=4) if len(values) > 1 else (values[0],) * 3
    return Spread(
        p50=statistics.median(values),
        p95=values[min(len(values) - 1, round(0.95 * (len(values) - 1)))],
        low=low,
        high=high,
        count=len(values),
    )


def timed(call: Callable[[], object]) -> float:
    start = perf_counter()
    call()
    return perf_counter() - start


def table(rows: Sequence[Mapping[str, object]]) -> str:
    """Plain aligned columns."""
    names = list(rows[0])
    cells = [names, *([_cell(row.get(name, "")) for name in names] for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(names))]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in cells)


def save(name: str, rows: Sequence[Mapping[str, object]]) -> Path:
    """Appends the run to `bench/results/<name>.jsonl`, with the day and the kind of machine."""
    RESULTS.mkdir(exist_ok=True)
    run = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "rows": list(rows),
    }
    path = RESULTS / f"{name}.jsonl"
    with path.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(run, default=str) + "\n")
    return path


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
