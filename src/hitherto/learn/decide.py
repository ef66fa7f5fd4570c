"""What becomes of facts that were noted: stored, said again, sharper, ended, held back or left out. Pure.

A fact is stored when it is new, stated or confirmed by whom it is about, important enough and safe. A reader that names a
known memory decides what the fact does to it, however it is worded; without such a name only a typed fact that is sure ends
another, and only what says nearly the same is merged. Ended is not deleted: the old memory keeps its words and gets an end to
its validity. A pinned memory is never ended, nothing is ended in jest, and what a person rejected does not come back from
the same turns.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from hitherto.ids import derived_id
from hitherto.learn.folds import fold_of, taken_out
from hitherto.learn.notes import FactKind, FactNote
from hitherto.learn.verify import folded
from hitherto.safety.quarantine import Reason, quarantine
from hitherto.safety.secrets import find_secrets
from hitherto.text.analyser import stems
from hitherto.text.names import memory_key, slug
from hitherto.types import Category, EntityType, Episode, FactType, Memory, MemoryType, Origin, Quote, StoredTurn

LEAST_IMPORTANCE: Final = 1
GROWTH: Final = ((10, 3), (3, 2))
"""How often a thing must be said to count as this important."""
QUOTES: Final = 6
"""How many quotes a record keeps, the newest."""
LONGEST_EPISODE: Final = 1_200
"""Characters of an episode with what was found out since."""
_ISO: Final = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
_BREATH: Final = 400
"""A turn of at most so many characters is one breath: what is told in it beside a confidence belongs to it."""
REJECTED: Final = "rejected"
WRONG: Final = "never was so"
NEAR: Final = 0.75
"""Two facts about the same say the same when they share this much of their words."""
REPEATED: Final = 0.9
"""A change whose text shares this much with what it changes is none."""
_JEST: Final = re.compile(
    r"\b(?:jk|j/k|lol jk|just kidding|kidding|joking|just joking|broma|scherz|spaß)\b|/s\b", re.IGNORECASE
)
_QUOTING: Final = re.compile(r"^[^“]{1,80}\([^)“]+\)[^“]*(?:“[^”]*”)?: “(?P<words>.+)”(?: \([^)]*\))?$", re.DOTALL)
_OUTSIDE: Final = frozenset[Origin](("tool", "import"))
"""Origins whose words nobody in the conversation answers for."""
_SINGLE: Final = frozenset(
    ("name", "home", "employer", "occupation", "age", "birthday", "status", "email", "phone", "diet")
)
_CATEGORY: Final[Mapping[FactKind, Category]] = {"event": "EVENT", "preference": "PREFERENCE", "relationship": "PERSON"}
_TYPES: Final[Mapping[FactKind, FactType]] = {
    "preference": "preference", "relationship": "relationship", "habit": "habit", "friction": "friction",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """A fact with verified quotes, the turns they stand in, and the references of whom and what it is about."""

    note: FactNote
    turns: tuple[StoredTurn, ...]
    refs: tuple[str, ...] = ()
    label: str = ""
    entity_type: EntityType = "person"
    nth: int = 0
    """Which of several facts with the same first quote."""
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    """Other names of whom it is about, and the label of each."""
    heard: datetime | None = None
    """When it was read, where its words are older: those of a known note."""

    @property
    def last(self) -> StoredTurn:
        return max(self.turns, key=lambda turn: turn.place)

    @property
    def at(self) -> datetime:
        return self.heard or self.last.at

    @property
    def id(self) -> str:
        """The same words in the same turn are the same memory, however often they are read."""
        first = self.note.quotes[0]
        nth = (folded(self.note.text),) if self.heard else (str(self.nth),) if self.nth else ()
        return derived_id("memory", first.turn, folded(first.words), *nth)


@dataclass(slots=True)
class Decided:
    """The memories to write, each a new one or the next version of a known one, and what was left out, by reason."""

    memories: dict[str, Memory] = field(default_factory=dict[str, Memory])
    kept: Counter[str] = field(default_factory=Counter[str])
    dropped: Counter[str] = field(default_factory=Counter[str])


def in_confidence(notes: Sequence[FactNote], said: Mapping[str, str], *, persona: str) -> tuple[FactNote, ...]:
    """The notes with what belongs to a confidence marked as one: what else was said in a short turn that holds it, and lasting
    requests that name the persona, which are made to that one alone. A danger is never a secret. `said` are the turns' texts.
    Pure."""
    secret = {quote.turn for note in notes if note.private for quote in note.quotes}
    breath = {turn for turn in secret if len(said.get(turn, "")) <= _BREATH}
    return tuple(
        replace(note, private=True)
        if note.subject == "user"
        and (
            persona in note.about
            if note.standing
            else note.op == "new" and any(quote.turn in breath for quote in note.quotes)
        )
        else note
        for note in notes
    )


def decide(noted: Iterable[Noted], known: Sequence[Memory], *, persona: str | None) -> Decided:
    """`known` are the memories that notes may refer to or repeat, and all, of whatever status, that rest on these turns."""
    made = Decided()
    held = {memory.id: memory for memory in known}
    for one in noted:
        outcome = _outcome(one, held, persona=persona)
        if isinstance(outcome, str):
            made.dropped[outcome] += 1
            continue
        made.kept[one.note.op] += 1
        for memory in outcome:
            made.memories[memory.id] = held[memory.id] = memory
    return made


def _outcome(one: Noted, held: Mapping[str, Memory], *, persona: str | None) -> tuple[Memory, ...] | str:
    """The memories that a fact writes, or why it writes none."""
    note = one.note
    refused = unfit(one)
    if refused is not None:
        return refused
    named = held.get(note.ref or "")
    if named is not None and named.persona not in (None, persona):
        named = None
    if named is None:
        return "unknown" if note.op in ("over", "same") and not note.text else _begun(one, held, persona=persona)
    if _ordered(one) is not None:
        return _begun(one, held, persona=persona)  # held back; what is known neither takes its words nor ends by them
    alone, *fold = _by_itself(named, held)
    match note.op:
        case "same":
            return (*fold, reinforced(alone, one))
        case "sharper":
            return (*fold, *_in_one(alone, one, held)) if note.text else (*fold, reinforced(alone, one))
        case "new":
            return _begun(one, held, persona=persona)
        case "changed" if _repeated(alone, note.text):
            return (*_with_it(one, held, persona=persona), *fold, _sharper(alone, one))
        case "changed" | "over" | "wrong":
            return _ended(one, alone, fold, held, persona=persona)


def _in_one(memory: Memory, one: Noted, held: Mapping[str, Memory]) -> tuple[Memory, ...]:
    """A memory in sharper words that takes the place of all that the note names, with their sources and quotes. What a person
    wrote or pinned, and what another persona alone was told, stays beside it."""
    sharper = _sharper(memory, one)
    laid: dict[str, Memory] = {}
    for name in one.note.also:
        twin = held.get(name)
        if twin is None or not _live(twin, one) or twin.pinned or twin.source != "shadow_extraction":
            continue
        if (twin.persona, twin.subject) != (memory.persona, memory.subject):
            continue
        alone, *fold = _by_itself(twin, {**held, **laid})
        laid |= {part.id: part for part in fold}
        laid[alone.id] = replace(alone, status="ARCHIVED", reason=f"told in {memory.id}")
        sharper = replace(
            sharper,
            sources=tuple(dict.fromkeys((*alone.sources, *sharper.sources))),
            quotes=joined(alone.quotes, sharper.quotes),
            entities=tuple(dict.fromkeys((*sharper.entities, *alone.entities))),
            importance=max(sharper.importance, alone.importance),
            standing=sharper.standing or alone.standing,
        )
    return (*laid.values(), sharper)


def _ended(
    one: Noted, named: Memory, fold: Sequence[Memory], held: Mapping[str, Memory], *, persona: str | None
) -> tuple[Memory, ...] | str:
    """What a reader says is no longer so, or never was; with what is so instead, which matters as much and is no less
    confidential."""
    note = one.note
    if any(_JEST.search(turn.text) for turn in one.turns):
        return "joke"
    if named.subject == "user" and not _stated(one):
        return "unstated"
    ends = _with_it(one, held, persona=persona)
    if not named.pinned:
        ends = (*ends, *fold, _gone(named, one))
    if not note.text:
        return ends or "pinned"
    others = {name: m for name, m in held.items() if name not in (named.id, *note.also)}
    confided = note.private or (named.persona is not None and named.subject == "user")
    heir = replace(note, private=confided, importance=max(note.importance, named.importance))
    began = _begun(replace(one, note=heir), others, persona=persona, since=note.op == "changed")
    return (*ends, *began) if not isinstance(began, str) else (ends or began)


def _gone(memory: Memory, one: Noted) -> Memory:
    if one.note.op == "wrong":
        return replace(memory, status="ARCHIVED", reason=WRONG)
    return replace(memory, valid_to=one.at)


def _with_it(one: Noted, held: Mapping[str, Memory], *, persona: str | None) -> tuple[Memory, ...]:
    """What ends along with the memory that a note names first."""
    found = [held[name] for name in one.note.also if name in held]
    ends = [m for m in found if m.persona in (None, persona) and _live(m, one) and not m.pinned]
    alone = [_by_itself(memory, held) for memory in ends if memory.subject != "user" or _stated(one)]
    return tuple(memory for itself, *fold in alone for memory in (*fold, _gone(itself, one)))


def _repeated(memory: Memory, text: str) -> bool:
    """Whether what is said to be so now is what is known, word for word or nearly."""
    if _numbers(memory.text) != _numbers(text) or _negated(memory.text) != _negated(text):
        return False
    return bool(text) and _overlap(memory.text, text) >= REPEATED


def ended(written: Iterable[Memory], *, now: datetime) -> list[Memory]:
    """Those that are no longer so, or never were."""
    return [m for m in written if m.reason == WRONG or (m.valid_to is not None and m.valid_to <= now)]


def corrected(episodes: Iterable[Episode], over: Sequence[Memory]) -> list[Episode]:
    """Episodes that tell of what is over or never was so, with a word on that: found again, they would mislead. What had its
    day says by itself that it is over."""
    over = [memory for memory in over if memory.reason == WRONG or not _had_its_day(memory)]
    return [marked for episode in episodes if (marked := _marked(episode, over)) != episode]


def _had_its_day(memory: Memory) -> bool:
    end = memory.valid_to.date().isoformat() if memory.valid_to is not None else ""
    return any(day <= end for day in _ISO.findall(memory.text))


def _marked(episode: Episode, over: Sequence[Memory]) -> Episode:
    text = episode.text
    for memory in over:
        mark = f" ({'Wrong' if memory.reason == WRONG else 'No longer so'}: {memory.text.rstrip('.')}.)"
        if mark not in text and len(text) + len(mark) <= LONGEST_EPISODE and _tells(episode, memory):
            text += mark
    return replace(episode, text=text)


def _tells(episode: Episode, memory: Memory) -> bool:
    """Whether an episode rests on all turns that said what a memory says, and holds many of its words."""
    if not set(memory.sources) <= set(episode.sources) or memory.persona not in (None, episode.persona):
        return False
    words, told = set(stems(memory.text)), set(stems(episode.text))
    return len(words & told) * 5 >= 2 * len(words)


def _begun(
    one: Noted, held: Mapping[str, Memory], *, persona: str | None, since: bool = False
) -> tuple[Memory, ...] | str:
    """A new memory, unless it was known, rejected, or made of these words before."""
    if any(_taken_away(memory, one) for memory in held.values()):
        return "rejected"
    scope = _scope(one, persona)
    reason = _ordered(one)
    if reason is not None:
        fresh = _memory(one, persona=scope)
        return (
            "order" if one.id in held else (replace(fresh, status="QUARANTINED", standing=False, reason=reason.kind),)
        )
    live = [m for m in held.values() if _live(m, one) and m.persona in (scope, None) and m.subject == one.note.subject]
    twin = next((m for m in live if m.id == one.id or _says_the_same(m, one)), None)
    if twin is not None:
        alone, *fold = _by_itself(twin, held)
        return (*fold, _sharper(alone, one) if _fuller(alone, one) else reinforced(alone, one))
    fresh = _memory(one, persona=scope)
    contrary = [m for m in live if _other_value(m, one) and not m.pinned]
    if contrary or since:
        fresh = replace(fresh, valid_from=fresh.valid_from or one.at)
    return (*(replace(m, valid_to=one.at) for m in contrary), fresh)


def unfit(one: Noted) -> str | None:
    """Why a fact is not for keeping, whatever is known."""
    note = one.note
    if note.op != "same" and note.op != "over" and not note.ref and not note.text.strip():
        return "empty"
    if note.text and find_secrets(note.text):
        return "secret"
    if not note.ref and note.importance < LEAST_IMPORTANCE:
        return "trivial"
    return None if _stated(one) else "unstated"


def _stated(one: Noted) -> bool:
    """A fact of the user needs words of the user's side, be it a "yes"; what the persona tells of itself its own."""
    side = "user" if one.note.subject == "user" else "assistant"
    return any(turn.role == side for turn in one.turns)


