"""What lines leave open, and what they settle: promises, plans, requests to remind; done, missed, dropped or moved.

A loop is opened by words that promise or by a plan with a day. It is closed by what tells of something finished, failed or
given up and speaks of the same thing; talk of it once its day has come counts as well, since people rarely say "done".
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache, lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from hitherto.learn.notes import LoopNote, LoopOp, Owner, Scene
from hitherto.learn.readers.clauses import TABLE, Clause, sentences
from hitherto.learn.readers.mentions import Mentions
from hitherto.recall.embed.static import static_embedder
from hitherto.safety.secrets import find_secrets
from hitherto.text.analyser import stems, stems_as
from hitherto.text.languages import ENGLISH, detect, language
from hitherto.text.time.spans import due
from hitherto.types import Loop, LoopKind, Quote

__all__ = ["alike", "content", "loops", "speaks_of"]

_REMIND, _PROMISE, _FRICTION, _PLAN, _HABIT, _LATER, _DECIDE, _IDLE = map(
    TABLE.cue, ("remind", "promise", "friction", "plan", "habit", "later", "decide", "idle_plan")
)
_SETTLED, _MISSED, _DROPPED, _MOVED, _PENDING, _YES, _OFFER, _PRONOUN = map(
    TABLE.cue, ("settled", "missed", "dropped", "moved", "pending", "yes", "offer", "pronoun")
)
_AGREE: Final = TABLE.cue("agreement")
_SOMETHING: Final = TABLE.cue("something")
_STARTING: Final = TABLE.cue("starting")
_LEAD: Final = TABLE.cue("lead")
_LIGHT, _DOING = TABLE.words("light"), TABLE.words("doing")
"""What says nothing of a thing, and what is done to things: of "call the bank" it is the bank that must come up."""
_BETWEEN: Final = re.compile(
    r"[\u3041-\u309f的了个在有是我你他她它们和跟给把就也都还要得会能可这那不没很太吧吗呢啊点号过完已再又被从到为与着说让]"
)
"""What stands between words where they have no spaces: a pair of characters with one of these is seldom a word."""
_DUTY: Final = TABLE.cue("duty")
_NO_DATE: Final = TABLE.cue("no_date")
_PAST, _MAKES = TABLE.cue("past"), TABLE.cue("makes")
_REACHES: Final = TABLE.cue("reaches")
_OPTIONAL: Final = TABLE.cue("optional")
_OWN: Final = TABLE.cue("first_person")
_HIM_OR_HER: Final = re.compile(r"\b(?:him|her|she|he)\b", re.IGNORECASE)
_FOR_PERSONA: Final = TABLE.cue("second_person")
_ASIDE: Final = re.compile(r"[,;]\s+|\s+(?=(?:uh|um|so|and|but|like|okay|ok)\b)", re.IGNORECASE)
_REPEATS: Final = TABLE.cue("repeats")
EARLY: Final = timedelta(hours=4)
PUNCTUAL: Final = timedelta(hours=14)
"""A promise to call or ask is kept by words of the persona from shortly before its time until so long after it."""
ALIKE: Final = 0.5
"""The cosine above which two lines that share a word speak of the same thing."""
MOST: Final = 10
AT_ONCE: Final = 2
PLANNED: Final = 0.5
"""How likely a plan somebody's own words must be that hold no word of a plan."""
RAMBLING: Final = 100
"""Of a longer sentence, what is to be remembered begins where the speaker comes to it."""
SHORTEST: Final = 2
"""With fewer telling words a loop is told with what was said before it."""
LONGEST: Final = 160


@dataclass(slots=True)
class _Open:
    note: LoopNote
    ideas: frozenset[str]
    at: datetime
    ref: str | None = None


