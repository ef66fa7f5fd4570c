"""What was left open: opened, merged, moved and closed by notes, and let go when its day is long past. Pure, but for the
step that lets go.

An open thread that nobody would still mention is worse than none. So one that waits for a day is missed when that day has
passed without a word, after a grace that depends on its kind, and one without a day expires when nobody comes back to it.
What the persona thought about a loop goes when the loop does.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from hitherto.ids import derived_id
from hitherto.learn.decide import joined
from hitherto.learn.notes import LoopNote, overdue
from hitherto.learn.services import Services
from hitherto.learn.thoughts import thought_id
from hitherto.learn.verify import folded
from hitherto.safety.quarantine import quarantine
from hitherto.safety.secrets import find_secrets
from hitherto.store import records as nouns
from hitherto.store.protocol import Answers, Change, RecordList
from hitherto.types import Loop, LoopKind, LoopStatus, StoredTurn
from hitherto.work.cursors import Effect
from hitherto.work.overview import Overview
from hitherto.work.worker import Job, Step

NAME = "loops"
OPEN = 500
GRACE: Final[Mapping[LoopKind, timedelta]] = {
    "promise": timedelta(days=21),
    "commitment": timedelta(days=10),
    "question": timedelta(days=10),
    "topic": timedelta(days=3),
    "habit": timedelta(days=45),
    "friction": timedelta(days=30),
}
"""How long after its day a loop is still worth a word."""
PATIENCE: Final[Mapping[LoopKind, timedelta]] = {
    "promise": timedelta(days=60),
    "commitment": timedelta(days=45),
    "question": timedelta(days=21),
    "topic": timedelta(days=30),
    "habit": timedelta(days=60),
    "friction": timedelta(days=45),
}
"""How long a loop without a day waits for somebody to come back to it."""
UNREAD_GRACE: Final[Mapping[LoopKind, timedelta]] = {
    **GRACE,
    "promise": timedelta(days=14),
    "commitment": timedelta(days=5),
    "question": timedelta(days=2),
    "topic": timedelta(hours=12),
}
UNREAD_PATIENCE: Final[Mapping[LoopKind, timedelta]] = {
    **PATIENCE,
    "promise": timedelta(days=30),
    "commitment": timedelta(days=7),
    "question": timedelta(days=7),
    "topic": timedelta(days=14),
}
"""The same without a model, where most of what people say of a thing once it is over goes unread."""
AT_LEAST: Final = timedelta(days=2)
"""What was to be done tonight is let go after so long, what was meant for later as much later, up to its grace."""
_ENDS: Final[Mapping[str, LoopStatus]] = {"done": "done", "missed": "not_done", "dropped": "dropped"}
_ALIKE: Final = 0.6
_ALIKE_SAME_DAY: Final = 0.4
_ALIKE_TOGETHER: Final = 0.8


def let_go(loop: Loop, now: datetime, *, read: bool = True) -> Loop | None:
    """The loop as it ends when its time is over, or None while it is worth a word. `read` says that a model reads what is
    said of it."""
    grace, patience = (GRACE, PATIENCE) if read else (UNREAD_GRACE, UNREAD_PATIENCE)
    if loop.due is not None:
        waited = now - max(loop.at, loop.due)
        ahead = max(loop.due - loop.at, timedelta())
        most = grace[loop.kind] if read or loop.kind != "commitment" else min(grace[loop.kind], AT_LEAST + ahead)
        if waited <= most:
            return None
        unsaid = loop.kind in ("habit", "friction") or (loop.kind == "topic" and not read)
        ends: LoopStatus = "expired" if unsaid else "not_done"
        return replace(loop, status=ends)
    return replace(loop, status="expired") if now - loop.at > patience[loop.kind] else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A note on a loop with verified quotes and the turns they stand in."""

    note: LoopNote
    turns: tuple[StoredTurn, ...]

    @property
    def id(self) -> str:
        first = self.note.quotes[0]
        return derived_id("loop", first.turn, folded(first.words), self.note.kind, folded(self.note.text))


@dataclass(slots=True)
class Settled:
    """The loops to write, and what was left out, by reason."""

    loops: dict[str, Loop] = field(default_factory=dict[str, Loop])
    kept: Counter[str] = field(default_factory=Counter[str])
    dropped: Counter[str] = field(default_factory=Counter[str])


def settle(heard: Iterable[Heard], known: Sequence[Loop], *, persona: str | None, now: datetime) -> Settled:
    """`known` are the persona's open loops, and all, of whatever status, that rest on these turns."""
    made = Settled()
    held = {loop.id: loop for loop in known}
    for one in heard:
        outcome = _outcome(one, held, fresh=frozenset(made.loops), persona=persona, now=now)
        if isinstance(outcome, str):
            made.dropped[outcome] += 1
            continue
        made.kept[one.note.op] += 1
        made.loops[outcome.id] = held[outcome.id] = outcome
    return made