def _ordered(one: Noted) -> Reason | None:
    """The order that the words of a note give, judged by the least trusted of the turns that they rest on."""
    return quarantine(one.note.text, _outside(one) or one.last.origin) if one.note.text else None


def _outside(one: Noted) -> Origin | None:
    return next((turn.origin for turn in one.turns if turn.origin in _OUTSIDE), None)


def reinforced(memory: Memory, one: Noted) -> Memory:
    """Said again: its count, sources and quotes grow, and with them its importance, and it is news again. The same turn counts
    once."""
    fresh = tuple(turn.id for turn in one.turns if turn.id not in memory.sources)
    quotes = joined(memory.quotes, one.note.quotes)
    if not fresh:
        return memory
    until = memory.valid_to
    if until and one.note.valid_to and _QUOTING.match(memory.text):
        until = max(until, one.note.valid_to)
    mentions = memory.mentions + 1
    grown = next((level for count, level in GROWTH if mentions >= count), 0)
    return replace(
        memory,
        mentions=mentions,
        sources=(*memory.sources, *fresh),
        quotes=quotes,
        importance=max(memory.importance, grown),
        standing=memory.standing or one.note.standing,
        valid_to=until,
    )


def _sharper(memory: Memory, one: Noted) -> Memory:
    again = reinforced(memory, one)
    if memory.pinned and memory.source != "shadow_extraction":
        return again  # a person's own words stay
    note = one.note
    return replace(
        again,
        text=note.text or memory.text,
        value=note.value or memory.value,
        entities=tuple(dict.fromkeys((*memory.entities, *one.refs))),
        importance=max(again.importance, note.importance),
        standing=memory.standing or note.standing,
        valid_from=note.valid_from or memory.valid_from,
        valid_to=memory.valid_to if memory.pinned else note.valid_to or memory.valid_to,
    )


