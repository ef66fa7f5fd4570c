"""Finds what answers a message, on any store: two short batches of reads around pure ranking.

The first batch asks for full-text matches and for traces that are new to the cache; for a context, it runs together with
its other reads. Ranking then works on columns in memory; the second batch fetches the texts of the winners. Turns are
ranked with their neighbours, records by the recipe's own blend; both explain each score. What is no longer true is found
only if the question is about the past.
"""

import asyncio
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from hitherto.errors import ServiceError
from hitherto.ids import PROFILE
from hitherto.recall import entities
from hitherto.recall.cache import Columns, TraceCache, UserRows
from hitherto.recall.embed.base import Calibration, CheckedEmbedder, Embedder, calibrate
from hitherto.recall.hits import Found, Search, ended, hit, in_scope, meant, ordered
from hitherto.recall.passages import SHOWN, LongTexts, about, beginning, passages
from hitherto.recall.query import Period, Question, understand
from hitherto.recall.rank import (
    DECIMALS,
    FEW,
    Ranked,
    Spread,
    collapse,
    rank,
    standardiser,
)
from hitherto.recall.rerank import JUDGED, Reranker, reranked, verdicts
from hitherto.recall.traits import ASKS, LOOKED, SECRET, pack, traits
from hitherto.recall.vectors import Floats, Vectors, top
from hitherto.safety.secrets import masked
from hitherto.store import records as nouns
from hitherto.store.catalog import UserKey
from hitherto.store.columns import Matched
from hitherto.store.protocol import (
    ANY,
    Answers,
    Matches,
    Query,
    RecordsById,
    RecordsBySeq,
    Traces,
    TurnsBySeq,
    UserStore,
    Vector,
)
from hitherto.text.analyser import ANALYSER_VERSION, stems, words
from hitherto.types import Hit, Profile, Recalled, Record, StoredTurn

SPARE: Final = 2
"""Ranked beyond the limit, to replace what turns out to be revised or forgotten when its text is read."""
DEADLINE: Final = 5.0
"""Seconds after which a conversation stops waiting for an embedder that has no deadline of its own."""
NO_ROOM: Final = "over budget"
OTHER_LANE: Final = "other lane"
LENGTHS: Final = ((4, 1_000), (20, 500), (None, 250))
"""How many of the best turns are shown with how many characters: an answer often continues after the words that were asked
for, while what is found further down is there for its mention."""
COLLECTED: Final = ((None, 300),)
"""The same if the answer lies in many turns."""
SURVEYED: Final = ((12, 400), (30, 200), (None, 120))
"""If somebody asks how things went: as many turns as there is room for, each in brief."""
OF_OTHERS: Final = ((6, 200), (None, 100))
"""Of what others said to it, where somebody asks for what they told themselves."""
SURE: Final = 1.0
"""How much a record of another lane must have in common with the message, in standard deviations: if nothing answers,
everything is nearly as good as the best."""
_CONTENT: Final = ("lexical", "related", "neighbours", "dense")
NO_ROW: Final = -1
"""The row of what has no vector yet."""
_MOST_TEXT: Final = 20_000


Told = TypeVar("Told", StoredTurn, Record)
_Held = tuple[StoredTurn | Record, Ranked]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ahead:
    """What a search reads before everything it needs is known, together with other reads: new traces, and full text if the
    message stands alone."""

    traces: Traces
    speakers: int
    """How many were known; a new one changes the question."""
    languages: frozenset[str]
    """The languages the user writes in, likewise."""
    question: Question | None = None
    matches: tuple[Matches, ...] = ()

    @property
    def queries(self) -> tuple[Query[object], ...]:
        return (self.traces, *self.matches)


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """What recall contributes to a context, and what went wrong, if anything."""

    hits: tuple[Recalled, ...]
    read: Answers
    """The answers to what was read in the same batch."""
    problem: str = ""
    lanes: tuple[str | None, ...] = ()
    """The lanes that the user's turns belong to."""
    personas: tuple[str | None, ...] = ()
    """Those that the user talks to."""
    named: frozenset[str] = frozenset()
    """Other lanes that the message names."""
    periods: tuple[Period, ...] = ()
    """The times that it names."""
    sure: frozenset[int] = frozenset()
    """Entries of records nearly as good as the best turn, which may come from another lane."""


