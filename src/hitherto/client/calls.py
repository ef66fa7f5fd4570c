"""The library's calls over HTTP: the same names, the same arguments, the same values and errors.

What the service answers in pieces is put together here. A user of whom nothing was written has empty lists, as in the
library; the service itself says 404, so that it does not tell who there is.
"""

import json
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, cast

import httpx

from hitherto import pages
from hitherto.assemble.diff import Difference, diff
from hitherto.assemble.replay import Trial
from hitherto.client.custody import Custody
from hitherto.client.paths import of_user, present, quoted
from hitherto.client.transport import Transport, adapter
from hitherto.errors import InvalidInput, NotFound
from hitherto.learn.auditing import Audit
from hitherto.pages import Page
from hitherto.recipes.model import Recipe
from hitherto.store.protocol import Health, StoredSnapshot
from hitherto.store.records import NOUNS
from hitherto.types import (
    Context,
    Entity,
    Episode,
    Hit,
    HitKind,
    Json,
    Loop,
    Memory,
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
from hitherto.work.progress import SessionState
from hitherto.work.status import Status
from hitherto.work.worker import Settled

N = TypeVar("N", bound=Record)

LISTED = 1_000
PIECE = 1_000
"""How many rows of a list are asked for at once."""
PATHS: Mapping[str, str] = {
    "memory": "memories",
    "episode": "episodes",
    "loop": "loops",
    "thought": "thoughts",
    "summary": "summaries",
    "session": "sessions",
    "entity": "entities",
    "slot": "slots",
}
_PROFILE = ("zone", "name", "locale", "stage")


class Client(Custody):
    """`Hitherto` on a service. `key` may belong to one user; the calls then work for that user alone."""

    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout: float = 30.0,
        retries: int = 2,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        http = httpx.AsyncClient(
            base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=timeout, transport=transport
        )
        self._service = Transport(http, retries=retries)

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def open(self) -> None:
        """Nothing to do: the first call connects."""

    async def close(self) -> None:
        await self._service.close()

    # --- turns -----------------------------------------------------------------------------------------------------

    async def record(self, turn: Turn | Iterable[Turn]) -> list[str]:
        """Stores one turn or many, durable on return; their ids, in the order given."""
        turns = [turn] if isinstance(turn, Turn) else list(turn)
        if not turns:
            return []
        answer = await self._service.ask("POST", "/v1/turns", dict[str, list[str]], json=[_given(t) for t in turns])
        return answer["ids"]

    async def revise(self, *, user: str, turn: str, text: str) -> StoredTurn:
        path = of_user(user, "turns", turn)
        return await self._service.ask("PATCH", path, StoredTurn, json={"text": text})

    async def turns(
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
        limit: int = LISTED,
        known: int | None = None,
        before: int | None = None,
    ) -> list[StoredTurn]:
        """Turns in the conversation's order; None means all. With `before`, the newest that stand before a place."""
        filters = {
            "id": None if ids is None else list(ids),
            "persona": persona,
            "lane": lane,
            "session": session,
            "since": since,
            "until": until,
            "known": known,
        }
        if ids is not None and not ids:
            return []
        if before is not None:
            return await self._backwards(of_user(user, "turns"), filters, before=before, limit=limit)
        start = pages.pack(after) if after else None
        return await self._pieces(of_user(user, "turns"), StoredTurn, filters, limit=limit, cursor=start)

    # --- contexts --------------------------------------------------------------------------------------------------

    async def context(
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
        """What the model should see for this message."""
        asked = {
            "user": user,
            "message": message,
            "turn": turn,
            "persona": persona,
            "lane": lane,
            "recipe": recipe,
            "at": at,
            "tokenizer": tokenizer,
            "inputs": inputs,
            "known": known,
            "keep": keep,
        }
        return await self._service.ask("POST", "/v1/context", Context, json=present(asked))

    async def search(
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
        """The turns, memories, episodes and summaries that answer best, best first."""
        asked = {
            "user": user,
            "query": query,
            "limit": limit,
            "kinds": kinds,
            "persona": persona,
            "lane": lane,
            "at": at,
            "explain": explain,
            "known": known,
        }
        return (await self._service.ask("POST", "/v1/search", Page[Hit], json=present(asked))).items

    async def snapshots(
        self,
        *,
        user: str,
        ids: Sequence[str] | None = None,
        limit: int = 50,
        before: datetime | None = None,
    ) -> list[StoredSnapshot]:
        """The newest snapshots, newest first, or those with these ids."""
        if ids is not None:
            return [found for one in ids for found in await self._snapshot(user, one)]
        found = await self._pieces(of_user(user, "snapshots"), dict[str, Any], {"before": before}, limit=limit)
        return [_snapshot(one) for one in found]

    async def _snapshot(self, user: str, id: str) -> list[StoredSnapshot]:
        try:
            return [_snapshot(await self._service.ask("GET", of_user(user, "snapshots", id), dict[str, Any]))]
        except NotFound:
            return []

    async def replay(self, *, user: str, snapshot: str) -> Context:
        """The context of that snapshot again, byte for byte."""
        return await self._service.ask("GET", of_user(user, "snapshots", snapshot, "replay"), Context)

    async def diff(self, a: Context, b: Context) -> Difference:
        """What changed from one context to another; no service is asked."""
        return diff(a, b)

    async def backtest(
        self,
        *,
        user: str,
        recipe: str | Recipe,
        persona: str | None = None,
        lane: str | None = None,
        limit: int = 50,
    ) -> list[Trial]:
        """Another recipe over a recorded conversation."""
        asked = {"recipe": recipe, "persona": persona, "lane": lane, "limit": limit}
        return await self._service.ask("POST", of_user(user, "backtest"), list[Trial], json=present(asked))

    # --- recipes -----------------------------------------------------------------------------------------------------

    async def define_recipe(self, recipe: Recipe) -> Recipe:
        """Keeps a recipe of the application's own under its name."""
        path = f"/v1/recipes/{quoted(recipe.name)}"
        return await self._service.ask("PUT", path, Recipe, json=recipe.model_dump(mode="json"))

    async def recipes(self) -> list[Recipe]:
        return await self._service.ask("GET", "/v1/recipes", list[Recipe])

    # --- who -------------------------------------------------------------------------------------------------------

    async def define_persona(
        self, id: str, *, name: str, text: str, boundaries: str = "", style: str = "", **extra: Json
    ) -> Persona:
        """Who answers; every definition is a version."""
        body = {"name": name, "text": text, "boundaries": boundaries, "style": style, "extra": extra}
        return await self._service.ask("PUT", f"/v1/personas/{quoted(id)}", Persona, json=body)

    async def personas(self) -> list[Persona]:
        return await self._service.ask("GET", "/v1/personas", list[Persona])

    async def set_user(self, user: str, **fields: Any) -> Profile:
        """What the application knows of the user: zone, name, locale, stage, and anything else as `extra`."""
        named = {name: value for name, value in fields.items() if name in _PROFILE}
        extra = {name: value for name, value in fields.items() if name not in _PROFILE}
        return await self._service.ask("PATCH", of_user(user), Profile, json=named | {"extra": extra})

    async def user(self, user: str) -> Profile:
        return await self._service.ask("GET", of_user(user), Profile)

    async def link(self, user: str, channel: str, external_id: str) -> None:
        body = {"user": user, "channel": channel, "external_id": external_id}
        await self._service.send("POST", "/v1/links", json=body)

    async def resolve(self, channel: str, external_id: str) -> str | None:
        body = {"channel": channel, "external_id": external_id}
        return (await self._service.ask("POST", "/v1/links/resolve", dict[str, str | None], json=body))["user"]

    async def head(self, *, user: str) -> int:
        return (await self._service.ask("GET", of_user(user, "head"), dict[str, int]))["head"]

    async def users(self) -> list[str]:
        return await self._pieces("/v1/users", str, {}, limit=None)

    async def state(self, *, user: str, persona: str | None = None) -> State:
        return await self._service.ask("GET", of_user(user, "state"), State, params={"persona": persona})

    async def set_state(self, *, user: str, persona: str | None = None, **fields: Json) -> State:
        """Changes these fields (None removes one) and keeps the others."""
        params = {"persona": persona}
        return await self._service.ask("PATCH", of_user(user, "state"), State, params=params, json={"fields": fields})

    # --- what is remembered ------------------------------------------------------------------------------------------

    async def remember(self, *, user: str, text: str, **fields: Any) -> Memory:
        """A memory by hand."""
        return cast(Memory, await self.add("memory", user=user, text=text, **fields))

    async def add(self, kind: RecordKind, /, *, user: str, id: str | None = None, **fields: Any) -> Record:
        """Any record by hand; one with a key that exists is a new version."""
        if kind not in PATHS or kind == "session":
            raise InvalidInput(f"a {kind} cannot be added by way of the service")
        body = fields if id is None else {**fields, "id": id}
        return await self._service.ask("POST", of_user(user, PATHS[kind]), NOUNS[kind], json=body)

    async def update(self, id: str, *, user: str, **changes: Any) -> Record:
        """A new version with these fields changed."""
        history = await self.history(user=user, id=id)
        if not history or history[-1].noun not in PATHS:
            raise NotFound
        noun = history[-1].noun
        return await self._service.ask("PATCH", of_user(user, PATHS[noun], id), NOUNS[noun], json=changes)

    async def memories(
        self,
        *,
        user: str,
        persona: str | None = None,
        status: str | None = "ACTIVE",
        entity: str | None = None,
        limit: int = LISTED,
        after: tuple[datetime, int] | None = None,
        known: int | None = None,
    ) -> list[Memory]:
        """Memories, newest first; with a persona, its own and everybody's."""
        filters = {"persona": persona, "status": status or "any", "entity": entity, "known": known}
        return await self._listed(user, Memory, filters, limit=limit, after=after)

    async def episodes(
        self, *, user: str, persona: str | None = None, limit: int = LISTED, after: tuple[datetime, int] | None = None
    ) -> list[Episode]:
        return await self._listed(user, Episode, {"persona": persona}, limit=limit, after=after)

    async def loops(
        self,
        *,
        user: str,
        persona: str | None = None,
        status: str | None = "open",
        limit: int = LISTED,
        after: tuple[datetime, int] | None = None,
    ) -> list[Loop]:
        """Loops, newest first; `status` None gives the closed ones too."""
        filters = {"persona": persona, "status": status or "any"}
        return await self._listed(user, Loop, filters, limit=limit, after=after)

    async def thoughts(
        self, *, user: str, persona: str | None = None, limit: int = LISTED, after: tuple[datetime, int] | None = None
    ) -> list[Thought]:
        return await self._listed(user, Thought, {"persona": persona}, limit=limit, after=after)

    async def summaries(
        self,
        *,
        user: str,
        persona: str | None = None,
        kind: SummaryKind | None = None,
        limit: int = LISTED,
        after: tuple[datetime, int] | None = None,
    ) -> list[Summary]:
        """The newest versions, newest first."""
        return await self._listed(user, Summary, {"persona": persona, "kind": kind}, limit=limit, after=after)

    async def sessions(
        self, *, user: str, persona: str | None = None, limit: int = LISTED, after: tuple[datetime, int] | None = None
    ) -> list[Session]:
        return await self._listed(user, Session, {"persona": persona}, limit=limit, after=after)

    async def entities(
        self, *, user: str, limit: int = LISTED, after: tuple[datetime, int] | None = None
    ) -> list[Entity]:
        return await self._listed(user, Entity, {}, limit=limit, after=after)

    async def history(self, *, user: str, id: str) -> list[Record]:
        """Every version of a record, oldest first."""
        try:
            path = of_user(user, "records", id, "versions")
            answer = await self._service.ask("GET", path, dict[str, Any])
        except NotFound:
            return []
        noun: Any = NOUNS[answer["kind"]]
        return adapter(list[noun]).validate_python(answer["versions"])

    async def seed(self, *, user: str, facts: Sequence[str]) -> list[Memory]:
        """A profile that is known beforehand, a fact a line; the memories that were new, marked as `seeded_profile`."""
        return await self._service.ask("POST", of_user(user, "seed"), list[Memory], json={"facts": list(facts)})

    async def merge(self, *, user: str, entities: Sequence[str]) -> Entity:
        """Makes these entities one, the first of them; every memory, card and alias follows."""
        body = {"entities": list(entities)}
        return await self._service.ask("POST", of_user(user, "entities", "merge"), Entity, json=body)

    async def split(self, *, user: str, entity: str, name: str, memories: Sequence[str] | None = None) -> Entity:
        """Makes a name of an entity somebody of their own, with these memories, or those whose turns use the name."""
        body = present({"entity": entity, "name": name, "memories": memories})
        return await self._service.ask("POST", of_user(user, "entities", "split"), Entity, json=body)

    async def audit(self, *, user: str) -> Audit:
        """What share of a user's memory is doubled, unsupported, stale, held back, or secret."""
        return await self._service.ask("GET", of_user(user, "audit"), Audit)

    async def progress(self, *, user: str, persona: str | None = None) -> SessionState:
        """How far the conversation with a persona has come."""
        return await self._service.ask("GET", of_user(user, "progress"), SessionState, params={"persona": persona})

    # --- the work after the turn --------------------------------------------------------------------------------------

    async def settle(self, *, user: str | None = None) -> dict[str, Settled]:
        """Runs all work that is due now, for one user or for every user of the tenant."""
        path = "/v1/settle" if user is None else of_user(user, "settle")
        return await self._service.ask("POST", path, dict[str, Settled])

    async def reindex(self, *, user: str | None = None) -> dict[str, int]:
        """Writes every vector that the embedder has not made yet, for one user or all; how many each."""
        path = "/v1/reindex" if user is None else of_user(user, "reindex")
        return await self._service.ask("POST", path, dict[str, int])

    async def work_status(self, *, user: str) -> Status:
        """Where each step of the work stands for a user, with what failed and why."""
        return await self._service.ask("GET", of_user(user, "steps"), Status)

    async def retry(self, *, user: str, step: str | None = None) -> int:
        """Makes parked steps due again; how many there were."""
        path = of_user(user, "retry")
        return (await self._service.ask("POST", path, dict[str, int], params={"step": step}))["count"]

    # --- out and in ------------------------------------------------------------------------------------------------

    async def export(self, *, user: str) -> AsyncIterator[str]:
        """The user's whole memory as JSON lines."""
        async for line in self._service.lines(of_user(user, "export")):
            yield line

    async def load(self, file: str | Path, *, user: str | None = None) -> int:
        """Sends an export, under its own user or another; the number of entries."""
        path = Path(file)
        owner = user or _owner(path)
        answer = await self._service.ask(
            "POST", of_user(owner, "import"), dict[str, int], content=_pieces_of(path), retry=False
        )
        return answer["count"]

    async def health(self) -> Health:
        return await self._service.ask("GET", "/v1/health", Health)

    async def backup(self, target: str) -> int:
        """A backup on the service's machine, under that name in its folder for backups; the number of users copied."""
        return (await self._service.ask("POST", "/v1/backups", dict[str, int], json={"name": target}))["count"]

    # --- inside ----------------------------------------------------------------------------------------------------

    async def _listed(
        self,
        user: str,
        noun: type[N],
        filters: Mapping[str, object],
        *,
        limit: int,
        after: tuple[datetime, int] | None,
    ) -> list[N]:
        cursor = pages.of_place(*after) if after else None
        return await self._pieces(of_user(user, PATHS[noun.noun]), noun, filters, limit=limit, cursor=cursor)

    async def _pieces(
        self, path: str, kind: Any, filters: Mapping[str, object], *, limit: int | None, cursor: str | None = None
    ) -> list[Any]:
        """A list put together from its pieces; empty for a user who is not there."""
        found: list[Any] = []
        while limit is None or len(found) < limit:
            size = PIECE if limit is None else min(PIECE, limit - len(found))
            params = {**filters, "limit": size, "cursor": cursor}
            try:
                piece = await self._service.ask("GET", path, Page.__class_getitem__(kind), params=params)
            except NotFound:
                return []
            found += piece.items
            cursor = piece.next
            if cursor is None:
                break
        return found

    async def _backwards(
        self, path: str, filters: Mapping[str, object], *, before: int, limit: int
    ) -> list[StoredTurn]:
        """The newest turns before a place, put together from pieces that are asked for from the end."""
        found: list[StoredTurn] = []
        while len(found) < limit:
            size = min(PIECE, limit - len(found))
            params = {**filters, "limit": size, "before": found[0].place if found else before}
            try:
                piece = await self._service.ask("GET", path, Page[StoredTurn], params=params)
            except NotFound:
                return []
            found[:0] = piece.items
            if len(piece.items) < size:
                break
        return found


def _given(turn: Turn) -> dict[str, Any]:
    return present(asdict(turn))


def _snapshot(values: Mapping[str, Any]) -> StoredSnapshot:
    return StoredSnapshot(
        id=values["id"],
        at=datetime.fromisoformat(values["at"]),
        known=values["known"],
        full=values["full"],
        body=json.dumps(values["body"], ensure_ascii=False, separators=(",", ":")),
    )


def _owner(file: Path) -> str:
    """Whose memory an export holds, by its first line."""
    with file.open(encoding="utf-8") as lines:
        try:
            return str(json.loads(lines.readline())["user"])
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidInput(f"{file.name} is not an export") from error


async def _pieces_of(file: Path, *, size: int = 256 * 1024) -> AsyncIterator[bytes]:
    with file.open("rb") as content:
        while piece := content.read(size):
            yield piece
