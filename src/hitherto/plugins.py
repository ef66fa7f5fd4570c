"""Parts of an application's own, found by entry points: embedders, rerankers and tokenizers that settings can name.

A package declares them under `hitherto.embedders`, `hitherto.rerankers` or `hitherto.tokenizers`; the value is a function
that takes the text after the first colon of the name (`mine:large` calls it with "large", `mine` with "") and makes the part.
Checks for them are in `hitherto.testing`.
"""

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal, cast

from hitherto.errors import InvalidInput

Kind = Literal["embedder", "reranker", "tokenizer"]


def plugin(kind: Kind, name: str) -> object | None:
    """The part of that name, made; None where no installed package declares it."""
    key, _, rest = name.partition(":")
    found = next((one for one in _declared(kind) if one.name == key), None)
    if found is None:
        return None
    make = cast(Callable[[str], Any], found.load())
    return make(rest)


def unknown(kind: Kind, name: str, known: Iterable[str]) -> InvalidInput:
    """What to raise for a name that nobody has: the nearest right one, and all of them."""
    names = sorted({*known, *(one.name for one in _declared(kind))})
    near = get_close_matches(name, names, n=1, cutoff=0.4)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    article = "an" if kind[0] in "aeiou" else "a"
    return InvalidInput(f"{name!r} is not {article} {kind} that is installed.{hint} There are: {', '.join(names)}.")


def _declared(kind: Kind) -> Iterable[EntryPoint]:
    return entry_points(group=f"hitherto.{kind}s")
