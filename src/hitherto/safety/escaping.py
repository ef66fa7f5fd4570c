"""What keeps stored text inside its block, in a context and in the prompts of the work alike.

Three things make stored text data: what a reader cannot see is taken out, links lose their address, and a line that looks
like a marker gets a backslash in front.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Final

from hitherto.safety.links import inert
from hitherto.safety.visible import visible

__all__ = ["escaped", "safe"]

_SQUARE: Final = "[［﹇⁅【〔〖〘〚⟦⟬❲⦋⦍⦏⸢⸤⌈⌊⎡⎣❴︹︻"
_BRACKET: Final = re.compile(f"[{re.escape(_SQUARE)}]")
_CLOSING: Final = "]］﹈⁆】〕〗〙〛⟧⟭❳⦌⦎⦐⸣⸥⌉⌋⎤⎦❵︺︼"
_SLASHES: Final = "/\\／∕⁄╱⧸⟋"
# A bracket is the first sign of a line but for what has no letters, and a title's first sign comes after it: behind spaces,
# quotation marks, combining marks and further brackets, however many, as long as none of them closes.
_LINE: Final = re.compile(
    rf"(?m)^([^\w\n{re.escape(_SQUARE)}\\]*)"
    rf"([{re.escape(_SQUARE)}](?:[^\w\n{re.escape(_CLOSING + _SLASHES)}]|_)*+)([^\n]?)"
)
_SIGNS: Final = b"/\\<[]"
_COLON: Final = re.compile(r":\S")
"""Without one of these signs, a colon inside a word or `www`, an ASCII text holds neither a link nor a marker."""
_SHORT: Final = 2_000
_LONG: Final = 20_000


def safe(text: str) -> str:
    """Stored text as it may stand in a prompt. Doing it twice changes nothing more."""
    ordinary = _ordinary(text) if len(text) <= _SHORT else _ordinary.__wrapped__(text)
    if ordinary:
        return text
    return _cleaned(text) if len(text) <= _LONG else _cleaned.__wrapped__(text)


@lru_cache(maxsize=2_048)
def _cleaned(text: str) -> str:
    return escaped(inert(visible(text)))


@lru_cache(maxsize=4_096)
def _ordinary(text: str) -> bool:
    """Whether a text is like most of what people write: nothing hidden, no link, no bracket."""
    if not (text.isascii() and text.isprintable()) or len(text.encode().translate(None, _SIGNS)) < len(text):
        return False
    return (":" not in text or _COLON.search(text) is None) and "ww" not in text.lower()


def escaped(text: str) -> str:
    """The text with a backslash before every line's beginning that could pass for a marker."""
    if _BRACKET.search(text) is None:
        return text
    return _LINE.sub(_guarded, text)


def _guarded(line: re.Match[str]) -> str:
    first = unicodedata.normalize("NFKC", line[3])[:1]
    if first and (first in _SLASHES or first.isupper() or unicodedata.category(first) == "Lt"):
        return f"{line[1]}\\{line[2]}{line[3]}"
    return line[0]
