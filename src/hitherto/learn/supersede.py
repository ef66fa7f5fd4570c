"""What a new statement does to an earlier one: repeats it, refines it, ends it, or stands beside it.

A fact that is closed wrongly is lost to every later context, while one that stays open too long is merely
followed by the newer one. So everything unsure stands beside, and a statement may end another only when it says
that something changed, in the same walk of life, for the same person.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from hitherto.learn.candidates import Stems
from hitherto.text.numbers import number_at
from hitherto.text.patterns import PatternTable
from hitherto.text.time.spans import ranges

__all__ = ["Relation", "Statement", "relation", "valid_until"]

Relation = Literal["duplicate", "refines", "replaces", "apart"]

_TABLE: Final = PatternTable.read("hitherto.learn", "supersede.toml")
_ADDS, _UNREAL, _ONCE = map(_TABLE.pattern, ("adds", "unreal", "once"))
_ENDS, _EXCHANGES, _NOW, _BUYS, _NAMED = map(_TABLE.pattern, ("ends", "exchanges", "now", "buys", "named"))
_MOVED_THING, _SAME_AGAIN, _STATUS, _INSTANCE = map(_TABLE.pattern, ("moved_thing", "same_again", "status", "instance"))
_MINE, _COMMUTE, _RELATIVES = map(_TABLE.pattern, ("mine", "commute", "relatives"))
_ATTRIBUTE, _SUBJECT, _TO_PLACE = map(_TABLE.pattern, ("attribute", "subject", "to_place"))
_OBJECT_START, _OBJECT_END, _NEGATED = map(_TABLE.pattern, ("object_start", "object_end", "negated"))
_TASTE, _DOING, _LASTING, _ONGOING = map(_TABLE.pattern, ("taste", "doing", "lasting", "ongoing"))
_DOMAINS: Final[dict[str, frozenset[str]]] = {
    name: frozenset(found) for name, found in _TABLE.content["domains"].items()
}

# Attributes of which a person has one at a time: another value ends the first.
_SINGLE: Final = frozenset(
    ("name", "home", "employer", "occupation", "age", "birthday", "status", "email", "phone", "diet")
)
_MANNER: Final = frozenset(("entir", "complet", "total", "fulli", "altogeth", "final", "ago", "good", "cold", "turkey"))
_LIGHT: Final = frozenset(_TABLE.texts("words", "light"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A fact as far as it is known: its words, and the attribute and value where extraction found them."""

    text: str
    attribute: str = ""
    value: str = ""


def relation(new: Statement, old: Statement, *, stems: Stems) -> Relation:
    """What `new`, stated later and under the same key or about the same things, does to `old`."""
    if new.attribute and new.attribute == old.attribute and new.value and old.value:
        return _by_value(new, old, stems=stems)
    if _same_noun(new.text, old.text, stems=stems) or _other_value(new.text, old.text):
        return "apart" if _UNREAL.search(new.text) else "replaces"
    fresh, known = _content(new.text, stems), _content(old.text, stems)
    changing = _ENDS.search(new.text) or _EXCHANGES.search(new.text)
    if not changing and fresh == known and _negated(new.text) == _negated(old.text):
        return "duplicate"
    if _UNREAL.search(new.text) or (_ADDS.search(new.text) and not changing):
        return "apart"
    if _ends(new.text, old.text, fresh=fresh, known=known, stems=stems):
        return "replaces"
    if known < fresh and not changing and _negated(new.text) == _negated(old.text):
        return "refines"
    if fresh < known and not changing and _negated(new.text) == _negated(old.text):
        return "duplicate"
    return "apart"