def _outcome(
    one: Heard, held: Mapping[str, Loop], *, fresh: frozenset[str], persona: str | None, now: datetime
) -> Loop | str:
    note = one.note
    if note.text and find_secrets(note.text):
        return "secret"
    if note.text and quarantine(note.text, "assistant") is not None:
        return "order"
    named = held.get(note.ref or "")
    if named is not None and (named.persona != persona or named.status != "open"):
        return "closed" if named.persona == persona else "unknown"
    if note.op in _ENDS:
        return _closed(one, named, now=now)
    if named is not None and note.op in ("same", "moved", "open"):
        return _moved(one, named)
    if note.op not in ("open", "moved") or not note.text.strip():
        return "unknown"
    return _opened(one, held, fresh=fresh, persona=persona)


def _closed(one: Heard, named: Loop | None, *, now: datetime) -> Loop | str:
    if named is None:
        return "unknown"
    if not one.turns and not overdue(named, now):
        return "quote"
    by = one.turns[-1].id if one.turns else None
    return replace(_said_again(named, one), status=_ENDS[one.note.op], closed_by=by)


def _moved(one: Heard, named: Loop) -> Loop | str:
    note = one.note
    if not one.turns:
        return "quote"
    again = _said_again(named, one)
    if note.op == "same":
        return again
    return replace(again, due=note.due or named.due, text=note.text.strip() or named.text)


def _opened(one: Heard, held: Mapping[str, Loop], *, fresh: frozenset[str], persona: str | None) -> Loop | str:
    if not one.turns:
        return "quote"
    note = one.note
    if any(_taken_away(loop, one) for loop in held.values()):
        return "rejected"
    open_ones = [loop for loop in held.values() if loop.status == "open" and loop.persona == persona]
    twin = next(
        (loop for loop in open_ones if loop.id == one.id or _same_matter(loop, note, together=loop.id in fresh)), None
    )
    if twin is not None:
        return replace(_said_again(twin, one), due=note.due or twin.due)
    last = max(one.turns, key=lambda turn: turn.place)
    return Loop(
        id=one.id,
        text=note.text.strip().rstrip("."),
        persona=persona,
        lane=last.lane,
        origin=last.origin,
        sources=tuple(dict.fromkeys(turn.id for turn in one.turns)),
        quotes=note.quotes,
        at=last.at,
        due=note.due,
        kind=note.kind,
        owner=note.owner,
    )


def _said_again(loop: Loop, one: Heard) -> Loop:
    fresh = (turn.id for turn in one.turns)
    return replace(
        loop,
        sources=tuple(dict.fromkeys((*loop.sources, *fresh))),
        quotes=joined(loop.quotes, one.note.quotes),
    )


def _same_matter(loop: Loop, note: LoopNote, *, together: bool) -> bool:
    """Whether a loop is the one that is open already: most of its words, or fewer and the same day. What one reading opened
    side by side (`together`) is one only in the same words."""
    if loop.owner != note.owner:
        return False
    one, two = set(folded(loop.text).split()), set(folded(note.text).split())
    shared = len(one & two) / len(one | two) if one | two else 0.0
    same_day = loop.due is not None and note.due is not None and loop.due.date() == note.due.date()
    if together:
        return shared >= _ALIKE_TOGETHER
    return shared >= (_ALIKE_SAME_DAY if same_day else _ALIKE)


def _taken_away(loop: Loop, one: Heard) -> bool:
    """Whether these words opened a loop before that has ended since."""
    if loop.status == "open":
        return False
    return loop.id == one.id or any(
        quote.turn == other.turn and folded(quote.words) == folded(other.words)
        for quote in loop.quotes[:1]
        for other in one.note.quotes[:1]
    )


# --- the step that lets go -----------------------------------------------------------------------------------------------


def due(view: Overview, services: Services) -> Mapping[str, datetime]:
    """Once a day, and behind every turn that was said since."""
    del services
    if view.newest is None:
        return {}
    return {NAME: view.now} if view.newest.place > view.position(NAME) else {NAME: view.next_daily_run(NAME)}


async def run(job: Job[Services]) -> Effect:
    opened = RecordList(noun="loop", statuses=("open",), limit=OPEN)
    thought = RecordList(noun="thought", statuses=("ACTIVE",), limit=OPEN)

    read = job.services.model is not None

    def decided(answers: Answers) -> Change:
        loops = nouns.records(answers[opened], Loop)
        ended = [gone for loop in loops if (gone := let_go(loop, job.now, read=read)) is not None]
        over = thoughts_of(ended)
        retired = tuple(row.id for row in answers[thought] if row.id in over)
        return Change(
            records=tuple(nouns.indexed(loop, index=job.services.indexer, now=job.now) for loop in ended),
            retire=retired,
            retired_at=job.now if retired else None,
        )

    position = job.view.newest.place if job.view.newest else job.cursor.position
    body = {"last_run_at": job.now.isoformat()}
    return Effect(position=position, queries=(opened, thought), decide=decided, body=body)


def thoughts_of(ended: Iterable[Loop]) -> frozenset[str]:
    """The ids of what was thought about loops that ended."""
    return frozenset(thought_id(loop.id) for loop in ended if loop.status != "open")


STEP: Step[Services] = Step(name=NAME, due=due, run=run)