class _Placed(NamedTuple):
    """What full text found, and where it stands among a user's rows."""

    size: int
    matches: Matched
    rows: NDArray[np.int64]
    there: NDArray[np.bool_]
    """Which of the matches are among them."""

    @classmethod
    def of(cls, columns: Columns, matches: Matched) -> "_Placed":
        return cls(len(columns.matrix), matches, *columns.matrix.places(matches.seqs))

    def column(self) -> NDArray[np.float64]:
        """0 where nothing was found."""
        scores = np.zeros(self.size)
        scores[self.rows] = self.matches.scores[self.there]
        return scores


def index_version(embedder: Embedder) -> str:
    """The versions of embedder and analyser, by which vectors and traits are kept: those of others are not compared, and
    background work remakes them."""
    return f"{embedder.version}:{ANALYSER_VERSION}"


class Recaller:
    """Recall over any store with one embedder. A reranker re-examines the results of `search`; a context does not wait for
    one."""

    def __init__(self, embedder: Embedder, *, reranker: Reranker | None = None) -> None:
        self._embedder = CheckedEmbedder(embedder)
        self._reranker = reranker
        self.version = index_version(embedder)
        self._cache = TraceCache(embedder=self.version, dimension=embedder.dimension)
        self._long = LongTexts()
        self._calibration: Calibration | None = None
        self._ask = lru_cache(maxsize=1024)(self._embedded)

    @property
    def at_once(self) -> bool:
        """Whether vectors are written while recording; otherwise a background step writes them."""
        return self._embedder.at_once

    def vectors(self, texts: Sequence[str]) -> list[Vector]:
        """What is stored beside each text: its vector, and the traits that ranking needs."""
        found = [traits(text, length=len(stems(text))) for text in texts]
        parts = [passages(text) for text in texts]
        vectors = self._embedder.embed([*texts, *(part for of_text in parts for part in of_text)])
        ends = np.cumsum([len(texts), *map(len, parts)])
        packed = pack(vectors[: len(texts)], found, [vectors[a:b] for a, b in pairwise(ends)])
        return [Vector(embedder=self.version, data=data) for data in packed]

    def similarity(self, a: str, b: str) -> float:
        """The calibrated similarity of two texts."""
        one, other = self._embedder.embed([a, b])
        return float(self._calibrated(np.array([one @ other], dtype=np.float32))[0])

    def forget(self, key: UserKey) -> None:
        self._cache.drop(key)
        self._long.forget()

    def of(self, key: UserKey) -> "UserRecall":
        return UserRecall(self, key)

    def ahead(self, key: UserKey, search: Search, *, anchored: bool) -> Ahead:
        """What to read first; `anchored` if it is not yet known what a short message answers."""
        held = self._cache.held(key)
        traces, speakers = self._cache.query(held), len(held.speakers)
        question = _question(held, search) if held.last is not None else None
        if question is None or (anchored and not question.alone):
            return Ahead(traces=traces, speakers=speakers, languages=held.languages)
        return Ahead(
            traces=traces,
            speakers=speakers,
            languages=held.languages,
            question=question,
            matches=_asked(question, search),
        )

    def prepare(self, key: UserKey, ahead: Ahead) -> None:
        """Embeds the question and compares it with the cached rows while the store reads, if that needs no waiting."""
        if ahead.question is None or not self._embedder.at_once:
            return
        with suppress(ServiceError):  # ranking asks again and reports it
            vector, held = self._ask(ahead.question.text), self._cache.held(key)
            for columns in (held.turns, held.records):
                columns.dots(vector)

    async def recall(
        self,
        key: UserKey,
        store: UserStore,
        search: Search,
        ahead: Ahead,
        read: Answers,
        *,
        beside: Sequence[Query[object]] = (),
    ) -> Brought:
        """Turns and records for a context, with those that must stay out. `read` answers what was asked ahead, `beside` is
        asked with the last batch.

        How they mix follows the one scale that `search` uses; which record takes a record's place is the recipe's choice.
        Of long turns behind the best one, the sentences that say most of what is asked: they share a few hundred tokens.
        """
        found = await self._find(key, store, search, ahead, read)
        turns, records, further = await _texts(store, found, search, beside)
        sides = ordered(records, found, search)
        waiting = iter(sides)
        best_turn = next((one.seq for one in found.turns if one.seq in turns), None)
        mixed: list[Recalled] = []
        room = search.room
        best = max((one.score for one in found.turns), default=0.0)
        for one in sorted((*found.turns, *found.records), key=_best_first):
            if one.seq in turns and _elsewhere(turns[one.seq], one, search, best=best):
                mixed.append(Recalled(what=turns[one.seq], score=one.score, parts=one.parts, reason=OTHER_LANE))
            elif one.seq in turns and room is not None and room <= 0:
                mixed.append(Recalled(what=turns[one.seq], score=one.score, parts=one.parts, reason=NO_ROOM))
            elif one.seq in turns:
                before, after = found.around.get(one.seq, (0, 0))
                turn = turns[one.seq]
                text = found.excerpt(turn)
                if one.seq != best_turn:
                    text = _cut(text, turn, found.question, search, place=len(mixed))
                mixed.append(
                    Recalled(
                        what=turn,
                        score=one.score,
                        parts=one.parts,
                        excerpt=text,
                        before=turns.get(before),
                        after=turns.get(after),
                        asked=found.question.stems,
                    )
                )
                room = None if room is None else room - len(mixed[-1].text)
            elif one.seq in records:
                mixed.append(next(waiting))
        held = self._cache.held(key)
        return Brought(
            hits=tuple(mixed),
            read=further,
            problem=found.problem,
            lanes=tuple(lane or None for lane in held.lanes.texts()),
            personas=tuple(persona or None for persona in held.personas.texts()),
            named=found.lanes,
            periods=found.question.periods,
            sure=frozenset(one.seq for one in found.records if _sure(one, search, best=best)),
        )

    async def search(self, key: UserKey, store: UserStore, search: Search) -> list[Hit]:
        """The best of everything on one scale, with days as the user's zone counts them."""
        wanted = search.limit
        if self._reranker is not None:
            search = replace(search, limit=max(wanted, JUDGED))
        ahead, whose = self.ahead(key, search, anchored=False), RecordsById(ids=(PROFILE,), known=search.known)
        read = await store.read(*ahead.queries, whose)
        for profile in nouns.records(read[whose], Profile):
            search = replace(search, zone=profile.zone)
        found = await self._find(key, store, search, ahead, read)
        turns, records, _ = await _texts(store, found, search)
        texts: dict[int, StoredTurn | Record] = {**turns, **records}
        ranked = sorted((*found.turns, *found.records), key=_best_first)
        held = [(texts[one.seq], one) for one in ranked if one.seq in texts]
        held = [(what, one) for what, one in held if not ended(what, found.question, search)]
        if self._reranker is not None:
            held = await asyncio.to_thread(self._judged, self._reranker, held, found, asked=search.text)
        return [hit(what, one) for what, one in held[:wanted]]

    def _judged(self, reranker: Reranker, held: Sequence[_Held], found: Found, *, asked: str) -> list[_Held]:
        """Reorders the best hits by a second look."""
        said = [
            (found.excerpt(what) or what.text, what.speaker if isinstance(what, StoredTurn) else None)
            for what, _ in held[:JUDGED]
        ]
        again = reranked([one for _, one in held], verdicts(reranker, asked, said))
        texts = {one.seq: what for what, one in held}
        return [(texts[one.seq], one) for one in again]

    async def _find(self, key: UserKey, store: UserStore, search: Search, ahead: Ahead, read: Answers) -> Found:
        held = await self._cache.refresh(key, store, ahead.traces, read[ahead.traces])
        question, matches = ahead.question, ahead.matches
        if question is None or (len(held.speakers), held.languages) != (ahead.speakers, ahead.languages):
            question = _question(held, search)
            matches = _asked(question, search)
            read = await store.read(*matches)
        lanes = frozenset(_named_lanes(search.text, held.lanes.texts()))
        periods, hung = entities.times(search)
        if hung:
            periods += await entities.periods(store, hung, search, languages=held.languages, lanes=lanes)
        question = replace(question, periods=tuple(periods))
        told = await entities.told_of(store, periods, search) if periods else frozenset[int]()
        of_turns, of_records, of_near = (read[one] for one in matches)
        turns, records = _Placed.of(held.turns, of_turns), _Placed.of(held.records, of_records)
        vector, problem = await self._vector(question.text)
        found_turns: list[Ranked] = []
        if "turn" in search.kinds:
            dots = held.turns.dots(vector)
            found_turns = self._ranked(
                held,
                held.turns,
                question,
                turns,
                search,
                dots=dots,
                lanes=lanes,
                nouns=("turn",),
                near=_Placed.of(held.turns, of_near) if of_near else None,
            )
        dots = held.records.dots(vector)
        found_records = self._ranked(
            held, held.records, question, records, search, dots=dots, lanes=lanes, nouns=search.sides, told=told
        )
        if "turn" in search.kinds:
            found_turns += _without_vectors(turns, skip=search.skip, limit=search.limit)
        if search.sides:
            found_records += _without_vectors(records, skip=frozenset(), limit=search.limit)
        return Found(
            turns=found_turns,
            records=found_records,
            question=question,
            similarity=self._similarities(found_records, dots),
            passages=_passages(held.turns, found_turns, vector) | _passages(held.records, found_records, vector),
            long=self._long,
            lanes=lanes,
            problem=problem,
            around=_around(held.turns, found_turns) if search.around else {},
            clean=_clean(held.turns, found_turns) | _clean(held.records, found_records),
        )

    async def _vector(self, text: str) -> tuple[Vectors, str]:
        """The question's vector; a zero vector and the reason if the embedder fails or does not answer in time."""
        try:
            if self._embedder.at_once:
                return self._asked(text), ""
            return await asyncio.wait_for(asyncio.to_thread(self._asked, text), DEADLINE), ""
        except ServiceError as error:
            why = str(error)
        except TimeoutError:
            why = f"{self._embedder.name} did not answer in {DEADLINE:g} s"
        return np.zeros(self._embedder.dimension, dtype=np.float32), f"recall by full text alone: {why}"

    def _asked(self, text: str) -> Vectors:
        """The question goes first: a service may take its time to be measured, but not to be asked."""
        vector = self._ask(text)
        self._measured()
        return vector

    def _ranked(
        self,
        held: UserRows,
        columns: Columns,
        question: Question,
        matches: _Placed,
        search: Search,
        *,
        dots: Floats,
        lanes: frozenset[str],
        nouns: Sequence[str],
        near: _Placed | None = None,
        told: Collection[int] = (),
    ) -> list[Ranked]:
        matrix = columns.matrix
        if not len(matrix) or not nouns:
            return []
        allowed = held.allowed(
            columns,
            persona=search.persona,
            lane=ANY if nouns != ("turn",) else search.lane,
            named=lanes,
            nouns=nouns,
            shared=nouns != ("turn",),
            known=search.known,
        )
        if search.skip:
            allowed[matrix.places(np.array(sorted(search.skip), dtype=np.int64))[0]] = False
        dense = matrix.blended(dots).astype(np.float64)
        ranked = rank(
            held.rows(columns),
            question,
            lexical=matches.column(),
            related=near.column() if near is not None else None,
            told=matrix.places(np.array(sorted(told), dtype=np.int64))[0] if told else None,
            dense=dense,
            trust=self._embedder.trust,
            allowed=allowed,
            weights=search.weights,
            usual=self._usual() if np.count_nonzero(allowed) < FEW and dots.any() else None,
            limit=(search.limit if search.turns is None or nouns != ("turn",) else search.turns) + SPARE,
        )
        if not ranked:
            return ranked
        likeness = matrix.likeness(np.array([one.row for one in ranked]))
        return collapse(ranked, likeness, threshold=search.weights.duplicate)

    def _similarities(self, ranked: Sequence[Ranked], dots: Floats) -> dict[int, float]:
        """By entry; what has no vector has none of these either."""
        held = [one for one in ranked if one.row != NO_ROW] if dots.any() else []
        found = self._calibrated(dots[[one.row for one in held]]) if held else ()
        return {one.seq: float(value) for one, value in zip(held, found, strict=True)}

    def _calibrated(self, cosines: Floats) -> NDArray[np.float64]:
        return self._measured().all(cosines)

    def _usual(self) -> Spread:
        """How the similarities of unrelated texts are spread."""
        calibration = self._measured()
        return Spread(mean=calibration.middle, deviation=calibration.deviation)

    def _measured(self) -> Calibration:
        if self._calibration is None:
            self._calibration = calibrate(self._embedder)
        return self._calibration

    def _embedded(self, text: str) -> Vectors:
        return self._embedder.embed([text], purpose="query")[0]