def loops(
    found: Sequence[Clause], known: Sequence[Loop], *, scene: Scene, mentions: Mentions | None = None
) -> list[LoopNote]:
    """What these clauses open and what they close, in order; nothing is opened that they settle themselves."""
    held = [_held(loop) for loop in known]
    notes: list[LoopNote] = []
    for place, clause in enumerate(found):
        notes += _closed(clause, held, scene=scene)
        for opened in _opened(clause, scene=scene):
            whole = _with_whom(_alone(opened, clause, found[:place]), clause, mentions)
            note = _named(whole, clause)
            fresh = _Open(note, content(note.text), clause.line.turn.at)
            same = next((one for one in held if _same(one, fresh)), None)
            if same is None:
                if sum(one.ref is None for one in held) < MOST:
                    held.append(fresh)
            elif note.due is not None and note.due != same.note.due:
                same.note = replace(same.note, due=note.due)
                if same.ref is not None:
                    notes.append(replace(same.note, op="moved", ref=same.ref, quotes=note.quotes))
    return [*notes, *(one.note for one in held if one.ref is None)]


def _alone(note: LoopNote, clause: Clause, earlier: Sequence[Clause]) -> LoopNote:
    """What is too short to stand alone, or says "it", with what the same speaker said before: "theo wants to get coffee … ill
    decide"."""
    if (len(content(note.text)) >= SHORTEST and not _SOMETHING.match(note.text)) or len(note.quotes) > 1:
        return note
    before = _said_before(note, clause, earlier)
    if before is None:
        return note
    text = _shortened(f"{before.words.rstrip(' .,')} … {note.text}")
    return replace(note, text=text, quotes=(*note.quotes, before))


def _said_before(note: LoopNote, clause: Clause, earlier: Sequence[Clause]) -> Quote | None:
    """The sentence before a note's in its line, or else in the line before."""
    *_, last = ("", *sentences(clause.line.text[: clause.line.text.find(note.quotes[0].words)]))
    if content(last) and len(last.split()) > SHORTEST and last[-1] not in "?？" and not find_secrets(last):
        return Quote(turn=clause.line.turn.id, words=last)
    lately = (
        one for one in reversed(earlier[-3:]) if one.line.speaker == clause.line.speaker and one.line is not clause.line
    )
    before = next((one for one in lately if content(one.words) and not one.unmeant and not one.asks), None)
    if before is None or clause.line.turn.at - before.line.turn.at > timedelta(minutes=10):
        return None
    return Quote(turn=before.line.turn.id, words=before.words)


def _with_whom(note: LoopNote, clause: Clause, mentions: Mentions | None) -> LoopNote:
    """With the name of whoever "her" or "him" is, if the line has named one person before."""
    if mentions is None or _HIM_OR_HER.search(note.text) is None or mentions.within(note.text):
        return note
    before = clause.line.text[: clause.line.text.find(note.quotes[0].words)]
    who = mentions.meant(before)
    return replace(note, text=f"{note.text.rstrip('.')} ({who[0]})") if who else note


def _named(note: LoopNote, clause: Clause) -> LoopNote:
    """In a group, with the name of who said so."""
    speaker = clause.line.turn.speaker
    return (
        replace(note, text=f"{clause.line.speaker}: {note.text}")
        if speaker and clause.line.speaker not in note.text
        else note
    )


def content(text: str) -> frozenset[str]:
    """The stems of a text that say what it is about."""
    code = detect(text)
    light = _words("light", code)
    said = stems_as(_calendar(code).sub(" ", text), code) if code not in {"", ENGLISH} else stems(text)
    found = {stem for stem in said if stem not in light and not stem.isdigit() and len(stem) > 1}
    named = {stem for stem in found if not _BETWEEN.search(stem)}
    return frozenset(named or found)


@cache
def _calendar(code: str) -> re.Pattern[str]:
    """The days and months of a language. Their stems are those of other words too: "mars" and "marie" are one in French."""
    dates = language(code).tables.get("dates", {})
    words = f"{dates.get('weekdays', '')} {dates.get('months', '')}".replace("|", " ").split()
    edges = ("", "") if language(code).script in {"kana", "han", "thai"} else (r"(?<!\w)", r"(?!\w)")
    return re.compile(rf"{edges[0]}(?:{'|'.join(map(re.escape, words)) or '(?!)'}){edges[1]}", re.IGNORECASE)


@cache
def _words(name: str, code: str) -> frozenset[str]:
    """The stems of a list of words in English and in the language of a text."""
    given = _LIGHT if name == "light" else _DOING
    return frozenset(stem for one in {ENGLISH, code} if one in given for stem in stems_as(given[one], one))


