"""Google's Agent Development Kit: a memory service and a session service, each of use without the other.

    runner = Runner(app_name="app", agent=agent, session_service=AdkSessions(memory), memory_service=AdkMemory(memory))

Sessions are turns in a lane of their own; `search_memory` (the tool `load_memory`) finds turns, facts and episodes of that
user. Those of another session service become turns when they are added to the memory.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, cast
from urllib.parse import quote
from uuid import uuid4

from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.adk.events.event import Event
from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions.base_session_service import BaseSessionService, GetSessionConfig, ListSessionsResponse
from google.adk.sessions.session import Session
from google.adk.sessions.state import State
from google.genai import types
from pydantic_core import to_jsonable_python

from hitherto import Hitherto, Turn
from hitherto.deliver.untrusted import storable
from hitherto.errors import InvalidInput
from hitherto.safety.markup import safe
from hitherto.store.protocol import Answers, Change, Erasure, Note, Notes

try:
    from google.adk.errors._stale_session_error import StaleSessionError
except ImportError:  # Earlier versions raise what it is derived from.
    StaleSessionError = ValueError

BETWEEN: Final = "\n"
"""What separates the parts of an event in its turn."""


class AdkMemory(BaseMemoryService):
    """A memory for every user of every app: an app's users are its own."""

    def __init__(self, memory: Hitherto, *, limit: int = 10) -> None:
        self._memory = memory
        self._limit = limit

    async def add_session_to_memory(self, session: Session) -> None:
        await self._record(session.app_name, session.user_id, session.id, session.events)

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        await self._record(app_name, user_id, session_id, events)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        hits = await self._memory.search(user=_user_id(app_name, user_id), query=query, limit=self._limit)
        return SearchMemoryResponse(
            memories=[
                MemoryEntry(
                    id=hit.id,
                    content=types.Content(role="user", parts=[types.Part(text=safe(hit.text))]),
                    author=hit.kind,
                    timestamp=hit.at.isoformat(),
                )
                for hit in hits
            ]
        )

    async def _record(self, app: str, user: str, session: str | None, events: Sequence[Event]) -> None:
        turns = [turn for event in events if (turn := _turn(_user_id(app, user), session, event)) is not None]
        if turns:
            await self._memory.record(turns)


def _user_id(app: str, user: str) -> str:
    if not user:
        raise InvalidInput("say whose sessions these are: user_id is empty")
    return _app_id(app) + user


def _app_id(app: str) -> str:
    """Holds one slash, at its end, so that no user of one app is called like another app's."""
    return f"{app.replace('%', '%25').replace('/', '%2F')}/"


def _turn(user: str, session: str | None, event: Event) -> Turn | None:
    """What an event says. Its id means that adding a session again adds only what is new."""
    parts = (event.content.parts if event.content else None) or []
    said = storable(BETWEEN.join(part.text for part in parts if part.text and not part.thought))
    if not said:
        return None
    role = "user" if event.author == "user" else "assistant"
    at = datetime.fromtimestamp(event.timestamp, UTC)
    speaker = None if role == "user" else event.author
    return Turn(
        user, role, said, id=f"adk:{session}:{event.id}", at=at, lane=session, conversation=session, speaker=speaker
    )


# Sessions.
#
# What was said in an event is a turn; the rest of it (ids, tools, state) is a note beside the log, without the words. So what
# is forgotten is gone from the session as well, and a session needs no adding to the memory.

SESSION: Final = "adk:session:"
EVENT: Final = "adk:event:"
STATE: Final = "adk:state"


