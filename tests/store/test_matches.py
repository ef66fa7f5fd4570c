"""The pure score is FTS5's own, on any corpus."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from hitherto.store.columns import distinct, score
from hitherto.store.sqlite.connections import in_memory
from tests.effort import count

stem = st.sampled_from([f"w{n}" for n in range(9)])
documents = st.lists(st.lists(stem, min_size=1, max_size=12), min_size=1, max_size=25)


@settings(max_examples=count(test=200, soak=5_000))
@given(documents, st.lists(stem, min_size=1, max_size=6))
def test_it_reproduces_fts5(corpus: list[list[str]], query: list[str]) -> None:
    connection = in_memory()
    connection.execute("CREATE VIRTUAL TABLE words USING fts5(stems)")
    connection.executemany("INSERT INTO words VALUES (?)", [(" ".join(stems),) for stems in corpus])
    found = connection.execute(
        "SELECT rowid, round(-bm25(words), 6) FROM words WHERE words MATCH ? ORDER BY rowid",
        (" OR ".join(distinct(query)),),
    ).fetchall()
    connection.close()
    holding = Counter(stem for stems in corpus for stem in set(stems))
    expected = [
        (
            rowid,
            score(
                query,
                frequencies=Counter(stems),
                length=len(stems),
                documents=len(corpus),
                total=sum(map(len, corpus)),
                holding=holding,
            ),
        )
        for rowid, stems in enumerate(corpus, start=1)
        if set(stems) & set(query)
    ]
    assert found == expected
