"""CrewAI: where a crew's unified memory keeps its records.

    storage = CrewStorage(memory, user="ana")
    crew = Crew(agents=…, tasks=…, memory=Memory(storage=storage, embedder=storage.embed, llm=…))

Every record is a memory like any other: recall finds it, contexts show it, forgetting reaches it. The vectors by which CrewAI
searches lie beside the log; one whose memory was forgotten is erased at the next search.
"""

import base64
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np
from crewai.memory.types import MemoryRecord, ScopeInfo

from hitherto.errors import InvalidInput
from hitherto.ids import derived_id
from hitherto.integrations.reach import Memory, Reach
from hitherto.recall.embed import open_embedder
from hitherto.store.protocol import Answers, Change, Erasure, Note, Notes
from hitherto.types import Memory as Fact

MARK: Final = "crewai_"
VECTOR: Final = "crewai:vector:"
MOST: Final = 100_000


class CrewStorage:
    """A `StorageBackend` in one user's memory. CrewAI calls it without `await`: pass a `hitherto.sync.Hitherto`."""

    def __init__(self, memory: Memory, *, user: str) -> None:
        self._reach = Reach(memory)
        self._user = user
        self._embedder = open_embedder(None)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """An embedder for CrewAI that needs no key and no network."""
        return [[float(one) for one in vector] for vector in self._embedder.embed(list(texts))]

    # Without await

    def save(self, records: list[MemoryRecord]) -> None:
        self._reach.waited(self._save(records))

    def search(
        self,
        query_embedding: list[float],
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[MemoryRecord, float]]:
        return self._reach.waited(
            self._search(query_embedding, scope_prefix, categories, metadata_filter, limit, min_score)
        )

    def delete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        return self._reach.waited(self._delete(scope_prefix, categories, record_ids, older_than, metadata_filter))

    def update(self, record: MemoryRecord) -> None:
        self._reach.waited(self._save([record]))

    def touch_records(self, record_ids: list[str]) -> None:
        """Nothing is written: the memory knows already when each of them last served a context."""

    def get_record(self, record_id: str) -> MemoryRecord | None:
        return next((one for one in self._records() if one.id == record_id), None)

    def list_records(self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0) -> list[MemoryRecord]:
        found = sorted(self._records(scope_prefix), key=lambda one: _moment(one.created_at), reverse=True)
        return found[offset : offset + limit]

    def get_scope_info(self, scope: str) -> ScopeInfo:
        found = self._records(scope)
        made = [one.created_at for one in found]
        return ScopeInfo(
            path=scope.rstrip("/") or "/",
            record_count=len(found),
            categories=sorted({name for one in found for name in one.categories}),
            oldest_record=min(made, key=_moment, default=None),
            newest_record=max(made, key=_moment, default=None),
            child_scopes=_children(found, scope),
        )

    def list_scopes(self, parent: str = "/") -> list[str]:
        return _children(self._records(parent), parent)

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        return dict(Counter(name for one in self._records(scope_prefix) for name in one.categories))

    def count(self, scope_prefix: str | None = None) -> int:
        return len(self._records(scope_prefix))

    def reset(self, scope_prefix: str | None = None) -> None:
        self.delete(scope_prefix=scope_prefix)

    # With

    async def asave(self, records: list[MemoryRecord]) -> None:
        await self._reach.awaited(self._save(records))

    async def asearch(
        self,
        query_embedding: list[float],
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[MemoryRecord, float]]:
        return await self._reach.awaited(
            self._search(query_embedding, scope_prefix, categories, metadata_filter, limit, min_score)
        )

    async def adelete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        return await self._reach.awaited(
            self._delete(scope_prefix, categories, record_ids, older_than, metadata_filter)
        )

    # What they do

    def _records(self, scope: str | None = None) -> list[MemoryRecord]:
        facts = self._reach.waited(self._facts())
        return [record for fact in facts.values() if _within((record := _record(fact)).scope, scope)]

    async def _facts(self) -> dict[str, Fact]:
        """The memories that CrewAI wrote, by their attribute."""
        known = await self._reach.engine.memories(user=self._user, limit=MOST)
        return {fact.attribute: fact for fact in known if fact.attribute.startswith(MARK)}

    async def _save(self, records: Iterable[MemoryRecord]) -> None:
        engine, known = self._reach.engine, await self._facts()
        vectors: list[Note] = []
        for record in records:
            attribute = MARK + derived_id(record.id)
            value = record.model_dump_json(exclude={"content", "embedding"})
            if (fact := known.get(attribute)) is not None:
                await engine.update(fact.id, user=self._user, text=record.content, value=value)
            else:
                await engine.remember(user=self._user, text=record.content, attribute=attribute, value=value)
            if record.embedding:
                data = np.asarray(record.embedding, dtype="<f4").tobytes()
                vectors.append(Note(name=VECTOR + attribute, body=base64.b64encode(data).decode()))

        def put(_: Answers) -> Change:
            return Change(notes=tuple(vectors))

        if vectors:
            await engine.user_store(self._user).write(put)

    async def _search(
        self,
        asked: list[float],
        scope: str | None,
        categories: list[str] | None,
        metadata: dict[str, Any] | None,
        limit: int,
        least: float,
    ) -> list[tuple[MemoryRecord, float]]:
        facts, kept = await self._facts(), Notes(prefix=VECTOR)
        vectors = {
            note.name.removeprefix(VECTOR): np.frombuffer(base64.b64decode(note.body), dtype="<f4")
            for note in (await self._reach.engine.user_store(self._user).read(kept))[kept]
        }
        if forgotten := vectors.keys() - facts.keys():
            await self._erase_vectors(forgotten)
        question, found = np.asarray(asked, dtype=np.float32), list[tuple[MemoryRecord, float]]()
        for attribute in facts.keys() & vectors.keys():
            record, vector = _record(facts[attribute]), vectors[attribute]
            if len(vector) != len(question):
                raise InvalidInput(
                    f"these records have vectors of {len(vector)} numbers and the question one of {len(question)}: "
                    "use the embedder that they were saved with, or reset the memory"
                )
            score = _alike(question, vector)
            if score >= least and _fits(record, scope, categories, metadata):
                found.append((record, score))
        return sorted(found, key=lambda one: (-one[1], one[0].id))[:limit]

    async def _delete(
        self,
        scope: str | None,
        categories: list[str] | None,
        ids: list[str] | None,
        before: datetime | None,
        metadata: dict[str, Any] | None,
    ) -> int:
        gone: list[str] = []
        for attribute, fact in (await self._facts()).items():
            record = _record(fact)
            named = not ids or record.id in ids
            old = before is None or _moment(record.created_at) < _moment(before)
            if named and old and _fits(record, scope, categories, metadata):
                await self._reach.engine.forget(user=self._user, memory=fact.id)
                gone.append(attribute)
        await self._erase_vectors(gone)
        return len(gone)

    async def _erase_vectors(self, attributes: Iterable[str]) -> None:
        erasure = Erasure(notes=tuple(VECTOR + attribute for attribute in attributes))
        at = datetime.now(UTC)

        def erase(_: Answers) -> Change:
            return Change(erase=erasure, retired_at=at)

        if erasure.notes:
            await self._reach.engine.user_store(self._user).write(erase)


