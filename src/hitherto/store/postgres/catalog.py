"""The catalog in PostgreSQL: tenants' documents, hints of due work, and the list of users. Every statement stands alone."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from hitherto.clock import micros
from hitherto.errors import Conflict, StoreUnavailable
from hitherto.store.catalog import Document, UserKey
from hitherto.store.postgres.connections import Connections
from hitherto.store.postgres.layout import APPLICATION
from hitherto.store.postgres.pipeline import Connection, send
from hitherto.store.postgres.queries import Statement
from hitherto.store.postgres.rows import Fetched, document, escape
from hitherto.store.postgres.statements import statement

_BEGIN = Statement("begin isolation level read committed", {})
_ROLE = Statement(f"set local role {APPLICATION}", {})
_UNSYNCED = Statement("set local synchronous_commit = off", {})
_COMMIT = Statement("commit", {})
_ATTEMPTS = 50


class PostgresCatalog:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def documents(self, tenant: str, kind: str, names: Sequence[str] | None = None) -> tuple[Document, ...]:
        found = (
            await self._run("documents", tenant=tenant, kind=kind)
            if names is None
            else await self._run("named_documents", tenant=tenant, kind=kind, names=list(names))
        )
        return tuple(map(document, found))

    async def last(
        self, tenant: str, kind: str, *, limit: int, before: str | None = None, about: str | None = None
    ) -> tuple[Document, ...]:
        sql = statement("last_documents", about="true" if about is None else "d.about = %(about)s")
        values = {"tenant": tenant, "kind": kind, "before": before, "limit": limit, "about": about}
        return tuple(map(document, await self._send(Statement(sql, values))))

    async def versions(self, tenant: str, kind: str, name: str) -> tuple[Document, ...]:
        return tuple(map(document, await self._run("versions", tenant=tenant, kind=kind, name=name)))

    async def kinds(self) -> tuple[tuple[str, str], ...]:
        return tuple((tenant, kind) for tenant, kind in await self._run("kinds"))

    async def put(
        self,
        tenant: str,
        kind: str,
        name: str,
        body: str,
        *,
        at: datetime,
        expected: int | None = None,
        about: str | None = None,
    ) -> Document:
        for _ in range(_ATTEMPTS):
            newest = next(iter(await self.documents(tenant, kind, [name])), None)
            version = newest.version if newest else 0
            if newest is not None and newest.body == body:
                return newest
            if expected is not None and expected != version:
                raise Conflict(f"{kind} {name!r} is at version {version}, not {expected}; read it again")
            made = Document(name=name, version=version + 1, body=body, recorded_at=at, about=about)
            if await self._insert(tenant, kind, made):
                return made
        raise Conflict(f"{kind} {name!r} is being written by many at once; try again")

    async def _insert(self, tenant: str, kind: str, document: Document) -> bool:
        """Compare-and-set: False if another writer created this version first."""
        found = await self._run(
            "put_document",
            tenant=tenant,
            kind=kind,
            name=document.name,
            version=document.version,
            body=escape(document.body),
            at=micros(document.recorded_at),
            about=document.about,
        )
        return bool(found)

    async def delete(self, tenant: str, kind: str, name: str) -> bool:
        return bool(await self._run("delete_document", tenant=tenant, kind=kind, name=name))

    async def hint(self, dues: Mapping[UserKey, datetime | None]) -> None:
        """One statement per user, so that none spans users. A lost hint is only a delay, so none waits for the disk. Users
        whose cluster worker was lost are retried after all others."""
        late: dict[UserKey, datetime | None] = {}
        for key, due in dues.items():
            try:
                await self._hint(key, due, waits=False)
            except StoreUnavailable:
                late[key] = due
        lost = await asyncio.gather(*(self._hint(*each, waits=True) for each in late.items()), return_exceptions=True)
        for error in lost:
            if error is not None:
                raise error

    async def _hint(self, key: UserKey, due: datetime | None, *, waits: bool) -> None:
        user = UUID(hex=key.digest)
        if due is None:
            asked = Statement(statement("clear_hint"), {"user": user})
        else:
            values = {"user": user, "tenant": key.tenant, "name": key.user, "due": micros(due)}
            asked = Statement(statement("put_hint"), values)
        await self._send(asked, durable=False, whose=user, waits=waits)

    async def due(self, *, now: datetime, limit: int) -> tuple[UserKey, ...]:
        return tuple(UserKey(*row) for row in await self._run("due", now=micros(now), limit=limit))

    async def users(self, tenant: str | None = None, *, readable: bool = False) -> tuple[UserKey, ...]:
        """All users are in one database, so none is damaged by itself."""
        return tuple(UserKey(*row) for row in await self._run("users", tenant=tenant))

    async def count_users(self) -> int:
        return int((await self._run("count_users"))[0][0])

    async def _run(self, name: str, /, **values: Any) -> Fetched:
        return await self._send(Statement(statement(name), values))

    async def _send(
        self, asked: Statement, *, durable: bool = True, whose: UUID | None = None, waits: bool = True
    ) -> Fetched:
        begun = (_BEGIN, _ROLE) if durable else (_BEGIN, _ROLE, _UNSYNCED)

        async def work(connection: Connection) -> Fetched:
            return (await send(connection, [*begun, asked, _COMMIT]))[-2]

        return await self._connections.persist(work, whose=whose, waits=waits)
