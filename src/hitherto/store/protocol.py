"""The seam between Hitherto and a database.

A *user store* holds one user's log and cannot name another user. It has two verbs. `read` answers a batch of queries from
one consistent state. `write` runs a pure function under the user's lock: the store answers the function's queries inside
the transaction, the function decides on a `Change`, and the store commits it whole or not at all. So every rule about
what may be written (idempotency, sessions, memory keys, cursors, fences) is a pure function that runs on any backend, and
a backend is a table from query types to SQL.

Every write takes the next numbers of the user's counter `seq`: each turn one, each record one, each retirement one, in
the order of the change. A version is visible at entry `known` when `seq <= known` and it is not retired at or before
`known`. Only `erase` removes anything.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Generic, Literal, Protocol, TypeVar, cast

from hitherto.errors import StoreError
from hitherto.store.catalog import Catalog, Document, UserKey
from hitherto.store.columns import Matched, Traced
from hitherto.types import Json, Origin, Part, RecordKind, Role, StoredTurn

R = TypeVar("R", covariant=True)


class Everything:
    """The filter that lets everything through, where None already means "the unnamed one"."""

    def __repr__(self) -> str:
        return "ANY"


ANY = Everything()
Scope = str | None | Everything
"""A persona or a lane: a name, None for the unnamed persona or the root lane, or ANY."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One version of a record as the store knows it; `body` is the JSON of the fields that only its noun has."""

    noun: RecordKind
    id: str
    text: str
    persona: str | None
    lane: str | None
    key: str | None
    status: str
    origin: Origin
    sources: tuple[str, ...]
    entities: tuple[str, ...]
    at: datetime
    due: datetime | None
    valid_from: datetime | None
    valid_to: datetime | None
    tokens: int
    family: str
    body: str
    seq: int
    version: int
    recorded_at: datetime
    retired: int | None
    retired_at: datetime | None


# --- queries -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Query(Generic[R]):
    """A question to a user store; its type parameter is the type of the answer."""


class Answers:
    """The answers to a batch of queries, each looked up by its query."""

    __slots__ = ("_answers",)

    def __init__(self, answers: Mapping[Query[Any], Any]) -> None:
        self._answers = answers

    def __getitem__(self, query: Query[R]) -> R:
        return cast(R, self._answers[query])

    def merged(self, more: Mapping[Query[Any], Any]) -> "Answers":
        return Answers({**self._answers, **more})


