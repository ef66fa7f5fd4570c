"""What lines leave open, and what they settle: promises, plans, requests to remind; done, missed, dropped or moved.

A loop is opened by words that promise or by a plan with a day. It is closed by what tells of something finished, failed or
given up and speaks of the same thing; talk of it once its day has come counts as well, since people rarely say "done".
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from hitherto.learn.notes import LoopNote, LoopOp, Owner, Scene
from hitherto.learn.readers.clauses import TABLE, Clause, sentences
from hitherto.recall.embed.static import static_embedder
from hitherto.text.analyser import stems
from hitherto.text.time.spans import due
from hitherto.types import Loop, LoopKind, Quote

__all__ = ["content", "loops", "speaks_of"]

_REMIND, _PROMISE, _FRICTION, _PLAN, _HABIT, _LATER, _DECIDE, _IDLE = map(
    TABLE.pattern, ("remind", "promise", "friction", "plan", "habit", "later", "decide", "idle_plan")
)
_SETTLED, _MISSED, _DROPPED, _MOVED, _PENDING, _YES, _OFFER, _PRONOUN = map(
    TABLE.pattern, ("settled", "missed", "dropped", "moved", "pending", "yes", "offer", "pronoun")
)
_AGREE: Final = TABLE.pattern("agreement")
_STARTING: Final = TABLE.pattern("starting")
_LEAD: Final = TABLE.pattern("lead")
_LIGHT: Final = frozenset(stems(" ".join(TABLE.texts("words", "light"))))
_DOING: Final = frozenset(stems(" ".join(TABLE.texts("words", "doing"))))
"""What is done to things: of "call the bank" it is the bank that must come up."""
_DUTY: Final = TABLE.pattern("duty")
_NO_DATE: Final = TABLE.pattern("no_date")
ALIKE: Final = 0.5
"""The cosine above which two lines that share a word speak of the same thing."""
MOST: Final = 10
AT_ONCE: Final = 2
SHORTEST: Final = 2
"""With fewer telling words a loop is told with what was said before it."""
LONGEST: Final = 160


@dataclass(slots=True)
class _Open:
    note: LoopNote
    ideas: frozenset[str]
    at: datetime
    ref: str | None = None


def loops(found: Sequence[Clause], known: Sequence[Loop], *, scene: Scene) -> list[LoopNote]:
    """What these clauses open and what they close, in order; nothing is opened that they settle themselves."""
    held = [_held(loop) for loop in known]
    notes: list[LoopNote] = []
    for place, clause in enumerate(found):
        notes += _closed(clause, held, scene=scene)
        for opened in _opened(clause, scene=scene):
            note = _named(_alone(opened, clause, found[:place]), clause)
            fresh = _Open(note, content(note.text), clause.line.turn.at)
            same = next((one for one in held if _same(one, fresh)), None)
            if same is None:
                if sum(one.ref is None for one in held) < MOST:
                    held.append(fresh)
            elif note.due is not None and note.due != same.note.due:
                same.note = replace(same.note, due=note.due)
                if same.ref is not None:
                    notes.append(replace(note, op="moved", ref=same.ref))
    return [*notes, *(one.note for one in held if one.ref is None)]


def _alone(note: LoopNote, clause: Clause, earlier: Sequence[Clause]) -> LoopNote:
    """What is too short to stand alone, with what the same speaker said before it: "theo wants to get coffee … ill decide"."""
    if len(content(note.text)) >= SHORTEST or len(note.quotes) > 1:
        return note
    lately = (
        one for one in reversed(earlier[-3:]) if one.line.speaker == clause.line.speaker and one.line is not clause.line
    )
    before = next((one for one in lately if content(one.words) and not one.unmeant and not one.asks), None)
    if before is None or clause.line.turn.at - before.line.turn.at > timedelta(minutes=10):
        return note
    text = _shortened(f"{before.words} … {note.text}")
    return replace(note, text=text, quotes=(*note.quotes, Quote(turn=before.line.turn.id, words=before.words)))


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
    return frozenset(stem for stem in stems(text) if stem not in _LIGHT and not stem.isdigit() and len(stem) > 1)


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
    asks = words.rstrip(" )”\"'").endswith("?")
    if clause.unmeant or clause.judged.is_("secret", 0.8):
        return None
    own: Owner = "persona" if clause.persona else "user"
    other: Owner = "user" if clause.persona else "persona"
    at = _due(words, clause.line.turn.at, scene)
    if not clause.persona and _REMIND.search(words) and not (asks and at is None and "me" not in words.split()):
        return _note(words, clause, kind="promise", owner=other, at=at)
    if asks:
        return None
    duty = _DUTY.search(words)
    if duty is not None and duty.start() > 0:
        words = words[duty.start("x") :]
    if _LATER.search(words):
        return _note(words, clause, kind="topic", owner=own, at=at)
    how = _settles(words, clause)
    if how is not None and (at is None or (how != "done" and not _PROMISE.search(words))):
        return None
    kind = _promised(words, clause, at)
    if kind is None and not clause.persona:
        kind = _planned(words, clause, at)
    return None if kind is None else _note(words, clause, kind=kind, owner=own, at=at)


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
    if _IDLE.search(words) and not (at and sure):
        return None
    if clause.persona:
        return "promise" if promised and (at is not None or sure) else None
    if _HABIT.search(words) and (_STARTING.search(clause.words) or sure):
        return "habit"
    if promised and (at is not None or sure or clause.judged.is_("plan")):
        return "commitment"
    if _FRICTION.search(words) and (at is not None or sure or _DUTY.search(words)):
        return "commitment"
    return None


def _planned(words: str, clause: Clause, at: datetime | None) -> LoopKind | None:
    """A plan is open until its day when it names one."""
    if at is None or not timedelta(minutes=5) < at - clause.line.turn.at < timedelta(days=120):
        return None
    if (
        _DECIDE.search(words)
        or clause.judged.most("plan", "remind", "promise", "missed") >= 0.45
        or _PLAN.search(words)
    ):
        return "topic"
    return None


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


def _note(words: str, clause: Clause, *, kind: LoopKind, owner: Owner, at: datetime | None) -> LoopNote | None:
    """The words of a loop are those of its sentence; one that is too short to stand alone has the whole clause."""
    alone = len(content(words)) >= 2 or (at is not None and len(words.split()) > 3)
    shown = words if alone and not _PRONOUN.match(words) else clause.words
    if not content(shown):
        return None
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
    if clause.asks or clause.unmeant:
        return []
    about = f"{clause.question} {clause.words}"
    notes: list[LoopNote] = []
    own: Owner = "persona" if clause.persona else "user"
    how = _settles(clause.words, clause)
    said = content(about)
    for one in list(held):
        if one.note.kind == "habit" and how != "dropped":
            continue
        thanked = one.note.owner == "persona" and how == "done" and "thank" in about.lower()
        if one.note.owner != own and not thanked:
            continue
        link = speaks_of(one.ideas, said, one.note.text, about)
        if not link:
            continue
        moved = _moved(clause, one, scene=scene)
        ending: LoopOp | None = "moved" if moved is not None else how or _come_and_gone(clause, one, link)
        if ending is None:
            continue
        if ending == "moved":
            one.note = replace(one.note, due=moved)
            if one.ref is not None:
                quotes = (Quote(turn=clause.line.turn.id, words=clause.words),)
                notes.append(replace(one.note, op="moved", ref=one.ref, text=_shortened(clause.words), quotes=quotes))
        else:
            held.remove(one)
            if one.ref is not None:
                quote = Quote(turn=clause.line.turn.id, words=clause.words)
                notes.append(
                    LoopNote(op=ending, ref=one.ref, kind=one.note.kind, owner=one.note.owner, quotes=(quote,))
                )
    return notes


def _settles(words: str, clause: Clause) -> LoopOp | None:
    """What the classifier calls settled, missed or dropped, and cues that say so by a word."""
    judged = clause.judged
    if _DROPPED.search(words) or judged.is_("dropped", 0.7):
        return "dropped"
    if _MISSED.search(words) or judged.is_("missed", 0.6):
        return "missed"
    if _PENDING.search(words):
        return None
    return "done" if _SETTLED.search(words) or judged.is_("settled") else None


def _moved(clause: Clause, one: _Open, *, scene: Scene) -> datetime | None:
    if not (_MOVED.search(clause.words) or clause.judged.most("change", "correction") >= 0.6):
        return None
    at = _due(clause.words, clause.line.turn.at, scene)
    return at if at is not None and at != one.note.due else None


def _come_and_gone(clause: Clause, one: _Open, link: int) -> LoopOp | None:
    """Once its day has come, telling of it says that it took place."""
    if one.note.due is None or clause.line.turn.at < one.note.due - timedelta(hours=4) or link < 2:
        return None
    return None if _PENDING.search(clause.words) or _PROMISE.search(clause.words) else "done"


def _same(one: _Open, fresh: _Open) -> bool:
    if one.note.owner != fresh.note.owner and {one.note.kind, fresh.note.kind} != {"promise"}:
        return False
    return speaks_of(one.ideas, fresh.ideas, one.note.text, fresh.note.text) >= 2


def speaks_of(wanted: frozenset[str], said: frozenset[str], loop: str, text: str) -> int:
    """How strongly a text speaks of what is open: 0 not at all, 1 perhaps, 2 surely."""
    met = wanted & said
    if wanted - _DOING:
        met = met if met - _DOING else frozenset[str]()
    if not met:
        return 2 if _alike(loop, text) >= 0.72 else 0
    share = len(met) / len(wanted)
    if share >= 0.5 or len(met) >= 3:
        return 2
    close = _alike(loop, text)
    if len(met) >= 2 or close >= ALIKE:
        return 2 if close >= 0.35 else 1
    return 1 if close >= 0.3 and len(wanted) <= 4 else 0


@lru_cache(maxsize=4_096)
def _alike(one: str, other: str) -> float:
    first, second = _vector(one), _vector(other)
    return float(sum(a * b for a, b in zip(first, second, strict=True)))


@lru_cache(maxsize=4_096)
def _vector(text: str) -> tuple[float, ...]:
    return tuple(static_embedder().embed([text])[0].tolist())
