"""Group commit: concurrent writes of one user share one transaction and one sync.

Each user's writes wait in a list; one thread takes what has gathered, commits it as one transaction, and then takes what
has gathered in the meantime. A write whose decision fails has written nothing and is left out. If applying one fails
half-way, the transaction is undone and each write runs again in a transaction of its own, so that only the culprit fails.
This needs no savepoints, each of which would make FTS5 write a segment of its own.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from hitherto.errors import StoreClosed, StoreError, StoreUnavailable
from hitherto.store.catalog import UserKey
from hitherto.store.sqlite.connections import Connection
from hitherto.store.sqlite.sharedfile import Work
from hitherto.store.sqlite.threads import Failed, Threads, attempt

T = TypeVar("T")

MOST = 256
"""The most writes in one transaction, so that no other process waits long for the lock."""


@dataclass(frozen=True, slots=True)
class Done:
    """The outcome of a write; `scrub` asks that no byte of what it deleted be left."""

    value: Any
    scrub: bool = False


@dataclass(eq=False, slots=True)
class Job:
    """A write that waits for its turn; cancelling its future before then withdraws it."""

    work: Work[Done | Failed]
    future: Future[Any] = field(default_factory=Future[Any])
    begun: bool = False

    def begin(self) -> bool:
        """Returns False if the job was withdrawn. A job may begin again after its group was undone."""
        self.begun = self.begun or self.future.set_running_or_notify_cancel()
        return self.begun

    def fail(self, error: Exception) -> None:
        if self.begin():
            self.future.set_exception(error)

    def succeed(self, value: Any) -> None:
        self.future.set_result(value)


class Writable(Protocol):
    """What a group needs of a user's file."""

    def write(self, work: Work[T]) -> T: ...
    def scrub(self) -> bool: ...


class Groups:
    """Gathers jobs by user; `commit` is given each group in one of the threads. An error it raises goes to the group's jobs
    that have no answer yet; the thread continues, because others wait behind it."""

    def __init__(self, threads: Threads, commit: Callable[[UserKey, list[Job]], None]) -> None:
        self._threads = threads
        self._commit = commit
        self._lock = threading.Lock()
        self._waiting: dict[UserKey, list[Job]] = {}

    def add(self, key: UserKey, job: Job) -> None:
        with self._lock:
            waiting = self._waiting.get(key)
            if waiting is not None:
                waiting.append(job)
                return
            self._waiting[key] = [job]
        try:
            self._threads.submit(lambda: self._drain(key))
        except StoreClosed:
            with self._lock:
                del self._waiting[key]
            raise

    def _drain(self, key: UserKey) -> None:
        while True:
            with self._lock:
                waiting = self._waiting[key]
                if not waiting:
                    del self._waiting[key]
                    return
                self._waiting[key] = waiting[MOST:]
            group = waiting[:MOST]
            done = attempt(lambda group=group: self._commit(key, group))
            if isinstance(done, Failed):
                for job in group:
                    if not job.future.done():
                        job.fail(done.error)


def commit(file: Writable, jobs: list[Job]) -> bool:
    """Commits a group and tells each job how it went; returns True if erasures were among them and are finished. Never
    raises: an error belongs to the jobs."""

    def together(connection: Connection) -> list[tuple[Job, Done | Failed]]:
        return [(job, job.work(connection)) for job in jobs if job.begin()]

    outcomes = attempt(lambda: file.write(together))
    if isinstance(outcomes, Failed):
        return _fail(file, jobs, outcomes.error)
    for job, done in outcomes:
        if isinstance(done, Failed):
            job.fail(done.error)
        elif not done.scrub:
            job.succeed(done.value)
    erasures = [(job, done) for job, done in outcomes if isinstance(done, Done) and done.scrub]
    return bool(erasures) and _scrub(file, erasures)


def _fail(file: Writable, jobs: list[Job], error: Exception) -> bool:
    """A bad write must not fail its whole group; a failing file or disk fails everyone."""
    if len(jobs) == 1 or isinstance(error, StoreError):
        for job in jobs:
            job.fail(error)
        return False
    finished = [commit(file, [job]) for job in jobs]
    return any(finished)


def _scrub(file: Writable, erasures: list[tuple[Job, Done]]) -> bool:
    """An erasure is done when no byte of it is left; until then it fails, although nobody can read the content any more."""
    clean = attempt(file.scrub)
    why = clean.error if isinstance(clean, Failed) else "a reader holds on to its log"
    for job, done in erasures:
        if clean is True:
            job.succeed(done.value)
        else:
            job.fail(StoreUnavailable(f"erased, but bytes of it are left until this user's next write: {why}"))
    return clean is True
