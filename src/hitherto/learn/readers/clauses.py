"""Clauses: the stretches of a line that can be quoted, each judged by the classifier.

A short message is one clause; a long one is cut at its sentences, speech without full stops at its fillers. What is said in
jest, on a condition, by hearsay, or must stay secret is cut away, so that a quote holds only what was meant.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from hitherto.learn.notes import Line
from hitherto.learn.readers import classifier as judge
from hitherto.learn.readers.classifier import KINDS, Judged, Kind, classifier
from hitherto.safety.quarantine import quarantine
from hitherto.safety.secrets import find_secrets, redact
from hitherto.text.patterns import PatternTable

__all__ = ["TABLE", "Clause", "asked", "clauses", "sentences", "tells"]

TABLE: Final = PatternTable.read("hitherto.learn.readers", "rules.toml", section="learning")
SHORT: Final = 180
"""A message up to here is quoted whole; a longer one in pieces of about this length."""
LONGEST: Final = 420
SCANNED: Final = 8_000
NOTABLE: Final = 0.5
_BREAK: Final = re.compile(
    r"(?<=[.!?…])[\"'”’)]*\s+(?=\S)|(?<=[。！？])|(?<=[\U0001F300-\U0001FAFF])\s+|\n+|\s+(?=[-•] )|(?<=\S) - (?=[A-Z])"
)
_ABBREVIATED: Final = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|St|Prof|Sr|Sra|Frau|Hr|vs|e\.g|i\.e|etc|a\.m|p\.m|\d)\.$", re.IGNORECASE
)
_FILLER: Final = re.compile(r"\s(?=(?:and uh|so uh|but uh|uh|um|okay so|and then|but then|so then)\s)", re.IGNORECASE)
_CODE: Final = re.compile(r"```.*?(?:```|\Z)|^\s*>.*$|\[[^\]]{0,80}\]", re.DOTALL | re.MULTILINE)
_TYPES: Final = tuple(one for many in TABLE.cues("typed").values() for one in many)
_TOKEN_ALONE: Final = re.compile(r"^(?=\S*\d)(?=\S*[A-Za-z])[!-~]{8,}$")
"""A word that may be a password; Japanese and Chinese have no spaces, so other letters are none."""
_HALF: Final = re.compile(
    r"(?:,|;| -| –)\s|\s(?=(?:so|but|and|because|though|y|pero|porque|und|aber|weil|et|mais|e|mas|ma|però)\s)"
)
_ASKS: Final = re.compile(r"[?？][\"'”’)\s\W]*$")
_PLAINLY, _UNREAL, _JEST, _SAID, _STANDING, _CONFIDED, _SECRET, _FOR_PERSONA, _OWN = map(
    TABLE.cue,
    ("plainly", "unreal", "jest", "hearsay", "standing", "confided", "secret", "second_person", "first_person"),
)
_GREETING: Final = TABLE.cue("greeting")
_ANNOUNCES, _DISREGARD, _TAKES_BACK, _POLAR, _YES, _REPLIES, _ASKS_OF = map(
    TABLE.cue, ("announces", "disregard", "takes_back", "polar", "yes", "replies", "asks_of")
)
_KNOWN: Final = re.compile(r"^\W*(?:[\w'’]+\W+){1,3}i know\W*$", re.IGNORECASE)
"""What somebody says that the other knows already: "three weeks, I know"."""
_LEAD: Final = TABLE.cue("lead")
_NEW_TOPIC: Final = re.compile(r"^\W*(?:ok(?:ay)?\W+)?(?:new (?:topic|subject)|by the way|anyway)\b", re.IGNORECASE)
WORDS: Final = 3
ALONE: Final = 4
"""An answer of more words that is neither yes nor no says by itself what it says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """Words of one line, exactly as they stand there, and what they are judged to be. `question` is the other side's question
    that they answer."""

    line: Line
    words: str
    judged: Judged
    question: str = ""
    asker: Line | None = None

    @property
    def persona(self) -> bool:
        return self.line.turn.role == "assistant"

    @property
    def asks(self) -> bool:
        return _ASKS.search(self.words) is not None or _ASKS_OF.search(self.words) is not None

    @property
    def greets(self) -> bool:
        """A greeting, thanks or a nod with next to nothing behind it. "no dairy for me" is none."""
        return self.judged.worth < NOTABLE and _GREETING.match(self.words) is not None

    @property
    def plain(self) -> bool:
        """Something said plainly of oneself."""
        return _PLAINLY.search(self.words) is not None

    @property
    def notable(self) -> bool:
        return self.judged.worth >= (NOTABLE / 2 if self.plain else NOTABLE)

    @property
    def standing(self) -> bool:
        """A lasting request: how somebody wants to be treated."""
        wanted = _STANDING.search(self.words) is not None
        return not self.persona and not self.asks and (wanted or self.judged.is_("request", 0.75))

    @property
    def confided(self) -> bool:
        return _CONFIDED.search(self.line.text) is not None

    @property
    def unmeant(self) -> bool:
        """Said in jest, on a condition or by hearsay: it may be quoted, but nothing rests on it."""
        return _UNREAL.search(self.words) is not None or _in_jest(self.words, self.judged) or self.told

    @property
    def told(self) -> bool:
        return _SAID.search(self.words) is not None or self.judged.is_("hearsay", 0.6)

    @property
    def of_persona_itself(self) -> bool:
        """Whether a persona tells of its own life rather than of the user."""
        return self.persona and _OWN.search(self.words) is not None and _FOR_PERSONA.search(self.words) is None


