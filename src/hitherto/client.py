"""The library's calls over HTTP: the same names, arguments, values and errors.

Most calls are derived from their declaration in the engine; only those whose request or response has a shape of its own are
written out. Lists are assembled from pages. As in the library, they are empty for a user about whom nothing was written;
the service itself answers 404, so that it does not reveal which users exist.
"""

import asyncio
import inspect
import json
import random
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, cast, get_args
from urllib.parse import quote

import httpx
from pydantic import ValidationError

from hitherto import errors, pages
from hitherto.assemble.diff import Difference, diff
from hitherto.calls import USER, Declaration, Route, calls_of, wrapped
from hitherto.engine import Hitherto
from hitherto.errors import Busy, HithertoError, InvalidInput, NotFound, ServiceError
from hitherto.pages import Page
from hitherto.privacy.audit import Event
from hitherto.privacy.rights import EVENTS
from hitherto.recipes.recipe import Recipe
from hitherto.store.codec import adapter, plain
from hitherto.store.protocol import StoredSnapshot
from hitherto.store.records import NOUNS
from hitherto.sync import Blocking, add_blocking_calls, collected
from hitherto.types import Json, Memory, Persona, Profile, Record, RecordKind, State, StoredTurn, Turn

# Requests to the service: keys, the library's own errors, and retries where they are safe.

ERRORS: Mapping[str, type[HithertoError]] = {
    cls.kind(): cls for cls in vars(errors).values() if isinstance(cls, type) and issubclass(cls, HithertoError)
}
"""The error tree by the names used in responses."""

LONGEST_WAIT = 10.0


class Transport:
    """One service and one key. Every request that changes something carries an idempotency key, so that it can be sent
    again if its response was lost."""

    def __init__(self, http: httpx.AsyncClient, *, retries: int) -> None:
        self._http = http
        self._retries = retries

    async def close(self) -> None:
        await self._http.aclose()

    async def ask(self, method: str, path: str, kind: Any, **request: Any) -> Any:
        """Sends a request and returns the response as a value of that type."""
        response = await self.send(method, path, **request)
        try:
            return adapter(kind).validate_json(response.content)
        except ValidationError as error:
            raise ServiceError(f"{method} {path} returned a response that this client cannot read") from error

    async def send(
        self,
        method: str,
        path: str,
        *,
        json: object = None,
        params: Mapping[str, object] | None = None,
        content: Any = None,
        retry: bool = True,
    ) -> httpx.Response:
        """Sends a request and returns the response, or raises the error it describes."""
        request: dict[str, Any] = {"params": _params(params)}
        if json is not None:
            request["json"] = plain(json)
        if content is not None:
            request["content"] = content
        if method == "POST":
            request["headers"] = {"Idempotency-Key": secrets.token_hex(16)}
        for attempt in range(self._retries + 1):
            last = attempt == self._retries or not retry
            try:
                response = await self._http.request(method, path, **request)
            except httpx.TransportError as error:
                if last:
                    raise ServiceError(f"{method} {path}: {type(error).__name__}") from error
                await asyncio.sleep(_wait(attempt))
                continue
            if response.is_success:
                return response
            problem = error_of(response)
            if last or not isinstance(problem, Busy):
                raise problem
            await asyncio.sleep(min(LONGEST_WAIT, max(problem.retry_after, _wait(attempt))))
        raise AssertionError("the last attempt returns or raises")

    async def lines(self, path: str) -> AsyncIterator[str]:
        """Yields the response line by line as it arrives."""
        try:
            async with self._http.stream("GET", path) as response:
                if not response.is_success:
                    await response.aread()
                    raise error_of(response)
                # Not httpx's own line splitting, which breaks at every separator that Unicode knows: JSON lines end at \n.
                rest = b""
                async for piece in response.aiter_bytes():
                    *whole, rest = (rest + piece).split(b"\n")
                    for line in whole:
                        yield line.decode()
                if rest:
                    yield rest.decode()
        except httpx.TransportError as error:
            raise ServiceError(f"GET {path}: {type(error).__name__}") from error


def error_of(response: httpx.Response) -> HithertoError:
    """The library's error that a response stands for."""
    try:
        said: Any = response.json()["error"]
        kind, message = str(said["type"]), f"{said['message']} (request {said['request_id']})"
    except (ValueError, KeyError, TypeError):
        kind, message = "", f"the service answered {response.status_code}"
    cls = ERRORS.get(kind, ServiceError)
    if issubclass(cls, Busy):
        after = response.headers.get("retry-after", "")
        return cls(message, retry_after=float(after) if after.isdigit() else 1.0)
    return cls(message)


def _wait(attempt: int) -> float:
    """Exponential back-off with jitter."""
    return 0.1 * 2**attempt * random.uniform(0.5, 1.0)


def _params(given: Mapping[str, object] | None) -> dict[str, Any]:
    return {name: plain(value) for name, value in (given or {}).items() if value is not None}


def of_user(user: str, *rest: str) -> str:
    return "/".join(["/v1/users", quoted(user), *map(quoted, rest)])


