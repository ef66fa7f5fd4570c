"""The step that writes missing vectors: behind a slow embedder, after a change of embedder or analyser, after an import. It
also writes the stems, as this version's analyser makes them.

Until then, what has no vector is found by its words, including older stems. Texts are embedded in a thread, with no
transaction open; a row that was forgotten in the meantime is simply no longer there to take its vector.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from hitherto.ingest.record import words
from hitherto.learn.services import Services, Vectors
from hitherto.store.protocol import Answers, Change, Head, RecordsBySeq, TurnsBySeq, Untraced, UserStore, Vector
from hitherto.types import Json
from hitherto.work.cursors import Effect
from hitherto.work.overview import Overview
from hitherto.work.worker import Job, Step

NAME = "embed"
BATCH = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Vectors for some entries, and the entry up to which nothing is missing now."""

    vectors: tuple[tuple[int, Vector], ...]
    stems: tuple[tuple[int, tuple[str, ...]], ...] = ()
    last: int | None


async def missing(store: UserStore, *, made: Vectors, after: int, limit: int = BATCH) -> Piece:
    """Vectors for the next entries that have none of this embedder; `last` is None when there are no more."""
    query = Untraced(embedder=made.embedder, after=after, limit=limit)
    seqs = (await store.read(query))[query]
    if not seqs:
        return Piece(vectors=(), last=None)
    turns, records = TurnsBySeq(seqs=seqs), RecordsBySeq(seqs=seqs)
    answers = await store.read(turns, records)
    texts = {turn.seq: words(turn.text, turn.parts) for turn in answers[turns]}
    texts |= {row.seq: row.text for row in answers[records]}
    vectors = await asyncio.to_thread(made.embed, list(texts.values()))
    stems = tuple((seq, tuple(made.stems(text))) for seq, text in texts.items())
    return Piece(vectors=tuple(zip(texts, vectors, strict=True)), stems=stems, last=seqs[-1])


async def reindex(store: UserStore, *, made: Vectors, progress: Callable[[int, int], None] | None = None) -> int:
    """Writes every missing vector of this embedder now and returns how many. An interrupted run can be continued."""
    head = Head()
    total = (await store.read(head))[head]
    after = count = 0
    while (piece := await missing(store, made=made, after=after)).last is not None:
        await store.write(_writing(piece))
        after, count = piece.last, count + len(piece.vectors)
        if progress is not None:
            progress(min(after, total), total)
    return count


def _writing(piece: Piece) -> Callable[[Answers], Change]:
    return lambda _: Change(vectors=piece.vectors, stems=piece.stems)


def due(view: Overview, services: Services) -> Mapping[str, datetime]:
    """A quick embedder writes while recording, so only older entries are checked, once."""
    vectors = services.vectors
    if vectors is None or not view.head:
        return {}
    cursor = view.cursors.get(NAME)
    if cursor is None or cursor.body.get("embedder") != vectors.embedder or not cursor.body.get("done"):
        return {NAME: view.now}
    return {NAME: view.now} if not vectors.at_once and view.head > cursor.position else {}


async def run(job: Job[Services]) -> Effect:
    vectors = job.services.vectors
    assert vectors is not None, "it is not due without"
    after = job.cursor.position if job.cursor.body.get("embedder") == vectors.embedder else 0
    piece = await missing(job.store, made=vectors, after=after)
    body: dict[str, Json] = {"embedder": vectors.embedder, "done": piece.last is None}
    position = job.view.head if piece.last is None else piece.last
    return Effect(position=position, body=body, decide=_writing(piece))


STEP: Step[Services] = Step(name=NAME, due=due, run=run)
