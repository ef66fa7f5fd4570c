"""WhatsApp's own export of a chat, a text file.

It writes dates as the phone does, so that 04/05 may be the fourth of May or the fifth of April: the right order is the one
in which no month exceeds 12, time does not run backwards, and nothing is later than the file. Times are the phone's, so the
zone has to be given.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from hitherto.deliver.importing.source import Imported, Source
from hitherto.deliver.untrusted import storable
from hitherto.errors import InvalidInput
from hitherto.ids import derived_id
from hitherto.types import Turn

Order = Literal["dmy", "mdy", "ymd"]

_LINE: Final = re.compile(
    r"\[?(?P<a>\d{1,4})[/.-](?P<b>\d{1,2})[/.-](?P<c>\d{1,4}),?\s+"
    r"(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2}))?\s*(?P<half>[ap]\.?\s?m\.?)?\]?\s*(?:-\s+)?(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_SAID: Final = re.compile(r"(?P<name>[^:\n]{1,80}):\s(?P<text>.*)", re.DOTALL)
_MARKS: Final = re.compile("[\u200e\u200f\u202a-\u202e\ufeff]")
_OWN: Final = re.compile("(?<=: )\u200e.*")
"""On iPhones this mark precedes WhatsApp's own words in place of a message, in any language."""
_ATTACHED: Final = re.compile(r"[A-Z]{3}-\d{8}-WA\d{4}\.\w+ \([^()\n]+\)\s*")
"""On Android the file is named, before its caption."""
_LEFT_OUT: Final = re.compile(
    r"<[^<>]{3,40}>|\w[\w ]{2,30} omitted|null|this message was deleted\.?|you deleted this message\.?", re.IGNORECASE
)
"""Placeholders for pictures or voice messages that were not exported, in languages that put them in angle brackets, and for
deleted messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    numbers: tuple[int, int, int]
    clock: tuple[int, int, int]
    rest: str


def read(source: Source) -> Iterator[Imported]:
    try:
        zone = ZoneInfo(source.zone)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise InvalidInput(
            f"zone={source.zone!r} is not a time zone; use an IANA name such as Europe/Berlin"
        ) from error
    order = _order(source, zone)
    seen: Counter[str] = Counter()
    names: set[str] = set()
    for entry in _entries(source):
        said = _SAID.fullmatch(entry.rest)
        if said is None:
            source.skip("notice of WhatsApp")
            continue
        words, name = (
            storable(_ATTACHED.sub("", said["text"].strip(), count=1)),
            said["name"].strip().removeprefix("~").strip(),
        )
        if not words or _LEFT_OUT.fullmatch(words):
            source.skip("media or empty message")
            continue
        names.add(name)
        at = _in_order(entry, order, zone)
        content = derived_id("whatsapp", at.isoformat(), name, words)
        seen[content] += 1
        mine = source.assistant is not None and name == source.assistant
        yield Turn(
            source.owner(of="a chat of WhatsApp"),
            "assistant" if mine else "user",
            words,
            id=f"whatsapp:{content}:{seen[content]}",
            at=at,
            persona=source.persona,
            speaker=None if mine else name,
            origin="import",
        )
    if source.assistant is not None and source.assistant not in names:
        raise InvalidInput(
            f"{source.path.name}: {source.assistant!r} says nothing in it; those who do are {', '.join(sorted(names))}"
        )


def _entries(source: Source) -> Iterator[_Entry]:
    """Each message with the lines that belong to it."""
    source.passed = 0
    waiting: re.Match[str] | None = None
    more: list[str] = []
    with source.path.open("rb") as file:
        for raw in file:
            source.passed += len(raw)
            line = (
                _MARKS.sub("", _OWN.sub("null", raw.decode("utf-8", "replace"))).replace("\u202f", " ").rstrip("\r\n")
            )
            if (begun := _LINE.fullmatch(line)) is not None:
                if waiting is not None:
                    yield _entry(waiting, more)
                waiting, more = begun, []
            elif waiting is not None:
                more.append(line)
            elif line.strip():
                raise InvalidInput(f"{source.path.name}, line 1: an export of WhatsApp begins with a date")
    if waiting is not None:
        yield _entry(waiting, more)


def _entry(found: re.Match[str], more: list[str]) -> _Entry:
    hour = int(found["hour"])
    if half := (found["half"] or "").lower()[:1]:
        hour = hour % 12 + (12 if half == "p" else 0)
    return _Entry(
        numbers=(int(found["a"]), int(found["b"]), int(found["c"])),
        clock=(hour, int(found["minute"]), int(found["second"] or 0)),
        rest="\n".join([found["rest"], *more]),
    )


def _order(source: Source, zone: ZoneInfo) -> Order:
    """The order of the numbers of a date that fits the whole file."""
    fits: dict[Order, datetime | None] = {"ymd": None, "dmy": None, "mdy": None}
    runs_back: Counter[Order] = Counter()
    written = datetime.fromtimestamp(source.path.stat().st_mtime, zone) + timedelta(days=1)
    for entry in _entries(source):
        for order, last in list(fits.items()):
            try:
                at = _in_order(entry, order, zone)
            except ValueError:
                del fits[order]
                continue
            runs_back[order] += at > written or (last is not None and at < last)
            fits[order] = at
    if not fits:
        raise InvalidInput(f"{source.path.name}: its dates fit no order of day, month and year")
    return min(fits, key=lambda order: runs_back[order])


def _in_order(entry: _Entry, order: Order, zone: ZoneInfo) -> datetime:
    first, second, third = entry.numbers
    year, month, day = {
        "ymd": (first, second, third),
        "dmy": (third, second, first),
        "mdy": (third, first, second),
    }[order]
    if order == "ymd" and year < 1000:
        raise ValueError("a year that comes first has four digits")
    return datetime(year + 2000 if year < 100 else year, month, day, *entry.clock, tzinfo=zone)
