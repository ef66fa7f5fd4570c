"""What a message asks: what it is about, who is meant, what time is meant.

Names of the people who talk are noise to a dense vector (every turn is "about" them) and a signal for a bonus. So they are
removed from the text that is embedded and looked up, and returned as `speakers`. First and second person tell whose words
are wanted. A long outburst is reduced to the sentences that carry its topic. Nothing here gates retrieval: each finding
only adds to a score.

Full text finds only what is said in the same words, and a vector of a whole turn loses the one word that matters. So words
that say nearly the same as the asked ones ("doctor", "physician") are looked up as well, and count for less. They come from
a list, `related.txt`, which `scripts/relate_words.py` makes from the static embedder's table.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from importlib.resources import files
from itertools import zip_longest
from typing import Final, Protocol

from hitherto.ingest.short import is_question, stands_alone
from hitherto.text.analyser import asked_stems, stems, words
from hitherto.text.languages import ENGLISH, Language, plausible

MAX_STEMS: Final = 48
"""The most stems that a query looks up; the most repeated ones stay."""
GIST_WORDS: Final = 80
"""Longer messages are reduced to about this many words before they are embedded."""
ANCHOR_STEMS: Final = 4
"""A message with fewer stems borrows those of the turn it answers, unless it stands alone anyway."""
OWN_STEMS: Final = 2
"""A question with this many stems stands alone: what was said just before may be about anything else, and would drown it."""
_MAX_TEXT: Final = 20_000

_SENTENCE: Final = re.compile(r"(?<=[.!?…。！？])\s+|\n+")


class Period(Protocol):
    """A stretch of time that a message names."""

    @property
    def start(self) -> datetime: ...

    @property
    def end(self) -> datetime: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A message in the form that ranking uses."""

    text: str
    """What is embedded: the gist, without the speakers' names."""
    stems: tuple[str, ...]
    related: tuple[str, ...] = ()
    """Stems that mean nearly the same."""
    speakers: frozenset[str] = frozenset()
    """Speakers who are named, spelt as in the log."""
    of_user: bool = False
    """It asks for what the user said about themselves."""
    of_persona: bool = False
    """It asks for what the persona said."""
    asks_when: bool = False
    collects: bool = False
    """The answer lies in many conversations ("how many", "all the")."""
    surveys: bool = False
    """It asks how things went over many conversations: in which order, or for a summary."""
    alone: bool = True
    """It says enough by itself: no anchor is read with it."""
    periods: tuple[Period, ...] = ()


def understand(
    text: str,
    *,
    speakers: Collection[str] = (),
    anchor: str | None = None,
    periods: Sequence[Period] = (),
    languages: Collection[str] = (),
) -> Question:
    """Reads a message in the light of its anchor. `speakers` are the names on this user's turns, `languages` the languages
    of those turns: the words are looked up in each.
    """
    text = text[:_MAX_TEXT]
    asked_in = plausible(text, likely=languages)
    spoken = asked_in[0]
    named, rest = _named(text, speakers)
    about = gist(rest)
    said = _bounded(asked_stems(about, likely=languages)[0])
    found, others = _looked_up(about, said, spoken, languages)
    alone = len(said) >= (OWN_STEMS if is_question(text) else ANCHOR_STEMS) or stands_alone(about)
    if anchor and not alone:
        borrowed = gist(anchor[:_MAX_TEXT])
        more, others_more = asked_stems(borrowed, likely=languages)
        found, others = _bounded([*found, *more]), [*others, *others_more]
        about = f"{about} {borrowed}".strip()
    of_persona = any(one.has("asking.persona", text) for one in asked_in)
    return Question(
        text=about,
        stems=_bounded([*found, *others]),
        related=related(found) if spoken.code == ENGLISH else (),
        speakers=named,
        of_user=not of_persona and not named and _first_person(text, spoken),
        of_persona=of_persona,
        asks_when=any(one.has("asking.when", text) for one in asked_in),
        collects=any(one.has("asking.collect", text) for one in asked_in),
        surveys=any(one.has("asking.survey", text) for one in asked_in),
        alone=alone,
        periods=tuple(periods),
    )