def valid_until(text: str, *, stated: datetime, zone: str) -> datetime | None:
    """When a statement that names its own end stops being true ("until June 1", "for three weeks")."""
    lower = text.lower()
    if re.search(r"\b(?:until|till|through)\b", lower):
        for found in ranges(text, now=stated, zone=zone, tense="future"):
            if re.match(r"(?:until|till)\b", found.text.lower()):
                return found.end
    match = _LASTING.search(lower)
    if match is None or _ONGOING.search(lower[: match.start()]) is None:
        return None
    count = number_at([match["n"]], 0, loose=True)
    if count is None:
        return None
    start = stated
    for found in ranges(match["rest"], now=stated, zone=zone, tense="future"):
        start = max(found.start, stated) if found.start.year > 1000 else stated
    days = {"day": 1, "week": 7, "month": 30.5, "year": 365.25}[match["unit"]]
    return start + timedelta(days=count[0] * days)


def _by_value(new: Statement, old: Statement, *, stems: Stems) -> Relation:
    """The same attribute of the same entity: equal, more exact, or another value."""
    fresh, known = frozenset(stems(new.value)), frozenset(stems(old.value))
    if _negated(new.text) != _negated(old.text):
        return "replaces" if fresh & known else "apart"
    if fresh == known:
        return "duplicate"
    if known < fresh:
        return "refines"
    if fresh < known:
        return "duplicate"
    single = new.attribute in _SINGLE or new.attribute.startswith("favorite_")
    return "replaces" if single and _ADDS.search(new.text) is None else "apart"


def _content(text: str, stems: Stems) -> frozenset[str]:
    return frozenset(stem for stem in stems(text) if stem not in _LIGHT and not stem.isdigit())


def _negated(text: str) -> bool:
    return _NEGATED.search(text) is not None


def _same_noun(new: str, old: str, *, stems: Stems) -> bool:
    """ "My rent is 1500" and "my rent went up to 1800": one thing, another value of the same kind."""
    one, other = _ATTRIBUTE.search(new) or _MINE.search(new), _ATTRIBUTE.search(old) or _MINE.search(old)
    if one is None or other is None or stems(one["noun"]) != stems(other["noun"]):
        return False
    if _measured(one["value"]) and _measured(other["value"]):
        return one["value"].strip(" .!") != other["value"].strip(" .!")
    if frozenset(stems(one["value"])) & frozenset(stems(other["value"])):
        return False
    return _NOW.search(new) is not None or re.search(r"turned|went|dropped|changed", new, re.IGNORECASE) is not None


def _other_value(new: str, old: str) -> bool:
    """Another name, another relationship status, another way to work."""
    for pattern in (_NAMED, _STATUS):
        one, other = pattern.search(new), pattern.search(old)
        if one is not None and other is not None:
            return one["value"].lower() != other["value"].lower()
    one, other = _COMMUTE.search(new), _COMMUTE.search(old)
    if one is None or other is None or _NOW.search(new) is None:
        return False
    return one["where"].lower() == other["where"].lower() and one["value"].lower() != other["value"].lower()


def _measured(value: str) -> bool:
    return re.search(r"\d|@", value) is not None


def _ends(new: str, old: str, *, fresh: frozenset[str], known: frozenset[str], stems: Stems) -> bool:
    """Whether the new statement says that what the old one states has ended or been exchanged."""
    if not _same_subject(new, old, known=known, stems=stems):
        return False
    shared = fresh & known
    common = _domains(fresh) & _domains(known)
    ended = _ENDS.search(new)
    if ended is not None:
        return _concerns(new[ended.end() :], known=known, stems=stems, otherwise=bool(shared or common))
    place = _TO_PLACE.search(new)
    if place is not None and not _named_place(place["x"]):
        return _concerns(place["x"], known=known, stems=stems, otherwise=False)
    if _BUYS.search(new):
        house = "home" in common and re.search(r"\b(?:house|apartment|condo|flat)\b", new, re.IGNORECASE) is not None
        return "vehicle" in common or house
    moved = _MOVED_THING.search(new)
    if moved is not None and not _concerns(moved["thing"], known=known, stems=stems, otherwise=False):
        return False
    if _SAME_AGAIN.search(new):
        return False
    if _breaks_diet(new, old):
        return True
    if _EXCHANGES.search(new):
        if _ONCE.search(new) and not _NOW.search(new):
            return False
        return bool(common) or bool(shared and not _TASTE.search(new))
    if _TASTE.search(new) and _TASTE.search(old) and _negated(new) != _negated(old):
        return len(shared) > 0
    return _now_otherwise(new, old, shared=shared, stems=stems)


