# Written by scripts/api_stubs.py from the declarations in engine.py.

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar

from hitherto.assemble.diff import Difference
from hitherto.assemble.replay import Trial
from hitherto.clock import Clock
from hitherto.engine import Hitherto as Async
from hitherto.learn.cost import Spent
from hitherto.learn.notes import Reader
from hitherto.learn.quality import Audit
from hitherto.learn.services import Pace
from hitherto.plugins import Section
from hitherto.privacy.audit import Event
from hitherto.privacy.forget import Receipt
from hitherto.recall.embed import Embedder
from hitherto.recall.lists import Place
from hitherto.recall.rerank import Reranker
from hitherto.recipes.recipe import Recipe
from hitherto.store.protocol import Health, Scrubbed, StoredSnapshot
from hitherto.types import (
    Context,
    Entity,
    Episode,
    Hit,
    HitKind,
    Json,
    Loop,
    Memory,
    Origin,
    Persona,
    Profile,
    Record,
    RecordKind,
    Session,
    State,
    StoredTurn,
    Summary,
    SummaryKind,
    Thought,
    Turn,
)
from hitherto.work.overview import SessionState, Status
from hitherto.work.worker import Settled

class Opened(Protocol):
    async def open(self) -> None: ...
    async def close(self) -> None: ...

A = TypeVar("A", bound=Opened)
P = ParamSpec("P")
R = TypeVar("R")

class Blocking(Generic[A]):
    engine: A
    def __init__(self, make: Callable[[], A]) -> None: ...
    def run(self, call: Coroutine[Any, Any, R]) -> R: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def open(self) -> None: ...
    def close(self) -> None: ...

def blocking(method: Callable[Concatenate[A, P], Awaitable[R]]) -> Callable[Concatenate[Blocking[A], P], R]: ...
async def collected(lines: AsyncIterator[str]) -> list[str]: ...
def add_blocking_calls(facade: type[Blocking[Any]], awaited: type, calls: Iterable[str]) -> None: ...

