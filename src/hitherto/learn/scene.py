"""What a reader is shown besides the new lines: who is who, what is known that matters here, what is open, what came before.

Everything known would cost more than what was said. So of the memories those are chosen that a careful reader would have in
mind: core facts, dangers and standing requests always, then what shares names and words with the lines, then the newest.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import lru_cache
from math import fsum, log
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hitherto import ids as keys
from hitherto.clock import local_day
from hitherto.learn.folds import fold_of
from hitherto.learn.notes import Line, Passage, Scene, Sitting
from hitherto.learn.services import Services
from hitherto.learn.verify import Ground, folded
from hitherto.recall.embed.static import static_embedder
from hitherto.recall.vectors import products
from hitherto.safety.quarantine import Verdicts
from hitherto.safety.secrets import redact
from hitherto.store import records as nouns
from hitherto.store.protocol import ANY, Answers, Query, RecordList, RecordsById, RecordsByKey, TurnList, Window
from hitherto.text.analyser import stems
from hitherto.types import Entity, Loop, Memory, Profile, Session, StoredTurn, Summary, Support

if TYPE_CHECKING:
    from hitherto.work.worker import Job

BEFORE: Final = 2
"""How many earlier turns are shown along with the first new one."""
LOOKED_AT: Final = 400
PEOPLE: Final = 200
LOOPS: Final = 40
FEW, MANY, MOST = 600, 1_000, 10_000
"""How many characters of known memories are shown beside as many as the lines have: while a session goes on, and when it has
ended; and at the most."""
LONGEST_SITTING: Final = 24_000
"""Characters of a session's lines that are shown again when it ends."""
_FIRST: Final = 5
"""So many of the nearest memories draw in what hangs on them."""
_ALIKE: Final = 0.3
"""What two texts that have nothing to do with each other may share of their meaning."""
_NAMED, _WORTH = 0.9, 0.5
"""What it counts that the lines name somebody of whom a memory tells; and what is enough."""
_WHOLES: Final = ("org:", "project:", "place:")
"""What is told of one of these hangs together."""
_PLANNED, _OVER = 0.7, 1.5
"""What it counts that a memory near the lines has a day of its own, for plans change most; and what it costs to tell of what
happened once, for that cannot change."""
_STRESS: Final = 1.3
"""How much the words that a memory shares with one sentence say."""
_SENTENCE: Final = re.compile(r"(?<=[.!?;…])\s+|(?<=[。！？])|\n+")
_ARTICLES: Final = frozenset(["the", "der", "die", "das", "den", "los", "las", "les", "une", "uma"])
_ISO: Final = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")


async def passage(
    job: "Job[Services]", turns: Sequence[StoredTurn], *, ends: bool, rolls: bool = True, asks: bool = True
) -> Passage:
    """These turns of one persona and session as a reader is shown them; `ends`: and their session, if it is over; `rolls`: the
    rolling summary is wanted; `asks`: every word shown costs something, so of what is known only what matters is."""
    persona, first = turns[0].persona, turns[0]
    session = _over(job, turns[-1]) if ends else None
    window = Window(persona=persona, lane=ANY, limit=BEFORE, before=first.place)
    profile = RecordsById(ids=(keys.PROFILE,))
    known = RecordList(noun="memory", persona=persona, shared=True, statuses=("ACTIVE", "ARCHIVED"), limit=LOOKED_AT)
    people = RecordList(noun="entity", limit=PEOPLE)
    opened = RecordList(noun="loop", persona=persona, statuses=("open",), limit=LOOPS)
    rolling = RecordsByKey(noun="summary", keys=(keys.rolling(persona),))
    asked: list[Query[Any]] = [window, profile, known, people, opened, rolling]
    whole = TurnList(session=session.id, limit=2_000) if session else None
    answers = await job.store.read(*asked, *([whole] if whole else []))
    names = _names(job, answers, profile, turns)
    new = _lines(turns, **names)
    said = {line.turn.id for line in new}
    earlier = [t for t in (answers[whole] if whole else answers[window]) if t.id not in said and t.place < first.place]
    scene = _scene(job, names, new, nouns.records(answers[people], Entity))
    loops = sorted(nouns.records(answers[opened], Loop), key=lambda loop: (loop.at, loop.seq))
    summary = nouns.records(answers[rolling], Summary)
    memories = [m for m in nouns.records(answers[known], Memory) if _stands(m, job)]
    today = local_day(job.now, job.view.zone).isoformat()
    come = {memory.id: day for memory in memories if (day := _day_to_come(memory, job.view.zone)) and day <= today}
    limit = min((MANY if session else FEW) + sum(len(line.text) for line in new), MOST)
    shown = relevant(memories, new, scene=scene, come=come.keys(), limit=limit) if asks else tuple(memories)
    before = _lines(earlier, **names)
    sitting = await _sitting(job, session, (*before, *new), scene) if session and new else None
    return Passage(
        scene=scene,
        before=before,
        new=new,
        memories=shown,
        loops=tuple(loops),
        rolling=summary[-1] if summary else None,
        past=frozenset(name for name, day in come.items() if day < today),
        cut=len(shown) < len(memories),
        characters=job.services.numbers.rolling_chars if rolls else 0,
        sitting=sitting,
    )


