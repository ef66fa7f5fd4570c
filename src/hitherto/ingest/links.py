"""Phone numbers, chat ids and accounts that mean a user. The catalog keeps a hash of them, never the number itself."""

import json
from datetime import datetime

from hitherto.errors import Conflict
from hitherto.ids import derived_id
from hitherto.ingest import validation as validate
from hitherto.store.catalog import Catalog, UserKey

KIND = "link"
_AT_ONCE = 100


async def link(catalog: Catalog, key: UserKey, channel: str, external_id: str, *, now: datetime) -> None:
    """Linking again to the same user changes nothing; to another user is a conflict."""
    name = _name(key.tenant, channel, external_id)
    body = json.dumps({"user": key.user})
    found = await catalog.documents(key.tenant, KIND, [name])
    if found and found[0].body != body:
        raise Conflict(f"this {channel} id is linked to another user; unlink it first: unlink({channel!r}, id)")
    version = found[0].version if found else 0
    await catalog.put(key.tenant, KIND, name, body, at=now, expected=version, about=key.user)


async def resolve(catalog: Catalog, tenant: str, channel: str, external_id: str) -> str | None:
    found = await catalog.documents(tenant, KIND, [_name(tenant, channel, external_id)])
    return str(json.loads(found[0].body)["user"]) if found else None


async def linked(catalog: Catalog, tenant: str) -> list[str]:
    """Every user that something is linked to, those linked last first."""
    found = sorted(await catalog.documents(tenant, KIND), key=lambda one: one.recorded_at, reverse=True)
    return list(dict.fromkeys(str(json.loads(document.body)["user"]) for document in found))


async def unlink(catalog: Catalog, tenant: str, channel: str, external_id: str) -> bool:
    """Removes the link; False if there was none."""
    return await catalog.delete(tenant, KIND, _name(tenant, channel, external_id))


async def count(catalog: Catalog, key: UserKey) -> int:
    """How many links to this user there are."""
    links, before = 0, None
    while found := await catalog.last(key.tenant, KIND, limit=_AT_ONCE, before=before, about=key.user):
        links, before = links + len(found), found[-1].name
    return links


async def unlink_all(catalog: Catalog, key: UserKey) -> int:
    """Removes every link to this user; how many there were."""
    removed = 0
    while found := await catalog.last(key.tenant, KIND, limit=_AT_ONCE, about=key.user):
        for document in found:
            removed += await catalog.delete(key.tenant, KIND, document.name)
    return removed


def _name(tenant: str, channel: str, external_id: str) -> str:
    validate.name(channel, what="channel")
    validate.name(external_id, what="external_id")
    return derived_id(tenant, channel, external_id)