def _record(fact: Fact) -> MemoryRecord:
    return MemoryRecord.model_validate({**json.loads(fact.value), "content": fact.text})


def _moment(at: datetime) -> datetime:
    """CrewAI's own times have no zone and are UTC."""
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at


def _alike(one: "np.ndarray[Any, Any]", other: "np.ndarray[Any, Any]") -> float:
    size = float(np.linalg.norm(one) * np.linalg.norm(other))
    return max(0.0, float(one @ other) / size) if size else 0.0


def _fits(
    record: MemoryRecord, scope: str | None, categories: list[str] | None, metadata: dict[str, Any] | None
) -> bool:
    return (
        _within(record.scope, scope)
        and (not categories or bool({*categories} & {*record.categories}))
        and all(record.metadata.get(name) == value for name, value in (metadata or {}).items())
    )


def _within(scope: str, outer: str | None) -> bool:
    """Scopes are paths: `/crew` contains `/crew/notes` but not `/crewmates`."""
    return f"{scope.strip('/')}/".startswith(f"{outer.strip('/')}/") if outer and outer.strip("/") else True


def _children(records: Iterable[MemoryRecord], parent: str) -> list[str]:
    above = parent.strip("/")
    start = f"/{above}/" if above else "/"
    inner = (f"/{one.scope.strip('/')}".removeprefix(start) for one in records if one.scope.strip("/") != above)
    return sorted({start + name.partition("/")[0] for name in inner if name.strip("/")})
