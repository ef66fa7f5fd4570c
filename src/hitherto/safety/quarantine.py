"""Keeps text that gives orders instead of stating facts out of durable memory.

Detection is no defence: markers, escaping and origins are what keeps memory from becoming instruction. This gate only stops
the obvious, so that it does not sit in a user's memory for years, and is tuned to leave ordinary talk alone. What it stops
is kept with its reason for a person to review, never dropped.

It asks two questions. Does the text attack the model, whoever says it? Does it tell the model how to act from now on? The
second is the right of the user alone: standing requests have a section of their own, while the same words from a tool, an
import or the model itself are held back.
"""

import html
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import unquote

from hitherto.safety.visible import visible
from hitherto.text.patterns import PatternTable
from hitherto.types import Origin

__all__ = ["ATTACKS", "STANDING", "Reason", "Rule", "Verdicts", "quarantine"]

Kind = Literal["hidden", "override", "role", "markup", "persona", "disclosure", "exfiltration", "standing"]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a text was held back: the kind of order, and the words that gave it away."""

    kind: Kind
    words: str


class Rule(NamedTuple):
    """One way to give an order. A match in text without letters beyond ASCII contains one of `needs`, in lower case."""

    kind: Kind
    needs: frozenset[str]
    pattern: re.Pattern[str]

    @property
    def plain(self) -> bool:
        """Whether its expression is ASCII, so that a match contains one of `needs` in any text."""
        return self.pattern.pattern.isascii()


_TABLE: Final = PatternTable.read("hitherto.safety", "quarantine.toml")


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

_FOREIGN: Final = re.compile(r"[^\x00-\x7f\W\d_]")
"""A letter beyond ASCII."""
_DISGUISED: Final = re.compile("[\u0130\u0131\u017f\u212a]")
"""Letters that match i, s or k under `re.IGNORECASE` but not after `lower`."""
_BETWEEN: Final = "\x1f"
"""Letters that occur in no word that a rule needs."""

# A regional flag uses up to seven tag characters; more of them, or any bidi override, hides text.
_HIDDEN: Final = re.compile("[\U000e0020-\U000e007f]{8,}|[\u202d\u202e]|[\u200b\u200c\u200d\u2060]{6,}")


def _decoded(text: str) -> str:
    """Undoes the encodings that are used to smuggle in a closing marker."""
    if "%3" in text:
        text = unquote(text, errors="replace")
    return html.unescape(text) if "&" in text else text


def quarantine(text: str, origin: Origin) -> Reason | None:
    """Says why the text must not become a durable memory; None if it may."""
    plain = _plain(text)
    return plain if isinstance(plain, Reason) else _judged(plain, origin, _held(plain))


def _plain(text: str) -> str | Reason:
    """The form of the text that the rules examine; if it hides something, they need not look any further."""
    if not (text.isascii() and text.isprintable()):
        hidden = _HIDDEN.search(text)
        if hidden is not None:
            return Reason(kind="hidden", words=" ".join(f"{ord(sign):04X}" for sign in hidden[0][:8]))
        text = unicodedata.normalize("NFKC", visible(text)).replace("’", "'")
    return _decoded(text)


def _held(plain: str, needs: Sequence[str] = _NEEDS) -> list[str]:
    """Which of the words that rules need the text contains."""
    lowered = plain.lower()
    return [need for need in needs if need in lowered]


def _judged(plain: str, origin: Origin, held: Sequence[str]) -> Reason | None:
    """Tries only the rules that can match: those of whose words the text contains one and, where it has letters beyond ASCII,
    those written in such letters. Text with dashes and curly quotes takes a quarter of the time of all rules."""
    foreign = not plain.isascii() and _FOREIGN.search(plain) is not None
    if not held and not foreign:
        return None
    everything = foreign and _DISGUISED.search(plain) is not None
    for rule in ATTACKS if origin == "user" else (*ATTACKS, *STANDING):
        if rule.needs.isdisjoint(held) and not everything and not (foreign and not rule.plain):
            continue
        found = rule.pattern.search(plain)
        if found is not None:
            return Reason(kind=rule.kind, words=found[0].strip()[:120])
    return None


class Verdicts:
    """Remembers by hash whether texts give orders: judging one takes up to a millisecond, and contexts ask about the same
    few again and again. No text is kept."""

    def __init__(self, most: int = 4_096) -> None:
        self._most = most
        self._known: dict[tuple[int, int, Origin], bool] = {}

    def give_orders(self, said: Sequence[tuple[str, Origin]]) -> list[bool]:
        """One verdict per text. New texts are first searched together for the words that rules need, because few contain
        any."""
        names: list[tuple[int, int, Origin]] = [(hash(text), len(text), origin) for text, origin in said]
        new = {name: one for name, one in zip(names, said, strict=True) if name not in self._known}
        if len(self._known) + len(new) > self._most:
            self._known.clear()
            new = dict(zip(names, said, strict=True))
        plains = {name: _plain(text) for name, (text, _) in new.items()}
        held = _held(_BETWEEN.join(plain for plain in plains.values() if isinstance(plain, str)))
        for name, plain in plains.items():
            self._known[name] = isinstance(plain, Reason) or (
                _judged(plain, new[name][1], _held(plain, held) if held else held) is not None
            )
        return [self._known[name] for name in names]
