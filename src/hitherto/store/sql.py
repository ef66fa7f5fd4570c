"""Named SQL, read from the `queries/*.sql` files beside each store.

A statement begins with `-- name: x` and a comment that says what it is for. `{y}` stands for the statement `y` of the same
file; any other name in braces is a gap, which the store fills from closed lists of its own, never from data.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

_NAME = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)
_COMMENT = re.compile(r"^--.*\n", re.MULTILINE)
_BRACES = re.compile(r"\{(\w+)\}")


@cache
def queries(store: str, file: str) -> Mapping[str, str]:
    """The statements of `<store>/queries/<file>.sql`, by their names."""
    return parse((_folder(store) / f"{file}.sql").read_text(encoding="utf-8"))


@cache
def all_queries(store: str) -> Mapping[str, str]:
    """The statements of all files of a store whose names are unique over its files."""
    found: dict[str, str] = {}
    for item in sorted(_folder(store).iterdir(), key=lambda item: item.name):
        for name, text in queries(store, item.name.removesuffix(".sql")).items():
            if name in found:
                raise ValueError(f"two statements are named {name!r}")
            found[name] = text
    return found


def _folder(store: str) -> Traversable:
    return files(f"hitherto.store.{store}") / "queries"


def parse(text: str) -> dict[str, str]:
    _, *pieces = _NAME.split(text)
    bodies = {name: _COMMENT.sub("", body + "\n").strip() for name, body in zip(pieces[::2], pieces[1::2], strict=True)}
    return {name: _BRACES.sub(lambda gap: bodies.get(gap[1], gap[0]), body) for name, body in bodies.items()}
