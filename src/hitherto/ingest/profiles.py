"""What the application says about a user and a relationship. Both exist once and change by versions."""

import json
from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from hitherto import ids as keys
from hitherto.clock import zone
from hitherto.errors import Conflict
from hitherto.ids import derived_id
from hitherto.ingest import edit as editing
from hitherto.ingest import validation as validate
from hitherto.safety.secrets import redact_values
from hitherto.store import records as nouns
from hitherto.store.catalog import Catalog, UserKey
from hitherto.store.protocol import Answers, Change, RecordsById, UserStore
from hitherto.types import Json, Profile, Record, State

_NAMED = frozenset({f.name for f in fields(Profile)} - {f.name for f in fields(Record)} - {"extra"})


async def profile(store: UserStore, *, now: datetime) -> Profile:
    query = RecordsById(ids=(keys.PROFILE,))
    found = nouns.records((await store.read(query))[query], Profile)
    return found[0] if found else Profile(id=keys.PROFILE, at=now)


async def set_profile(desk: editing.Desk, changes: Mapping[str, Any]) -> Profile:
    """Checks named fields and keeps any other as `extra`. Secrets are replaced by their kind."""
    if "zone" in changes:
        zone(changes["zone"])
    query = RecordsById(ids=(keys.PROFILE,))

    def decide(answers: Answers) -> Change:
        found = nouns.records(answers[query], Profile)
        before = found[0] if found else Profile(id=keys.PROFILE, at=desk.now)
        given = {name: redact_values(value, name=name) for name, value in changes.items()}
        named = {name: value for name, value in given.items() if name in _NAMED}
        extra = {**before.extra, **{name: value for name, value in given.items() if name not in _NAMED}}
        after = editing.changed(before, {**named, "extra": extra})
        if after == before and found:
            return Change()
        return Change(records=(editing.row(replace(after, at=desk.now), desk=desk),))

    await desk.store.write(decide, query)
    return await profile(desk.store, now=desk.now)


async def state(store: UserStore, *, persona: str | None, now: datetime) -> State:
    query = RecordsById(ids=(keys.state(persona),))
    found = nouns.records((await store.read(query))[query], State)
    return found[0] if found else _empty(persona, now=now)


async def set_state(desk: editing.Desk, *, persona: str | None, changes: Mapping[str, Json]) -> State:
    """Merges the changes into the state; a field set to None is removed. Secrets are replaced by their kind."""
    query = RecordsById(ids=(keys.state(persona),))

    def decide(answers: Answers) -> Change:
        found = nouns.records(answers[query], State)
        before = found[0] if found else _empty(persona, now=desk.now)
        given = {name: redact_values(value, name=name) for name, value in changes.items()}
        merged = {name: value for name, value in {**before.fields, **given}.items() if value is not None}
        if merged == dict(before.fields):
            return Change()
        return Change(records=(editing.row(replace(before, fields=merged, at=desk.now), desk=desk),))

    await desk.store.write(decide, query)
    return await state(desk.store, persona=persona, now=desk.now)


def _empty(persona: str | None, *, now: datetime) -> State:
    return State(id=keys.state(persona), key=keys.state(persona), persona=persona, at=now)


# Links from phone numbers, chat ids and accounts to users. The catalog keeps a hash of them, never the number itself.

KIND = "link"
_AT_ONCE = 100


async def link(catalog: Catalog, key: UserKey, channel: str, external_id: str, *, now: datetime) -> None:
    """Linking again to the same user changes nothing; to another user, it is a conflict."""
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
    """Every user that something is linked to, most recently linked first."""
    found = sorted(await catalog.documents(tenant, KIND), key=lambda one: one.recorded_at, reverse=True)
    return list(dict.fromkeys(str(json.loads(document.body)["user"]) for document in found))


async def unlink(catalog: Catalog, tenant: str, channel: str, external_id: str) -> bool:
    """Removes the link; returns False if there was none."""
    return await catalog.delete(tenant, KIND, _name(tenant, channel, external_id))


async def count_links(catalog: Catalog, key: UserKey) -> int:
    """How many links to this user there are."""
    links, before = 0, None
    while found := await catalog.last(key.tenant, KIND, limit=_AT_ONCE, before=before, about=key.user):
        links, before = links + len(found), found[-1].name
    return links


async def unlink_all(catalog: Catalog, key: UserKey) -> int:
    """Removes every link to this user; returns how many there were."""
    removed = 0
    while found := await catalog.last(key.tenant, KIND, limit=_AT_ONCE, about=key.user):
        for document in found:
            removed += await catalog.delete(key.tenant, KIND, document.name)
    return removed


def _name(tenant: str, channel: str, external_id: str) -> str:
    validate.name(channel, what="channel")
    validate.name(external_id, what="external_id")
    return derived_id(tenant, channel, external_id)