class UserRecall:
    """Recall for one user's context, in two steps: what can be read ahead, and the rest once the state is known."""

    def __init__(self, recaller: Recaller, key: UserKey) -> None:
        self._recaller = recaller
        self._key = key

    def ahead(self, search: Search, *, anchored: bool) -> Ahead:
        return self._recaller.ahead(self._key, search, anchored=anchored)

    def prepare(self, ahead: Ahead) -> None:
        self._recaller.prepare(self._key, ahead)

    async def recall(
        self, store: UserStore, search: Search, ahead: Ahead, read: Answers, *, beside: Sequence[Query[object]]
    ) -> Brought:
        return await self._recaller.recall(self._key, store, search, ahead, read, beside=beside)


def _without_vectors(placed: _Placed, *, skip: frozenset[int], limit: int) -> list[Ranked]:
    """The best matches by words alone among texts without a vector yet, in standard deviations."""
    matches, waiting = placed.matches, ~placed.there
    if not waiting.any():
        return []
    waiting &= ~np.isin(matches.seqs, list(skip))
    spread = standardiser(matches.scores, least=max(FEW, placed.size + int(waiting.sum())))
    seqs = matches.seqs[waiting]
    scores = np.round((matches.scores[waiting] - spread.mean) / spread.deviation, DECIMALS)
    return [
        Ranked(row=NO_ROW, seq=int(seqs[place]), score=float(scores[place]), parts={"lexical": float(scores[place])})
        for place in top(scores, seqs, limit=limit)
    ]


