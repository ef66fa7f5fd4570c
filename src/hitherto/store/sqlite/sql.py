"""Named queries from `.sql` files.

A query begins with `-- name: x` and a comment that says what it is for. `{y}` stands for the query `y` of the same
file; any other name in braces is filled in by `conditions`.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

_NAME = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)
_BRACES = re.compile(r"\{(\w+)\}")


@cache
def queries(name: str) -> Mapping[str, str]:
    """The queries of `queries/<name>.sql` by their names."""
    return parse((files("hitherto.store.sqlite") / "queries" / f"{name}.sql").read_text(encoding="utf-8"))


def parse(text: str) -> dict[str, str]:
    _, *pieces = _NAME.split(text)
    bodies = {
        title: " ".join(line.strip() for line in body.splitlines() if line and not line.startswith("--"))
        for title, body in zip(pieces[::2], pieces[1::2], strict=True)
    }
    return {title: _BRACES.sub(lambda m: bodies.get(m[1], m[0]), body) for title, body in bodies.items()}


@cache
def under(select: str, known: bool, conditions: tuple[str, ...], order: str) -> str:  # noqa: FBT001 - a cache key
    """`select` over what is visible and meets the conditions.

    What is visible now is found by the indexes of live versions. What was visible at :known is that, as far as it was
    written by then, and what ended since; the index of ended versions finds the second part.
    """
    visible = (
        ("retired IS NULL AND seq <= :known", "retired > :known AND seq <= :known") if known else ("retired IS NULL",)
    )
    parts = (select.replace("{conditions}", " AND ".join((*conditions, one))) for one in visible)
    return f"{' UNION ALL '.join(parts)} ORDER BY {order} LIMIT :limit"