async def sitting(job: "Job[Services]", session: Session, turns: Sequence[StoredTurn]) -> Sitting:
    """A session that was read before, as a reader is shown it at its end."""
    profile, people = RecordsById(ids=(keys.PROFILE,)), RecordList(noun="entity", limit=PEOPLE)
    answers = await job.store.read(profile, people)
    names = _names(job, answers, profile, turns)
    shown = _without_orders(_lines(turns, **names))
    scene = _scene(job, names, shown, nouns.records(answers[people], Entity))
    return await _sitting(job, session, shown, scene)


async def _sitting(job: "Job[Services]", session: Session, shown: Sequence[Line], scene: Scene) -> Sitting:
    persona, last = session.persona, shown[-1].turn if shown else None
    day = keys.daily(persona, local_day(last.at if last else session.at, job.view.zone))
    current = RecordsByKey(noun="summary", keys=(day,))
    known = RecordList(noun="memory", persona=persona, shared=True, statuses=("ACTIVE",), limit=LOOKED_AT)
    opened = RecordList(noun="loop", persona=persona, limit=LOOPS)
    answers = await job.store.read(current, known, opened)
    daily = [s for s in nouns.records(answers[current], Summary) if s.session != session.id]
    said = {line.turn.id for line in shown}
    return Sitting(
        scene=scene,
        lines=_ends(shown),
        day=daily[-1] if daily else None,
        noted=tuple(m for m in nouns.records(answers[known], Memory) if said & set(m.sources)),
        loops=tuple(
            loop for loop in nouns.records(answers[opened], Loop) if loop.status == "open" or said & set(loop.sources)
        ),
        detail=job.services.numbers.detail,
    )


def _stands(memory: Memory, job: "Job[Services]") -> bool:
    """Whether a memory is known to be so; what was folded is shown fact by fact, so that each can change."""
    if memory.source == "curated_fold" or (memory.status != "ACTIVE" and fold_of(memory) is None):
        return False
    return memory.valid_to is None or memory.valid_to > job.now


def _day_to_come(memory: Memory, zone: str) -> str | None:
    """The last day of which a memory speaks, if that was to come when it was said."""
    last = max(_ISO.findall(memory.text), default="")
    return last if last > local_day(memory.at, zone).isoformat() else None


def _over(job: "Job[Services]", last: StoredTurn) -> Session | None:
    """The session that this turn ended, if it is over and not closed yet."""
    gap = timedelta(minutes=job.services.numbers.gap_minutes)
    for session in job.view.open_sessions:
        if session.id == last.session and session.last_activity is not None:
            return session if session.last_activity + gap <= job.now and session.last_activity <= last.at else None
    return None


def _ends(shown: Sequence[Line]) -> tuple[Line, ...]:
    """The lines, or of a very long session the newest of them."""
    size, kept = 0, list[Line]()
    for line in reversed(shown):
        size += len(line.text)
        if kept and size > LONGEST_SITTING:
            break
        kept.insert(0, line)
    return tuple(kept)


def _names(
    job: "Job[Services]", answers: Answers, profile: RecordsById, turns: Sequence[StoredTurn]
) -> Mapping[str, str]:
    found = nouns.records(answers[profile], Profile)
    return {
        "user": (found[0].name if found else None) or "the user",
        "persona": job.services.name_of(turns[0].persona if turns else None),
    }


