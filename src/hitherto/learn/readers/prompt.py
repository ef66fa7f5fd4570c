"""The questions put to a model: instructions that never change, then what changes slowly, then the new lines.

Providers cache the beginning of a prompt that they have seen before, so what is the same for everybody stands first. What was
said stands as numbered data: the same escaping as in a context, no secrets. Notes come back in one flat list with short
names, because the schema of an answer is paid for with every question.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from textwrap import shorten
from typing import Any, Final
from zoneinfo import ZoneInfo

from hitherto.learn.notes import Line, Passage, Scene, Sitting, overdue
from hitherto.learn.verify import MORNING
from hitherto.safety.markup import safe
from hitherto.safety.visible import visible
from hitherto.types import Entity, Loop, Memory, Summary

LONGEST_NAME: Final = 60
PEOPLE: Final = 24
OTHERS: Final = 12
"""How many are shown, and how many of them though the lines do not name them."""
LONGEST_ROLE: Final = 90
"""Characters that say what somebody is to the user."""
PAUSE: Final = timedelta(minutes=10)
"""After such a pause the time is said again."""

SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "notes": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    **{name: {"type": "string"} for name in ("k", "op", "ref", "text", "who", "kind", "due", "flag")},
                    "imp": {"type": "integer"},
                    "q": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["k"],
            },
        }
    },
    "required": ["notes"],
}


def _text(name: str) -> str:
    return files("hitherto.learn.readers").joinpath(name).read_text("utf-8").rstrip()


READING: Final = _text("reading.txt")
CLOSING: Final = _text("closing.txt")
DAY: Final = '; k "day": the whole day in one to three sentences.'
SUMMING: Final = _text("summing.txt") + "\n"


class Numbered:
    """Which note or line a number in the question means."""

    def __init__(
        self,
        *,
        lines: Sequence[Line],
        memories: Sequence[Memory] = (),
        loops: Sequence[Loop] = (),
        rolling: Summary | None = None,
    ) -> None:
        self.lines = dict(enumerate(lines, start=1))
        self.memories = {f"m{n}": memory for n, memory in enumerate(memories, start=1)}
        self.loops = {f"l{n}": loop for n, loop in enumerate(loops, start=1)}
        known = {quote for one in (*memories, *loops) for quote in one.quotes}
        more = [one for one in (rolling.sentences if rolling else ()) if not known.issuperset(one.quotes)]
        self.sentences = {f"r{n}": one for n, one in enumerate(more, start=1)}


def of_passage(passage: Passage) -> Numbered:
    return Numbered(lines=passage.lines, memories=passage.memories, loops=passage.loops, rolling=passage.rolling)


def of_sitting(sitting: Sitting) -> Numbered:
    return Numbered(lines=sitting.lines, memories=sitting.noted, loops=sitting.loops)


def reading(passage: Passage) -> tuple[str, str]:
    """Instructions and question for a passage, and for the session that it ends."""
    numbers = of_passage(passage)
    parts = [*_who(passage.scene), *_known(numbers, passage.scene, past=passage.past, cut=passage.cut)]
    if numbers.sentences:
        parts += ["In mind:", *(f"{name} {safe(one.text)}" for name, one in numbers.sentences.items())]
    if passage.sitting is not None and passage.sitting.day is not None:
        parts += ["Day so far: " + safe(passage.sitting.day.text)]
    parts += _now(passage.scene)
    rendered = list(_lines(passage.lines, zone=passage.scene.zone))
    if passage.before:
        parts += ["[BEFORE]", *rendered[: len(passage.before)], "[/BEFORE]"]
    parts += ["[NEW]", *rendered[len(passage.before) :], "[/NEW]"]
    if passage.sitting is not None:
        parts.append(_closing(passage.sitting))
    return READING, "\n".join(parts)


def closing(sitting: Sitting) -> tuple[str, str]:
    """Instructions and question for a session that was read before."""
    numbers = of_sitting(sitting)
    parts = [*_who(sitting.scene), *_known(numbers, sitting.scene, cut=False)]
    if sitting.day is not None:
        parts += ["Day so far: " + safe(sitting.day.text)]
    parts += ["[NEW]", *_lines(sitting.lines, zone=sitting.scene.zone), "[/NEW]"]
    return SUMMING + _closing(sitting), "\n".join(parts)


def _closing(sitting: Sitting) -> str:
    """What is asked for at a session's end; of the whole day only when it had another session."""
    return CLOSING + (DAY if sitting.day is not None else ".")