def joined(quotes: Sequence[Quote], more: Sequence[Quote]) -> tuple[Quote, ...]:
    return tuple(dict.fromkeys((*quotes, *more)))[-QUOTES:]


def _live(memory: Memory, one: Noted) -> bool:
    if memory.source == "curated_fold" or (memory.status != "ACTIVE" and fold_of(memory) is None):
        return False
    return memory.valid_to is None or memory.valid_to > one.at


def _taken_away(memory: Memory, one: Noted) -> bool:
    """Whether these words of these turns made a memory that somebody, or the curator, has laid aside since."""
    if memory.status == "ACTIVE" or fold_of(memory) is not None or not _rests_on(memory, one):
        return False
    if memory.id == one.id or _overlap(memory.text, one.note.text) >= NEAR:
        return True
    return any(_shared(quote, other) for quote in memory.quotes for other in one.note.quotes)


def _rests_on(memory: Memory, one: Noted) -> bool:
    return any(turn.id in memory.sources for turn in one.turns)


def _shared(quote: Quote, other: Quote) -> bool:
    """Whether two quotes are, for the most part, the same words of the same turn."""
    if quote.turn != other.turn:
        return False
    one, two = set(folded(quote.words).split()), set(folded(other.words).split())
    return bool(one and two) and len(one & two) * 4 >= 3 * min(len(one), len(two))