def _held(loop: Loop) -> _Open:
    note = LoopNote(text=loop.text, kind=loop.kind, owner=loop.owner, due=loop.due)
    return _Open(note, content(loop.text), loop.at, ref=loop.id)


# --- opening ----------------------------------------------------------------------------------------------------------


def _opened(clause: Clause, *, scene: Scene) -> Iterable[LoopNote]:
    if (
        clause.question
        and clause.asker is not None
        and _YES.match(clause.words)
        and clause.asker.turn.role == "assistant"
    ):
        yield from _accepted(clause, scene=scene)
    found = (_of(words, clause, scene=scene) for words in _sentences(clause))
    yield from [note for note in found if note is not None][:AT_ONCE]


def _sentences(clause: Clause) -> list[str]:
    return [one for one in sentences(clause.words) if one in clause.words] or [clause.words]


def _of(words: str, clause: Clause, *, scene: Scene) -> LoopNote | None:
    asks = words.rstrip(" )”\"'").endswith(("?", "？"))
    if clause.unmeant or clause.judged.is_("secret", 0.8):
        return None
    own: Owner = "persona" if clause.persona else "user"
    other: Owner = "user" if clause.persona else "persona"
    at = _due(words, clause.line.turn.at, scene)
    wanted = None if clause.persona else _REMIND.search(words)
    if wanted is not None and len(words) > RAMBLING:
        words = words[max((found.end() for found in _ASIDE.finditer(words, 0, wanted.start())), default=0) :]
        at = _due(words, clause.line.turn.at, scene)
    if wanted is not None and not (asks and at is None and "me" not in words.split()):
        return _note(words, clause, kind="promise", owner=other, at=at, scene=scene)
    if asks:
        return None
    duty = _DUTY.search(words)
    if duty is not None and duty.start() > 0:
        words = words[duty.start("x") :]
    if _LATER.search(words):
        return _note(words, clause, kind="topic", owner=own, at=None, scene=scene)
    how = _settles(words, clause)
    if how is not None and (at is None or (how != "done" and not _PROMISE.search(words))):
        return None
    kind = _promised(words, clause, at)
    if kind is None and not clause.persona:
        kind = _planned(words, clause, at)
    return None if kind is None else _note(words, clause, kind=kind, owner=own, at=at, scene=scene)


def _due(words: str, at: datetime, scene: Scene) -> datetime | None:
    """When it is due; what is to be done by Monday is so on Monday, not in the night after it."""
    found = due(_NO_DATE.sub(" ", words), now=at, zone=scene.zone)
    if found is None:
        return None
    here = found.astimezone(ZoneInfo(scene.zone))
    by_then = here.hour == here.minute == 0
    return here - timedelta(hours=3) if by_then else here


def _promised(words: str, clause: Clause, at: datetime | None) -> LoopKind | None:
    promised = _PROMISE.search(words) is not None
    sure = clause.judged.is_("promise")
    if _IDLE.search(words) and (clause.persona or not (at and sure)):
        return None
    if clause.persona:
        if _OPTIONAL.search(words) or _settles(words, clause) is not None:
            return None
        return "promise" if promised and (at is not None or (sure and _MAKES.search(words))) else None
    if _HABIT.search(words) and not _FOR_PERSONA.match(words.strip()) and (_STARTING.search(clause.words) or sure):
        return "habit"
    if promised and (at is not None or sure or clause.judged.is_("plan")):
        return "commitment"
    if _FRICTION.search(words) and (at is not None or sure or _DUTY.search(words)):
        return "commitment"
    return None


def _planned(words: str, clause: Clause, at: datetime | None) -> LoopKind | None:
    """A plan is open until its day when it names one. What happens every week, or has happened, is none."""
    if at is None or not timedelta(minutes=5) < at - clause.line.turn.at < timedelta(days=120):
        return None
    ahead = _DECIDE.search(words) is not None or _PLAN.search(words) is not None
    if _REPEATS.search(words) or (_PAST.search(words) and not ahead):
        return None
    own = _OWN.search(words) is not None and clause.judged.most("plan", "remind", "promise") >= PLANNED
    return "topic" if own or ahead else None


