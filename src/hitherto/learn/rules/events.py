"""Things that happened or are planned, with the day they belong to."""

import re
from collections.abc import Iterator
from typing import Final

from hitherto.learn.candidates import Candidate, Said
from hitherto.learn.rules.sentences import TABLE, claims, shortened, third_person
from hitherto.text.names import slug
from hitherto.text.time.grammar import Tense
from hitherto.text.time.spans import TimeRange, ranges

__all__ = ["events", "persona_events"]

_DID: Final = TABLE.pattern("did")
_WILL: Final = TABLE.pattern("will")
_STARTS: Final = TABLE.pattern("starts")
_PROMISE: Final = TABLE.pattern("promise")
_TO_THE_USER: Final = re.compile(r"\byou(?:r|'re|'ve|'ll)?\b", re.IGNORECASE)
_LONG: Final = 200


def events(said: Said) -> Iterator[Candidate]:
    """What the speaker did or will do at a time that the sentence names."""
    for sentence in claims(said.text):
        planned = _WILL.search(sentence) or _STARTS.search(sentence)
        found = planned or _DID.search(sentence)
        if found is None:
            continue
        times = _dated(sentence, said, tense="future" if planned else None)
        if not times:
            continue
        yield _event(sentence, times[0], planned=planned is not None and times[0].end > said.now)


def persona_events(said: Said) -> Iterator[Candidate]:
    """What the persona tells of its own life: these belong to it, not to the user."""
    for sentence in claims(said.text):
        if _DID.search(sentence) is None and _WILL.search(sentence) is None:
            continue
        times = _dated(sentence, said)
        if _PROMISE.search(sentence) or (not times and _TO_THE_USER.search(sentence)):
            continue
        yield Candidate(
            text=shortened(f"{_without(sentence, times[0])} ({_day(times[0])})" if times else sentence, most=_LONG),
            category="EVENT",
            entities=("person:persona",),
            attribute=slug(f"event {_gist(sentence)}"),
            value=shortened(sentence, most=_LONG),
            confidence=0.6,
            subject="persona",
            time=times[0] if times else None,
        )


def _dated(sentence: str, said: Said, *, tense: Tense | None = None) -> list[TimeRange]:
    """The times of a sentence that can date something: bounded, and not merely "now"."""
    found = ranges(sentence, now=said.now, zone=said.zone, tense=tense)
    return [
        time for time in found if time.start.year > 1000 and time.end.year < 9000 and "now" not in time.text.lower()
    ]


def _event(sentence: str, time: TimeRange, *, planned: bool) -> Candidate:
    told = third_person(_without(sentence, time)).strip(" .!,").removeprefix("they ")
    text = f"Planned for {_day(time)}: {told[:1].lower()}{told[1:]}" if planned else f"{told} ({_day(time)})"
    return Candidate(
        text=shortened(text[:1].upper() + text[1:], most=_LONG),
        category="EVENT",
        entities=("person:user",),
        attribute=slug(f"event {_day(time)} {_gist(sentence)}"),
        value=shortened(told, most=_LONG),
        importance=1,
        confidence=0.7,
        time=time,
    )


def _without(sentence: str, time: TimeRange) -> str:
    """The sentence without the words for the time, which its date stands for."""
    rest = re.sub(
        rf"(?:\b(?:on|at|in|by|this past|for|over) )?{re.escape(time.text)}", "", sentence, count=1, flags=re.IGNORECASE
    )
    rest = " ".join(rest.split()).strip(" ,.!-")
    return rest[:1].upper() + rest[1:] if len(rest.split()) > 2 else sentence


def _day(time: TimeRange) -> str:
    if time.kind in {"month", "year"}:
        return f"{time.start:%Y-%m}" if time.kind == "month" else f"{time.start:%Y}"
    if time.kind in {"week", "range"}:
        return f"{time.start:%Y-%m-%d} to {time.end:%Y-%m-%d}"
    if time.kind == "moment":
        return f"{time.start:%Y-%m-%d %H:%M}"
    return f"{time.start:%Y-%m-%d}"


def _gist(sentence: str) -> str:
    return " ".join(re.findall(r"[a-z']{4,}", sentence.lower())[:5])
