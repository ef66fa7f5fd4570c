"""The languages that people write in: how to detect them, and the words that recall and assembly look for in each.

A language is one TOML file beside this module; docs/languages.md says what it holds and how to add one. A text counts as
English unless something says otherwise, so text that contains no words of any language is treated as it always was.
"""

import re
import tomllib
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Final, cast

from hitherto.errors import InvalidInput

__all__ = [
    "CODES",
    "ENGLISH",
    "Language",
    "detect",
    "language",
    "language_name",
    "listed",
    "missing",
    "of_number",
    "plausible",
]

ENGLISH: Final = "en"
CODES: Final = ("en", "es", "de", "fr", "it", "pt", "nl", "ru", "ja", "zh", "ko", "pl", "uk", "tr", "ar", "hi", "th")
"""In the order of their numbers, which are stored beside vectors and never change. There is room for sixteen; languages
added later are recognised by their script."""

_MOST_TEXT: Final = 2_000
_LONGEST_NAME: Final = 40
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_APART: Final = re.compile(r"['’]")
_SCRIPTS: Final = (
    ("kana", re.compile(r"[\u3041-\u30ff\uff66-\uff9d]")),
    ("han", re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")),
    ("hangul", re.compile(r"[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]")),
    ("cyrillic", re.compile(r"[\u0400-\u04ff]")),
    ("arabic", re.compile(r"[\u0600-\u06ff]")),
    ("devanagari", re.compile(r"[\u0900-\u097f]")),
    ("thai", re.compile(r"[\u0e00-\u0e7f]")),
)
_LATIN: Final = re.compile(r"[A-Za-z\u00c0-\u024f]")
_OF_ONE_SCRIPT: Final = {"kana": "ja", "han": "zh", "hangul": "ko", "arabic": "ar", "devanagari": "hi", "thai": "th"}
_IDEOGRAM: Final = 2.5
"""How many Latin letters one character of these scripts is worth."""
_LETTER: Final = 1.2
"""The weight of a letter that few languages have, relative to a word that only one has."""
_SURE: Final = 0.3
"""How far the best language must lead the next, in words that only one language has."""
_ENDING: Final = 0.25
"""The weight of a typical ending on an unlisted word, relative to a listed word."""
_SHARE: Final = 0.06
"""One in this many words must point to the language."""
_ACCENTED: Final = 3
"""Words longer than this also count when typed without their accents."""
_LIKELY: Final = 0.6
"""The head start of a language that the user has written in before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """What is known about one language. A list or expression that its file lacks is empty, or never matches."""

    code: str
    name: str
    number: int
    stemmer: str
    script: str
    keep: str
    """Letters that are distinct in this language and keep their marks when accents are dropped."""
    letters: str
    endings: tuple[str, ...]
    """Common endings of this language's words that are rare in others."""
    elisions: frozenset[str]
    """Elided articles before an apostrophe, which are not searched for ("l'", "dell'")."""
    stop: frozenset[str]
    common: frozenset[str]
    """Other everyday words that point to the language."""
    words: Mapping[str, frozenset[str]]
    """Lists by section and name: `short.yes`, `person.first`, `telling.future`."""
    phrases: tuple[str, ...]
    """Short answers of more than one word."""
    patterns: Mapping[str, re.Pattern[str]]
    """Expressions by section and name: `asking.when`, `standing.instruction`."""
    tables: Mapping[str, Any]
    """Sections that other modules read for themselves: `dates`, `slots`, `situation`, `learning`."""

    def has(self, what: str, text: str) -> bool:
        """Whether an expression occurs in a text."""
        pattern = self.patterns.get(what)
        return pattern is not None and pattern.search(text) is not None


class Expressions(Mapping[str, re.Pattern[str]]):
    """Expressions by name, each compiled on first use: a conversation needs those of one or two languages."""

    def __init__(self, said: Mapping[str, str]) -> None:
        self._said = said
        self._compiled: dict[str, re.Pattern[str]] = {}

    def __getitem__(self, name: str) -> re.Pattern[str]:
        found = self._compiled.get(name)
        if found is None:
            found = self._compiled[name] = re.compile(self._said[name], re.IGNORECASE)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._said)

    def __len__(self) -> int:
        return len(self._said)


