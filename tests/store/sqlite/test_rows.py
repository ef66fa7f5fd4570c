"""Times survive as they are, to the microsecond."""

from datetime import UTC, datetime

from hypothesis import example, given
from hypothesis import strategies as st

from hitherto.clock import EPOCH, from_micros, micros
from hitherto.store.sqlite.rows import names, names_text, stems_of

moments = st.datetimes(min_value=EPOCH.replace(tzinfo=None), timezones=st.just(UTC))


@given(moments)
@example(datetime(2112, 9, 17, 23, 53, 47, 370495, tzinfo=UTC))
@example(datetime(2112, 9, 17, 23, 53, 47, 370496, tzinfo=UTC))
@example(datetime.max.replace(tzinfo=UTC))
def test_a_time_is_kept_to_the_microsecond(moment: datetime) -> None:
    assert from_micros(micros(moment)) == moment


@given(st.lists(st.text()).map(tuple))
def test_names_are_kept(found: tuple[str, ...]) -> None:
    assert names(names_text(found)) == found


@given(st.lists(st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1)).map(tuple))
def test_stems_are_kept(found: tuple[str, ...]) -> None:
    assert stems_of(" ".join(found)) == found