def _looked_up(
    about: str, said: tuple[str, ...], spoken: Language, languages: Collection[str]
) -> tuple[tuple[str, ...], Sequence[str]]:
    """The stems to look up, and their counterparts in the user's other languages. A time counted from the moment of asking
    ("three weeks ago") is left out: the turn that is meant counted from its own, if at all.
    """
    counted = spoken.patterns.get("asking.counted")
    uncounted = about if counted is None else counted.sub(" ", about)
    found, others = asked_stems(uncounted, likely=languages)
    if uncounted != about and not found:
        found, others = asked_stems(about, likely=languages)
    return _bounded(found), others


def _first_person(text: str, spoken: Language) -> bool:
    """Whether a message speaks of its writer; in scripts without spaces, whether it contains such a word."""
    first = spoken.words["person.first"]
    if spoken.script == "latin" or spoken.script == "cyrillic":
        return not first.isdisjoint(_said(text)) or not first.isdisjoint(text.lower().split())
    return any(word in text for word in first)


def gist(text: str) -> str:
    """A text as it is, or for a long one the sentences that carry its topic: questions, and recurring words."""
    if len(_said(text)) <= GIST_WORDS:
        return text
    once = {tuple(stems(sentence)): sentence for sentence in _SENTENCE.split(text)}  # said twice is said once
    said, sentences = [found for found in once if found], [sentence for found, sentence in once.items() if found]
    counts = Counter(stem for sentence in said for stem in set(sentence))

    def weight(place: int) -> float:
        distinct = set(said[place])
        topic = sum(math.log1p(counts[stem]) for stem in sorted(distinct)) / math.sqrt(len(distinct) + 4)
        return topic * (1.5 if sentences[place].rstrip().endswith("?") else 1.0)

    kept: list[int] = []
    room = GIST_WORDS
    for place in sorted(range(len(sentences)), key=lambda place: (-weight(place), -place)):
        size = len(words(sentences[place]))
        if size <= room or not kept:
            kept.append(place)
            room -= size
        if room <= 0:
            break
    return " ".join(" ".join(sentences[place].split()[:GIST_WORDS]) for place in sorted(kept))


@lru_cache(maxsize=4)
def _said(text: str) -> tuple[str, ...]:
    """The words of a message, for the several checks that need them."""
    return tuple(words(text))


def _bounded(found: Sequence[str]) -> tuple[str, ...]:
    """Each stem once, in order; if there are too many, the most repeated."""
    counts = Counter(found)
    if len(counts) > MAX_STEMS:
        places = {stem: place for place, stem in enumerate(counts)}
        best = sorted(counts, key=lambda stem: (-counts[stem], places[stem]))[:MAX_STEMS]
        return tuple(sorted(best, key=lambda stem: places[stem]))
    return tuple(counts)


def _named(text: str, speakers: Collection[str]) -> tuple[frozenset[str], str]:
    """The speakers a text names, by their whole name or its first word, and the text without them."""
    said = {word.removesuffix("'s") for word in _said(text)}
    named: set[str] = set()
    rest = text
    for speaker in sorted(speakers):
        parts = words(speaker)
        if not parts or parts[0] not in said or (len(parts[0]) == 1 and parts[0].isascii()):
            continue
        named.add(speaker)
        for name in (speaker, speaker.split()[0]):  # the whole name first: its rest must not stay behind
            rest = re.sub(rf"(?<!\w){re.escape(name)}(?:['’]s)?(?!\w)", " ", rest, flags=re.IGNORECASE)
    return frozenset(named), " ".join(rest.split()) if named else text


MOST: Final = 8
"""The related stems looked up for one message; each is a lookup of its own."""


def related(asked: Sequence[str], *, most: int = MOST) -> tuple[str, ...]:
    """Stems near the asked ones and not among them: the nearest of each first, then the next of each."""
    listed = _listed()
    turns = zip_longest(*(listed.get(stem, ()) for stem in asked))
    near = dict.fromkeys(stem for turn in turns for stem in turn if stem is not None)
    return tuple([stem for stem in near if stem not in asked][:most])


@cache
def _listed() -> Mapping[str, tuple[str, ...]]:
    text = files("hitherto.recall").joinpath("related.txt").read_text(encoding="ascii")
    return {stem: tuple(near) for stem, *near in map(str.split, text.splitlines())}
