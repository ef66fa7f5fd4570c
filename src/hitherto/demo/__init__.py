"""A conversation of several days to look at: two personas, two lanes, a promise, a misspelt name, a "yes" and a "why?", and
a return after three days.

`turns.jsonl` is what was said, `records.toml` what the application wrote beside it: the profile, the personas, their state.
Both are put into a memory in order of time, under a clock that shows those times, and the work runs whenever the
conversation pauses. So the memory has learnt everything else it knows by itself: by rules, by a model, or by what a strong
model answered when this story was recorded (`answers.json`), question by question.
"""

import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from hitherto.clock import Clock
from hitherto.learn.notes import Cost
from hitherto.learn.readers.model import ModelFailed, ModelReader
from hitherto.sync import Hitherto
from hitherto.types import Turn

USER, PERSONA, LANE = "ana", "nikita", "trip"
MESSAGE = "yes"
NOW = datetime(2026, 3, 14, 16, 52, tzinfo=UTC)

PAUSE = timedelta(minutes=31)

_MOMENTS = frozenset({"thu-07", "mon-07", "sat-01"})
"""Messages that were answered from a context: its snapshot is kept, to be replayed and compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One thing that happened at its time: a turn, a persona, the profile or a state."""

    at: datetime
    what: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """What was put into the memory. `snapshots` are the contexts given on the way, by the message they answered."""

    turns: int
    records: int
    snapshots: Mapping[str, str]


class SteppingClock:
    """A clock that shows the time of what happens next."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


RECORDED = "recorded"
"""The name of the model whose answers come with the story."""


class Recorded:
    """Answers to the questions that the story leads to, keyed by the question."""

    def __init__(self) -> None:
        self._answers: Mapping[str, dict[str, Any]] = json.loads(text("answers.json"))

    async def ask(self, question: str, *, instructions: str, schema: Mapping[str, Any]) -> tuple[dict[str, Any], Cost]:
        asked = f"{instructions}\n{question}"
        answer = self._answers.get(hashlib.sha256(asked.encode()).hexdigest())
        if answer is None:
            raise ModelFailed("no answer was recorded for this question: --model recorded only knows the demo's story")
        return answer, Cost(calls=1, asked=len(asked) // 4, answered=len(json.dumps(answer)) // 4)


def open_memory(folder: Path, *, clock: Clock, model: object = None, **options: Any) -> Hitherto:
    """The demo's memory in that folder, not yet loaded."""
    if model == RECORDED:
        return Hitherto(folder, clock=clock, reader=ModelReader(Recorded()), **options)
    return Hitherto(folder, clock=clock, model=model, **options)


def is_loaded(memory: Hitherto) -> bool:
    """Whether the story is there already, up to its last turn."""
    last = [event for event in story() if event.what == "turn"][-1]
    return bool(memory.turns(user=USER, ids=[str(last.fields["id"])]))


def load(memory: Hitherto, clock: SteppingClock) -> Loaded:
    """Plays the story: everything is written at its own time."""
    taken: dict[str, str] = {}
    answering: str | None = None
    turns = records = 0
    spoken: datetime | None = None
    for event in story():
        if event.what == "turn":
            if spoken is not None:
                _paused(memory, clock, since=spoken, until=event.at)
            spoken = event.at
        clock.now = event.at
        if event.what == "turn":
            turn = Turn(**event.fields, at=event.at, snapshot=answering)
            memory.record(turn)
            answering = None
            if turn.id in _MOMENTS:
                context = memory.context(user=USER, turn=turn.id, persona=turn.persona, lane=turn.lane)
                answering = taken[turn.id] = context.snapshot
            turns += 1
        else:
            _write(memory, event)
            records += 1
    clock.now = NOW
    memory.settle(user=USER)
    return Loaded(turns=turns, records=records, snapshots=taken)


def _paused(memory: Hitherto, clock: SteppingClock, *, since: datetime, until: datetime) -> None:
    """Runs the work in a pause: at the end of a session, and once in each day that passes."""
    if until - since <= PAUSE:
        return
    moment = since + PAUSE
    while moment < until:
        clock.now = moment
        memory.settle(user=USER)
        moment += timedelta(days=1)


def story() -> Iterator[Event]:
    """Everything that happens, in order; of what happens at the same time, the turn comes last."""
    found = [*_records(), *_turns()]
    yield from sorted(found, key=lambda event: (event.at, event.what == "turn"))


def _turns() -> Iterator[Event]:
    for line in text("turns.jsonl").splitlines():
        fields = cast(dict[str, Any], json.loads(line))
        yield Event(at=datetime.fromisoformat(fields.pop("at")), what="turn", fields=fields)


def _records() -> Iterator[Event]:
    book = tomllib.loads(text("records.toml"))
    for what in ("profile", "persona", "state"):
        entries = book[what] if isinstance(book[what], list) else [book[what]]
        for fields in cast(list[dict[str, Any]], entries):
            yield Event(at=fields.pop("at"), what=what, fields=fields)


def _write(memory: Hitherto, event: Event) -> None:
    fields = dict(event.fields)
    match event.what:
        case "profile":
            memory.set_user(USER, **fields)
        case "persona":
            memory.define_persona(fields.pop("id"), **fields)
        case _:
            memory.set_state(user=USER, **fields)


def text(name: str) -> str:
    """A file of the story."""
    return (files(__name__) / name).read_text("utf-8")