def _says_the_same(memory: Memory, one: Noted) -> bool:
    if memory.standing != one.note.standing and not set(memory.entities) & set(one.refs):
        return False
    if one.refs and memory.entities and one.refs[0] != memory.entities[0]:
        return False
    note = one.note
    if note.attribute and note.value and memory.attribute == slug(note.attribute):
        return folded(memory.value) == folded(note.value) and _negated(memory.text) == _negated(note.text)
    old, new = called(_told(memory.text), one.names), called(_told(note.text), one.names)
    if _numbers(old) != _numbers(new) or _negated(old) != _negated(new):
        return folded(old) == folded(new)
    return _overlap(old, new) >= NEAR


def say_the_same(memory: Memory, other: Memory, names: Mapping[str, str]) -> bool:
    """Whether two memories about the same state one thing; of somebody who has several `names`, whichever of them is used."""
    if memory.attribute == other.attribute and memory.value and other.value:
        return folded(memory.value) == folded(other.value)
    one, two = called(_told(memory.text), names), called(_told(other.text), names)
    if memory.key != other.key:
        return folded(one) == folded(two)
    return _negated(one) == _negated(two) and _overlap(one, two) >= NEAR


def called(text: str, names: Mapping[str, str]) -> str:
    """A text in which people stand under their label, whichever of their names was said."""
    for name, label in names.items():
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", label, text, flags=re.IGNORECASE)
    return text