def _accepted(clause: Clause, *, scene: Scene) -> Iterable[LoopNote]:
    """A yes to what the persona offered is its promise; to what it asked for, the user's."""
    assert clause.asker is not None, "an accepted offer has somebody who made it"
    offered = _OFFER.search(clause.question) is not None
    if not offered and not _AGREE.search(clause.question):
        return
    spoken = sentences(clause.asker.text)
    words = clause.question if offered or len(clause.question) > 40 else " ".join(spoken[-2:])
    if words not in clause.asker.text or clause.asker.turn.role != "assistant":
        return
    at = _due(words, clause.asker.turn.at, scene)
    if offered and at is None:
        return
    quotes = (Quote(turn=clause.asker.turn.id, words=words), Quote(turn=clause.line.turn.id, words=clause.words))
    text = _shortened(words)
    if offered:
        yield LoopNote(text=text, kind="promise", owner="persona", due=at, quotes=quotes)
    else:
        yield LoopNote(text=text, kind="commitment", owner="user", due=at, quotes=quotes)


def _note(
    words: str, clause: Clause, *, kind: LoopKind, owner: Owner, at: datetime | None, scene: Scene
) -> LoopNote | None:
    """The words of a loop are those of its sentence; one that is too short to stand alone has the whole clause."""
    alone = len(content(words)) >= 2 or (at is not None and len(words.split()) > 3)
    shown = words if alone and not _PRONOUN.match(words) else clause.words
    if not content(shown) and not clause.question:
        return None
    if at is None and shown != words and kind != "topic":
        at = _due(shown, clause.line.turn.at, scene)
    quotes = [Quote(turn=clause.line.turn.id, words=shown)]
    text = _shortened(shown)
    if len(content(shown)) < 2 and clause.question and clause.asker is not None:
        quotes.insert(0, Quote(turn=clause.asker.turn.id, words=clause.question))
        text = f"{clause.question} {text}"
    elif len(content(shown)) < 2 and at is None:
        return None
    return LoopNote(text=text, kind=kind, owner=owner, due=at, private=clause.confided, quotes=tuple(quotes))


def _shortened(words: str) -> str:
    plain = _LEAD.sub("", words).strip() or words.strip()
    return plain if len(plain) <= LONGEST else f"{plain[: LONGEST - 1].rsplit(' ', 1)[0]}…"


# --- closing ----------------------------------------------------------------------------------------------------------


def _closed(clause: Clause, held: list[_Open], *, scene: Scene) -> list[LoopNote]:
    """What each sentence of a clause closes or moves: the one loop that it speaks of most."""
    notes = list(_kept(clause, held))
    if clause.asks or clause.unmeant:
        return notes
    for words in _sentences(clause):
        ending, one, moved = _ended(words, clause, held, scene=scene)
        if one is None or ending is None:
            continue
        quote = Quote(turn=clause.line.turn.id, words=words)
        if ending == "moved":
            text = (
                _shortened(words) if speaks_of(one.ideas, content(words), one.note.text, words) > 1 else one.note.text
            )
            one.note = replace(one.note, due=moved, text=text)
            if one.ref is not None:
                notes.append(replace(one.note, op="moved", ref=one.ref, quotes=(quote,)))
        else:
            held.remove(one)
            if one.ref is not None:
                notes.append(
                    LoopNote(op=ending, ref=one.ref, kind=one.note.kind, owner=one.note.owner, quotes=(quote,))
                )
    return notes


def _ended(
    words: str, clause: Clause, held: Sequence[_Open], *, scene: Scene
) -> tuple[LoopOp | None, _Open | None, datetime | None]:
    """What a sentence says of the loop that it speaks of most, if it speaks of one."""
    about = f"{clause.question} {words}"
    how, said = _settles(words, clause), content(about)
    sure = clause.question != "" or any(cue.search(words) for cue in (_SETTLED, _MISSED, _DROPPED))
    own: Owner = "persona" if clause.persona else "user"
    best: tuple[float, LoopOp, _Open, datetime | None] | None = None
    for one in held:
        if one.note.kind == "habit" and how != "dropped":
            continue
        thanked = one.note.owner == "persona" and how == "done" and "thank" in about.lower()
        if one.note.owner != own and not thanked:
            continue
        link = speaks_of(one.ideas, said, one.note.text, about)
        come = one.note.due is not None and clause.line.turn.at >= one.note.due - EARLY
        if not link or (link < 2 and not sure and not (come and _PAST.search(words))):
            continue
        moved = _moved(words, clause, one, scene=scene) if link > 1 else None
        ending: LoopOp | None = "moved" if moved is not None else how or _come_and_gone(clause, one, link)
        weight = link + alike(one.note.text, about)
        if ending is not None and (best is None or weight > best[0]):
            best = weight, ending, one, moved
    return (None, None, None) if best is None else (best[1], best[2], best[3])


