"""Summaries without a model: the two or three sentences that mattered, whole, in order, with the names of who said them.

A clause weighs what the classifier gives it, more if it opens or settles something, and more if the talk came back to it.
Small talk alone has no summary. Tone and outcome are told only where words say so.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final
from zoneinfo import ZoneInfo

from hitherto.learn.notes import LaneSection, Line, LoopNote, Passage, Scene, SentenceNote, Sitting, SittingNotes
from hitherto.learn.readers.clauses import TABLE, Clause, sentences
from hitherto.learn.readers.loose_ends import content
from hitherto.learn.readers.quotes import day, days, tense_of
from hitherto.learn.verify import same_words
from hitherto.text.languages import ENGLISH, detect
from hitherto.types import Loop, Outcome, Quote, Support

__all__ = ["closed", "rolling"]

_SCALE: Final = {"brief": (2, 3), "normal": (3, 6), "full": (5, 10)}
_DECISION, _LEAVES, _WORKED = map(TABLE.cue, ("decision", "leaves", "worked"))
_MOODS: Final = {mood: TABLE.cue(mood, section="moods") for mood in TABLE.content["moods"]}
INFORMS, MANY = 0.06, 8
"""What each word that tells of something adds, up to so many."""
BESIDE: Final = 0.6
"""What weighs less than so much of the weightiest does not tell a session beside it."""
IDLE: Final = 0.8
"""What is surely small talk, and not as surely worth a note, tells no session of which something else can be told."""
DAY: Final = 8
MOMENTS: Final = 4
WITH_QUESTION: Final = 180
"""Up to so many characters, an answer is told with its question."""
_LEAD: Final = TABLE.cue("lead")
_ASIDE: Final = re.compile(r"(?:,? |^)\b(?:btw|tbh|ngl|lol|haha)\b", re.IGNORECASE)
_NO: Final = re.compile(r"^\W*(?:no|nope|nah|nein|non|não)\b", re.IGNORECASE)
ENOUGH: Final = 4
"""With so many telling words, an answer that denies its question is told without what was wrongly taken for granted."""
_I: Final = re.compile(
    r"\b(?P<and>and )?(?:(?P<be>i am|i['’]m|im)|(?P<have>i['’]ve|ive)|(?P<will>i['’]ll)|(?P<would>i['’]d)"
    r"|i(?P<adverbs>(?: (?:just|also|still|never|always|only|even|almost|\w+ly))*) (?P<verb>[a-z]+(?:['’]t)?))\b",
    re.IGNORECASE,
)
_NOT_RETOLD: Final = re.compile(
    r"(?<!\w)['‘\"“]|[?]|\b(?:you|your|yours|u|ur|we|us|our|ours|myself|let|today|tonight|tomorrow|tmrw|yesterday|now|this)\b"
    r"|^\W*(?:it|its|that|those|they|he|she|his|her|ill)\b|\byou['’]|\bwe['’]"
    r"|\bi (?:know|mean|guess|think|suppose|swear)\W*$|\b(?:please|pls|plz)\b",
    re.IGNORECASE,
)
"""What another mouth would have to say in other words, on another day or of somebody else."""
_MY: Final = re.compile(r"\b(?P<my>my|mine)\b|\bme\b", re.IGNORECASE)
_SAME: Final = frozenset(TABLE.content["words"]["same_for_all"].split())
_THEIRS: Final = frozenset(["his", "hers", "its", "theirs", "this", "yes", "as", "days", "times"])
_UNSURE: Final = frozenset(["bet", "cost", "cut", "hit", "hurt", "let", "put", "quit", "read", "set", "shut", "spread"])
"""Verbs that do not show whether they tell of now or of then."""
_OTHER: Final = {"am": "is", "do": "does", "don't": "doesn't", "have": "has", "haven't": "hasn't"}
TOLD: Final = 0.6
"""How much of what a clause says must be told in its place."""
LONG: Final = 1_500
"""For so many characters that were said, one more sentence is worth keeping."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Weighed:
    clause: Clause
    weight: float
    place: int
    ideas: frozenset[str]


