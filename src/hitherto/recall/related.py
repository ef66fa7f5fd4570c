"""Words that say nearly the same as those that are asked for: "doctor" finds "physician", "furniture" finds "sofa".

Full text finds only what is said in the same words, and a vector of a whole turn loses the one word that matters. So the words
nearest to each asked one are looked up as well, and count for less. They come from a list, `related.txt`, that
`scripts/relate_words.py` makes from the static embedder's table.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import zip_longest
from typing import Final

MOST: Final = 8
"""Related stems of one message: each is a lookup of its own."""


def related(asked: Sequence[str], *, most: int = MOST) -> tuple[str, ...]:
    """Stems that are near the asked ones and not among them: the nearest of each first, then the next of each."""
    listed = _listed()
    turns = zip_longest(*(listed.get(stem, ()) for stem in asked))
    near = dict.fromkeys(stem for turn in turns for stem in turn if stem is not None)
    return tuple([stem for stem in near if stem not in asked][:most])


@cache
def _listed() -> Mapping[str, tuple[str, ...]]:
    text = files("hitherto.recall").joinpath("related.txt").read_text(encoding="ascii")
    return {stem: tuple(near) for stem, *near in map(str.split, text.splitlines())}
