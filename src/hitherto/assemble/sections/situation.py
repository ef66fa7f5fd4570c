"""The situation: what time it is for the user, how long ago they were here, who they are."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final

from hitherto.assemble.candidates import Candidate, Desk
from hitherto.clock import local
from hitherto.text.time import written_date


def situation(desk: Desk) -> list[Candidate]:
    """All lines as one entry: a context without them is wrong about the present."""
    lines = [line for name in desk.recipe.situation.lines if (line := _LINES[name](desk))]
    return [desk.line("situation", "situation", desk.material.profile.id, "\n".join(lines))] if lines else []


def daypart(value: datetime) -> str:
    """What a person would call this hour."""
    hour = value.hour
    return (
        "morning" if 5 <= hour < 12 else "afternoon" if 12 <= hour < 17 else "evening" if 17 <= hour < 22 else "night"
    )


def span(passed: timedelta) -> str:
    """A time span in its largest whole unit; an empty or negative one is `less than a minute`."""
    seconds = max(0, int(passed.total_seconds()))
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if number := seconds // size:
            return f"{number} {unit}" if number == 1 else f"{number} {unit}s"
    return "less than a minute"


def _stamp(now: datetime, zone: str) -> str:
    return local(now, zone).isoformat(timespec="seconds")


def _here(desk: Desk) -> datetime:
    return local(desk.material.now, desk.material.profile.zone)


def _since(desk: Desk) -> str:
    last = desk.material.last_interaction
    if last is None:
        return ""
    return "{since}" if desk.recipe.situation.deferred else span(desk.material.now - last)


def _time(desk: Desk) -> str:
    material = desk.material
    now = "{now}" if desk.recipe.situation.deferred else _stamp(material.now, material.profile.zone)
    return f"Current time: {now}"


def _date(desk: Desk) -> str:
    return f"Current date: {written_date(_here(desk), desk.material.profile.locale)}"


def _zone(desk: Desk) -> str:
    return f"User timezone: {desk.material.profile.zone}"


def _daypart(desk: Desk) -> str:
    return "" if desk.recipe.situation.deferred else f"Time of day: {daypart(_here(desk))}"


def _last_message(desk: Desk) -> str:
    since = _since(desk)
    return f"Time since last message: {since}" if since else ""


def _name(desk: Desk) -> str:
    name = desk.label(desk.material.profile.name or "")
    return f"User name: {name}" if name else ""


def _stage(desk: Desk) -> str:
    stage = desk.material.profile.stage
    return f"Relationship stage: {stage}" if stage else ""


def _last_session(desk: Desk) -> str:
    since = _since(desk)
    return f"Last session: {since} ago" if since else ""


_LINES: Final[Mapping[str, Callable[[Desk], str]]] = {
    "time": _time,
    "date": _date,
    "zone": _zone,
    "daypart": _daypart,
    "since": _last_message,
    "name": _name,
    "stage": _stage,
    "last_session": _last_session,
}