def _told(text: str) -> str:
    """What a quote says, without who said it and when."""
    found = _QUOTING.match(text)
    return found["words"] if found else text


def _fuller(memory: Memory, one: Noted) -> bool:
    """Whether the new wording holds all words of the old one and more."""
    old, new = set(folded(memory.text).split()), set(folded(one.note.text).split())
    return old < new


def _overlap(text: str, other: str) -> float:
    one, two = set(folded(text).split()), set(folded(other).split())
    return len(one & two) / len(one | two) if one or two else 1.0


def _numbers(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\d+", text))


def _negated(text: str) -> bool:
    return re.search(r"\b(?:not|no|never|\w+n['’]t|nicht|kein\w*|nunca|ya no)\b", text, re.IGNORECASE) is not None


def _other_value(memory: Memory, one: Noted) -> bool:
    """Another value of something that a person has one of at a time."""
    note = one.note
    if not note.sure or not note.attribute or slug(note.attribute) not in _SINGLE or not note.value:
        return False
    if memory.attribute != slug(note.attribute) or not memory.value or memory.entities[:1] != one.refs[:1]:
        return False
    return folded(memory.value) != folded(note.value)


def _by_itself(memory: Memory, held: Mapping[str, Memory]) -> list[Memory]:
    """A memory that is about to change, taken out of its fold if it is in one."""
    fold = fold_of(memory)
    return taken_out(memory, held.get(fold)) if fold else [memory]


def _scope(one: Noted, persona: str | None) -> str | None:
    """What the persona says of itself is its own, and so is what it was told in confidence; other facts are everybody's."""
    return persona if one.note.subject == "persona" or one.note.private else None


def _memory(one: Noted, *, persona: str | None) -> Memory:
    note = one.note
    origin: Origin = one.last.origin
    said = [turn for turn in one.turns if turn.role == "user"]
    if note.subject == "user" and said:
        origin = _outside(one) or said[-1].origin
    refs = one.refs or (f"person:{note.subject}",)
    of_self = refs[0] in ("person:user", "person:persona")
    kinds: dict[EntityType, MemoryType] = {"person": "PEOPLE", "animal": "PEOPLE", "project": "PROJECT"}
    fact_type: FactType = _TYPES.get(note.kind, "fact")
    attribute = slug(note.attribute or note.text)[:80]
    type_ = "PROFILE" if of_self else kinds.get(one.entity_type, "PROFILE")
    others: dict[EntityType, Category] = {"person": "PERSON", "animal": "PERSON", "place": "PLACE"}
    return Memory(
        id=one.id,
        text=note.text.strip(),
        persona=persona,
        key=memory_key(type_, entity_type=one.entity_type, entity=refs[0], fact_type=fact_type, attribute=attribute),
        origin=origin,
        sources=tuple(dict.fromkeys(turn.id for turn in one.turns)),
        quotes=note.quotes[-QUOTES:],
        entities=refs,
        at=one.at,
        valid_from=note.valid_from,
        valid_to=note.valid_to,
        type=type_,
        category=_CATEGORY.get(note.kind) or ("BIOGRAPHY" if of_self else others.get(one.entity_type, "BIOGRAPHY")),
        entity_label=one.label or None,
        entity_type=one.entity_type,
        fact_type=fact_type,
        attribute=attribute,
        value=note.value.strip(),
        importance=min(max(note.importance, 1), 3),
        confidence=0.9 if note.sure or not note.attribute else 0.7,
        source="shadow_extraction",
        subject=note.subject,
        standing=note.standing,
    )