def sentences(text: str) -> list[str]:
    """The sentences of a text, each as it stands there; speech without full stops is cut at its fillers."""
    found: list[str] = []
    for piece in _BREAK.split(_CODE.sub("\n", text[:SCANNED])):
        sentence = piece.strip()
        if found and _ABBREVIATED.search(found[-1]) and f"{found[-1]} {sentence}" in text:
            found[-1] = f"{found[-1]} {sentence}"
        elif sentence:
            found.append(sentence)
    whole = [kept for one in found if (kept := _meant(one))]
    return [part for one in whole for part in (_spoken(one) if len(one) > SHORT else [one])]


def _meant(sentence: str) -> str:
    """A sentence from where it was last taken back: "he dropped it no wait I dropped it"."""
    last = max((found.end() for found in _TAKES_BACK.finditer(sentence)), default=0)
    return sentence[last:].strip(" ,.-–") if last else sentence


def _spoken(sentence: str) -> list[str]:
    parts: list[str] = []
    for piece in _FILLER.split(sentence):
        if parts and len(parts[-1]) + len(piece) < SHORT:
            parts[-1] = f"{parts[-1]} {piece}"
        else:
            parts.append(piece)
    return [part for part in parts if part in sentence]


def tells(text: str) -> bool:
    """Whether somebody speaks of themselves in as much as a short sentence, or names a number."""
    return (len(text.split()) >= 3 and _OWN.search(text) is not None) or any(letter.isdigit() for letter in text)


def asked(line: Line) -> str:
    """The question that a line ends with, or asks before its last sentence."""
    spoken = sentences(line.text)
    return next((one for one in reversed(spoken[-2:]) if _ASKS.search(one)), "")


def clauses(lines: Sequence[Line], *, before: Sequence[Line] = ()) -> list[Clause]:
    """The clauses of these lines, in order. All are judged at once, so that a passage costs one batch."""
    drafts: list[tuple[Line, Line | None, str]] = []
    earlier = list(before)
    for line in lines:
        previous = earlier[-1] if earlier else None
        drafts += [(line, previous, words) for words in _pieces(line)]
        earlier.append(line)
    judged = classifier().judge([_seen(*draft) for draft in drafts])
    parts = [Clause(line=line, words=words, judged=one) for (line, _, words), one in zip(drafts, judged, strict=True)]
    joined = [clause for line in lines for clause in _joined([part for part in parts if part.line is line])]
    return _answering(joined, [*before, *lines])


def _pieces(line: Line) -> Iterator[str]:
    """Sentences that may be kept at all: no secret, no order, nothing that only looks like a password."""
    if line.turn.role not in ("user", "assistant") or _TOKEN_ALONE.match(line.text.strip()):
        return
    if _DISREGARD.search(line.text):
        return
    masked = redact(line.text) != line.text
    for words in sentences(line.text):
        if (
            len(words) > LONGEST
            or (masked and (find_secrets(words) or not words[0].isalnum()))
            or _SECRET.search(words)
            or _TOKEN_ALONE.match(words)
        ):
            continue
        own = _own_half(words) if line.turn.role == "assistant" else _begun(words)
        if quarantine(own, line.turn.origin) is None:
            yield own


def _begun(words: str) -> str:
    """A sentence from where it comes to something: "ok new topic: we want to see Lisbon in May"."""
    rest = _LEAD.sub("", words)
    return rest if _NEW_TOPIC.match(words) and len(rest.split()) > WORDS else words


def _own_half(words: str) -> str:
    """What a persona says of itself, up to where it turns to the user: "I live over a bakery, so you know"."""
    if _FOR_PERSONA.search(words) is None or _OWN.search(words) is None or words.endswith("?"):
        return words
    ends = [found.start() for found in _HALF.finditer(words)]
    halves = (words[:end] for end in reversed(ends) if end >= 20)
    return next((half for half in halves if _FOR_PERSONA.search(half) is None and _OWN.search(half)), words)


def _seen(line: Line, previous: Line | None, words: str) -> judge.ClassifiedLine:
    before = previous.text if previous is not None and previous.turn.role != line.turn.role else ""
    return judge.ClassifiedLine(text=words, persona=line.turn.role == "assistant", before=before[-200:])