def closed(sitting: Sitting, found: Sequence[Clause], opened: Sequence[LoopNote]) -> SittingNotes:
    """A session by rules. `opened` are the loops that its own lines open or settle."""
    weighed = _weigh(found, opened)
    few, many = _SCALE[sitting.detail]
    many += sum(len(line.text) for line in sitting.lines) // LONG
    best = _chosen(weighed, most=few + many)
    if not best:
        return SittingNotes(lane=_lane(best, found, opened, sitting))
    first = _heart(best, few=few)
    rest = [one for one in best if one not in first]
    scene = sitting.scene
    summary = tuple(_told(one.clause, scene) for one in first)
    moments = [one for one in rest if one.clause.judged.most("event", "settled", "change", "missed", "dropped") >= 0.5]
    return SittingNotes(
        summary=summary,
        mattered=tuple(_told(one.clause, scene) for one in rest),
        tone=_tone(sitting.lines),
        outcome=_outcome(sitting.lines),
        topics=_topics(sitting.lines),
        day=_through_the_day(sitting, summary),
        moments=tuple(_told(one.clause, scene) for one in moments[:MOMENTS]),
        lane=_lane(best, found, opened, sitting),
    )


def rolling(passage: Passage, found: Sequence[Clause], opened: Sequence[LoopNote]) -> tuple[SentenceNote, ...]:
    """What to have in mind next time: what is open, then what mattered lately, then what was in mind before; each sentence
    stands alone."""
    ended = {note.ref for note in opened if note.op != "open"}
    told = [source for one in (passage.rolling.sentences if passage.rolling else ()) for source in one.sources]
    at_hand = {line.turn.id for line in passage.lines}.union(told)
    left = [
        loop
        for loop in passage.loops
        if loop.id not in ended and loop.quotes and at_hand.issuperset(quote.turn for quote in loop.quotes)
    ]
    still = sorted(left, key=lambda loop: (loop.due is None, loop.due or loop.at))
    room = passage.characters
    kept: list[SentenceNote] = []

    def take(notes: Iterable[SentenceNote], upto: int) -> None:
        nonlocal room
        for note in notes:
            size = len(note.text) + 1
            if size <= min(room, upto) and all(note.text != other.text for other in kept):
                kept.append(note)
                room -= size
                upto -= size

    fresh = [_told(one.clause, passage.scene) for one in _chosen(_weigh(found, opened), most=6)]
    take((_open(loop, passage.scene) for loop in still), passage.characters // 3)
    take(reversed(fresh), passage.characters)
    if passage.rolling is not None:
        take((_carried(one) for one in reversed(passage.rolling.sentences) if not one.text.startswith("Open: ")), room)
    opens = [note for note in kept if note.text.startswith("Open: ")]
    lately = [note for note in fresh if note in kept]
    earlier = [note for note in reversed(kept) if note not in opens and note not in lately]
    return (*opens, *earlier, *lately)


def _open(loop: Loop, scene: Scene) -> SentenceNote:
    who = scene.persona if loop.owner == "persona" else scene.user
    at = loop.due.astimezone(ZoneInfo(scene.zone)) if loop.due else None
    when = f", {at:%A} {at.day} {at:%B}" if at else ""
    return SentenceNote(text=f"Open: “{loop.text}” ({who}{when}).", quotes=loop.quotes)


def _carried(one: Support) -> SentenceNote:
    return SentenceNote(text=one.text, quotes=one.quotes)


def _weigh(found: Sequence[Clause], opened: Sequence[LoopNote]) -> list[_Weighed]:
    moving = {quote.turn for note in opened for quote in note.quotes}
    ideas = [content(one.words) for one in found]
    counts = Counter(idea for some in ideas for idea in some)
    return [
        _Weighed(
            clause=one, weight=_weight(one, some, counts, moving=one.line.turn.id in moving), place=place, ideas=some
        )
        for place, (one, some) in enumerate(zip(found, ideas, strict=True))
    ]


def _weight(one: Clause, ideas: frozenset[str], counts: Counter[str], *, moving: bool) -> float:
    """Nothing for what is idle, asked or not meant."""
    judged = one.judged
    if one.asks or one.unmeant or not one.notable or not ideas or judged.is_("secret", 0.8):
        return 0.0
    if one.persona and not moving and not one.of_persona_itself:
        return 0.0
    again = sum(counts[idea] > 1 for idea in ideas) / (len(ideas) + 1)
    weight = judged.worth + 0.5 * judged.must + 0.3 * again + 0.3 * moving + 0.3 * one.standing
    weight += 0.3 * (judged.most("change", "settled", "event", "health", "plan") >= 0.5)
    weight += INFORMS * min(len(ideas), MANY)
    return weight - 0.3 * one.persona - 0.3 * (len(ideas) < 2)


def _chosen(weighed: Sequence[_Weighed], *, most: int) -> list[_Weighed]:
    kept: list[_Weighed] = []
    for one in sorted(weighed, key=lambda each: (-each.weight, each.place)):
        if one.weight <= 0 or len(kept) == most:
            break
        if not any(len(one.ideas & other.ideas) > 0.6 * min(len(one.ideas), len(other.ideas)) for other in kept):
            kept.append(one)
    return sorted(kept, key=lambda one: one.place)


def _heart(best: Sequence[_Weighed], *, few: int) -> list[_Weighed]:
    """The few that tell a session; small talk only makes up for want of a second."""
    ranked = sorted(best, key=lambda one: -one.weight)
    telling = [one for one in ranked if not _idle(one.clause) and one.weight >= BESIDE * ranked[0].weight]
    return sorted((telling if len(telling) > 1 else ranked[:2])[:few], key=lambda one: one.place)


def _idle(clause: Clause) -> bool:
    return clause.judged.is_("smalltalk", IDLE) and clause.judged.worth < IDLE


def _told(clause: Clause, scene: Scene) -> SentenceNote:
    who = clause.line.speaker or (scene.persona if clause.persona else scene.user)
    quotes = [Quote(turn=clause.line.turn.id, words=clause.words)]
    who = who[:1].upper() + who[1:]
    retold = "" if clause.standing or clause.judged.is_("request") else _retold(clause.words, who)
    if retold:
        retold = _under_labels(retold, scene)
        return SentenceNote(text=f"{retold}{_dated(clause, scene, stop=retold[-1:])}", quotes=tuple(quotes))
    words = clause.words.rstrip(" .")
    said = f"{who} said “{words}”"
    short = len(clause.words) < 60 or len(clause.words) + len(clause.question) < WITH_QUESTION
    denied = _NO.match(clause.words) is not None and len(content(clause.words)) >= ENOUGH
    if clause.question and clause.asker is not None and short and not denied:
        quotes.insert(0, Quote(turn=clause.asker.turn.id, words=clause.question))
        said = f"Asked “{clause.question}”, {said}"
    return SentenceNote(text=f"{said}{_dated(clause, scene, stop=words[-1:])}", quotes=tuple(quotes))


def _under_labels(text: str, scene: Scene) -> str:
    """A text in which people who are known by several names or spellings stand under one."""
    for entity in scene.people:
        for alias in entity.aliases:
            if alias[:1].isupper() and alias not in entity.label:
                text = re.sub(rf"(?<![\w“]){re.escape(alias)}(?!\w)", entity.label, text)
    return text


def _dated(clause: Clause, scene: Scene, *, stop: str) -> str:
    """The days that a clause means, and its full stop unless it ends with a mark of its own."""
    at = clause.line.turn.at.astimezone(ZoneInfo(scene.zone))
    meant = [day(time, at) for time in days(clause.words, at, scene.zone, tense=tense_of(clause))]
    dated = f" ({', '.join(dict.fromkeys(meant))})" if meant else ""
    return f"{dated}{'' if not dated and stop in '!?…。！？' else '.'}"


def _retold(words: str, name: str) -> str:
    """English of somebody about themselves as another would say it, "I froze" as "Ana froze", where only the person changes;
    nothing where it is not sure to be right, or where most of what was said would be left out."""
    if detect(words) != ENGLISH:
        return ""
    spoken = {one.casefold(): one for one in reversed(sentences(words))}
    told = [(one, retold) for one in reversed(spoken.values()) if (retold := _of_somebody(one, name))]
    said = content(words)
    kept = frozenset(idea for one, _ in told for idea in content(one))
    if not told or len(kept & said) < TOLD * len(said):
        return ""
    return " ".join(f"{one}." if one[-1:] not in ".!…" else one for _, one in told).removesuffix(".")


def _of_somebody(sentence: str, name: str) -> str:
    plain = _ASIDE.sub("", _LEAD.sub("", sentence)).strip(" ,;:-–")
    if (
        _NOT_RETOLD.search(plain)
        or not content(plain)
        or not (_I.search(plain) or (_MY.search(plain) and _has_subject(plain)))
    ):
        return ""
    parts: list[str] = []
    place = 0
    for found in _I.finditer(plain):
        verb = _third(found, plain[found.end() :])
        if not verb:
            return ""
        parts += [plain[place : found.start()], found["and"] or "", f"{name}{found['adverbs'] or ''} {verb}"]
        place = found.end()
    parts.append(plain[place:])
    whole = "".join(parts)
    told = _MY.sub(lambda found: _mine(found, name, named=name in whole[: found.start()]), whole)
    return "" if re.search(r"\b[iI]\b", told) else told[:1].upper() + told[1:]


def _has_subject(plain: str) -> bool:
    """Whether a sentence begins with whom it is about: "Lea sent me flights", not "tell my sister" or "did my exercises"."""
    first, *rest = plain.lower().split()
    verb = next((word for word in rest if not word.endswith("ly")), "")
    return first == "my" or verb in _SAME or (verb.endswith(("ed", "s")) and verb not in _THEIRS)


def _mine(found: re.Match[str], name: str, *, named: bool) -> str:
    if not found["my"]:
        return name
    return "their" if named and found["my"].lower() == "my" else f"{name}'s"


def _third(found: re.Match[str], rest: str) -> str:
    """What follows a name where "I" and these words stood; nothing where that is not sure."""
    if found["be"] or found["have"] or found["will"] or found["would"]:
        alone = {"be": "is", "have": "has", "will": "will", "would": "would"}
        return "" if found["and"] and found["be"] else next(said for kind, said in alone.items() if found[kind])
    verb = found["verb"].lower().replace("’", "'")
    if verb in _SAME or (verb.endswith("ed") and verb not in {"need", "feed", "speed", "bleed", "succeed"}):
        return verb
    if verb in _UNSURE or found["and"] or re.search(r"\b(?:and|or|but|then)\b", rest):
        return ""
    if verb in _OTHER:
        return _OTHER[verb]
    if "'" in verb:
        return ""
    if re.search(r"[^aeiou]y$", verb):
        return f"{verb[:-1]}ies"
    return f"{verb}{'es' if re.search(r'(?:s|sh|ch|x|z|o)$', verb) else 's'}"


def _through_the_day(sitting: Sitting, summary: tuple[SentenceNote, ...]) -> tuple[SentenceNote, ...]:
    """The day so far and what this session adds."""
    earlier = [_carried(one) for one in sitting.day.sentences] if sitting.day is not None else []
    return tuple([*(note for note in earlier if all(note.text != new.text for new in summary)), *summary][-DAY:])


def _lane(
    best: Sequence[_Weighed], found: Sequence[Clause], opened: Sequence[LoopNote], sitting: Sitting
) -> dict[LaneSection, tuple[SentenceNote, ...]]:
    """What is new in each section, every sentence in one of them. What is left open is told however little it weighs."""
    pending = _left_open(opened, sitting)
    chosen = {id(one.clause) for one in best}
    sections: dict[LaneSection, list[SentenceNote]] = {}
    for clause in found:
        waits = any(same_words(quote, clause.line.turn.id, clause.words) for quote in pending)
        if not waits and id(clause) not in chosen:
            continue
        section: LaneSection = "facts"
        if _DECISION.search(clause.words):
            section = "decisions"
        elif waits:
            section = "pending"
        elif clause.judged.most("settled", "missed", "dropped") >= 0.5:
            section = "outcomes"
        elif clause.judged.most("plan", "promise") >= 0.5:
            section = "goals"
        sections.setdefault(section, []).append(_told(clause, sitting.scene))
    return {name: tuple(notes) for name, notes in sections.items()}


def _left_open(opened: Sequence[LoopNote], sitting: Sitting) -> list[Quote]:
    """The words of what these lines leave open, be it noted from them now or before."""
    ended = {note.ref for note in opened if note.op in ("done", "missed", "dropped")}
    held = [loop for loop in sitting.loops if loop.status == "open" and loop.id not in ended]
    fresh = [note for note in opened if note.op == "open"]
    return [quote for one in (*held, *fresh) for quote in one.quotes]


def _tone(lines: Sequence[Line]) -> str:
    """A mood that the user's own words name, if they name only one."""
    said = "\n".join(line.text for line in lines if line.turn.role == "user")
    found = [mood for mood, pattern in _MOODS.items() if pattern.search(said)]
    return found[0] if len(found) == 1 else ""


def _outcome(lines: Sequence[Line]) -> Outcome | None:
    own = [line.text for line in lines if line.turn.role == "user"]
    if any(_WORKED.search(text) for text in own):
        return "SUCCESS"
    return "INTERRUPTED" if own and _LEAVES.search(own[-1]) else None


def _topics(lines: Sequence[Line]) -> tuple[str, ...]:
    """The words that came up most, as they were said; of those that came up once, the first."""
    counted: Counter[str] = Counter()
    shown: dict[str, str] = {}
    for line in lines:
        for word in dict.fromkeys(re.findall(r"[^\W\d_][\w'’-]{3,}", line.text)):
            for idea in content(word):
                counted[idea] += 1
                shown.setdefault(idea, word.lower())
    return tuple(shown[idea] for idea, _ in counted.most_common(3))
