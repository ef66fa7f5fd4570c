"""Who and what is named: people, animals and places in any case and spelling, and what they are to the speaker.

A name is believed when it is said with a relation ("my niece leela"), when it stands with a capital inside a sentence, as
personas and careful people write it, or when somebody known bears it. From then on it is found in small letters too.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from hitherto.learn.notes import Line, PersonNote, Scene
from hitherto.learn.readers.clauses import TABLE, Clause, sentences
from hitherto.text import names as spelling
from hitherto.text.languages import ENGLISH, detect
from hitherto.types import EntityType, Quote

__all__ = ["Mentions", "found_in"]

_NAMED: Final = tuple(one for many in TABLE.cues("named").values() for one in many)
_LETTERS: Final = "\u2e7f"
"""From here on a letter may be a whole name."""
_ANIMAL: Final = TABLE.cue("animal")
_CAPITAL: Final = re.compile(TABLE.text("patterns", "capital"))
_CALLED: Final = TABLE.cue("called")
_ACTS, _STATES, _ROLE = map(TABLE.cue, ("acts", "states", "role"))
_PLACES: Final = re.compile(TABLE.text("patterns", "places"))
_CONTRACTED: Final = re.compile(
    r"\b(?:I|we|you|they|he|she|it|that|there|what|who)['’](?:m|ve|ll|d|re|s)\b", re.IGNORECASE
)
_PLACE_BEFORE: Final = TABLE.cue("place_before")
_WORK_BEFORE: Final = TABLE.cue("work_before")
_WITH_BEFORE: Final = TABLE.cue("with_before")
_NOT_NAMES: Final = {code: frozenset(words.split()) for code, words in TABLE.words("not_names").items()}
_TITLED: Final = TABLE.cue("titled")
_COMMON: Final = spelling.given().union(*(words.split() for words in TABLE.words("names").values()))


@dataclass(slots=True)
class _Mention:
    label: str
    kind: EntityType = "person"
    what: str = ""
    sure: bool = False
    quotes: list[Quote] = field(default_factory=list[Quote])
    aliases: list[str] = field(default_factory=list[str])


class Mentions:
    """The names of a passage. Those of `known` and of the speakers are found in whatever case."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._own = {one.casefold() for one in (scene.user, scene.persona) if one} - {
            one.casefold() for one in scene.speakers
        }
        self._found: dict[str, _Mention] = {}
        self._known: dict[str, str] = {}
        self._kinds: dict[str, EntityType] = {}
        for entity in scene.people:
            for name in (entity.label, *entity.aliases):
                if name and len(name) > 2:
                    self._known[name.casefold()] = entity.label
                    self._kinds[entity.label] = entity.type
        for name in self._own:
            self._known.setdefault(name, name)

    def add(self, name: str, quote: Quote, *, kind: EntityType = "person", what: str = "", sure: bool = False) -> None:
        label = _label(name)
        if label.casefold() in self._own or not _may_be_name(label, quote.words):
            return
        shown = self._known.get(label.casefold(), label)
        mention = self._found.setdefault(shown.casefold(), _Mention(shown, kind=self._kinds.get(shown, kind)))
        mention.sure |= sure or label.casefold() in self._known
        mention.what = mention.what or what
        if kind == "animal":
            mention.kind = kind
        if len(mention.quotes) < 2:
            mention.quotes.append(quote)
        if label.casefold() != shown.casefold() and label not in mention.aliases:
            mention.aliases.append(label)

    def within(self, text: str) -> tuple[str, ...]:
        """The names that stand in a text, in whatever case, as they are labelled."""
        words = {word.casefold() for word in re.findall(r"[^\W\d_][\w'’]*", text)}
        plain = (
            words
            | {word.removesuffix("'s").removesuffix("’s") for word in words}
            | {w[:-1] for w in words if w[-1:] == "s"}
        )
        folded = text.casefold()
        labels = {key: mention.label for key, mention in self._found.items()} | self._known
        hits = {
            shown: folded.find(key)
            for key, shown in labels.items()
            if (key in plain if " " not in key and key < _LETTERS else key in folded)
        }
        return tuple(sorted((name for name in hits if name.casefold() not in self._own), key=lambda name: hits[name]))

    def believed(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those names that are somebody's or a place's beyond doubt."""
        found = {name: self._found.get(name.casefold()) for name in names}
        known = {label.casefold() for label in self._known.values()}
        return tuple(name for name, one in found.items() if (one is not None and one.sure) or name.casefold() in known)

    def relates(self, turn: str, words: str) -> bool:
        """Whether somebody is named there with what they are to the speaker."""
        found = (self._found.get(name.casefold()) for name in self.within(words))
        return any(one.what and one.quotes[0].turn == turn for one in found if one is not None)

    def meant(self, words: str) -> tuple[str, ...]:
        """Whom a pronoun behind these words means: the one person whom they name, if it is one."""
        people = [name for name in self.believed(self.within(words)) if self._kind(name) == "person"]
        return tuple(people) if len(people) == 1 else ()

    def _kind(self, name: str) -> EntityType:
        found = self._found.get(name.casefold())
        return found.kind if found is not None else self._kinds.get(name, "person")

    def notes(self) -> tuple[PersonNote, ...]:
        return tuple(
            PersonNote(
                name=one.label, kind=one.kind, what=one.what, aliases=tuple(one.aliases), quotes=tuple(one.quotes)
            )
            for one in self._found.values()
            if one.sure
        )

    def merge_spellings(self, lines: Sequence[Line]) -> None:
        """Two spellings of one name within a passage are one mention: the longer, or of two as long the one that was said
        first. Names of two who are known, and two that stand side by side in one line, stay apart."""
        labels = list(self._found.values())
        for place, one in enumerate(labels):
            for other in labels[place + 1 :]:
                long, short = (other, one) if len(other.label) > len(one.label) else (one, other)
                if short.label.casefold() not in self._found or long.label.casefold() not in self._found:
                    continue
                if one.kind != other.kind or self._two(short.label, long.label, lines):
                    continue
                if _one_name(short.label, long.label):
                    long.aliases.append(short.label)
                    long.sure |= short.sure
                    long.what = long.what or short.what
                    long.quotes.extend(short.quotes[: 2 - len(long.quotes)])
                    del self._found[short.label.casefold()]
                    self._known[short.label.casefold()] = long.label

    def _two(self, name: str, other: str, lines: Sequence[Line]) -> bool:
        both = {self._known.get(one.casefold()) for one in (name, other)}
        return (len(both) == 2 and None not in both) or any(_says(line, name) and _says(line, other) for line in lines)


def _says(line: Line, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", line.text, re.IGNORECASE) is not None


def _one_name(short: str, long: str) -> bool:
    return " " not in short and spelling.may_be(short, long)


def found_in(scene: Scene, lines: Sequence[Line], clauses: Sequence[Clause]) -> Mentions:
    """The names that these lines say."""
    mentions = Mentions(scene)
    lower = _lower_words(lines)
    for line in lines:
        if line.turn.speaker and line.speaker.casefold() != scene.user.casefold():
            mentions.add(line.speaker, _quote(line, 0, line.text[:80]), sure=True)
        _related(line, mentions, scene)
        _capitals(line, mentions, lower)
    for clause in clauses:
        for name in mentions.within(clause.words):
            mentions.add(name, Quote(turn=clause.line.turn.id, words=clause.words), sure=_acting(name, clause.words))
    mentions.merge_spellings(lines)
    return mentions


def _acting(name: str, words: str) -> bool:
    """Whether somebody of that name does or says something."""
    place = words.casefold().find(name.casefold())
    return place >= 0 and _ACTS.match(words[place + len(name) :]) is not None


def _related(line: Line, mentions: Mentions, scene: Scene) -> None:
    whose = line.speaker or scene.user
    for pattern in _NAMED:
        for found in pattern.finditer(line.text):
            relation = found["r"].lower()
            quote = _quote(line, found.start("n"), found["n"])
            mentions.add(found["n"], quote, kind=_kind(relation), what=f"{whose}'s {relation}", sure=_believable(found))
    for found in _CALLED.finditer(line.text):
        sure = found[1][0].isupper() or found[1] > _LETTERS or found[1].casefold() in _COMMON
        mentions.add(found[1], _quote(line, found.start(1), found[1]), sure=sure)
    for found in _TITLED.finditer(line.text):
        mentions.add(found[1], _quote(line, found.start(1), found[1]), sure=True)


def _quote(line: Line, place: int, name: str) -> Quote:
    """The sentence in which a name stands, if it is not a long one."""
    start = 0
    for sentence in sentences(line.text):
        start = line.text.find(sentence, start)
        if start <= place < start + len(sentence) < start + 200:
            return Quote(turn=line.turn.id, words=sentence)
    return Quote(turn=line.turn.id, words=name)


def _believable(found: re.Match[str]) -> bool:
    """Whether what stands beside a relation is a name: "my sister rings" is none."""
    name = found["n"]
    after = found.string[found.end("n") :]
    if name[0].isupper() or name > _LETTERS or name.casefold() in _COMMON:
        return True
    if name.casefold() in _not_names(found.string) or any(one.match(f" {name}") for one in (_ACTS, _STATES)):
        return False
    if detect(found.string) in {"", ENGLISH} and name.casefold().endswith(("ed", "ing", "ly")):
        return False
    ends = re.match(r"\s*(?:[,.!?;()\"“]|$|-)", after) is not None
    goes_on = any(pattern.match(after) for pattern in (_ACTS, _STATES, _ROLE))
    return ends or goes_on or found.start("n") < found.start("r")


def _kind(relation: str) -> EntityType:
    return "animal" if _ANIMAL.match(relation) else "person"


def _lower_words(lines: Sequence[Line]) -> frozenset[str]:
    return frozenset(word for line in lines for word in re.findall(r"(?<![^\s(])[a-zà-öø-ÿ][\w'’]+", line.text))


def _capitals(line: Line, mentions: Mentions, lower: Iterable[str]) -> None:
    text = line.text
    letters = [character for character in text if character.isalpha()]
    if not letters or sum(character.isupper() for character in letters) > 0.4 * len(letters):
        return
    for found in _CAPITAL.finditer(text):
        name = found[0]
        place = _PLACE_BEFORE.search(text[: found.start()]) is not None
        after, given = text[found.end() :], name.split()[0].casefold() in _COMMON
        if _PLACES.search(name):
            mentions.add(name, _quote(line, found.start(), name), kind="place")
            continue
        acting = _ACTS.match(after) is not None or _ROLE.match(after) is not None
        person = (
            (given and not place) or acting or (_WITH_BEFORE.search(text[: found.start()]) is not None and not place)
        )
        work = not (given or acting) and _WORK_BEFORE.search(text[: found.start()]) is not None
        kind: EntityType = "org" if work else "place" if place and not person else "person"
        common = name.casefold() in lower and not given
        mentions.add(name, _quote(line, found.start(), name), kind=kind, sure=(person or place or work) and not common)


def _label(name: str) -> str:
    plain = name.strip(" .,'’-").removesuffix("'s").removesuffix("’s")
    return plain if any(character.isupper() for character in plain) else plain[:1].upper() + plain[1:]


def _not_names(text: str) -> frozenset[str]:
    """Words that are no names where a text's language is spoken."""
    return _NOT_NAMES[ENGLISH] | _NOT_NAMES.get(detect(text), frozenset())


def _may_be_name(label: str, text: str) -> bool:
    words = label.casefold().split()
    if _CONTRACTED.search(label) or not (len(label) > 1 or label > _LETTERS) or len(label) >= 40:
        return False
    return bool(words) and not any(word in _not_names(text) for word in words)