def _kept(clause: Clause, held: list[_Open]) -> Iterable[LoopNote]:
    """A persona that promised to ask, call or remind has done so when it does, once the time has come."""
    if not clause.persona or clause.unmeant:
        return
    said = content(clause.words)
    for one in list(held):
        due, at = one.note.due, clause.line.turn.at
        if one.note.owner != "persona" or due is None or at - due < -EARLY or not _REACHES.search(one.note.text):
            continue
        if at - due <= PUNCTUAL or one.ideas & said:
            held.remove(one)
            if one.ref is not None:
                quote = Quote(turn=clause.line.turn.id, words=clause.words)
                yield LoopNote(op="done", ref=one.ref, kind=one.note.kind, owner=one.note.owner, quotes=(quote,))


def _settles(words: str, clause: Clause) -> LoopOp | None:
    """What the classifier calls settled, missed or dropped, and cues that say so by a word."""
    judged = clause.judged
    if _DROPPED.search(words) or judged.is_("dropped", 0.7):
        return "dropped"
    if _MISSED.search(words) or judged.is_("missed", 0.6):
        return "missed"
    if _PENDING.search(words):
        return None
    return "done" if _SETTLED.search(words) or judged.is_("settled", 0.6) else None


def _moved(words: str, clause: Clause, one: _Open, *, scene: Scene) -> datetime | None:
    if not (_MOVED.search(words) or clause.judged.most("change", "correction") >= 0.7):
        return None
    at = _due(words, clause.line.turn.at, scene)
    return at if at is not None and at != one.note.due else None


def _come_and_gone(clause: Clause, one: _Open, link: int) -> LoopOp | None:
    """Once its day has come, telling of it says that it took place."""
    if one.note.due is None or clause.line.turn.at < one.note.due - EARLY:
        return None
    if link < 2 and not _PAST.search(clause.words):
        return None
    return None if _PENDING.search(clause.words) or _PROMISE.search(clause.words) else "done"


def _same(one: _Open, fresh: _Open) -> bool:
    """Whether a loop is open already: most of the words of both, or half of them and the same day."""
    if one.note.owner != fresh.note.owner and {one.note.kind, fresh.note.kind} != {"promise"}:
        return False
    shared = len(one.ideas & fresh.ideas) / max(1, min(len(one.ideas), len(fresh.ideas)))
    same_day = one.note.due is not None and fresh.note.due is not None and one.note.due.date() == fresh.note.due.date()
    return shared >= (0.5 if same_day else 0.75) or alike(one.note.text, fresh.note.text) >= (0.6 if same_day else 0.8)


def speaks_of(wanted: frozenset[str], said: frozenset[str], loop: str, text: str) -> int:
    """How strongly a text speaks of what is open: 0 not at all, 1 perhaps, 2 surely."""
    met = wanted & said
    doing = _words("doing", detect(loop))
    if wanted - doing:
        met = met if met - doing else frozenset[str]()
    close = alike(loop, text)
    if not met:
        return 2 if close >= 0.72 else 0
    share = len(met) / len(wanted)
    if len(met) >= 3 or (share >= 0.5 and (len(met) > 1 or close >= ALIKE)):
        return 2 if close >= 0.3 else 1
    return 1 if (share >= 0.5 or len(met) > 1 or len(wanted) <= 4) and close >= 0.3 else 0


@lru_cache(maxsize=4_096)
def alike(one: str, other: str) -> float:
    """The cosine of two texts."""
    first, second = _vector(one), _vector(other)
    return float(sum(a * b for a, b in zip(first, second, strict=True)))


@lru_cache(maxsize=4_096)
def _vector(text: str) -> tuple[float, ...]:
    return tuple(static_embedder().embed([text])[0].tolist())