def quoted(name: str) -> str:
    """A name as one path segment. A segment of dots alone would be removed from the URL before it is sent."""
    return name.replace(".", "%2E") if name in (".", "..") else quote(name, safe="")


def present(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that are not None."""
    return {name: value for name, value in values.items() if value is not None}


N = TypeVar("N", bound=Record)

LISTED = 1_000
PIECE = 1_000
"""Rows requested per page of a list."""
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


class Client:
    """`Hitherto` on a service. `key` may belong to one user; calls then work for that user alone."""

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
        """Does nothing: the first call connects."""

    async def close(self) -> None:
        """Closes the connections."""
        await self._service.close()

    # --- turns and contexts ----------------------------------------------------------------------------------------

    async def record(self, turn: Turn | Iterable[Turn]) -> list[str]:
        turns = [turn] if isinstance(turn, Turn) else list(turn)
        if not turns:
            return []
        body = [present(asdict(one)) for one in turns]
        return (await self._service.ask("POST", "/v1/turns", dict[str, list[str]], json=body))["ids"]

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

    async def snapshots(
        self, *, user: str, ids: Sequence[str] | None = None, limit: int = 50, before: datetime | None = None
    ) -> list[StoredSnapshot]:
        if ids is not None:
            return [found for one in ids for found in await self._snapshot(user, one)]
        found = await self._pieces(of_user(user, "snapshots"), dict[str, Any], {"before": before}, limit=limit)
        return [_snapshot(one) for one in found]

    async def _snapshot(self, user: str, id: str) -> list[StoredSnapshot]:
        try:
            return [_snapshot(await self._service.ask("GET", of_user(user, "snapshots", id), dict[str, Any]))]
        except NotFound:
            return []

    async def diff(self, a: Any, b: Any) -> Difference:
        return diff(a, b)

    # --- recipes, personas, users ----------------------------------------------------------------------------------

    async def define_recipe(self, recipe: Recipe) -> Recipe:
        path = f"/v1/recipes/{quoted(recipe.name)}"
        return await self._service.ask("PUT", path, Recipe, json=recipe.model_dump(mode="json"))

    async def define_persona(
        self, id: str, *, name: str, text: str, boundaries: str = "", style: str = "", **extra: Json
    ) -> Persona:
        body = {"name": name, "text": text, "boundaries": boundaries, "style": style, "extra": extra}
        return await self._service.ask("PUT", f"/v1/personas/{quoted(id)}", Persona, json=body)

    async def set_user(self, user: str, **fields: Any) -> Profile:
        named = {name: value for name, value in fields.items() if name in _PROFILE}
        extra = {name: value for name, value in fields.items() if name not in _PROFILE}
        return await self._service.ask("PATCH", of_user(user), Profile, json=named | {"extra": extra})

    async def users(self) -> list[str]:
        return await self._pieces("/v1/users", str, {}, limit=None)

    async def set_state(self, *, user: str, persona: str | None = None, **fields: Json) -> State:
        params = {"persona": persona}
        return await self._service.ask("PATCH", of_user(user, "state"), State, params=params, json={"fields": fields})

    # --- records ---------------------------------------------------------------------------------------------------

    async def remember(self, *, user: str, text: str, **fields: Any) -> Memory:
        return cast(Memory, await self.add("memory", user=user, text=text, **fields))

    async def add(self, kind: RecordKind, /, *, user: str, id: str | None = None, **fields: Any) -> Record:
        if kind not in PATHS or kind == "session":
            raise InvalidInput(f"a {kind} cannot be added through the service")
        body = fields if id is None else {**fields, "id": id}
        return await self._service.ask("POST", of_user(user, PATHS[kind]), NOUNS[kind], json=body)

    async def update(self, id: str, *, user: str, **changes: Any) -> Record:
        versions = await self.history(user=user, id=id)
        if not versions or versions[-1].noun not in PATHS:
            raise NotFound
        noun = versions[-1].noun
        return await self._service.ask("PATCH", of_user(user, PATHS[noun], id), NOUNS[noun], json=changes)

    async def history(self, *, user: str, id: str) -> list[Record]:
        try:
            answer = await self._service.ask("GET", of_user(user, "records", id, "versions"), dict[str, Any])
        except NotFound:
            return []
        noun: Any = NOUNS[answer["kind"]]
        return adapter(list[noun]).validate_python(answer["versions"])

    # --- privacy, moving and keeping -------------------------------------------------------------------------------

    async def set_retention(self, *, user: str | None = None, **days: float | None) -> dict[str, float | None]:
        path = "/v1/retention" if user is None else of_user(user, "retention")
        return await self._service.ask("PATCH", path, dict[str, float | None], json=days)

    async def events(self, *, user: str | None = None, limit: int = EVENTS, before: str | None = None) -> list[Event]:
        path = "/v1/events" if user is None else of_user(user, "events")
        cursor = None if before is None else pages.pack(before)
        return await self._pieces(path, Event, {}, limit=limit, cursor=cursor)

    async def export(self, *, user: str) -> AsyncIterator[str]:
        async for line in self._service.lines(of_user(user, "export")):
            yield line

    async def load(self, file: str | Path, *, user: str | None = None) -> int:
        path = Path(file)
        where = of_user(user or _owner(path), "import")
        answer = await self._service.ask("POST", where, dict[str, int], content=_pieces_of(path), retry=False)
        return answer["count"]

    async def backup(self, target: str | Path) -> int:
        return (await self._service.ask("POST", "/v1/backups", dict[str, int], json={"name": str(target)}))["count"]

    # --- inside ----------------------------------------------------------------------------------------------------

    async def _declared(self, call: Declaration, given: dict[str, Any]) -> Any:
        """Sends the request that the call's declaration describes."""
        route = call.route([name for name, value in given.items() if value is not None])
        path = "".join(_filled(route, given))
        named = {route.id if name == "id" else name for name in route.placeholders}
        rest = {name: value for name, value in given.items() if name not in named}
        if "after" in {parameter.name for parameter in call.parameters}:
            return await self._listed(path, call, rest)
        as_query = route.query or route.method == "GET"
        takes_more = any(p.name not in named and p.name != "user" for p in call.parameters)
        request: dict[str, Any] = {"retry": call.repeatable}
        if takes_more:
            request |= {"params": rest} if as_query else {"json": present(rest)}
        if call.answer is type(None):
            await self._service.send(route.method, path, **request)
            return None
        if call.answers is None:
            return await self._service.ask(route.method, path, call.answer, **request)
        kind = wrapped("Answer", call.answers, call.answer)
        return getattr(await self._service.ask(route.method, path, kind, **request), call.answers)

    async def _listed(self, path: str, call: Declaration, given: dict[str, Any]) -> list[Any]:
        """A list of records, from the place that `after` names."""
        after, limit = given.pop("after", None), given.pop("limit", LISTED)
        if "status" in given:
            given["status"] = given["status"] or "any"
        cursor = pages.of_place(*after) if after else None
        return await self._pieces(path, get_args(call.answer)[0], given, limit=limit, cursor=cursor)

    async def _pieces(
        self, path: str, kind: Any, filters: Mapping[str, object], *, limit: int | None, cursor: str | None = None
    ) -> list[Any]:
        """Joins the pages of a list; empty for an unknown user."""
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
        """The newest turns before a place, fetched from the end."""
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


def _filled(route: Route, given: Mapping[str, Any]) -> Iterable[str]:
    """The path with its placeholders filled in."""
    rest = route.path
    if rest.startswith(USER):
        yield of_user(given["user"])
        rest = rest.removeprefix(USER)
    for step in rest.split("/")[1:]:
        name = step.strip("{}")
        yield "/" + (quoted(str(given[route.id if name == "id" else name])) if step.startswith("{") else step)


def _by_declaration(call: Declaration) -> Callable[..., Awaitable[Any]]:
    local = set(call.local)
    signature = inspect.signature(call.method)
    signature = signature.replace(parameters=[p for p in signature.parameters.values() if p.name not in local])

    @wraps(call.method)
    async def ask(self: Client, *args: Any, **kwargs: Any) -> Any:
        given = dict(signature.bind(self, *args, **kwargs).arguments)
        del given["self"]
        return await self._declared(call, given)  # pyright: ignore[reportPrivateUsage] -- a method of the class, made here

    setattr(ask, "__signature__", signature)  # noqa: B010 -- functions have no such field for the type checker
    return ask


def _snapshot(values: Mapping[str, Any]) -> StoredSnapshot:
    return StoredSnapshot(
        id=values["id"],
        at=datetime.fromisoformat(values["at"]),
        known=values["known"],
        full=values["full"],
        body=json.dumps(values["body"], ensure_ascii=False, separators=(",", ":")),
    )


def _owner(file: Path) -> str:
    """The user whose memory an export holds, from its first line."""
    with file.open(encoding="utf-8") as lines:
        try:
            return str(json.loads(lines.readline())["user"])
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidInput(f"{file.name} is not an export") from error


async def _pieces_of(file: Path, *, size: int = 256 * 1024) -> AsyncIterator[bytes]:
    with file.open("rb") as content:
        while piece := content.read(size):
            yield piece


for _name, _call in calls_of(Hitherto).items():
    if _call.routes and _name not in vars(Client):
        setattr(Client, _name, _by_declaration(_call))
    elif _name in vars(Client):
        vars(Client)[_name].__doc__ = _call.summary


class SyncClient(Blocking[Client]):
    """`Client`, blocking."""

    def __init__(self, url: str, key: str, **options: Any) -> None:
        super().__init__(lambda: Client(url, key, **options))

    def export(self, *, user: str) -> list[str]:
        """Gives the user's whole memory as JSON lines."""
        return self.run(collected(self.engine.export(user=user)))


add_blocking_calls(SyncClient, Client, calls_of(Hitherto))