def _best_first(ranked: Ranked) -> tuple[float, int]:
    return -ranked.score, ranked.seq


def _elsewhere(turn: StoredTurn, ranked: Ranked, search: Search, *, best: float) -> bool:
    """Whether a turn belongs to another lane than the message and is not nearly as good as the best of all."""
    return search.home is not ANY and turn.lane != search.home and ranked.score < search.elsewhere * best


def _cut(text: str, turn: StoredTurn, question: Question, search: Search, *, place: int) -> str:
    """The part of a turn, or of its best passage, that says most of what is asked, shorter the further down it was found;
    empty for a turn that is shown whole. A text that contains none of the words is shown from its beginning."""
    if not search.around:
        return about(text or turn.text, question.stems) or text
    lengths = LENGTHS
    if question.collects or question.surveys:
        own = SURVEYED if question.surveys else COLLECTED
        lengths = OF_OTHERS if question.of_user and turn.role != "user" else own
    most = _most(lengths, place)
    whole = text or turn.text
    least = most if question.surveys else SHOWN
    return about(whole, question.stems, most=most) or (beginning(whole, least) if len(whole) > least else text)


def _most(lengths: Sequence[tuple[int | None, int]], place: int) -> int:
    """How many characters are shown of what was found in this place; the last length is for all others."""
    for upto, most in lengths:
        if upto is None or place < upto:
            return most
    raise AssertionError("the last length has no end")


