"""The endurance run judges what it saw, and draws it."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from scripts.soak_load import CHARTS, Sample, longest_idle, slope, svg, verdict

HOURS = 2


def _samples(*, growth_mb: float = 0.0, opened: int = 0, wal: float = 1.0) -> list[Sample]:
    """Two hours, a look a minute; memory and descriptors rise by this much an hour."""
    return [
        Sample(
            seconds=minute * 60.0,
            service_mb=200 + growth_mb * minute / 60,
            worker_mb=150,
            descriptors=50 + opened * minute // 60,
            wal_mb=wal,
            p50_ms=3,
            p95_ms=9,
            served=9,
        )
        for minute in range(HOURS * 60 + 1)
    ]


def test_growth_is_per_hour() -> None:
    assert slope([(0.0, 1.0), (3600.0, 3.0), (7200.0, 5.0)]) == pytest.approx(2.0)
    assert slope([(0.0, 1.0)]) == 0.0


def test_what_is_flat_is_well_and_what_grows_is_named() -> None:
    assert verdict(_samples(growth_mb=0.5), most_wal_mb=300) == []
    assert verdict(_samples(growth_mb=3), most_wal_mb=300) == ["memory grew by 3.00 MB an hour"]
    assert verdict(_samples(opened=60), most_wal_mb=300) == ["descriptors grew"]
    assert verdict(_samples(wal=5_000), most_wal_mb=300) == ["the write-ahead log was not bounded"]


def test_a_service_that_serves_nobody_is_named() -> None:
    looks = [replace(look, seconds=look.seconds / 12) for look in _samples()]
    looks[70] = replace(looks[70], served=0)
    assert longest_idle(looks) == 5, "one look without an answer is no reason"
    assert verdict(looks, most_wal_mb=300) == []
    stuck = [replace(look, served=0) if look.seconds > 300 else look for look in looks]
    assert verdict(stuck, most_wal_mb=300) == ["nothing was served for 300 s"]


def test_a_short_run_is_shown_and_not_judged() -> None:
    assert verdict(_samples(growth_mb=300)[:10], most_wal_mb=300) == []


def test_the_picture_has_a_curve_for_each_figure() -> None:
    for samples in ([], _samples()):
        drawn = ET.fromstring(svg(samples, title="sqlite"))
        curves = [one for one in drawn if one.tag.endswith("polyline")]
        assert len(curves) == sum(len(names) for names, _ in CHARTS)