class AdkSessions(BaseSessionService):
    """Sessions with their events and state, in their users' own memories. An app's state lies in a memory of its own, that
    of the user `app/`."""

    def __init__(self, memory: Hitherto) -> None:
        self._memory = memory

    async def create_session(
        self, *, app_name: str, user_id: str, state: dict[str, Any] | None = None, session_id: str | None = None
    ) -> Session:
        identity, now = (session_id or "").strip() or str(uuid4()), datetime.now(UTC).timestamp()
        shared, users, own = _by_scope(state or {})
        begun = {"app": app_name, "user": user_id, "id": identity, "state": own, "at": now, "events": 0}

        def begin(found: Mapping[str, Any]) -> dict[str, Any]:
            if SESSION + identity in found:
                raise AlreadyExistsError(f"Session with id {identity} already exists.")
            return {SESSION + identity: begun, **_with(found, users)}

        await self._write_app(app_name, shared)
        await self._change(_user_id(app_name, user_id), (SESSION + identity, STATE), begin)
        found = await self.get_session(app_name=app_name, user_id=user_id, session_id=identity)
        assert found is not None, "it was just written"
        return found

    async def get_session(
        self, *, app_name: str, user_id: str, session_id: str, config: GetSessionConfig | None = None
    ) -> Session | None:
        user, identity = _user_id(app_name, user_id), session_id.strip()
        found = await self._read(user, (SESSION + identity, STATE))
        if SESSION + identity not in found:
            return None
        events = await self._events(user, identity) if config is None or config.num_recent_events != 0 else []
        if config is not None and config.after_timestamp:
            events = [event for event in events if event.timestamp >= config.after_timestamp]
        if config is not None and config.num_recent_events:
            events = events[-config.num_recent_events :]
        return _session(found[SESSION + identity], found.get(STATE), await self._app(app_name), events)

    async def list_sessions(self, *, app_name: str, user_id: str | None = None) -> ListSessionsResponse:
        users = [_user_id(app_name, user_id)] if user_id is not None else await self._memory.users()
        shared, sessions = await self._app(app_name), list[Session]()
        for user in users:
            if user.startswith(_app_id(app_name)):
                found = await self._read(user, (STATE,), prefix=SESSION)
                own = found.pop(STATE, None)
                sessions += [_session(kept, own, shared, []) for kept in found.values()]
        return ListSessionsResponse(
            sessions=sorted(sessions, key=lambda one: (one.last_update_time, one.user_id, one.id))
        )

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Forgets the session: its state, its events, and the turns of what was said in it."""
        user, identity = _user_id(app_name, user_id), session_id.strip()
        events = await self._read(user, (), prefix=_event(identity, ""))
        turns = [event["turn"] for event in events.values() if event["turn"] is not None]
        for turn in await self._memory.turns(user=user, ids=turns) if turns else ():
            await self._memory.forget(user=user, turn=turn.id)
        erasure, at = Erasure(notes=(SESSION + identity, *events)), datetime.now(UTC)

        def erase(_: Answers) -> Change:
            return Change(erase=erasure, retired_at=at)

        if SESSION + identity in await self._read(user, (SESSION + identity,)):
            await self._memory.user_store(user).write(erase)

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        return (await self._read(_user_id(app_name, user_id), (STATE,))).get(STATE, {})

    async def append_event(self, session: Session, event: Event) -> Event:
        if event.partial:
            return event
        user, name = _user_id(session.app_name, session.user_id), SESSION + session.id
        _current((await self._read(user, (name,))).get(name), session)
        passing = {key: value for key, value in event.actions.state_delta.items() if key.startswith(State.TEMP_PREFIX)}
        session.state.update(passing)
        event.actions.state_delta = {
            key: value for key, value in event.actions.state_delta.items() if key not in passing
        }
        shared, users, own = _by_scope(event.actions.state_delta)
        turn = _turn(user, session.id, event)
        plain: dict[str, Any] = event.model_dump(mode="json", exclude_none=True)
        body = {"turn": turn.id, "event": _without_words(plain)} if turn else {"turn": None, "event": plain}

        def append(found: Mapping[str, Any]) -> dict[str, Any]:
            kept = _current(found.get(name), session)
            number = f"{kept['events']:08}"
            grown = {**kept, "state": {**kept["state"], **own}, "at": event.timestamp, "events": kept["events"] + 1}
            return {name: grown, _event(session.id, number): body, **_with(found, users)}

        if turn is not None:
            await self._memory.record(turn)
        await self._change(user, (name, STATE), append)
        await self._write_app(session.app_name, shared)
        session.last_update_time = event.timestamp
        session.state.update(event.actions.state_delta)
        session.events.append(event)
        return event

    async def _events(self, user: str, session: str) -> list[Event]:
        kept = await self._read(user, (), prefix=_event(session, ""))
        named = [one["turn"] for one in kept.values() if one["turn"] is not None]
        said = {turn.id: turn.text for turn in (await self._memory.turns(user=user, ids=named) if named else ())}
        return [_event_of(kept[name], said) for name in sorted(kept)]

    async def _app(self, app: str) -> dict[str, Any]:
        return (await self._read(_app_id(app), (STATE,))).get(STATE, {})

    async def _write_app(self, app: str, delta: dict[str, Any]) -> None:
        if delta:
            await self._change(_app_id(app), (STATE,), lambda found: _with(found, delta))

    async def _read(self, user: str, names: tuple[str, ...], *, prefix: str | None = None) -> dict[str, Any]:
        queries = [Notes(names=names)] if names else []
        queries += [Notes(prefix=prefix)] if prefix is not None else []
        answers = await self._memory.user_store(user).read(*queries)
        return {note.name: json.loads(note.body) for query in queries for note in answers[query]}

    async def _change(
        self, user: str, names: tuple[str, ...], decide: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    ) -> None:
        """Writes what is decided about the notes of these names, in one transaction."""
        query = Notes(names=names)

        def put(answers: Answers) -> Change:
            found = {note.name: json.loads(note.body) for note in answers[query]}
            return Change(notes=tuple(Note(name=name, body=json.dumps(body)) for name, body in decide(found).items()))

        await self._memory.user_store(user).write(put, query)


def _current(kept: Mapping[str, Any] | None, session: Session) -> Mapping[str, Any]:
    """What is stored of a session, if nobody has appended to it since it was read."""
    if kept is None:
        raise SessionNotFoundError(f"Session {session.id} not found.")
    if kept["at"] > session.last_update_time:
        raise StaleSessionError("Somebody else has appended to this session since it was read: get it again.")
    return kept


def _event(session: str, number: str) -> str:
    return f"{EVENT}{quote(session, safe='')}:{number}"


def _by_scope(delta: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Splits a state into the app's, the user's and the session's, as JSON can hold it; temporary values are dropped."""
    app, user, own = dict[str, Any](), dict[str, Any](), dict[str, Any]()
    for key, value in cast("dict[str, Any]", to_jsonable_python(dict(delta), fallback=str)).items():
        if key.startswith(State.APP_PREFIX):
            app[key.removeprefix(State.APP_PREFIX)] = value
        elif key.startswith(State.USER_PREFIX):
            user[key.removeprefix(State.USER_PREFIX)] = value
        elif not key.startswith(State.TEMP_PREFIX):
            own[key] = value
    return app, user, own