@dataclass(frozen=True, slots=True)
class Head(Query[int]):
    """The newest log entry; 0 for a user who has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window(Query[tuple[StoredTurn, ...]]):
    """The newest visible turns of one persona (and lane), oldest first, standing before `before`."""

    persona: Scope = ANY
    lane: Scope = ANY
    limit: int
    before: int | None = None
    known: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnsById(Query[tuple[StoredTurn, ...]]):
    """The visible versions of these turns, in their order in the conversation; `history` adds the retired ones."""

    ids: tuple[str, ...]
    history: bool = False
    known: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnsBySeq(Query[tuple[StoredTurn, ...]]):
    """The turn versions written by these entries, in the conversation's order, if visible."""

    seqs: tuple[int, ...]
    known: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnList(Query[tuple[StoredTurn, ...]]):
    """Visible turns after a place, in the conversation's order, for listing and for the work."""

    after: int = 0
    limit: int
    persona: Scope = ANY
    lane: Scope = ANY
    session: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    known: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsById(Query[tuple[Row, ...]]):
    """The visible versions of these records, by seq; `history` adds the retired ones."""

    ids: tuple[str, ...]
    history: bool = False
    known: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsBySeq(Query[tuple[Row, ...]]):
    """The record versions written by these entries, if visible."""

    seqs: tuple[int, ...]
    known: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsByKey(Query[tuple[Row, ...]]):
    """Visible versions of one noun whose key is one of these, by seq."""

    noun: RecordKind
    keys: tuple[str, ...]
    known: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordList(Query[tuple[Row, ...]]):
    """Visible versions of one noun, newest `at` first (ties by seq, newest first).

    `persona` with `shared` set also lets through what belongs to no persona. `statuses` empty means all.
    `after` continues a listing: only rows that come after this (at, seq).
    """

    noun: RecordKind
    persona: Scope = ANY
    shared: bool = False
    lane: Scope = ANY
    statuses: tuple[str, ...] = ()
    key_prefix: str | None = None
    limit: int
    after: tuple[datetime, int] | None = None
    known: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsByEntity(Query[tuple[Row, ...]]):
    """Visible versions of one noun that name any of these entity references, newest `at` first.

    `persona` with `shared` set also lets through what belongs to no persona.
    """

    noun: RecordKind
    refs: tuple[str, ...]
    persona: Scope = ANY
    shared: bool = False
    statuses: tuple[str, ...] = ()
    limit: int
    known: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsBySource(Query[tuple[Row, ...]]):
    """Visible versions that rest on any of these turns; `history` adds the retired ones."""

    turns: tuple[str, ...]
    history: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches(Query[Matched]):
    """Every version of a turn, or of a record, that holds any of the stems, live or not, whatever its persona and lane.
    Readers filter: they hold what they filter by, and looking up each of a thousand matches costs more than finding them.
    """

    stems: tuple[str, ...]
    target: Literal["turn", "record"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Traces(Query[Traced]):
    """Traces written after an entry by one embedder, in seq order. Retired versions are included: readers filter."""

    embedder: str
    after: int
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Untraced(Query[tuple[int, ...]]):
    """Entries of visible turns and searchable records after `after` that have no vector of this embedder yet, in order."""

    embedder: str
    after: int = 0
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantDocuments(Query[tuple[Document, ...] | StoreError]):
    """The newest versions of these documents of the user's tenant, by name, or why the catalog cannot be read while the
    user's log can. No part of the log: only `read` answers it, for those who need both at once."""

    kind: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """One entry of the log: what happened at `seq`. A turn or record entry carries the version it wrote and the stems
    it is found by; a retirement names the id it ended, an erasure only that id's hash."""

    seq: int
    op: Literal["turn", "record", "retire", "erase"]
    id: str
    at: datetime
    turn: StoredTurn | None = None
    row: Row | None = None
    stems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Log(Query[tuple[LogEntry, ...]]):
    """Log entries after `after`, in order, with what they wrote (also what was retired since)."""

    after: int = 0
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased(Query[frozenset[str]]):
    """Which of these ids were erased once, whether or not something was written under them since."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    turns: int
    records: Mapping[str, int]
    snapshots: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Counts(Query[Count]):
    """How many visible turns, visible records by noun and snapshots there are, and the store's size for this user."""


AGAIN: Final = "again"
"""In a cursor's body: what its step has to do a second time, which an export takes along."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """How far one step of the work has read the log, when it is due next, and what went wrong last."""

    step: str
    position: int = 0
    due: datetime | None = None
    attempts: int = 0
    error: str | None = None
    parked: bool = False
    body: Mapping[str, Json] = field(default_factory=dict[str, Json], hash=False)


@dataclass(frozen=True, slots=True)
class Cursors(Query[tuple[Cursor, ...]]):
    """All cursors of this user, by step name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """Who may run this user's work until when; every new holder gets a higher fence."""

    holder: str
    fence: int
    expires: datetime


@dataclass(frozen=True, slots=True)
class CurrentLease(Query[Lease | None]):
    """The newest lease of this user, expired or not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSnapshot:
    """The record of a context: `body` is its JSON, which names blobs by content hash."""

    id: str
    at: datetime
    known: int
    body: str
    full: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotsById(Query[tuple[StoredSnapshot, ...]]):
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotList(Query[tuple[StoredSnapshot, ...]]):
    """Snapshots, newest first (ties by id)."""

    limit: int
    before: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Blobs(Query[Mapping[str, str]]):
    """The texts with these content hashes; a forgotten one is missing."""

    hashes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A small value that is kept beside the log and not part of it: a cached voice prompt, an idempotency key."""

    name: str
    body: str
    expires: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes(Query[tuple[Note, ...]]):
    """The notes with these names, or all whose name begins with `prefix`."""

    names: tuple[str, ...] = ()
    prefix: str | None = None


# --- changes -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Vector:
    """An embedding of one text, by the embedder with that hash."""

    embedder: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnDraft:
    """A turn version to write. `place` None puts it at the end; a revision keeps its turn's place and retires the old."""

    id: str
    version: int
    place: int | None
    role: Role
    text: str
    at: datetime
    recorded_at: datetime
    persona: str | None
    lane: str | None
    conversation: str | None
    speaker: str | None
    reply_to: str | None
    origin: Origin
    parts: tuple[Part, ...]
    snapshot: str | None
    session: str
    position: int
    number: int
    tokens: int
    family: str
    stems: tuple[str, ...]
    vector: Vector | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowDraft:
    """A record version to write; it retires the live version of the same id. Searchable when it has stems."""

    noun: RecordKind
    id: str
    version: int
    text: str
    persona: str | None
    lane: str | None
    key: str | None
    status: str
    origin: Origin
    sources: tuple[str, ...]
    entities: tuple[str, ...]
    at: datetime
    due: datetime | None
    valid_from: datetime | None
    valid_to: datetime | None
    tokens: int
    family: str
    body: str
    recorded_at: datetime
    stems: tuple[str, ...] = ()
    vector: Vector | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """What is removed for good, from every table and index: turns and records by id in all their versions, snapshots,
    blobs and notes by name. The log keeps an `erase` entry with the id's hash, without content."""

    turns: tuple[str, ...] = ()
    records: tuple[str, ...] = ()
    snapshots: tuple[str, ...] = ()
    blobs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One atomic write. Entries take seqs in this order: turns, records, retire, erase."""

    turns: tuple[TurnDraft, ...] = ()
    records: tuple[RowDraft, ...] = ()
    retire: tuple[str, ...] = ()
    """Ids of turns or records whose live version ends with no successor."""
    retired_at: datetime | None = None
    """The clock's time for `retire` and `erase`; required with them."""
    erase: Erasure | None = None
    cursors: tuple[Cursor, ...] = ()
    lease: Lease | None = None
    vectors: tuple[tuple[int, Vector], ...] = ()
    """Vectors for entries that were written before (reindexing); replaces one of the same embedder."""
    stems: tuple[tuple[int, tuple[str, ...]], ...] = ()
    """Stems for entries that were written before, in place of those they have: another analyser made these."""
    snapshots: tuple[StoredSnapshot, ...] = ()
    blobs: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)
    notes: tuple[Note, ...] = ()


