"""The same Hitherto without `await`: each call runs on an event loop in a thread of its own."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar, cast

from hitherto.engine import Hitherto as Async
from hitherto.errors import StoreClosed


class Opened(Protocol):
    """What is opened and closed, like the engine or a client of the service."""

    async def open(self) -> None: ...

    async def close(self) -> None: ...


A = TypeVar("A", bound=Opened)
P = ParamSpec("P")
R = TypeVar("R")


class Blocking(Generic[A]):
    """Calls of something asynchronous, waited for. Safe to use from several threads."""

    def __init__(self, make: Callable[[], A]) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="hitherto", daemon=True)
        self._thread.start()
        self.engine = make()

    def run(self, call: Coroutine[Any, Any, R]) -> R:
        """Waits for a call of the engine."""
        if self._loop.is_closed():
            call.close()
            raise StoreClosed
        return asyncio.run_coroutine_threadsafe(call, self._loop).result()

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def open(self) -> None:
        self.run(self.engine.open())

    def close(self) -> None:
        """Closes the engine and ends the thread, for good."""
        if self._loop.is_closed():
            return
        try:
            self.run(self.engine.close())
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()


def blocking(
    method: Callable[Concatenate[A, P], Awaitable[R]],
) -> Callable[Concatenate[Blocking[A], P], R]:
    """The method without `await`."""

    @wraps(method)
    def call(self: Blocking[A], *args: P.args, **kwargs: P.kwargs) -> R:
        return self.run(cast(Coroutine[Any, Any, R], method(self.engine, *args, **kwargs)))

    return call


class Hitherto(Blocking[Async]):
    """`hitherto.Hitherto`, blocking."""

    def __init__(self, url: str | Path, **options: Any) -> None:
        super().__init__(lambda: Async(url, **options))

    def export(self, *, user: str) -> list[str]:
        """The user's whole memory as JSON lines."""

        async def collect() -> list[str]:
            return [line async for line in self.engine.export(user=user)]

        return self.run(collect())

    flush = blocking(Async.flush)
    record = blocking(Async.record)
    revise = blocking(Async.revise)
    turns = blocking(Async.turns)
    context = blocking(Async.context)
    search = blocking(Async.search)
    snapshots = blocking(Async.snapshots)
    replay = blocking(Async.replay)
    diff = blocking(Async.diff)
    backtest = blocking(Async.backtest)
    define_persona = blocking(Async.define_persona)
    personas = blocking(Async.personas)
    define_recipe = blocking(Async.define_recipe)
    recipes = blocking(Async.recipes)
    set_user = blocking(Async.set_user)
    user = blocking(Async.user)
    users = blocking(Async.users)
    head = blocking(Async.head)
    link = blocking(Async.link)
    resolve = blocking(Async.resolve)
    state = blocking(Async.state)
    set_state = blocking(Async.set_state)
    remember = blocking(Async.remember)
    add = blocking(Async.add)
    update = blocking(Async.update)
    memories = blocking(Async.memories)
    episodes = blocking(Async.episodes)
    loops = blocking(Async.loops)
    thoughts = blocking(Async.thoughts)
    summaries = blocking(Async.summaries)
    sessions = blocking(Async.sessions)
    entities = blocking(Async.entities)
    history = blocking(Async.history)
    load = blocking(Async.load)
    settle = blocking(Async.settle)
    work_status = blocking(Async.work_status)
    retry = blocking(Async.retry)
    progress = blocking(Async.progress)
    seed = blocking(Async.seed)
    merge = blocking(Async.merge)
    split = blocking(Async.split)
    audit = blocking(Async.audit)
    reindex = blocking(Async.reindex)
    health = blocking(Async.health)
    backup = blocking(Async.backup)
    forget = blocking(Async.forget)
    forget_again = blocking(Async.forget_again)
    scrub = blocking(Async.scrub)
    retention = blocking(Async.retention)
    set_retention = blocking(Async.set_retention)
    retain = blocking(Async.retain)
    review = blocking(Async.review)
    events = blocking(Async.events)