def _scene(job: "Job[Services]", names: Mapping[str, str], new: Sequence[Line], people: Sequence[Entity]) -> Scene:
    speakers = tuple(dict.fromkeys(line.turn.speaker for line in new if line.turn.speaker))
    ours = (None, new[0].turn.persona if new else None)
    live = [
        entity
        for entity in people
        if entity.merged_into is None and entity.persona in ours and entity.key not in ("person:user", "person:persona")
    ]
    named = _named(live, [line.text for line in new], own=(names["user"], names["persona"]))
    near = sorted(live, key=lambda e: (e.key not in named, e.type not in ("person", "animal"), -e.at.timestamp()))
    return Scene(
        user=names["user"],
        persona=names["persona"],
        zone=job.view.zone,
        now=job.now,
        speakers=speakers,
        people=tuple(near),
        named=named,
    )


def relevant(
    memories: Sequence[Memory],
    new: Sequence[Line],
    *,
    scene: Scene,
    come: Collection[str] = (),
    limit: int,
) -> tuple[Memory, ...]:
    """The memories that these lines may touch, within so many characters, oldest first. Pure.

    A memory is near the lines when it is about somebody whom they name, shares rare words with one of their sentences or says
    something alike (60 microseconds a text); and near through another when it shares these with one that is: whoever leaves a
    job ends its hours as well. Core facts are few and need no such reason while there is room: "I quit" names no job. `come`
    are those whose own day has come, which are always asked about."""
    if not memories:
        return ()
    worths = _worths(memories, new, scene=scene, come=come)
    chosen: list[Memory] = []
    for place in sorted(range(len(memories)), key=lambda place: (-worths[place], -memories[place].seq)):
        size = len(memories[place].text)
        if size <= limit and worths[place] > _WORTH:
            chosen.append(memories[place])
            limit -= size + 4
    return tuple(sorted(chosen, key=lambda memory: (memory.at, memory.seq)))


def _worths(memories: Sequence[Memory], new: Sequence[Line], *, scene: Scene, come: Collection[str]) -> Sequence[float]:
    """How much each memory matters beside these lines."""
    texts = [memory.text for memory in memories]
    sentences = [part for line in new for part in _SENTENCE.split(line.text) if part.strip()]
    shared = _Shared(texts)
    said = [frozenset(stems(sentence)) for sentence in sentences]
    embed = static_embedder().embed
    vectors = embed(texts)
    alike = np.maximum(products(vectors, embed(sentences)).max(axis=1, initial=0.0) - _ALIKE, 0.0)
    kin = np.maximum(products(vectors, vectors) - _ALIKE, 0.0)
    direct = [
        min(_STRESS * max((shared.weight(words & one) for one in said), default=0.0), 3.0)
        + _NAMED * len(scene.named.intersection(memory.entities))
        + 3 * float(like)
        for words, memory, like in zip(shared.of, memories, alike, strict=True)
    ]
    near = [own + 2.0 * (memory.id in come) for own, memory in zip(direct, memories, strict=True)]
    first = sorted(range(len(memories)), key=lambda place: -near[place])[:_FIRST]
    whole = [frozenset(ref for ref in memory.entities if ref.startswith(_WHOLES)) for memory in memories]

    def worth(place: int) -> float:
        memory, words = memories[place], shared.of[place]
        others = [other for other in first if other != place]
        through = (
            min(near[other], 2.0) * (shared.weight(words & shared.of[other]) / 4 + float(kin[place, other]))
            for other in others
        )
        of_one = 1.0 * any(whole[place] & whole[other] for other in others)
        always = 4.0 * (memory.standing or memory.pinned or memory.id in come)
        core = 1.0 * (memory.importance >= 3)
        plan = _PLANNED * (memory.valid_to is not None and direct[place] > 0)
        over = _OVER * (memory.category == "EVENT" and memory.valid_to is None and memory.id not in come)
        return always + direct[place] + max(through, default=0.0) + of_one + core + plan - over - len(memory.text) / 250

    return [round(worth(place), 4) for place in range(len(memories))]


