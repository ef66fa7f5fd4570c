"""Plain BM25 over a conversation's turns: the ranking that every gain is measured against."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from hitherto.store import matches as bm25
from hitherto.text.analyser import stems


@dataclass(frozen=True, slots=True)
class Index:
    """Texts by their stems, with the statistics that the stores keep."""

    counts: tuple[Counter[str], ...]
    lengths: tuple[int, ...]
    postings: dict[str, tuple[int, ...]]

    @classmethod
    def of(cls, texts: Sequence[str]) -> Self:
        counts = tuple(Counter(stems(text)) for text in texts)
        postings: dict[str, list[int]] = {}
        for place, found in enumerate(counts):
            for stem in found:
                postings.setdefault(stem, []).append(place)
        return cls(
            counts=counts,
            lengths=tuple(found.total() for found in counts),
            postings={stem: tuple(places) for stem, places in postings.items()},
        )

    def scores(self, asked: Sequence[str]) -> dict[int, float]:
        """The score of every text that holds one of these stems, by its place."""
        known = [stem for stem in bm25.distinct(asked) if stem in self.postings]
        holding = {stem: len(self.postings[stem]) for stem in known}
        total = sum(self.lengths)
        return {
            place: bm25.score(
                known,
                frequencies=self.counts[place],
                length=self.lengths[place],
                documents=len(self.counts),
                total=total,
                holding=holding,
            )
            for place in sorted({place for stem in known for place in self.postings[stem]})
        }

    def ranked(self, question: str) -> list[tuple[int, float]]:
        """Places and scores, best first, ties in the order of the conversation."""
        return sorted(self.scores(stems(question)).items(), key=lambda found: (-found[1], found[0]))