def _with(found: Mapping[str, Any], delta: Mapping[str, Any]) -> dict[str, Any]:
    return {STATE: {**found.get(STATE, {}), **delta}} if delta else {}


def _session(
    kept: Mapping[str, Any], users: Mapping[str, Any] | None, apps: Mapping[str, Any], events: list[Event]
) -> Session:
    state = dict(kept["state"])
    state.update({State.APP_PREFIX + key: value for key, value in apps.items()})
    state.update({State.USER_PREFIX + key: value for key, value in (users or {}).items()})
    return Session(
        app_name=kept["app"],
        user_id=kept["user"],
        id=kept["id"],
        state=state,
        events=events,
        last_update_time=kept["at"],
    )


def _without_words(body: dict[str, Any]) -> dict[str, Any]:
    """An event with the words that its turn holds replaced by their number of letters."""
    for part in _spoken(body):
        part["text"] = str(len(part["text"]))
    return body


def _event_of(kept: Mapping[str, Any], said: Mapping[str, str]) -> Event:
    """The event again. Without its turn it has no words; a turn that was revised gives them all to the first part."""
    body: dict[str, Any] = kept["event"]
    if kept["turn"] is None:
        return Event.model_validate(body)
    parts, words, place = _spoken(body), said.get(kept["turn"], ""), 0
    sizes = [int(part["text"]) for part in parts]
    if len(words) != sum(sizes) + len(BETWEEN) * (len(sizes) - 1):
        sizes = [len(words), *[0] * (len(sizes) - 1)]
    for part, size in zip(parts, sizes, strict=True):
        part["text"] = words[place : place + size]
        place += size + len(BETWEEN)
    return Event.model_validate(body)


def _spoken(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = (body.get("content") or {}).get("parts") or []
    return [part for part in parts if part.get("text") and not part.get("thought")]
