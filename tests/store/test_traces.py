from hypothesis import given
from hypothesis import strategies as st

from hitherto.store.columns import Trace, Traced

NAMES = st.sampled_from((None, "", "a", "b", "ü"))


@st.composite
def some_traces(draw: st.DrawFn) -> list[Trace]:
    return [
        Trace(
            seq=seq,
            place=draw(st.integers(1, seq)),
            noun=draw(st.sampled_from(("turn", "memory", "episode"))),
            id=draw(st.text(max_size=3)),
            at=draw(st.integers(-(2**60), 2**60)),
            role=draw(st.sampled_from((None, "user", "assistant"))),
            persona=draw(NAMES),
            lane=draw(NAMES),
            session=draw(NAMES),
            speaker=draw(NAMES),
            vector=draw(st.binary(max_size=5)),
        )
        for seq in sorted(draw(st.sets(st.integers(1, 40), max_size=12)))
    ]


@given(some_traces(), st.data())
def test_columns_say_what_rows_say(traces: list[Trace], data: st.DataObject) -> None:
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(traces))] * 2)))
    whole = Traced.of(traces)
    assert (list(whole), len(whole)) == (traces, len(traces))
    assert list(whole[start:end]) == traces[start:end]
    assert [whole[row] for row in range(len(traces))] == traces
    parts = [Traced.of(traces[:start]), whole[start:end], Traced.of(traces[end:])]
    assert Traced.joined(parts) == whole
    assert Traced.joined(parts[:1]) == tuple(traces[:start])
    seq = data.draw(st.integers(0, 41))
    assert list(whole.after(seq)) == [trace for trace in traces if trace.seq > seq]


def test_equal_are_the_same_traces() -> None:
    trace = Trace(1, 1, "turn", "a", 0, "user", None, None, "s", None, b"\x01")
    assert Traced.of([trace]) == (trace,)
    assert hash(Traced.of([trace])) == hash((trace,))
    assert Traced.of([trace]) != Traced.of([trace._replace(vector=b"\x02")])
    assert Traced.of([trace]) != [trace]
    assert Traced.of([]) == ()
