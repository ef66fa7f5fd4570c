"""LangGraph: a store of facts and a saver of checkpoints, both in the user's own memory.

    store = LangGraphStore(memory, user="ana")
    graph = builder.compile(store=store, checkpointer=LangGraphSaver(memory, user="ana"))

What is put into the store is a memory like any other: recall finds it, contexts show it, forgetting reaches it. A checkpoint is
the graph's state as it was, byte for byte. It lies beside the log: `delete_thread` removes it, and so does forgetting the user;
forgetting a single turn does not look into it.
"""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, cast
from urllib.parse import quote, unquote

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
    get_checkpoint_metadata,
)
from langgraph.store.base import (
    BaseStore,
    GetOp,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from hitherto.errors import InvalidInput
from hitherto.ids import derived_id
from hitherto.integrations.reach import Memory, Reach
from hitherto.store.protocol import Answers, Change, Erasure, Note, Notes
from hitherto.types import Memory as Fact

MOST: Final = 100_000
MARK: Final = "langgraph_"
Namespace = tuple[str, ...]
Users = str | Callable[[Namespace], str]


class LangGraphStore(BaseStore):
    """Items as memories. `user` is whose they are, or how to tell it from a namespace: `lambda namespace: namespace[1]`."""

    def __init__(self, memory: Memory, *, user: Users) -> None:
        self._reach = Reach(memory)
        self._user = user
        self._putting = asyncio.Lock()
        """Nodes of a graph that run at once may put the same key."""

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        return self._reach.waited(self._all(list(ops)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await self._reach.awaited(self._all(list(ops)))

    async def _all(self, ops: Sequence[Op]) -> list[Result]:
        return [await self._one(op) for op in ops]

    async def _one(self, op: Op) -> Result:
        match op:
            case GetOp():
                fact = await self._fact(op.namespace, op.key)
                return None if fact is None else _item(fact)
            case PutOp():
                async with self._putting:
                    return await self._put(op)
            case SearchOp():
                return await self._search(op)
            case ListNamespacesOp():
                return await self._namespaces(op)

    def _owner_of(self, namespace: Namespace) -> str:
        return self._user if isinstance(self._user, str) else self._user(namespace)

    async def _facts(self, user: str) -> list[Fact]:
        known = await self._reach.engine.memories(user=user, limit=MOST)
        return [fact for fact in known if fact.attribute.startswith(MARK)]

    async def _fact(self, namespace: Namespace, key: str) -> Fact | None:
        name = _attribute(namespace, key)
        return next((fact for fact in await self._facts(self._owner_of(namespace)) if fact.attribute == name), None)

    async def _put(self, op: PutOp) -> None:
        user, engine = self._owner_of(op.namespace), self._reach.engine
        fact = await self._fact(op.namespace, op.key)
        if op.value is None:
            if fact is not None:
                await engine.forget(user=user, memory=fact.id)
            return
        now = datetime.now(UTC).isoformat()
        body = {"namespace": op.namespace, "key": op.key, "value": op.value, "created": now, "updated": now}
        if fact is not None:
            body["created"] = json.loads(fact.value)["created"]
        value = json.dumps(body, ensure_ascii=False)
        if fact is None:
            attribute = _attribute(op.namespace, op.key)
            await engine.remember(user=user, text=_words(op.value), attribute=attribute, value=value)
        else:
            await engine.update(fact.id, user=user, text=_words(op.value), value=value)

    async def _search(self, op: SearchOp) -> list[SearchItem]:
        user = self._owner_of(op.namespace_prefix)
        prefix = op.namespace_prefix
        facts = {fact.id: fact for fact in await self._facts(user)}
        found: list[SearchItem] = []
        if op.query:
            hits = await self._reach.engine.search(user=user, query=op.query, kinds=["memory"], limit=200)
            found = [_item(facts[hit.id], score=hit.score) for hit in hits if hit.id in facts]
        else:
            found = [_item(fact) for fact in facts.values()]
        kept = [one for one in found if one.namespace[: len(prefix)] == prefix and _passes(one.value, op.filter)]
        return kept[op.offset : op.offset + op.limit]

    async def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        conditions = op.match_conditions or ()
        if not isinstance(self._user, str):
            named = next((one.path for one in conditions if one.match_type == "prefix"), None)
            if named is None:
                raise InvalidInput("list the namespaces of one user: give a prefix that says whose")
            user = self._owner_of(cast(Namespace, tuple(named)))
        else:
            user = self._user
        known = {_item(fact).namespace for fact in await self._facts(user)}
        matching = {one for one in known if all(_matches(one, condition) for condition in conditions)}
        cut = sorted({one[: op.max_depth] for one in matching})
        return cut[op.offset : op.offset + op.limit]


def _attribute(namespace: Namespace, key: str) -> str:
    return MARK + derived_id(*namespace, "\x1e", key)


def _item(fact: Fact, *, score: float | None = None) -> SearchItem:
    body = json.loads(fact.value)
    created, updated = (datetime.fromisoformat(body[name]) for name in ("created", "updated"))
    return SearchItem(tuple(body["namespace"]), body["key"], body["value"], created, updated, score)


def _words(value: Mapping[str, Any]) -> str:
    """What an item says: its text, if it has one like items of memories do, else all of it."""
    for name in ("text", "content", "memory", "data"):
        if isinstance(said := value.get(name), str) and said.strip():
            return said
    return "; ".join(f"{name}: {said}" for name, said in value.items()) or "(empty)"


def _passes(value: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    return all(_compares(value.get(name), one) for name, one in (wanted or {}).items())


def _compares(found: Any, wanted: Any) -> bool:
    if not isinstance(wanted, dict) or not any(str(name).startswith("$") for name in cast("dict[str, Any]", wanted)):
        return found == wanted
    checks: dict[str, Callable[[Any, Any], bool]] = {
        "$eq": lambda a, b: a == b,
        "$ne": lambda a, b: a != b,
        "$gt": lambda a, b: a is not None and float(a) > float(b),
        "$gte": lambda a, b: a is not None and float(a) >= float(b),
        "$lt": lambda a, b: a is not None and float(a) < float(b),
        "$lte": lambda a, b: a is not None and float(a) <= float(b),
    }
    return all(checks[name](found, one) for name, one in cast("dict[str, Any]", wanted).items())


def _matches(namespace: Namespace, condition: MatchCondition) -> bool:
    path = tuple(condition.path)
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", one) for one, wanted in zip(part, path, strict=True))


class LangGraphSaver(BaseCheckpointSaver[str]):
    """Checkpoints of one user's threads. Without `user` each config names it: `{"configurable": {"user_id": …}}`."""

    def __init__(self, memory: Memory, *, user: str | None = None) -> None:
        super().__init__()
        self._reach = Reach(memory)
        self._user = user

    # With await

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return await self._reach.awaited(self._get(config))

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        for found in await self._reach.awaited(self._list(config, filter, before, limit)):
            yield found

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return await self._reach.awaited(self._put(config, checkpoint, metadata))

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        await self._reach.awaited(self._put_writes(config, writes, task_id, task_path))

    async def adelete_thread(self, thread_id: str) -> None:
        await self._reach.awaited(self._delete(thread_id))

    # Without

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return self._reach.waited(self._get(config))

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        yield from self._reach.waited(self._list(config, filter, before, limit))

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return self._reach.waited(self._put(config, checkpoint, metadata))

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        self._reach.waited(self._put_writes(config, writes, task_id, task_path))

    def delete_thread(self, thread_id: str) -> None:
        self._reach.waited(self._delete(thread_id))

    def get_next_version(self, current: str | None, channel: None) -> str:
        """Versions that sort as text, like those of database savers."""
        number = 0 if current is None else int(str(current).partition(".")[0])
        return f"{number + 1:032}.0"

    # What they do

    def _store(self, config: RunnableConfig | None) -> Any:
        named = (config or {}).get("configurable", {}).get("user_id")
        user = self._user or (str(named) if named else None)
        if user is None:
            raise InvalidInput("say whose checkpoints these are: user= or config['configurable']['user_id']")
        return self._reach.engine.user_store(user)

    async def _notes(self, config: RunnableConfig | None, prefix: str) -> dict[str, Any]:
        query = Notes(prefix=prefix)
        found = (await self._store(config).read(query))[query]
        return {note.name: json.loads(note.body) for note in found}

    async def _get(self, config: RunnableConfig) -> CheckpointTuple | None:
        thread, space = _thread(config)
        wanted = get_checkpoint_id(config)
        if wanted:
            name = _name("checkpoint", thread, space, wanted)
            found = await self._notes(config, name)
            return await self._tuple(config, name, found[name]) if name in found else None
        known = await self._notes(config, _name("checkpoint", thread, space, ""))
        newest = max(known, default=None)
        return None if newest is None else await self._tuple(config, newest, known[newest])

    async def _list(
        self,
        config: RunnableConfig | None,
        filter: dict[str, Any] | None,
        before: RunnableConfig | None,
        limit: int | None,
    ) -> Sequence[CheckpointTuple]:
        asked = (config or {}).get("configurable", {})
        steps = [str(asked[name]) for name in ("thread_id", "checkpoint_ns") if name in asked]
        if "thread_id" not in asked:
            steps = []
        known = await self._notes(config, _name("checkpoint", *steps, ""))
        until = get_checkpoint_id(before) if before else None
        wanted = get_checkpoint_id(config) if config else None
        found: list[CheckpointTuple] = []
        for name in sorted(known, key=lambda name: _steps(name)[-1], reverse=True):
            identity = _steps(name)[-1]
            if (until and identity >= until) or (wanted and identity != wanted):
                continue
            one = await self._tuple(config, name, known[name])
            if all(one.metadata.get(key) == value for key, value in (filter or {}).items()):
                found.append(one)
            if limit is not None and len(found) >= limit:
                break
        return found

    async def _tuple(self, config: RunnableConfig | None, name: str, body: Mapping[str, Any]) -> CheckpointTuple:
        thread, space, identity = _steps(name)[1:]
        written = await self._notes(config, _name("writes", thread, space, identity, ""))
        writes = sorted(written.values(), key=lambda one: (one["path"], one["task"], one["index"]))
        user = (config or {}).get("configurable", {}).get("user_id")
        whose = {"user_id": user} if user else {}

        def at(checkpoint: str) -> RunnableConfig:
            place = {"thread_id": thread, "checkpoint_ns": space, "checkpoint_id": checkpoint, **whose}
            return RunnableConfig(configurable=place)

        return CheckpointTuple(
            config=at(identity),
            checkpoint=self._loaded(body["checkpoint"]),
            metadata=self._loaded(body["metadata"]),
            parent_config=at(body["parent"]) if body["parent"] else None,
            pending_writes=[(one["task"], one["channel"], self._loaded(one["value"])) for one in writes],
        )

    async def _put(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata
    ) -> RunnableConfig:
        thread, space = _thread(config)
        body = {
            "checkpoint": self._dumped(checkpoint),
            "metadata": self._dumped(get_checkpoint_metadata(config, metadata)),
            "parent": get_checkpoint_id(config),
        }
        await self._write(
            config, Note(name=_name("checkpoint", thread, space, checkpoint["id"]), body=json.dumps(body))
        )
        asked = config.get("configurable", {})
        kept = {"user_id": asked["user_id"]} if "user_id" in asked else {}
        place = {"thread_id": thread, "checkpoint_ns": space, "checkpoint_id": checkpoint["id"], **kept}
        return RunnableConfig(configurable=place)

    async def _put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task: str, path: str
    ) -> None:
        thread, space = _thread(config)
        under = ("writes", thread, space, get_checkpoint_id(config) or "", task)
        known = await self._notes(config, _name(*under, ""))
        notes: list[Note] = []
        for place, (channel, value) in enumerate(writes):
            index = WRITES_IDX_MAP.get(channel, place)
            name = _name(*under, str(index))
            if index >= 0 and name in known:
                continue  # A run that is tried again: what was written stays.
            body = {"task": task, "path": path, "index": index, "channel": channel, "value": self._dumped(value)}
            notes.append(Note(name=name, body=json.dumps(body)))
        await self._write(config, *notes)

    async def _write(self, config: RunnableConfig, *notes: Note) -> None:
        def put(_: Answers) -> Change:
            return Change(notes=notes)

        if notes:
            await self._store(config).write(put)

    async def _delete(self, thread: str) -> None:
        names = [
            name for kind in ("checkpoint", "writes") for name in await self._notes(None, _name(kind, str(thread), ""))
        ]
        at = datetime.now(UTC)

        def erase(_: Answers) -> Change:
            return Change(erase=Erasure(notes=tuple(names)), retired_at=at)

        if names:
            await self._store(None).write(erase)

    def _dumped(self, value: Any) -> tuple[str, str]:
        kind, data = self.serde.dumps_typed(value)
        return kind, base64.b64encode(data).decode()

    def _loaded(self, dumped: Sequence[str]) -> Any:
        return self.serde.loads_typed((dumped[0], base64.b64decode(dumped[1])))


def _thread(config: RunnableConfig) -> tuple[str, str]:
    asked = config.get("configurable", {})
    return str(asked["thread_id"]), str(asked.get("checkpoint_ns", ""))


def _name(*steps: str) -> str:
    """The name of a note. An empty last segment makes it a prefix of names."""
    return "langgraph:" + ":".join(quote(step, safe="") for step in steps)


def _steps(name: str) -> list[str]:
    return [unquote(step) for step in name.removeprefix("langgraph:").split(":")]