def _sure(ranked: Ranked, search: Search, *, best: float) -> bool:
    """Whether a record answers the message nearly as well as the best turn, and by its words."""
    content = sum(ranked.parts.get(part, 0.0) for part in _CONTENT)
    return content >= SURE and ranked.score >= search.elsewhere * best


def _passages(columns: Columns, ranked: Sequence[Ranked], vector: Vectors) -> dict[int, Floats]:
    """How similar each passage is, by the entry of a long text; most are short and have none."""
    owners = columns.owners.all
    if not len(owners):
        return {}
    rows = np.array([one.row for one in ranked], dtype=np.int64)
    starts, ends = np.searchsorted(owners, rows), np.searchsorted(owners, rows + 1)
    long = np.flatnonzero((ends > starts) & (rows != NO_ROW)).tolist()
    alike = columns.passages.dots(vector) if long else None
    return {} if alike is None else {ranked[place].seq: alike[starts[place] : ends[place]] for place in long}


def _around(columns: Columns, ranked: Sequence[Ranked]) -> dict[int, tuple[int, int]]:
    """Which turns complete a found one: the one before if that asks, the one after if this one asks."""
    matrix, marks = columns.matrix, columns.marks.all
    rows = np.array([one.row for one in ranked if one.row != NO_ROW], dtype=np.int64)
    before, after = matrix.previous[rows], matrix.next[rows]
    asked = (before >= 0) & _may(marks[before], ASKS)
    asks = (after >= 0) & _may(marks[rows], ASKS)
    befores, afters = np.where(asked, matrix.seqs[before], 0), np.where(asks, matrix.seqs[after], 0)
    return dict(zip(matrix.seqs[rows].tolist(), zip(befores.tolist(), afters.tolist(), strict=True), strict=True))


