"""Regular expressions kept as data.

Long tables of expressions are hard to read in code and easy to read in a file with one expression per line. A table is a
TOML file beside the module that reads it; `{{name}}` in an expression stands for the fragment of that name in
`[fragments]`.

A table may name the section of the language files (`text/languages/*.toml`) that holds the same expressions in other
languages. Its entries are then `Cue`s, which are matched in the language of the text: "war" is past tense in German only.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Final, Self

from hitherto.text.languages import CODES, ENGLISH, detect, language

__all__ = ["Cue", "PatternTable"]

_WORDS: Final = r"(?<!\w)(?:{})(?!\w)"
"""How a list of alternatives is matched, unless the table has a frame of that name."""
_EDGES: Final = (r"(?<!\w)", r"(?!\w)")
_APOSTROPHE: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|'")
"""An apostrophe, which phones write as ’; escaped ones and those in character classes are left alone."""
_UNSPACED: Final = frozenset({"kana", "han", "thai"})
_NEAR: Final = {"zh": ("zh", "ja")}
"""With only a few characters, Japanese is as likely as Chinese."""


@dataclass(frozen=True, slots=True)
class Cue:
    """An expression in several languages. A text is searched in its own language; if that is unknown, in every language
    that uses its letters."""

    said: Mapping[str, str]
    _by_languages: dict[Sequence[str], list[re.Pattern[str]]] = field(
        default_factory=dict[Sequence[str], list[re.Pattern[str]]], init=False, compare=False
    )

    def search(self, text: str) -> re.Match[str] | None:
        for pattern in self._patterns(text):
            if found := pattern.search(text):
                return found
        return None

    def match(self, text: str) -> re.Match[str] | None:
        return next((found for pattern in self._patterns(text) if (found := pattern.match(text))), None)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        return (found for pattern in self._patterns(text) for found in pattern.finditer(text))

    def sub(self, instead: str | Callable[[re.Match[str]], str], text: str) -> str:
        for pattern in self._patterns(text):
            text = pattern.sub(instead, text)
        return text

    def _patterns(self, text: str) -> list[re.Pattern[str]]:
        spoken = _spoken(text)
        if spoken not in self._by_languages:
            self._by_languages[spoken] = [_compiled(self.said[code]) for code in spoken if code in self.said]
        return self._by_languages[spoken]


@lru_cache(maxsize=4_096)
def _spoken(text: str) -> Sequence[str]:
    """The languages in which a text is searched."""
    code = detect(text)
    if code:
        return _NEAR.get(code, (code,)) if language(code).tables.get("learning") else (code, ENGLISH)
    return _latin()


@cache
def _latin() -> tuple[str, ...]:
    return tuple(code for code in CODES if language(code).script == "latin")


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(_APOSTROPHE.sub(lambda one: one[0] if len(one[0]) > 1 else "['’]", expression), re.IGNORECASE)


@dataclass(frozen=True)
class PatternTable:
    """One file of expressions with its fragments filled in."""

    content: dict[str, Any]
    others: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """The same, by language."""

    @classmethod
    def read(cls, package: str, name: str, *, section: str = "") -> Self:
        content = tomllib.loads(files(package).joinpath(name).read_text("utf-8"))
        tables = {code: language(code).tables.get(section) for code in CODES} if section else {}
        return cls(content, {code: table for code, table in tables.items() if table})

    def filled(self, expression: str) -> str:
        return _filled(expression, self.content.get("fragments", {}))

    def compiled(self, expression: str) -> re.Pattern[str]:
        """Compiles an expression with its fragments, ignoring case."""
        return re.compile(self.filled(expression), re.IGNORECASE)

    def pattern(self, name: str) -> re.Pattern[str]:
        return self.compiled(self.content["patterns"][name])

    def cue(self, name: str, *, section: str = "patterns") -> Cue:
        """An expression of this table, joined with its counterparts in other languages. A language without one never
        matches; `[everywhere]` holds what needs no language."""
        everywhere: str = self.content.get("everywhere", {}).get(name, "")
        said = {ENGLISH: self.content[section][name], **{code: self._alternatives(code, name) for code in self.others}}
        whole = {code: "|".join(filter(None, (one, everywhere))) for code, one in said.items()}
        return Cue({code: self.filled(one) for code, one in whole.items() if one})

    def cues(self, section: str) -> dict[str, tuple[Cue, ...]]:
        """Lists of expressions by name, each for its own language."""
        found = {
            name: [Cue({ENGLISH: self.filled(one)}) for one in many] for name, many in self.content[section].items()
        }
        for code, table in self.others.items():
            for name, many in table.get(section, {}).items():
                found.setdefault(name, []).extend(Cue({code: self._of(code, one)}) for one in many)
        return {name: tuple(many) for name, many in found.items()}

    def _alternatives(self, code: str, name: str) -> str:
        """A language's alternatives within the frame of their name. Scripts without spaces have no word boundaries."""
        given: str = self.others[code].get(name, "")
        if not given:
            return ""
        frames: dict[str, Any] = self.content.get("frames", {})
        frame: str = frames.get(name, _WORDS)
        if language(code).script in _UNSPACED:
            frame = frames.get("unspaced", {}).get(name, frame)
            for edge in _EDGES:
                frame = frame.replace(edge, "")
        return frame.replace("{}", self._of(code, given))

    def _of(self, code: str, expression: str) -> str:
        return self.filled(_filled(expression, self.others[code].get("fragments", {})))

    def words(self, name: str) -> dict[str, str]:
        """A list of words by language."""
        own = {ENGLISH: " ".join(self.texts("words", name))} if name in self.content["words"] else {}
        return own | {
            code: table["words"][name] for code, table in self.others.items() if name in table.get("words", {})
        }

    def text(self, section: str, name: str) -> str:
        return self.filled(self.content[section][name])

    def texts(self, section: str, name: str) -> tuple[str, ...]:
        return tuple(self.filled(one) for one in self.content[section][name])

    def numbers(self, section: str) -> dict[str, int]:
        return dict(self.content[section])


def _filled(expression: str, fragments: Mapping[str, str]) -> str:
    for name, fragment in fragments.items():
        expression = expression.replace("{{" + name + "}}", fragment)
    return expression