def _in_jest(words: str, judged: Judged) -> bool:
    return _JEST.search(words) is not None or judged.is_("joke", 0.8)


def _joined(parts: Sequence[Clause]) -> list[Clause]:
    """Neighbouring sentences of a line as one clause, up to a length; what is idle at its ends, and what was not meant, is left
    out."""
    found: list[Clause] = []
    run: list[Clause] = []
    for part in parts:
        apart = part.unmeant or part.judged.is_("secret", 0.8) or (part.asks and not part.persona)
        room = sum(len(one.words) + 1 for one in run) + len(part.words) <= SHORT
        together = _stretch([*run, part]) if run else part.words
        announced = bool(run) and _ANNOUNCES.search(run[-1].words) is not None and not part.persona
        differs = bool(run) and not announced and _typed(part) != _typed(run[-1])
        if run and (apart or not room or together is None or differs):
            found += _closed(run)
            run = []
        if apart:
            found.append(part)
        else:
            run.append(part)
    return [*found, *_closed(run)]


def _typed(part: Clause) -> bool | str:
    """What must not stand in one clause with others: a request that lasts, a fact that may end by itself."""
    return part.words if not part.persona and _types(part.words) else part.standing


@lru_cache(maxsize=4_096)
def _types(words: str) -> bool:
    return any(pattern.search(words) for pattern in _TYPES)


def _stretch(run: Sequence[Clause]) -> str | None:
    """The words of several sentences with what stands between them, if that is next to nothing."""
    text = run[0].line.text
    start = text.find(run[0].words)
    end = text.find(run[-1].words, start) + len(run[-1].words)
    whole = text[start:end]
    gap = len(whole) - sum(len(one.words) for one in run)
    return whole if start >= 0 and end > start and "\n" not in whole and gap <= 3 * len(run) else None


def _closed(run: Sequence[Clause]) -> Iterable[Clause]:
    while run and _idle(run[0]):
        run = run[1:]
    while run and _idle(run[-1]):
        run = run[:-1]
    if not run:
        return []
    words = _stretch(run) if len(run) > 1 else run[0].words
    if words is None:
        return run
    kinds: dict[Kind, float] = {kind: max(one.judged.kinds[kind] for one in run) for kind in KINDS}
    judged = Judged(max(one.judged.worth for one in run), max(one.judged.must for one in run), kinds)
    return [Clause(line=run[0].line, words=words, judged=judged)]


def _idle(part: Clause) -> bool:
    if (
        part.greets
        or _KNOWN.search(part.words)
        or (not part.persona and not part.standing and _of_the_other(part.words))
    ):
        return True
    return part.judged.worth < 0.3 and (part.judged.is_("smalltalk", 0.4) or len(part.words) < 24)


def _of_the_other(words: str) -> bool:
    """Whether a sentence speaks of whom it speaks to and of nobody else."""
    return _FOR_PERSONA.match(words.lstrip(' "“¿¡')) is not None and _OWN.search(words) is None


def _answering(found: Sequence[Clause], lines: Sequence[Line]) -> list[Clause]:
    """Each line's first clause with the question that it answers. Several people may answer one question in turn."""
    place = {line.turn.id: number for number, line in enumerate(lines)}
    answered: list[Clause] = []
    seen: set[str] = set()
    for clause in found:
        asker = None if clause.line.turn.id in seen else _asker(clause, lines, place[clause.line.turn.id])
        seen.add(clause.line.turn.id)
        if asker is None or clause.asks or len(clause.words) > SHORT:
            answered.append(clause)
            continue
        question = asked(asker)
        if len(question) > SHORT or find_secrets(question) or _alone(question, clause.words):
            answered.append(clause)
            continue
        whole = classifier().judge([judge.ClassifiedLine(text=f"{question} {clause.words}", persona=clause.persona)])[0]
        better = whole if whole.worth > clause.judged.worth else clause.judged
        answered.append(Clause(line=clause.line, words=clause.words, judged=better, question=question, asker=asker))
    return answered


def _alone(question: str, answer: str) -> bool:
    """Whether what answers a question of yes or no says neither, so that with it, it would seem to agree."""
    said = len(answer.split()) > ALONE and not _YES.match(answer) and not _REPLIES.match(answer)
    return said and _POLAR.search(question) is not None


def _asker(clause: Clause, lines: Sequence[Line], place: int) -> Line | None:
    for back in range(1, 5):
        if place - back < 0:
            return None
        earlier = lines[place - back]
        if earlier.speaker != clause.line.speaker and asked(earlier):
            return earlier if back == 1 or len(clause.words) < 40 else None
        if len(earlier.text) > 60 or (earlier.speaker == clause.line.speaker and back > 1):
            return None
    return None
