"""Stored text on a page. It is always text: escaped, its invisible characters written out, its direction kept to itself."""

import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import groupby

from markupsafe import Markup, escape

from hitherto.safety.visible import seen_and_hidden
from hitherto.types import Json

MOST_NAMED = 4
"""Invisible characters in a row that are named one by one."""
_TAGS = range(0xE0020, 0xE007F)
"""Tag characters: an invisible copy of ASCII, good for nothing but hiding words."""


def shown(text: str) -> Markup:
    """The text with what a reader could not see written out in brackets."""
    made: list[str] = []
    for seen, run in groupby(seen_and_hidden(text), key=lambda piece: piece[1]):
        words = "".join(piece for piece, _ in run)
        made.append(str(escape(words)) if seen else "".join(_written_out(words)))
    return Markup("").join(map(Markup, made))


def excerpt(text: str, length: int = 280) -> str:
    """The beginning of a text in one line."""
    line = " ".join(text.split()).removeprefix("- ")
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


def moment(at: datetime | None) -> str:
    """A time as people read it, in UTC."""
    return "" if at is None else f"{at.astimezone(UTC):%a %d %b %Y %H:%M}"


def clock(at: datetime) -> str:
    return f"{at.astimezone(UTC):%H:%M}"


def span(seconds: float) -> str:
    """A length of time in its largest unit."""
    for size, word in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {word}{'s' if count != 1 else ''}"
    return f"{int(seconds)} seconds"


def told(value: Json) -> str:
    """A JSON value in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value in (None, "", [], {}):
        return "none"
    if isinstance(value, list):
        return "; ".join(map(told, value))
    if isinstance(value, dict):
        return ", ".join(f"{name.replace('_', ' ')} {told(inner)}" for name, inner in value.items())
    return str(value)


def _written_out(hidden: str) -> Iterator[str]:
    for are_tags, run in groupby(hidden, key=lambda mark: ord(mark) in _TAGS):
        marks = "".join(run)
        if are_tags:
            said = "".join(chr(ord(mark) - 0xE0000) for mark in marks)
            yield _bracketed(f"hidden: {said}", "tag characters")
        elif len(marks) <= MOST_NAMED:
            yield from (_bracketed(f"U+{ord(mark):04X}", unicodedata.name(mark, "invisible")) for mark in marks)
        else:
            yield _bracketed(f"{len(marks)} invisible characters", f"the first is U+{ord(marks[0]):04X}")


def _bracketed(words: str, name: str) -> str:
    return f'<span class="hid" title="{escape(name.lower())}">[{escape(words)}]</span>'