def _concerns(rest: str, *, known: frozenset[str], stems: Stems, otherwise: bool) -> bool:
    """Whether what was ended is what the earlier statement is about: quitting a study group ends no studies."""
    if _INSTANCE.search(rest):
        return False
    cut = _OBJECT_END.split(_OBJECT_START.sub("", rest), maxsplit=1)[0]
    named = [stem for stem in stems(cut) if stem not in _LIGHT and not stem.endswith("ly") and stem not in _MANNER]
    if not named:
        return otherwise
    if named[-1] in known or any(named[-1][:5] == stem[:5] and len(stem) > 4 for stem in known):
        return True
    # "The chess game" is one thing of chess: its end is not chess's.
    part = len(named) > 1 and re.match(r"\W*the\b", rest, re.IGNORECASE) is not None
    return not part and bool(_domains(frozenset(named[-1:])) & _domains(known))


def _named_place(phrase: str) -> bool:
    """Whether what one moved to ends in a name: "New York", but not "the Dutch class"."""
    words = _OBJECT_END.split(phrase, maxsplit=1)[0].split()
    return bool(words) and words[-1][:1].isupper()


def _breaks_diet(new: str, old: str) -> bool:
    """Someone who lived without something eats it again."""
    diet = re.search(r"\b(vegan|vegetarian)\b", old, re.IGNORECASE)
    if diet is None or not re.search(
        r"\b(?:eat|eating|ate)\b.*\b(?:now|again)\b|\bstarted eating\b", new, re.IGNORECASE
    ):
        return False
    foods = r"meat|fish|chicken|beef|pork|steak|bacon|seafood|turkey|burgers?"
    if diet[1].lower() == "vegan":
        foods += r"|dairy|cheese|eggs?|milk|butter|yogh?urt|honey"
    return re.search(rf"\b(?:{foods})\b", new, re.IGNORECASE) is not None


def _now_otherwise(new: str, old: str, *, shared: frozenset[str], stems: Stems) -> bool:
    """ "I only wear black" and "I now wear earth tones": the same doing with "now" and another object."""
    if _NOW.search(new) is None or _ONCE.search(new):
        return False
    verb, before = _DOING.search(new), _DOING.search(old)
    if verb is None or before is None:
        return False
    same = stems(verb["verb"]) == stems(before["verb"]) and bool(stems(verb["verb"]))
    return (
        same and bool(shared) and verb["verb"].lower() not in {"have", "own", "love", "like", "speak", "play", "know"}
    )


def _same_subject(new: str, old: str, *, known: frozenset[str], stems: Stems) -> bool:
    """Whether both statements are about the same person or thing."""
    one, other = _subject(new), _subject(old)
    if one == other or {one, other} <= {"i", "we"}:
        return True
    if one in {"he", "she", "it", "they", "there"} or one.startswith("the "):
        return False
    if one.startswith(("my ", "our ")) and other in {"i", "we"}:
        return False
    if _RELATIVES.match(other):
        return False
    named = other in {"i", "we"} and bool(frozenset(stems(one)) & known)
    return named or (one in {"i", "we"} and other.startswith(("my ", "our ")))


def _subject(text: str) -> str:
    found = _SUBJECT.match(text)
    return found["s"].lower() if found else ""


def _domains(content: frozenset[str]) -> frozenset[str]:
    return frozenset(name for name, members in _DOMAINS.items() if members & content)
