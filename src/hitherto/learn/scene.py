"""What a reader is shown besides the new lines: who is who, what is known that matters here, what is open, what came before.

Everything known would cost more than what was said. So of the memories those are chosen that a careful reader would have in
mind: core facts, dangers and standing requests always, then what shares names and words with the lines, then the newest.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from hitherto import ids as keys
from hitherto.clock import local_day
from hitherto.learn import lines
from hitherto.learn.folding import fold_of
from hitherto.learn.notes import Line, Passage, Scene, Sitting
from hitherto.learn.services import Services
from hitherto.learn.verify import Ground, folded
from hitherto.store import records as nouns
from hitherto.store.protocol import ANY, Answers, Query, RecordList, RecordsById, RecordsByKey, TurnList, Window
from hitherto.types import Entity, Loop, Memory, Profile, Session, StoredTurn, Summary, Support
from hitherto.work.worker import Job

BEFORE: Final = 2
"""How many earlier turns are shown along with the first new one."""
LOOKED_AT: Final = 400
PEOPLE: Final = 200
LOOPS: Final = 40
FEW, MANY = 1_000, 2_000
"""How many characters of known memories are shown: with a few lines, and when a session has ended."""
LONGEST_SITTING: Final = 24_000
"""Characters of a session's lines that are shown again when it ends."""
_SHARED: Final = 5
"""So many first letters make two words one for the choice: "running", "runs"."""


async def passage(job: Job[Services], turns: Sequence[StoredTurn], *, ends: bool, rolls: bool = True) -> Passage:
    """These turns of one persona and session as a reader is shown them; `ends`: and their session, if it is over; `rolls`: the
    rolling summary is wanted."""
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
    new = lines.shown(turns, **names)
    said = {line.turn.id for line in new}
    earlier = [t for t in (answers[whole] if whole else answers[window]) if t.id not in said and t.place < first.place]
    scene = _scene(job, names, new, nouns.records(answers[people], Entity))
    loops = sorted(nouns.records(answers[opened], Loop), key=lambda loop: (loop.at, loop.seq))
    summary = nouns.records(answers[rolling], Summary)
    memories = [m for m in nouns.records(answers[known], Memory) if _stands(m, job)]
    shown = relevant(memories, new, limit=MANY if session else FEW)
    before = lines.shown(earlier, **names)
    sitting = await _sitting(job, session, (*before, *new), scene) if session and new else None
    return Passage(
        scene=scene,
        before=before,
        new=new,
        memories=shown,
        loops=tuple(loops),
        rolling=summary[-1] if summary else None,
        cut=len(shown) < len(memories),
        characters=job.services.numbers.rolling_chars if rolls else 0,
        sitting=sitting,
    )


async def sitting(job: Job[Services], session: Session, turns: Sequence[StoredTurn]) -> Sitting:
    """A session that was read before, as a reader is shown it at its end."""
    profile, people = RecordsById(ids=(keys.PROFILE,)), RecordList(noun="entity", limit=PEOPLE)
    answers = await job.store.read(profile, people)
    names = _names(job, answers, profile, turns)
    shown = lines.without_orders(lines.shown(turns, **names))
    scene = _scene(job, names, shown, nouns.records(answers[people], Entity))
    return await _sitting(job, session, shown, scene)


async def _sitting(job: Job[Services], session: Session, shown: Sequence[Line], scene: Scene) -> Sitting:
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


def _stands(memory: Memory, job: Job[Services]) -> bool:
    """Whether a memory is known to be so; what was folded is shown fact by fact, so that each can change."""
    if memory.source == "curated_fold" or (memory.status != "ACTIVE" and fold_of(memory) is None):
        return False
    return memory.valid_to is None or memory.valid_to > job.now


def _over(job: Job[Services], last: StoredTurn) -> Session | None:
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
    job: Job[Services], answers: Answers, profile: RecordsById, turns: Sequence[StoredTurn]
) -> Mapping[str, str]:
    found = nouns.records(answers[profile], Profile)
    return {
        "user": (found[0].name if found else None) or "the user",
        "persona": job.services.name_of(turns[0].persona if turns else None),
    }


def _scene(job: Job[Services], names: Mapping[str, str], new: Sequence[Line], people: Sequence[Entity]) -> Scene:
    speakers = tuple(dict.fromkeys(line.turn.speaker for line in new if line.turn.speaker))
    ours = (None, new[0].turn.persona if new else None)
    live = [
        entity
        for entity in people
        if entity.merged_into is None and entity.persona in ours and entity.key not in ("person:user", "person:persona")
    ]
    said = {word for line in new for word in folded(line.text).split()}
    near = sorted(live, key=lambda e: (not _mentioned(e, said), e.type not in ("person", "animal"), -e.at.timestamp()))
    return Scene(
        user=names["user"],
        persona=names["persona"],
        zone=job.view.zone,
        now=job.now,
        speakers=speakers,
        people=tuple(near),
    )


def _mentioned(entity: Entity, said: set[str]) -> bool:
    return any(word in said for name in (entity.label, *entity.aliases) for word in folded(name).split())


def relevant(memories: Sequence[Memory], new: Sequence[Line], *, limit: int) -> tuple[Memory, ...]:
    """The memories to show beside these lines, within so many characters, oldest first. Pure."""
    said = _stems(" ".join(line.text for line in new))
    words = {memory.id: _stems(memory.text) for memory in memories}
    often = Counter(word for stems in words.values() for word in stems)
    common = {word for word, count in often.items() if count > max(4, len(memories) // 3)}

    def worth(memory: Memory) -> tuple[float, ...]:
        shared = len((words[memory.id] & said) - common)
        core = 1.5 * (memory.importance >= 3) + 0.5 * (memory.importance == 2)
        always = 2.5 * (memory.standing or memory.pinned)
        return (always + shared + core - len(memory.text) / 400, memory.at.timestamp(), memory.seq)

    chosen: list[Memory] = []
    room = limit
    for memory in sorted(memories, key=worth, reverse=True):
        if len(memory.text) <= room:
            chosen.append(memory)
            room -= len(memory.text) + 4
    return tuple(sorted(chosen, key=lambda memory: (memory.at, memory.seq)))


def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:_SHARED] for word in re.findall(r"\w+", folded(text)) if len(word) > 3 or not word.isascii())


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