LISTS: Final = (
    "short.yes", "short.no", "short.questions", "short.reactions", "short.fillers", "short.pointing",
    "person.first", "person.plural", "telling.future", "telling.past",
)  # fmt: skip
PATTERNS: Final = (
    "asking.when", "asking.persona", "asking.counted", "asking.before", "asking.collect", "asking.survey",
    "telling.self", "telling.time",
    "standing.instruction", "standing.preference", "standing.danger",
)  # fmt: skip
SOME: Final = ("asking.beside",)
"""Expressions that a language may lack and still be whole."""
TABLES: Final = ("dates", "slots", "situation", "learning")


@cache
def language(code: str) -> Language:
    """The language with that code; English if it has no file."""
    if code not in CODES:
        return language(ENGLISH)
    read = tomllib.loads(files(__name__).joinpath(f"{code}.toml").read_text("utf-8"))
    sections = {
        f"{section}.{name}": value
        for section, values in read.items()
        if isinstance(values, dict)
        for name, value in cast(dict[str, Any], values).items()
    }
    return Language(
        code=code,
        name=read["name"],
        number=read["number"],
        stemmer=read.get("stemmer", ""),
        script=read.get("script", "latin"),
        keep=read.get("keep", ""),
        letters=read.get("letters", ""),
        endings=tuple(read.get("endings", "").split()),
        elisions=frozenset(read.get("elisions", "").split()),
        stop=frozenset(read["stop"].casefold().split()),
        common=frozenset(read.get("common", "").casefold().split()),
        words={name: frozenset(sections.get(name, "").casefold().split()) for name in LISTS},
        phrases=tuple(
            " ".join(phrase.split())
            for phrase in sections.get("short.phrases", "").casefold().split("|")
            if phrase.strip()
        ),
        patterns=Expressions({name: _expression(name, sections) for name in PATTERNS + SOME if name in sections}),
        tables={name: read[name] for name in TABLES if name in read},
    )


def _expression(name: str, sections: Mapping[str, Any]) -> str:
    """One expression, or a list of alternatives; those of an instruction follow the file's `lead` and name its `actions`."""
    given: str | list[str] = sections[name]
    joined = given if isinstance(given, str) else "|".join(given)
    if name == "standing.instruction" and "standing.lead" in sections:
        joined = f"{sections['standing.lead']}(?:{joined})"
    return joined.replace("{{actions}}", sections.get("standing.actions", ""))


def plainly(word: str) -> str:
    """A word as it is typed without accents: "mañana" as "manana"."""
    if word.isascii():
        return word
    return "".join(one for one in unicodedata.normalize("NFKD", word) if not unicodedata.combining(one))


def language_name(given: str) -> str:
    """The English name of a language that is given by its code or name."""
    said = " ".join(given.split())
    if not said or len(said) > _LONGEST_NAME or not said.replace(" ", "").replace("-", "").isalpha():
        raise InvalidInput(f"{given!r} is no language; give a code such as 'es', or an English name such as 'Catalan'")
    return language(said.lower()).name if said.lower() in CODES else said


def of_number(number: int) -> str:
    """The code behind a stored number."""
    return CODES[number] if 0 <= number < len(CODES) else ENGLISH


@cache
def listed(name: str) -> frozenset[str]:
    """One list merged over all languages, for messages too short to tell which language they are in."""
    return frozenset(word for code in CODES for word in language(code).words[name])


def missing(code: str) -> tuple[str, ...]:
    """What a language's file lacks, by section and name. English has its dates in the grammar, and its learning rules
    beside their code."""
    known = language(code)
    lists = [name for name in LISTS if not known.words[name]]
    patterns = [name for name in PATTERNS if name not in known.patterns]
    tables = [
        name for name in TABLES if name not in known.tables and (name in ("slots", "situation") or code != ENGLISH)
    ]
    return (*lists, *patterns, *tables)


def detect(text: str, *, likely: Collection[str] = ()) -> str:
    """The code of a text's language; empty if there is too little evidence. `likely` are languages the user has written in."""
    return _detected(text[:_MOST_TEXT], tuple(sorted(likely)))


def plausible(text: str, *, likely: Collection[str] = ()) -> tuple[Language, ...]:
    """The language a text is in; where it does not tell, English and those it may be in."""
    start = text[:_MOST_TEXT]
    told = _detected(start, tuple(sorted(likely)))
    return tuple(map(language, (told,) if told else (ENGLISH, *_possible(start))))


