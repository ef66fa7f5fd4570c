"""Make the list of related words from the table of the static embedder.

    python scripts/relate_words.py

The table has a vector for each whole word of its vocabulary. A line of the list is a stem and the stems nearest to it, the
nearest first. Words whose neighbours are others of their kind rather than another way to say the same, like names, numbers
and days, have no line and stand in none. It takes about half a minute on one core.
"""

import re
from pathlib import Path
from typing import Final

import numpy as np

from hitherto.recall.embed.static import TABLE
from hitherto.recall.vectors import Vectors, products, unit
from hitherto.text.analyser import stems
from hitherto.text.patterns import PatternTable

TARGET: Final = Path(__file__).parents[1] / "src" / "hitherto" / "recall" / "related.txt"
NEAREST: Final = 4
SIMILAR: Final = 0.5
_WORD: Final = re.compile(r"[a-z]{3,}")
_AT_ONCE: Final = 1_000
_KINDS: Final = """monday tuesday wednesday thursday friday saturday sunday weekday january february march april may june july
august september october november december jan feb mar apr jun jul aug sep sept oct nov dec zero one two three four five six
seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty
seventy eighty ninety hundred thousand million billion first second third fourth fifth sixth seventh eighth ninth tenth
morning afternoon evening night spring summer autumn winter left right yesterday today tomorrow tonight week month year day
hour minute decade century ago last next past"""


def left_out() -> frozenset[str]:
    given = PatternTable.read("hitherto.learn", "names.toml").content["given"]
    return frozenset(stems(" ".join([_KINDS, *given])))


def words() -> tuple[list[str], Vectors]:
    """Stems in alphabetical order, with the vector of the most frequent word of each: the vocabulary is in that order."""
    with np.load(TABLE) as table:
        vocabulary = bytes(table["vocabulary"]).decode().split("\n")
        codes = table["codes"].astype(np.float32)
    skipped = left_out()
    places: dict[str, int] = {}
    for place, word in enumerate(vocabulary):
        found = stems(word) if _WORD.fullmatch(word) else []
        if len(found) == 1 and found[0] not in skipped:
            places.setdefault(found[0], place)
    names = sorted(places)
    return names, unit(codes[[places[name] for name in names]])


def main() -> None:
    names, vectors = words()
    lines: list[str] = []
    for start in range(0, len(names), _AT_ONCE):
        alike = products(vectors[start : start + _AT_ONCE], vectors)
        for row, name in zip(alike, names[start : start + _AT_ONCE], strict=True):
            order: list[int] = np.argsort(-row, kind="stable")[: NEAREST + 1].tolist()
            near = [names[place] for place in order if row[place] >= SIMILAR and names[place] != name][:NEAREST]
            if near:
                lines.append(" ".join([name, *near]))
    TARGET.write_text("\n".join(lines) + "\n", encoding="ascii")
    print(f"{TARGET}: {len(lines):,} words, {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