def _may(marks: NDArray[np.uint8], trait: int) -> NDArray[np.bool_]:
    """Which rows have a trait, or were written by a version that did not look for it."""
    return ((marks & trait) > 0) | ((marks & LOOKED) == 0)


def _clean(columns: Columns, ranked: Sequence[Ranked]) -> frozenset[int]:
    """Entries of these rows and of their neighbours that contain no secret."""
    matrix = columns.matrix
    rows = np.array([one.row for one in ranked if one.row != NO_ROW], dtype=np.int64)
    rows = np.concatenate([rows, matrix.previous[rows], matrix.next[rows]])
    rows = rows[rows >= 0]
    marks = columns.marks.all[rows]
    return frozenset(matrix.seqs[rows[(marks & (LOOKED | SECRET)) == LOOKED]].tolist())


def _named_lanes(text: str, lanes: Sequence[str]) -> list[str]:
    """Lanes whose every word the text says; one of numbers alone cannot be named in passing."""
    said = set(words(text[:_MOST_TEXT])) if len(lanes) > 1 else set[str]()
    spoken = {lane: set(words(lane)) for lane in lanes if said and lane}
    return [lane for lane, parts in spoken.items() if parts <= said and any(len(p) > 2 and p.isalpha() for p in parts)]


def _question(held: UserRows, search: Search) -> Question:
    speakers = [name for name in held.speakers.texts() if name]
    return understand(search.text, speakers=speakers, anchor=search.anchor, languages=held.languages)


def _asked(question: Question, search: Search) -> tuple[Matches, Matches, Matches]:
    """What to ask full text for, of turns and of records, and related words of turns."""
    turns = Matches(stems=question.stems if "turn" in search.kinds else (), target="turn")
    records = Matches(stems=question.stems if search.sides else (), target="record")
    return turns, records, replace(turns, stems=question.related if turns.stems and search.weights.related else ())


async def _texts(
    store: UserStore, found: Found, search: Search, beside: Sequence[Query[object]] = ()
) -> tuple[dict[int, StoredTurn], dict[int, Record], Answers]:
    near = {seq for pair in found.around.values() for seq in pair if seq}
    turns = TurnsBySeq(
        seqs=tuple(dict.fromkeys((*(one.seq for one in found.turns), *sorted(near)))), known=search.known
    )
    records = RecordsBySeq(seqs=tuple(one.seq for one in found.records), known=search.known)
    answers = await store.read(turns, records, *beside)
    held = map(nouns.record, answers[records])
    active = [record for record in held if record.status == "ACTIVE" and meant(record, search)]
    spoken = [turn for turn in answers[turns] if turn.text.strip() and in_scope(turn, search, found.lanes)]
    return (
        {turn.seq: _masked(turn, found, open_session=search.open_session) for turn in spoken},
        {record.seq: _masked(record, found) for record in active},
        answers,
    )


def _masked(what: Told, found: Found, *, open_session: str | None = None) -> Told:
    """Without its secrets, unless it was said in the session in which they may be repeated."""
    told = isinstance(what, StoredTurn) and what.session == open_session
    if told or what.seq in found.clean:
        return what
    text = masked(what.text)
    return what if text is what.text or text == what.text else replace(what, text=text)
