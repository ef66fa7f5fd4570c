"""The step that closes loops: each new turn is held against what is open with its persona.

The one who owes a loop closes it, by words or by meaning; an answer closes the question that the turn before brought up. A
loop that waited for its day and was let go long after is marked as expired, so that it neither shows nor counts as done.
What the persona thought about a loop goes when the loop does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from hitherto.learn.closing import OpenLoop, closing
from hitherto.learn.services import Services
from hitherto.learn.thoughts import thought_id
from hitherto.store import records as nouns
from hitherto.store.protocol import Answers, Change, RecordList, TurnList, TurnsById, Window
from hitherto.types import Loop, StoredTurn
from hitherto.work.cursors import Effect
from hitherto.work.overview import Overview
from hitherto.work.worker import Job, Step

NAME = "loops"
BATCH = 40
OPEN = 500
EXPIRES = timedelta(days=60)
"""How long a loop is kept open when nobody comes back to it."""


def due(view: Overview, services: Services) -> Mapping[str, datetime]:
    """Behind the extraction, so that a loop and what closes it may come in one batch."""
    del services
    newest = view.newest
    return {NAME: view.now} if newest is not None and newest.place > view.position(NAME) else {}


async def run(job: Job[Services]) -> Effect:
    fresh = TurnList(after=job.cursor.position, limit=BATCH)
    turns = (await job.store.read(fresh))[fresh]
    if not turns:
        return Effect(position=job.view.newest.place if job.view.newest else job.cursor.position)
    spoken = [turn for turn in turns if turn.role in ("user", "assistant") and turn.text.strip()]
    before = {turn.id: Window(persona=turn.persona, lane=turn.lane, limit=1, before=turn.place) for turn in spoken}
    earlier = await job.store.read(*before.values())
    previous = {turn_id: earlier[query][-1] for turn_id, query in before.items() if earlier[query]}
    opened = RecordList(noun="loop", statuses=("open",), limit=OPEN)
    still = TurnsById(ids=tuple(turn.id for turn in spoken))
    thought = RecordList(noun="thought", statuses=("ACTIVE",), limit=OPEN)

    def decide(answers: Answers) -> Change:
        live = {turn.id for turn in answers[still]}
        said = [turn for turn in spoken if turn.id in live]
        loops = nouns.records(answers[opened], Loop)
        ended = closed_by(loops, said, previous, services=job.services)
        ended |= {loop.id: expired for loop in loops if loop.id not in ended and (expired := _expired(loop, job.now))}
        over = {thought_id(loop_id) for loop_id in ended}
        gone = tuple(row.id for row in answers[thought] if row.id in over)
        return Change(
            records=tuple(nouns.indexed(loop, index=job.services.indexer, now=job.now) for loop in ended.values()),
            retire=gone,
            retired_at=job.now if gone else None,
        )

    return Effect(position=turns[-1].place, queries=(opened, still, thought), decide=decide)


def closed_by(
    loops: Sequence[Loop], turns: Sequence[StoredTurn], previous: Mapping[str, StoredTurn], *, services: Services
) -> dict[str, Loop]:
    """The loops that these turns end, each by the first turn that does."""
    ended: dict[str, Loop] = {}
    for turn in turns:
        asked = previous.get(turn.id)
        for loop in loops:
            if loop.id in ended or turn.id in loop.sources or loop.persona != turn.persona or turn.at < loop.at:
                continue
            if not _may_close(loop, turn):
                continue
            brought_up = asked is not None and (asked.id in loop.sources or _mentions(asked, loop, services=services))
            how = closing(
                OpenLoop(kind=loop.kind, text=loop.text, asked=brought_up),
                turn.text,
                stems=services.indexer.stems,
                similarity=services.similarity,
            )
            if how is not None:
                ended[loop.id] = replace(loop, status=how, closed_by=turn.id, sources=(*loop.sources, turn.id))
    return ended


def _may_close(loop: Loop, turn: StoredTurn) -> bool:
    """Who owes it keeps it; a question is answered by the other side."""
    owes = "user" if turn.role == "user" else "persona"
    return owes == loop.owner


def _mentions(turn: StoredTurn, loop: Loop, *, services: Services) -> bool:
    """Whether a turn brings a loop up: it holds most of the loop's words."""
    words = set(services.indexer.stems(loop.text))
    return bool(words) and len(words & set(services.indexer.stems(turn.text))) * 2 > len(words)


def _expired(loop: Loop, now: datetime) -> Loop | None:
    waited_for = max(loop.at, loop.due) if loop.due else loop.at
    return replace(loop, status="expired") if now - waited_for > EXPIRES else None


STEP: Step[Services] = Step(name=NAME, due=due, run=run)