class _Shared:
    """How much the words that texts share say, by how rare they are among all."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.of = [frozenset(stems(text)) for text in texts]
        often = Counter(word for words in self.of for word in words)
        self._rare = {word: (1 - log(count) / log(len(texts) + 2)) ** 2 for word, count in often.items()}

    def weight(self, words: Collection[str]) -> float:
        return fsum(self._rare[word] for word in words)  # a plain sum would depend on the order of a set


def _named(people: Sequence[Entity], lines: Sequence[str], *, own: Collection[str]) -> frozenset[str]:
    """Whom and what the lines name, by reference; those who talk are named in the names of half of all others."""
    said = {word for line in lines for word in folded(line).split()}
    said -= {word for name in own for word in folded(name).split()}
    names = ((entity.key, name) for entity in people for name in (entity.label, *entity.aliases))
    return frozenset(key for key, name in names if key and said.intersection(_telling(name)))


def _telling(name: str) -> Collection[str]:
    """The words by which somebody may be meant: of "the Old Gull's" neither "the" nor "s", unless there is no other."""
    words = folded(name).split()
    return [word for word in words if (len(word) > 2 and word not in _ARTICLES) or not word.isascii()] or words


# --- what notes can rest on ----------------------------------------------------------------------------------------------


def ground(
    passage: Passage,
    *,
    live: Mapping[str, StoredTurn] | None = None,
    earlier: Mapping[str, frozenset[str]] | None = None,
) -> Ground:
    """What notes on a passage can rest on: its lines, those that still stand if it is known which, and what was shown
    beside them."""
    shown = (*passage.memories, *passage.loops, *(passage.rolling.sentences if passage.rolling else ()))
    said = [line for line in passage.lines if live is None or _same(live.get(line.turn.id), line.turn)]
    return _ground(passage.scene, said, shown, earlier=earlier)


def ground_of(sitting: Sitting) -> Ground:
    """What a session's summary can rest on."""
    shown = (*sitting.noted, *sitting.loops, *(sitting.day.sentences if sitting.day else ()))
    return _ground(sitting.scene, sitting.lines, shown)


def _ground(
    scene: Scene,
    said: Sequence[Line],
    shown: Sequence[Memory | Loop | Support],
    *,
    earlier: Mapping[str, frozenset[str]] | None = None,
) -> Ground:
    words: dict[str, frozenset[str]] = dict(earlier or {})
    for one in shown:
        for quote in one.quotes:
            words[quote.turn] = words.get(quote.turn, frozenset()) | {quote.words}
    people = (name for entity in scene.people for name in (entity.label, *entity.aliases))
    return Ground(
        lines=tuple(said),
        zone=scene.zone,
        now=scene.now,
        known=tuple(text for text in (one.text for one in (*shown, *scene.people)) if text),
        names=(scene.user, scene.persona, *scene.speakers, *people),
        earlier=words,
    )


def _same(live: StoredTurn | None, read: StoredTurn) -> bool:
    return live is not None and live.version == read.version


# Turns as readers see them.

_LONGEST_TURN: Final = 2_400
"""Characters of one turn that a reader is shown: its beginning and its end."""
_MARK: Final = " […] "
_TOOL: Final = 200
_VERDICTS: Final = Verdicts()


def readable(turn: StoredTurn) -> bool:
    """Whether somebody said the turn and it still stands."""
    return turn.retired is None and turn.role in ("user", "assistant") and bool(turn.text.strip() or turn.parts)


def _lines(turns: Iterable[StoredTurn], *, user: str, persona: str) -> tuple[Line, ...]:
    return tuple(
        Line(turn=turn, speaker=turn.speaker or (user if turn.role == "user" else persona), text=_text(turn))
        for turn in turns
        if readable(turn)
    )


def _without_orders(lines: Sequence[Line]) -> tuple[Line, ...]:
    """A summary is durable memory: what may not become a memory must not enter it through a summary either."""
    verdicts = _VERDICTS.give_orders([(line.turn.text, line.turn.origin) for line in lines])
    return tuple(replace(line, text="") if orders else line for line, orders in zip(lines, verdicts, strict=True))


def _text(turn: StoredTurn) -> str:
    described = [part for part in (_described(part) for part in turn.parts) if part]
    return " ".join(filter(None, (_short(turn.text), *described)))


@lru_cache(maxsize=1_024)
def _short(text: str) -> str:
    """Without secrets and not too long; one visit reads a turn more than once, so the result is cached for a while."""
    masked = redact(re.sub(r"[ \t]*\n\s*", "\n", text.strip()))
    if len(masked) <= _LONGEST_TURN:
        return masked
    return masked[: _LONGEST_TURN * 2 // 3].rstrip() + _MARK + masked[-_LONGEST_TURN // 3 :].lstrip()


def _described(part: object) -> str:
    """A tool call by its name, a picture by its caption; tool output and a model's thinking are left out."""
    match getattr(part, "kind", ""):
        case "tool_call":
            return f"(calls {getattr(part, 'name', '')}: {redact(str(getattr(part, 'args', '')))[:_TOOL]})"
        case "media":
            caption = str(getattr(part, "caption", "")).strip()
            kind = str(getattr(part, "media_type", "")).partition("/")[0] or "file"
            return f"({kind}: {redact(caption)})" if caption else f"({kind})"
        case _:
            return ""
