"""Text that gives orders instead of stating facts, kept out of durable memory.

Detection is no defence: markers, escaping and origins are what keeps memory from becoming instruction. This
gate only stops the obvious, so that it does not sit in a user's memory for years, and is tuned to leave
ordinary talk alone. What it stops is kept with its reason for a person to review, never dropped.

Two questions are asked. Does the text attack the model (whoever says it)? Does it tell the model how to act
from now on? The second is the user's right and nobody else's: their standing requests have a section of their
own, while the same words from a tool, an import or the model itself are held back.
"""

import html
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import unquote

from recollect.ingest.hygiene import visible
from recollect.text.patterns import PatternTable
from recollect.types import Origin

__all__ = ["ATTACKS", "STANDING", "Reason", "Rule", "Verdicts", "quarantine"]

Kind = Literal["hidden", "override", "role", "markup", "persona", "disclosure", "exfiltration", "standing"]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a text was held back: the kind of order, and the words that gave it away."""

    kind: Kind
    words: str


class Rule(NamedTuple):
    """One way to give an order. A match in ASCII text holds one of `needs`, in lower case."""

    kind: Kind
    needs: frozenset[str]
    pattern: re.Pattern[str]


_TABLE: Final = PatternTable.read("recollect.ingest", "quarantine.toml")


def _compiled(section: Literal["attack", "standing"]) -> tuple[Rule, ...]:
    kinds: dict[Kind, list[dict[str, Any]]] = _TABLE.content[section]
    return tuple(
        Rule(kind, frozenset(one["needs"]), _TABLE.compiled(one["rule"]))
        for kind, rules in kinds.items()
        for one in rules
    )


ATTACKS: Final = _compiled("attack")
STANDING: Final = _compiled("standing")
_NEEDS: Final = tuple(sorted({need for rule in (*ATTACKS, *STANDING) for need in rule.needs}))

# A flag of a country's part spells up to seven tag characters; more, or any bidi override, hides text.
_HIDDEN: Final = re.compile("[\U000e0020-\U000e007f]{8,}|[\u202d\u202e]|[\u200b\u200c\u200d\u2060]{6,}")


def _decoded(text: str) -> str:
    """Undo the encodings in which a closing marker is smuggled."""
    if "%3" in text:
        text = unquote(text, errors="replace")
    return html.unescape(text) if "&" in text else text


def quarantine(text: str, origin: Origin) -> Reason | None:
    """Say why the text must not become a durable memory, or `None` if it may."""
    plain = text
    if not (text.isascii() and text.isprintable()):
        hidden = _HIDDEN.search(text)
        if hidden is not None:
            return Reason(kind="hidden", words=" ".join(f"{ord(sign):04X}" for sign in hidden[0][:8]))
        plain = unicodedata.normalize("NFKC", visible(text)).replace("’", "'")
    plain = _decoded(plain)
    for kind, _, pattern in _worth_trying(plain, ATTACKS if origin == "user" else (*ATTACKS, *STANDING)):
        found = pattern.search(plain)
        if found is not None:
            return Reason(kind=kind, words=found[0].strip()[:120])
    return None


def _worth_trying(plain: str, rules: Sequence[Rule]) -> Sequence[Rule]:
    """The rules that may match. Letters that only `re.IGNORECASE` takes for ASCII ones are beyond `lower`."""
    if not plain.isascii():
        return rules
    lowered = plain.lower()
    held = [need for need in _NEEDS if need in lowered]
    return [rule for rule in rules if not rule.needs.isdisjoint(held)] if held else ()


class Verdicts:
    """Whether texts give orders, remembered by hash: reading one takes up to a millisecond, and contexts ask again and
    again about the same few. No text is kept."""

    def __init__(self, most: int = 4_096) -> None:
        self._most = most
        self._known: dict[bytes, bool] = {}

    def gives_orders(self, text: str, origin: Origin) -> bool:
        name = blake2b(f"{origin}\0{text}".encode("utf-8", "surrogatepass"), digest_size=12).digest()
        known = self._known.get(name)
        if known is None:
            if len(self._known) >= self._most:
                self._known.clear()
            known = self._known[name] = quarantine(text, origin) is not None
        return known
