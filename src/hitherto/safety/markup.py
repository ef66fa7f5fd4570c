"""Makes links and images from memory inert, and keeps stored text inside its block, in contexts and in the prompts of
background work alike.

A stored text that reaches a chat window through the model's answer could load an image from a foreign host and leak the
conversation in its address. So nothing rendered from memory is a link any more: a Markdown or HTML link keeps its words and
names its host, an image keeps its description, a bare address loses its scheme. The address itself stays readable, because
"my site is ana.dev/blog" is worth remembering.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Final

from hitherto.safety.visible import visible

__all__ = ["escaped", "inert", "safe"]

_ANY: Final = re.compile(r"\]\(|\]:|!\[|[/\\]{2}|www\.|<|[a-z]:\S", re.IGNORECASE)
_WORDS: Final = r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]"
_TARGET: Final = r"\(\s*<?([^()<>\s]*(?:\([^()\s]*\)[^()<>\s]*)*)>?(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)"
_INLINE: Final = re.compile(rf"(!?){_WORDS}{_TARGET}")
_DEFINITION: Final = re.compile(r"(?m)^([ >]{0,8})\[([^\[\]\n]+)\]:[ \t]*\n?[ \t]*<?([^\s<>]*)>?")
_AUTOLINK: Final = re.compile(r"<([a-z][a-z0-9+.-]{1,31}:[^\s<>]*|[^\s<>@]+@[^\s<>@]+)>", re.IGNORECASE)
_ACTIVE: Final = (
    "a|area|audio|base|body|embed|form|i?frame|image|img|input|link|meta|object|picture|script|source|style|svg|table"
    "|td|track|use|video"
)
_ACTIVE_TAG: Final = re.compile(rf"</?(?:{_ACTIVE})\b[^<>]*>", re.IGNORECASE)
# For a tag that is never closed, or one of another name with attributes ("if x <y and z = 3" only looks like one), a space
# breaks the tag and keeps the words.
_LOOSE_TAG: Final = re.compile(rf"<(?=/?(?:{_ACTIVE})\b|[a-z][^<>]*=)", re.IGNORECASE)
_ADDRESS: Final = re.compile(r"\b(?:href|src)\s*=\s*[\"']?([^\"'\s>]+)", re.IGNORECASE)
_HOST: Final = re.compile(
    r"(?:[a-z][a-z0-9+.-]{0,30}:)?[/\\]{2,}(?:[^/\\\s?#@]*@)?(?:www\.)?([^/\\\s?#:]+)", re.IGNORECASE
)
_SCHEME: Final = re.compile(
    r"[a-z][a-z0-9+.-]{0,30}:[/\\]{2,}|\b(?:javascript|vbscript|data|mailto|tel|file|blob|sms|xmpp):(?=\S)"
    r"|(?<![:\w/\\])[/\\]{2,}(?=\w)",
    re.IGNORECASE,
)
_WWW: Final = re.compile(r"(?<![\w.])(?:www\.)+(?=\w)", re.IGNORECASE)


def inert(text: str) -> str:
    """Returns the text with its words but without working links or images."""
    if _ANY.search(text) is None:
        return text
    text = _INLINE.sub(_reworded, text)
    text = _DEFINITION.sub(r"\1\2: \3", text)
    text = _AUTOLINK.sub(r"\1", text)
    text = _LOOSE_TAG.sub("< ", _ACTIVE_TAG.sub(_untagged, text))
    # Link syntax that no rule above understood becomes plain text through a space between its characters.
    text = re.sub(r"\](?=\()|\](?=:)|!(?=\[)", r"\g<0> ", text)
    while (bare := _WWW.sub("", _SCHEME.sub("", text))) != text:
        text = bare
    return text


def _host(target: str) -> str:
    found = _HOST.match(target)
    return found[1].lower() if found else ""


def _reworded(link: re.Match[str]) -> str:
    image, words, host = link[1], link[2].strip(), _host(link[3])
    if image:
        return f"(image: {words})" if words else "(image)"
    return words if not host or host in words.lower() else f"{words} ({host})"


def _untagged(tag: re.Match[str]) -> str:
    address = _ADDRESS.search(tag[0])
    host = _host(address[1]) if address else ""
    return f"({host}) " if host else ""


# --- text inside a block -----------------------------------------------------------------------------------------------
#
# Three steps turn stored text into data: invisible characters are removed, links lose their address, and a line that looks
# like a marker gets a backslash in front.

_SQUARE: Final = "[［﹇⁅【〔〖〘〚⟦⟬❲⦋⦍⦏⸢⸤⌈⌊⎡⎣❴︹︻"
_BRACKET: Final = re.compile(f"[{re.escape(_SQUARE)}]")
_CLOSING: Final = "]］﹈⁆】〕〗〙〛⟧⟭❳⦌⦎⦐⸣⸥⌉⌋⎤⎦❵︺︼"
_SLASHES: Final = "/\\／∕⁄╱⧸⟋"
# A bracket counts as the first character of a line if only characters without letters precede it. A title may follow it
# after any number of spaces, quotation marks, combining marks and further brackets, as long as none of them closes.
_LINE: Final = re.compile(
    rf"(?m)^([^\w\n{re.escape(_SQUARE)}\\]*)"
    rf"([{re.escape(_SQUARE)}](?:[^\w\n{re.escape(_CLOSING + _SLASHES)}]|_)*+)([^\n]?)"
)
_SIGNS: Final = b"/\\<[]"
_COLON: Final = re.compile(r":\S")
"""An ASCII text without one of these characters, a colon inside a word or `www` contains neither a link nor a marker."""
_SHORT: Final = 2_000
_LONG: Final = 20_000


def safe(text: str) -> str:
    """Stored text in a form that is safe in a prompt. Applying it twice changes nothing more."""
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
    """The text with a backslash before every line that could pass for a marker."""
    if _BRACKET.search(text) is None:
        return text
    return _LINE.sub(_guarded, text)


def _guarded(line: re.Match[str]) -> str:
    first = unicodedata.normalize("NFKC", line[3])[:1]
    if first and (first in _SLASHES or first.isupper() or unicodedata.category(first) == "Lt"):
        return f"{line[1]}\\{line[2]}{line[3]}"
    return line[0]
