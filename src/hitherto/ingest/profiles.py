"""What the application says about a user and a relationship. Both exist once and change by versions."""

from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from hitherto import ids as keys
from hitherto.clock import zone
from hitherto.ingest import edit as editing
from hitherto.safety.secrets import redact_values
from hitherto.store import records as nouns
from hitherto.store.protocol import Answers, Change, RecordsById, UserStore
from hitherto.types import Json, Profile, Record, State

_NAMED = frozenset({f.name for f in fields(Profile)} - {f.name for f in fields(Record)} - {"extra"})


async def profile(store: UserStore, *, now: datetime) -> Profile:
    query = RecordsById(ids=(keys.PROFILE,))
    found = nouns.records((await store.read(query))[query], Profile)
    return found[0] if found else Profile(id=keys.PROFILE, at=now)


async def set_profile(desk: editing.Desk, changes: Mapping[str, Any]) -> Profile:
    """Named fields are checked; any other one is kept as `extra`. Secrets are replaced by their kind."""
    if "zone" in changes:
        zone(changes["zone"])
    query = RecordsById(ids=(keys.PROFILE,))

    def decide(answers: Answers) -> Change:
        found = nouns.records(answers[query], Profile)
        before = found[0] if found else Profile(id=keys.PROFILE, at=desk.now)
        given = {name: redact_values(value) for name, value in changes.items()}
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
        given = {name: redact_values(value) for name, value in changes.items()}
        merged = {name: value for name, value in {**before.fields, **given}.items() if value is not None}
        if merged == dict(before.fields):
            return Change()
        return Change(records=(editing.row(replace(before, fields=merged, at=desk.now), desk=desk),))

    await desk.store.write(decide, query)
    return await state(desk.store, persona=persona, now=desk.now)


def _empty(persona: str | None, *, now: datetime) -> State:
    return State(id=keys.state(persona), key=keys.state(persona), persona=persona, at=now)
