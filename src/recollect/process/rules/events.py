"""Things that happened or are planned, with the day they belong to."""

import re
from collections.abc import Iterator
from typing import Final

from recollect.process.candidates import Candidate, Said
from recollect.process.rules.sentences import TABLE, claims, shortened, third_person
from recollect.text.slugs import slug
from recollect.text.temporal import TimeRange, ranges
from recollect.text.timewords import Tense

__all__ = ["events", "persona_events"]

_DID: Final = TABLE.pattern("did")
_WILL: Final = TABLE.pattern("will")
_STARTS: Final = TABLE.pattern("starts")
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
        if not times and re.search(r"\byou(?:r|'re|'ve|'ll)?\b", sentence, re.IGNORECASE):
            continue
        text = f"{_day(times[0])}: {sentence}" if times else sentence
        yield Candidate(
            text=shortened(text, most=_LONG),
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
    told = third_person(sentence).strip(" .!,")
    verb = "Planned for" if planned else "On"
    return Candidate(
        text=shortened(f"{verb} {_day(time)}: {told[:1].lower()}{told[1:]}", most=_LONG),
        category="EVENT",
        entities=("person:user",),
        attribute=slug(f"event {_day(time)} {_gist(sentence)}"),
        value=shortened(told, most=_LONG),
        importance=1,
        confidence=0.7,
        time=time,
    )


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
