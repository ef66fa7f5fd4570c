"""The cached prompt that answers before the first ring ends.

It is rendered while there is time, with two placeholders for what changes: `{now}` and `{since}`. They are filled at
delivery, and only in the lines of the situation that end with them, so that braces in a memory stay what they are. After
`valid_until` (the user's next midnight, or the next loop that falls due), "today" is no longer today: the prompt is then
served without that section and without the date that was written into it.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Final

from hitherto.clock import from_micros, local, micros
from hitherto.deliver.untrusted import child, integer, mapping, text

TODAY: Final = "TODAY SO FAR"
_NOW: Final = re.compile(r"^(Current time: )\{now\}$", re.MULTILINE)
_SINCE: Final = re.compile(r"^(Time since last message: |Last session: )\{since\}( ago)?$", re.MULTILINE)
_DATE: Final = re.compile(r"^Current date: .*\n?", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedPrompt:
    """A rendered system text with its placeholders, and until when all of it is true."""

    system: str
    zone: str
    valid_until: datetime
    last_interaction: datetime | None = None
    snapshot: str | None = None
    name: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """What a platform is told at the start of a call. `fresh` is False if the cached prompt had expired."""

    system: str
    fresh: bool
    snapshot: str | None
    variables: Mapping[str, str]


def deliver(cached: CachedPrompt, *, now: datetime, span: Callable[[timedelta], str]) -> Spoken:
    """The prompt as of now. `span` puts a time span into words."""
    fresh = now < cached.valid_until
    system = cached.system if fresh else without(_DATE.sub("", cached.system), TODAY)
    here = local(now, cached.zone).isoformat(timespec="seconds")
    system = _NOW.sub(lambda line: f"{line[1]}{here}", system)
    passed = None if cached.last_interaction is None else span(now - cached.last_interaction)
    system = _SINCE.sub(lambda line: f"{line[1]}{passed or 'unknown'}{line[2] or ''}", system)
    known = {"user_name": cached.name or "", "known_caller": "true", "memory": system}
    return Spoken(system=system, fresh=fresh, snapshot=cached.snapshot, variables={**cached.variables, **known})


def unknown() -> Spoken:
    """What a platform is told about an unknown caller: every variable, all of them empty."""
    variables = {"user_name": "", "known_caller": "false", "memory": ""}
    return Spoken(system="", fresh=True, snapshot=None, variables=variables)


def without(system: str, title: str) -> str:
    """The text without the block of that title. Stored lines cannot look like markers: they are escaped."""
    block = re.compile(rf"^\[{re.escape(title)}\]\n.*?^\[/{re.escape(title)}\]\n?\n?", re.MULTILINE | re.DOTALL)
    return block.sub("", system)


def dump(cached: CachedPrompt) -> str:
    """The prompt as JSON, for a note beside the user's log."""
    values = asdict(cached)
    last = cached.last_interaction
    values |= {
        "valid_until": micros(cached.valid_until),
        "last_interaction": None if last is None else micros(last),
    }
    return json.dumps(values, ensure_ascii=False, sort_keys=True)


def load(body: str) -> CachedPrompt | None:
    """A prompt that was dumped; None for anything else, which a call then treats as an unknown caller."""
    try:
        found = mapping(json.loads(body))
    except json.JSONDecodeError:
        return None
    system, until, last = (
        text(found, "system"),
        integer(found, "valid_until"),
        integer(found, "last_interaction"),
    )
    if system is None or until is None:
        return None
    return CachedPrompt(
        system=system,
        zone=text(found, "zone") or "UTC",
        valid_until=from_micros(until),
        last_interaction=None if last is None else from_micros(last),
        snapshot=text(found, "snapshot"),
        name=text(found, "name"),
        variables={key: str(value) for key, value in child(found, "variables").items()},
    )
