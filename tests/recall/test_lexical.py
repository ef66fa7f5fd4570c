import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.recall.lexical import Posting, Scores, Statistics, bm25, idf
from recollect.text.analyse import stems


def _index(texts: list[str], query: str) -> tuple[list[Posting], Statistics]:
    documents = [stems(text) for text in texts]
    wanted = set(stems(query))
    postings = [
        Posting(seq=seq, stem=stem, count=document.count(stem), length=len(document))
        for seq, document in enumerate(documents, start=1)
        for stem in sorted(wanted & set(document))
    ]
    frequencies = {stem: sum(stem in document for document in documents) for stem in wanted}
    lengths = [len(document) for document in documents]
    return postings, Statistics(
        documents=len(texts), average_length=sum(lengths) / max(len(lengths), 1), frequencies=frequencies
    )


def _score(texts: list[str], query: str) -> Scores:
    postings, statistics = _index(texts, query)
    return bm25(postings, query=stems(query), statistics=statistics)


def test_the_formula_by_hand() -> None:
    scores = _score(["red apple", "green apple apple pie", "blue sky", "grey stone", "tall tree"], "apple")
    rarity = math.log((5 - 2 + 0.5) / (2 + 0.5))
    average = (2 + 4 + 2 + 2 + 2) / 5
    first = rarity * 1 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / average))
    second = rarity * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 4 / average))
    assert scores.seqs.tolist() == [1, 2]
    assert scores.values.tolist() == [round(first, 6), round(second, 6)]


def test_ties_go_to_the_lower_seq() -> None:
    assert [seq for seq, _ in _score(["tea time", "tea time", "tea time"], "tea").ranked()] == [1, 2, 3]
    assert [seq for seq, _ in _score(["tea time", "tea time", "tea time"], "tea").ranked(2)] == [1, 2]


@pytest.mark.parametrize("query", ["", "the of and", "zebra", "🎉"])
def test_nothing_to_match_is_no_result(query: str) -> None:
    assert _score(["tea time", "green apple"], query).ranked() == []


def test_a_stem_found_everywhere_still_counts() -> None:
    assert idf(10, documents=10) > 0


texts = st.lists(
    st.lists(st.sampled_from(["tea", "apple", "sky", "river", "stone"]), max_size=6).map(" ".join), min_size=1
)


@given(texts, st.permutations(["tea", "apple", "sky"]))
def test_neither_the_order_of_postings_nor_of_the_query_matters(documents: list[str], query: list[str]) -> None:
    postings, statistics = _index(documents, " ".join(query))
    forward = bm25(postings, query=query, statistics=statistics).ranked()
    backward = bm25(postings[::-1], query=query[::-1] * 2, statistics=statistics).ranked()
    assert forward == backward
    assert all(score >= 0 for _, score in forward)