def _who(scene: Scene) -> Iterator[str]:
    yield f"User: {_name(scene.user)}. Persona: {_name(scene.persona)}."
    if scene.speakers:
        yield "In the group: " + ", ".join(map(_name, scene.speakers))
    if scene.people:
        people = scene.people[: min(PEOPLE, len(scene.named) + OTHERS)]
        yield "Known people: " + "; ".join(_person(e, named=e.key in scene.named) for e in people)


def _person(entity: Entity, *, named: bool) -> str:
    """Whom the lines name with what they are to the user, others so that their names are spelt as they are."""
    also = ", ".join(map(_name, entity.aliases[:4]))
    what = shorten(entity.text, LONGEST_ROLE, placeholder="…") if named else ""
    return _name(entity.label) + (f" = {also}" if also else "") + (f" ({safe(what)})" if what else "")


def _known(numbers: Numbered, scene: Scene, *, past: Collection[str] = (), cut: bool) -> Iterator[str]:
    if numbers.memories:
        yield "Known facts (more are known):" if cut else "Known facts:"
        for name, memory in numbers.memories.items():
            private = memory.persona is not None and memory.subject == "user" and not memory.standing
            said = (("private", private), ("standing", memory.standing), ("past", memory.id in past))
            flags = ", ".join(word for word, holds in said if holds)
            yield f"{name} {f'[{flags}] ' if flags else ''}{safe(memory.text)}"
    if numbers.loops:
        yield "Open loops:"
        for name, loop in numbers.loops.items():
            yield f"{name}{_loop(loop, scene)} {safe(loop.text)}"


def _loop(loop: Loop, scene: Scene) -> str:
    """What the text of a loop does not say: that it is a habit, that the persona must act, when, and that it is late."""
    owes = loop.owner == "persona" and not loop.text.startswith(scene.persona)
    said = (
        "habit" if loop.kind == "habit" else "",
        _name(scene.persona) if owes else "",
        _day(loop.due, scene.zone) if loop.due else "",
        "late" if overdue(loop, scene.now) else "",
    )
    return f" ({', '.join(filter(None, said))})" if any(said) else ""


def _day(due: datetime, zone: str) -> str:
    """The day, and the time unless it is the one that a whole day is given."""
    at = _local(due, zone)
    return f"{at:%Y-%m-%d}" if (at.hour, at.minute) == (MORNING, 0) else f"{at:%Y-%m-%d %H:%M}"


def _now(scene: Scene) -> Iterator[str]:
    yield f"Now: {_local(scene.now, scene.zone):%A %Y-%m-%d %H:%M}"


def _lines(lines: Sequence[Line], *, zone: str) -> Iterator[str]:
    """The lines with their numbers. The day is said where it changes, the time after a pause, the lane where there are
    several, and who speaks where another one does."""
    several = len({line.turn.lane for line in lines}) > 1
    before: Line | None = None
    for number, line in enumerate(lines, start=1):
        fresh = before is None or (several and line.turn.lane != before.turn.lane)
        if several and fresh:
            yield f"(topic {_name(line.turn.lane or 'main')})"
        text = safe(line.text).replace("\n", "\n    ")
        when = _when(line, before, zone=zone)
        spoken = fresh or when or before is None or line.speaker != before.speaker
        yield f"{number} {_name(line.speaker)}{when}: {text}" if spoken else f"{number} {text}"
        before = line


def _when(line: Line, before: Line | None, *, zone: str) -> str:
    at = _local(line.turn.at, zone)
    if before is None or _local(before.turn.at, zone).date() != at.date():
        return f" ({at:%a %Y-%m-%d %H:%M})"
    return f" ({at:%H:%M})" if line.turn.at - before.turn.at >= PAUSE else ""


def _local(at: datetime, zone: str) -> datetime:
    return at.astimezone(ZoneInfo(zone) if zone else UTC)


def _name(speaker: str) -> str:
    """Who speaks, on one line and short: a name that goes on below would be read as a line of its own."""
    return safe(" ".join(visible(speaker).split())[:LONGEST_NAME])
