"""When overload lasts, when it is over, and how many requests are worth working on at once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitherto.deliver.http.limits import Overload, concurrency


class Machine:
    """Time that passes when it is told to, with so much of it for this process's own work."""

    def __init__(self, *, share: float = 0.0) -> None:
        self.time = self.used = 0.0
        self.share = share

    def passes(self, seconds: float) -> None:
        self.time += seconds
        self.used += seconds * self.share

    def overload(self, seconds: float = 1.0) -> Overload:
        return Overload(seconds, now=lambda: self.time, processor=lambda: self.used)


@given(st.integers(2, 64))
def test_one_at_a_time_only_where_one_processor_is_all_there_is(number: int) -> None:
    assert [concurrency(number, processor=used) for used in (0.0, 0.5, 0.7, 0.95, 1.2)] == [number, number, 1, 1, 1]
    assert concurrency(number, processor=1.6) == number, "several processors are at work"
    assert concurrency(1, processor=0.3) == 1


def test_it_lasts_after_its_time_without_room_and_ends_with_room() -> None:
    machine = Machine()
    overload = machine.overload()
    overload.leave(room=False)
    machine.passes(0.99)
    overload.see()
    assert not overload.lasts
    machine.passes(0.02)
    overload.see()
    assert overload.lasts
    overload.leave(room=True)
    machine.passes(0.1)
    overload.see()
    assert overload.lasts, "a gap between two requests is no end"
    machine.passes(0.1)
    overload.see()
    assert not overload.lasts


@given(st.lists(st.floats(0.001, 0.2), min_size=1, max_size=50))
def test_room_now_and_then_is_no_overload(stretches: list[float]) -> None:
    """Half of the time there is room."""
    machine = Machine()
    overload = machine.overload()
    for stretch in stretches:
        for room in (False, True):
            overload.leave(room=room)
            machine.passes(stretch)
            overload.see()
            assert not overload.lasts


@given(st.lists(st.booleans(), min_size=1, max_size=100))
def test_once_it_lasts_short_gaps_do_not_end_it(gaps: list[bool]) -> None:
    """At twice the capacity a turn lies idle now and then."""
    machine = Machine()
    overload = machine.overload()
    overload.leave(room=False)
    machine.passes(2)
    for gap in gaps:
        overload.leave(room=False)
        machine.passes(0.06)
        overload.leave(room=gap)
        machine.passes(0.02)
        overload.see()
        assert overload.lasts


@pytest.mark.parametrize("share", [0.0, 0.4, 0.9, 1.7])
def test_processor_time_is_measured(share: float) -> None:
    machine = Machine(share=share)
    overload = machine.overload()
    for _ in range(5):
        machine.passes(0.3)
        overload.see()
    assert overload.processor == pytest.approx(share, abs=1e-6)