@lru_cache(maxsize=2048)
def _detected(text: str, likely: tuple[str, ...]) -> str:
    script = "" if text.isascii() else _script(text)
    if script in _OF_ONE_SCRIPT:
        return "ja" if script == "han" and "ja" in likely and "zh" not in likely else _OF_ONE_SCRIPT[script]
    words = _WORD.findall(text.casefold())
    scores = _scores(words, text.lower(), among=_of_script(script or "latin"))
    for code in likely:
        if code in scores:
            scores[code] += _LIKELY
    (first, best), (_, second), *_ = sorted((*scores.items(), ("", 0.0), ("", 0.0)), key=lambda found: -found[1])
    told = best >= _SHARE * len(words)
    if told and (best - second >= _SURE or (best > second and first in likely)):
        return first
    return "ru" if script == "cyrillic" else ""


@lru_cache(maxsize=256)
def _possible(text: str) -> tuple[str, ...]:
    """The languages that score nearly as high as the best one for an undecided text."""
    scores = _scores(_WORD.findall(text.casefold()), text.lower(), among=_of_script("latin"))
    best = max(scores.values())
    return tuple(code for code, score in scores.items() if code != ENGLISH and score > max(0.0, best - _SURE))


def _script(text: str) -> str:
    """The script that most of a text is written in; Han among kana is Japanese."""
    counts = {name: len(pattern.findall(text)) * (_IDEOGRAM if name in {"kana", "han", "hangul"} else 1.0)
              for name, pattern in _SCRIPTS}  # fmt: skip
    if counts["kana"] and counts["kana"] * 8 > counts["han"]:
        counts["kana"], counts["han"] = counts["kana"] + counts["han"], 0.0
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] > len(_LATIN.findall(text)) else ""


def _scores(words: Iterable[str], text: str, *, among: tuple[str, ...]) -> dict[str, float]:
    scores = dict.fromkeys(among, 0.0)
    for word in words:
        for part in (word, *_APART.split(word)) if "'" in word or "’" in word else (word,):
            for code, weight in _says(part):
                if code in scores:
                    scores[code] += weight
    if not text.isascii():
        letters = _letters()
        for letter in set(text) & letters.keys():
            for code, weight in letters[letter]:
                if code in scores:
                    scores[code] += weight
    return scores


@lru_cache(maxsize=1 << 15)
def _says(word: str) -> tuple[tuple[str, float], ...]:
    """What a word says about its language: by the lists that contain it, or else by its ending."""
    known = _evidence().get(word)
    if known is not None or len(word) < 4:
        return known or ()
    ended = [code for code in CODES if word.endswith(language(code).endings)]
    return tuple((code, _ENDING / len(ended)) for code in ended)


@cache
def _of_script(script: str) -> tuple[str, ...]:
    return tuple(code for code in CODES if language(code).script == script)


@cache
def _evidence() -> Mapping[str, tuple[tuple[str, float], ...]]:
    """The languages a word may be in, and how much weight it carries: the more languages share it, the less."""
    holders: dict[str, list[str]] = {}
    for code in CODES:
        known = language(code)
        lists = (known.words[name] for name in LISTS if name.startswith(("short", "person", "telling")))
        calendar = known.tables.get("situation", {})
        days = f"{calendar.get('weekdays', '')} {calendar.get('months', '')}".casefold().split()
        chatted = (word for words in lists for word in words if len(word) > 1 or not word.isascii())
        said = known.stop.union(known.common, chatted, days)
        for word in said.union(plain for word in said if len(plain := plainly(word)) > _ACCENTED):
            holders.setdefault(word, []).append(code)
    return {
        word: tuple((code, (0.4 if len(word) == 1 else 1.0) / len(codes) ** 1.5) for code in codes)
        for word, codes in holders.items()
    }


@cache
def _letters() -> Mapping[str, tuple[tuple[str, float], ...]]:
    holders: dict[str, list[str]] = {}
    for code in CODES:
        for letter in language(code).letters:
            holders.setdefault(letter, []).append(code)
    return {letter: tuple((code, _LETTER / len(codes)) for code in codes) for letter, codes in holders.items()}
