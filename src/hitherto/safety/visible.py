"""Which text may be stored, and which part of it may be seen.

A turn is kept as it was written, with two exceptions: NUL (PostgreSQL's text type refuses it) and lone surrogates (they
have no UTF-8 form, so nothing downstream could store, hash or send them). `clean` refuses both where a turn enters.

Rendering is the other edge. A language model reads code points that a person never sees, so a stored turn could carry
orders in tag characters or reorder itself with bidi controls. `visible` removes whatever has no glyph of its own and keeps
only joiners that change how visible neighbours look: ZWJ and VS16 in emoji, ZWJ and ZWNJ between letters of scripts that
join, ZWJ after the virama of an Indic letter.
"""

import re
from collections.abc import Iterator
from typing import Final

__all__ = ["InvalidText", "clean", "seen_and_hidden", "visible"]


class InvalidText(ValueError):
    """The text holds a code point that cannot be stored."""


_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")

# Default-ignorable code points, controls other than tab and line feed, annotation marks, noncharacters. Line
# breaks of other kinds are in the set because `visible` turns each into a line feed: the renderer then has
# one notion of a line, and a marker cannot hide behind a separator that it does not split on.
_SUSPECT: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u2800\u3164\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\ud800-\udfff"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_LINE_BREAKS: Final = frozenset("\x0b\x0c\r\x85\u2028\u2029")
_ZWNJ, _ZWJ, _VS16 = "\u200c", "\u200d", "\ufe0f"

_JOINING: Final = re.compile(
    "[\u0620-\u065f\u066e-\u06d3\u06d5-\u06dc\u06fa-\u06ff\u0710-\u074f\u0750-\u077f\u07ca-\u07f5\u0840-\u085b"
    "\u08a0-\u08e1\u0900-\u0963\u0971-\u0dff\u1000-\u103f\u1050-\u109f\u1780-\u17b3\u17b6-\u17d3\u1820-\u18aa"
    "\u1b05-\u1b44\ufb50-\ufbb1\ufbd3-\ufd3d\ufe70-\ufefc]"
)
_VIRAMA: Final = frozenset("\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca")
_PICTOGRAPH: Final = re.compile(
    "[\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u2460-\u24ff\u25a0-\u27bf\u2900-\u297f"
    "\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_KEYCAP_BASE: Final = frozenset("0123456789#*")
_KEYCAP: Final = "\u20e3"


def clean(text: str) -> str:
    """Returns the text unchanged, or raises `InvalidText` if it cannot be stored."""
    found = _UNSTORABLE.search(text)
    if found is None:
        return text
    name = "NUL" if found[0] == "\x00" else f"the lone surrogate {ord(found[0]):#06x}"
    raise InvalidText(f"text holds {name} at position {found.start()}; remove it or decode the input again")


def visible(text: str) -> str:
    """Returns the text without anything that a reader could not see. Idempotent."""
    if _SUSPECT.search(text) is None:
        return text
    return "".join([piece for piece, seen in seen_and_hidden(text) if seen])


def seen_and_hidden(text: str) -> Iterator[tuple[str, bool]]:
    """Splits the text into pieces, each with whether a reader sees it; a hidden piece is one code point."""
    last = ""
    done = 0
    text = text.replace("\r\n", "\n")
    for found in _SUSPECT.finditer(text):
        piece = text[done : found.start()]
        done = found.end()
        if piece:
            yield piece, True
            last = piece[-1]
        stays = _seen(found[0], before=last, after=text[done : done + 1])
        if stays:
            yield stays, True
            last = stays
        else:
            yield found[0], False
    if done < len(text):
        yield text[done:], True


def _seen(mark: str, *, before: str, after: str) -> str:
    """What a suspect code point becomes, given what was kept before it and what follows."""
    if mark in _LINE_BREAKS:
        return "\n"
    if mark == _VS16:
        keycap = before in _KEYCAP_BASE and after == _KEYCAP if before else False
        return mark if keycap or _PICTOGRAPH.match(before) else ""
    if mark == _ZWJ and (before == _VS16 or _PICTOGRAPH.match(before)) and _PICTOGRAPH.match(after):
        return mark
    if mark in (_ZWJ, _ZWNJ) and _JOINING.match(before) and _JOINING.match(after):
        return mark
    # After a virama it changes a letter's shape even at the end of a word, as in Malayalam's chillus.
    if mark == _ZWJ and before in _VIRAMA:
        return mark
    return ""