class Hitherto(Blocking[Async]):
    def __init__(
        self,
        url: str | Path,
        *,
        recipe: str | Recipe = "continuity",
        model: object = None,
        model_seconds: float = 60.0,
        notes_language: str | None = None,
        reader: str | Reader | None = None,
        pace: Pace = "pause",
        user_tokens: int | None = None,
        tenant_tokens: int | None = None,
        embedder: str | Embedder | None = None,
        reranker: str | Reranker | None = None,
        tokenizer: str = "o200k",
        sections: Mapping[str, Section] | None = None,
        clock: Clock | None = None,
        tenant: str = "default",
        work: bool = False,
        forgotten: str | Path | None = None,
        master_key: str | None = None,
        keys: str | Path | None = None,
        actor: str = "library",
        redis: str | None = None,
    ) -> None: ...
    def flush(self) -> None:
        """Returns when every snapshot made so far is durable."""

    def record(self, turn: Turn | Iterable[Turn]) -> list[str]:
        """Stores one turn or many, durable on return; gives their ids in the same order."""

    def revise(self, *, user: str, turn: str, text: str) -> StoredTurn:
        """Writes a new version of a turn; the old one stays in the log."""

    def turns(
        self,
        *,
        user: str,
        ids: Sequence[str] | None = None,
        persona: str | None = None,
        lane: str | None = None,
        session: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        after: int = 0,
        limit: int = ...,
        known: int | None = None,
        before: int | None = None,
    ) -> list[StoredTurn]:
        """Lists turns in conversation order; None means all. `after` continues from a turn's `place`. `before` gives the
        newest turns in front of a place; it combines with persona, lane, limit and known only."""

    def context(
        self,
        *,
        user: str,
        message: str | None = None,
        turn: str | None = None,
        persona: str | None = None,
        lane: str | None = None,
        recipe: str | Recipe | None = None,
        at: datetime | None = None,
        tokenizer: str | None = None,
        inputs: Mapping[str, str] | None = None,
        known: int | None = None,
        keep: bool = True,
    ) -> Context:
        """Assembles what the model should see for this message. Calls no model; the same state gives the same bytes.
        With `keep=False` no snapshot is kept."""

    def search(
        self,
        *,
        user: str,
        query: str,
        limit: int = 10,
        kinds: Sequence[HitKind] | None = None,
        persona: str | None = None,
        lane: str | None = None,
        at: datetime | None = None,
        explain: bool = False,
        known: int | None = None,
    ) -> list[Hit]:
        """Finds the turns, memories, episodes and summaries that answer best, best first."""

    def snapshots(
        self, *, user: str, ids: Sequence[str] | None = None, limit: int = 50, before: datetime | None = None
    ) -> list[StoredSnapshot]:
        """Lists the newest snapshots, newest first, or those with these ids; `before` gives only earlier ones."""

    def replay(self, *, user: str, snapshot: str) -> Context:
        """Rebuilds the context of a snapshot byte for byte; what was forgotten since is shown as forgotten."""

    def diff(self, a: Context, b: Context) -> Difference:
        """Compares two contexts."""

    def backtest(
        self, *, user: str, recipe: str | Recipe, persona: str | None = None, lane: str | None = None, limit: int = ...
    ) -> list[Trial]:
        """Runs another recipe over a recorded conversation: for each user turn, the context it would have produced."""

    def define_recipe(self, recipe: Recipe) -> Recipe:
        """Saves a recipe under its name; every definition is a version."""

    def recipes(self) -> list[Recipe]:
        """Lists the built-in recipes, then the application's own."""

    def define_persona(
        self, id: str, *, name: str, text: str, boundaries: str = "", style: str = "", **extra: Json
    ) -> Persona:
        """Defines who answers; every definition is a version. A persona over the recipe's cap is an error here."""

    def personas(self) -> list[Persona]:
        """Lists the personas."""

    def set_user(self, user: str, **fields: Any) -> Profile:
        """Sets what the application knows about a user: zone, name, locale, stage; other fields become `extra`."""

    def user(self, user: str) -> Profile:
        """Gives the user's profile."""

    def users(self) -> list[str]:
        """Lists the tenant's users."""

    def head(self, *, user: str) -> int:
        """Gives the number of the user's newest log entry; 0 for a user nothing was written about."""

    def link(self, user: str, channel: str, external_id: str) -> None:
        """Makes a phone number, chat or account id resolve to this user."""

    def unlink(self, channel: str, external_id: str) -> bool:
        """Removes a link, so that the id may be linked to another user; False if there was none."""

    def resolve(self, channel: str, external_id: str) -> str | None:
        """Finds the user that a channel's id is linked to. Asked by POST, so that no phone number ends up in a log."""

    def state(self, *, user: str, persona: str | None = None) -> State:
        """Gives the relationship state with a persona; an empty one if none was set."""

    def set_state(self, *, user: str, persona: str | None = None, **fields: Json) -> State:
        """Changes these fields (None removes one) and keeps the others."""

    def remember(self, *, user: str, text: str, **fields: Any) -> Memory:
        """Writes a memory by hand."""

    def add(self, kind: RecordKind, /, *, user: str, id: str | None = None, **fields: Any) -> Record:
        """Writes any record by hand: a memory, episode, loop, thought, summary … A key that exists gets a new version;
        with an `id` and no key, adding it again changes nothing."""

    def update(self, id: str, *, user: str, **changes: Any) -> Record:
        """Writes a new version with these fields changed: close a loop (status="done"), pin or archive a memory …"""

    def memories(
        self,
        *,
        user: str,
        persona: str | None = None,
        status: str | None = "ACTIVE",
        entity: str | None = None,
        limit: int = ...,
        after: Place | None = None,
        known: int | None = None,
    ) -> list[Memory]:
        """Lists memories, newest first; with a persona, its own and everybody's. `after` continues a list (not one by
        entity)."""

    def episodes(
        self, *, user: str, persona: str | None = None, limit: int = ..., after: Place | None = None
    ) -> list[Episode]:
        """Lists episodes, newest first."""

    def loops(
        self,
        *,
        user: str,
        persona: str | None = None,
        status: str | None = "open",
        limit: int = ...,
        after: Place | None = None,
    ) -> list[Loop]:
        """Lists loops, newest first; with `status=None`, the closed ones too."""

    def reject(self, id: str, *, user: str) -> Record:
        """Takes back a memory or a loop that is wrong; it does not come back from the same turns."""

    def thoughts(
        self, *, user: str, persona: str | None = None, limit: int = ..., after: Place | None = None
    ) -> list[Thought]:
        """Lists the persona's thoughts, newest first."""

    def summaries(
        self,
        *,
        user: str,
        persona: str | None = None,
        kind: SummaryKind | None = None,
        limit: int = ...,
        after: Place | None = None,
    ) -> list[Summary]:
        """Lists current summaries, newest first; `kind` filters what the limit let through."""

    def sessions(
        self, *, user: str, persona: str | None = None, limit: int = ..., after: Place | None = None
    ) -> list[Session]:
        """Lists sessions, newest first, with their last activity and number of turns."""

    def entities(self, *, user: str, limit: int = ..., after: Place | None = None) -> list[Entity]:
        """Lists the people, places, organisations and projects that came up."""

    def history(self, *, user: str, id: str) -> list[Record]:
        """Lists every version of a record, oldest first."""

    def seed(self, *, user: str, facts: Sequence[str]) -> list[Memory]:
        """Writes a profile known beforehand, one fact per line; gives the memories that were new (`seeded_profile`)."""

    def merge(self, *, user: str, entities: Sequence[str]) -> Entity:
        """Merges entities into the first of them; every memory, card and alias follows."""

    def split(self, *, user: str, entity: str, name: str, memories: Sequence[str] | None = None) -> Entity:
        """Makes one name of an entity an entity of its own, with these memories or those whose turns use the name."""

    def audit(self, *, user: str) -> Audit:
        """Measures a user's memory: the share that is duplicated, unsupported, stale, quarantined or secret."""

    def settle(self, *, user: str | None = None) -> dict[str, Settled]:
        """Runs all work that is due now, for one user or for every user of the tenant."""

    def work_status(self, *, user: str) -> Status:
        """Shows where each step of the work stands for a user, with what failed and why."""

    def costs(self, *, user: str, since: date | None = None) -> list[Spent]:
        """Lists what learning cost by day and step: questions, tokens, notes kept, and dropped with the reason."""

    def retry(self, *, user: str, step: str | None = None) -> int:
        """Makes parked steps due again; gives how many there were."""

    def progress(self, *, user: str, persona: str | None = None) -> SessionState:
        """Shows how far the conversation with a persona has come: counts, last message, rolling summary, upkeep."""

    def reindex(self, *, user: str | None = None, progress: Callable[[int, int], None] | None = None) -> dict[str, int]:
        """Writes every vector that the embedder has not made yet, for one user or all; gives how many each. It can be
        stopped and started again."""

    def forget(
        self,
        *,
        user: str,
        turn: str | None = None,
        memory: str | None = None,
        entity: str | None = None,
        lane: str | None = None,
        persona: str | None = None,
        before: datetime | None = None,
        origin: Origin | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        everything: bool = False,
        dry_run: bool = False,
    ) -> Receipt:
        """Removes one thing and everything derived from it, for good; gives a receipt of counts and hashes.

        `origin`, `conversation` and `speaker` together name a source: everything that came from it goes. `dry_run` only
        counts.
        """

    def forget_again(self, ledger: str | Path | None = None) -> dict[str, Receipt]:
        """Removes, after a restore, what the ledger says was forgotten since the backup; gives what it found, by user."""

    def scrub(self, *, progress: Callable[[int, int], None] | None = None) -> Scrubbed:
        """Rewrites what may still hold bytes of something forgotten, for all tenants; needed on PostgreSQL."""

    def retention(self, *, user: str) -> dict[str, float]:
        """Gives for how many days each kind is kept for this user; a kind that is missing is kept."""

    def set_retention(self, *, user: str | None = None, **days: float | None) -> dict[str, float | None]:
        """Sets days for each kind (turn, memory, episode, loop, thought, summary, snapshot), for the tenant or for one user;
        None keeps it. Nothing is removed before `retain` is called."""

    def retain(self, *, user: str | None = None, dry_run: bool = False) -> dict[str, Receipt]:
        """Removes what is older than its retention allows, for one user or all; `dry_run` only counts. Receipts by user."""

    def review(self, id: str, *, user: str, approve: bool) -> Memory:
        """Decides on a quarantined memory (`memories(status="QUARANTINED")`): used from now on, or archived."""

    def events(self, *, user: str | None = None, limit: int = ..., before: str | None = None) -> list[Event]:
        """Lists the audit log, newest first: who did what, without content. `before` continues after that event's id."""

    def export(self, *, user: str) -> list[str]:
        """Gives the user's whole memory as JSON lines."""

    def load(self, file: str | Path, *, user: str | None = None) -> int:
        """Reads an export back, under its own user or another; gives the number of entries."""

    def health(self) -> Health:
        """Shows the store's state and what is wrong with it."""

    def backup(self, target: str | Path, *, progress: Callable[[int, int], None] | None = None) -> int:
        """Copies everything into a new folder; gives the number of users. On a service, `target` is a name there."""