NOTHING = Change()


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a write did: the entries its turns, records and retirements took, and the log's head after it."""

    turns: tuple[int, ...]
    records: tuple[int, ...]
    head: int


Decide = Callable[[Answers], Change]


# --- protocols -----------------------------------------------------------------------------------------------------


class UserStore(Protocol):
    """One user's memory."""

    async def read(self, *queries: Query[Any]) -> Answers:
        """Answers to all queries from one consistent state."""
        ...

    async def write(self, decide: Decide, *queries: Query[Any]) -> Written:
        """Commits what `decide` makes of the answers, durably and as one transaction under the user's lock.

        An exception raised by `decide` aborts the write and reaches the caller. `decide` may run again if the transaction
        has to be retried, so it must be pure.
        """
        ...

    async def restore(self, entries: Sequence[LogEntry]) -> None:
        """Writes log entries as they are, with their own seqs, skipping those that are there already (copy, import)."""
        ...

    async def wipe(self) -> None:
        """Removes everything of this user for good."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What a store says of itself: `problems` empty means well."""

    backend: str
    version: str
    schema: int
    users: int
    bytes: int
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scrubbed:
    """What a scrub rewrote; `left` says what it could not reach and why, empty when nothing is left."""

    files: int
    seconds: float
    left: tuple[str, ...] = ()


class Store(Protocol):
    """A database with many users' memories."""

    @property
    def catalog(self) -> Catalog: ...

    async def open(self) -> None:
        """Connects and brings the schema up to date; a clear StoreError otherwise."""
        ...

    async def close(self) -> None: ...

    def user(self, key: UserKey) -> UserStore:
        """That user's store; nothing is created before the first write."""
        ...

    async def health(self) -> Health: ...

    async def backup(self, target: str, *, progress: Callable[[int, int], None] | None = None) -> int:
        """Copies everything that was acknowledged before the call to `target`, readable by the same backend; the number
        of users copied. `progress` is called with (done, total)."""
        ...

    async def scrub(self, *, progress: Callable[[int, int], None] | None = None) -> Scrubbed:
        """Rewrites what may still hold bytes of something erased or wiped; `progress` is called with (done, total)."""
        ...
