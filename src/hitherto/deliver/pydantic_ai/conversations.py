"""`Conversations`: PydanticAI's conversation store on one user's memory.

An entry keeps its message exactly as PydanticAI wrote it, except for the instructions: those were assembled for one request
and are assembled anew for the next. Each message is read back separately, so one of a kind that the installed version does
not know costs that message and not the conversation. By default, what is saved is recorded as turns as well; an agent that
has the `Memory` capability records them already.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_ai.conversation import Conversation
from pydantic_ai.conversation_store import (
    ConversationConflict,
    ConversationEntry,
    ConversationRecord,
    ConversationStore,
)
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse
from pydantic_ai.run import AgentRunResult

from hitherto import ids as keys
from hitherto.deliver.pydantic_ai import messages
from hitherto.engine import Hitherto
from hitherto.store import records as nouns
from hitherto.store.protocol import Answers, Change, RecordList, RecordsById, RecordsByKey, UserStore
from hitherto.types import Json, Progress, Turn

LOG = logging.getLogger("hitherto.pydantic_ai")
MOST = 100_000
"""Entries of one conversation, or conversations of one user, that a listing reads."""
_MESSAGE: TypeAdapter[ModelMessage] = TypeAdapter(ModelMessage)
_RECORD: TypeAdapter[ConversationRecord] = TypeAdapter(ConversationRecord)


class Conversations(ConversationStore):
    """Conversations of one user; it cannot name another's. Deleting one keeps its entries until the user forgets them."""

    def __init__(
        self, engine: Hitherto, *, user: str, persona: str | None = None, lane: str | None = None, turns: bool = True
    ) -> None:
        self._engine = engine
        self._user = user
        self._persona = persona
        self._lane = lane
        self._turns = turns

    async def save(
        self, conversation: Conversation | AgentRunResult[Any], *, scope: str | None = None
    ) -> list[ConversationEntry]:
        """Saves what is new. The messages lose their instructions, here and in the store, so that both stay equal."""
        whole = conversation.conversation if isinstance(conversation, AgentRunResult) else conversation
        for message in whole.messages:
            if isinstance(message, ModelRequest):
                message.instructions = None
        return await super().save(conversation, scope=scope)

    # --- what PydanticAI asks of a store ---------------------------------------------------------------------------

    async def read_record(self, conversation_id: str) -> ConversationRecord | None:
        query = _conversation(conversation_id)
        found = nouns.records((await self._store.read(query))[query], Progress)
        return _RECORD.validate_python(found[0].fields["record"]) if found else None

    async def read_records(self, *, scope: str | None = None, limit: int | None = None) -> Sequence[ConversationRecord]:
        query = RecordList(noun="progress", key_prefix="conversation:", limit=MOST)
        rows = nouns.records((await self._store.read(query))[query], Progress)
        found = [_RECORD.validate_python(row.fields["record"]) for row in rows]
        wanted = [record for record in found if scope is None or record.scope == scope]
        return sorted(wanted, key=lambda record: record.updated_at, reverse=True)[:limit]

    async def write_record(
        self,
        record: ConversationRecord,
        *,
        new_entries: Sequence[ConversationEntry] = (),
        expected_revision: str | None,
    ) -> None:
        before = _conversation(record.conversation_id)
        head = RecordsById(ids=_places(record.head_id) if record.head_id else ())
        entries = [_progress(entry, home=record.conversation_id, record=record) for entry in new_entries]

        def decide(answers: Answers) -> Change:
            stored = nouns.records(answers[before], Progress)
            _check(record.conversation_id, stored, expected_revision)
            if record.head_id and not answers[head] and record.head_id not in {entry.id for entry in new_entries}:
                raise ConversationConflict(record.conversation_id)
            updated = _record(record, version=stored[0].version if stored else 0)
            rows = [nouns.draft(one, now=record.updated_at) for one in (*entries, updated)]
            return Change(records=tuple(rows))

        await self._store.write(decide, before, head)
        if self._turns and new_entries:
            await self._engine.record(self._spoken_turns(record, new_entries))

    async def delete_record(self, conversation_id: str, *, expected_revision: str) -> None:
        query = _conversation(conversation_id)

        def decide(answers: Answers) -> Change:
            stored = nouns.records(answers[query], Progress)
            _check(conversation_id, stored, expected_revision)
            return Change(retire=(stored[0].id,), retired_at=stored[0].at)

        await self._store.write(decide, query)

    async def read_entry(self, entry_id: str) -> ConversationEntry:
        query = RecordsById(ids=(_entry_id(entry_id),))
        found = nouns.records((await self._store.read(query))[query], Progress)
        if not found:
            raise LookupError(f"there is no entry {entry_id!r}")
        return _entry(found[0])

    async def read_history(self, head_id: str | None, *, limit: int | None = None) -> list[ConversationEntry]:
        """One query for each conversation that the history passes through; most pass through one."""
        near: dict[str, Progress] = {}
        line: list[Progress] = []
        entry = head_id
        while entry is not None and (limit is None or len(line) < limit):
            if entry not in near:
                near |= await self._neighbours(entry)
            line.append(near[entry])
            parent = near[entry].fields["parent"]
            entry = str(parent) if parent is not None else None
        return [_entry(kept) for kept in reversed(line) if _readable(kept)]

    async def _neighbours(self, entry_id: str) -> dict[str, Progress]:
        """The entry and all others that were written for the same conversation."""
        query = RecordsById(ids=_places(entry_id))
        found = nouns.records((await self._store.read(query))[query], Progress)
        if not found:
            raise LookupError(f"there is no entry {entry_id!r}")
        prefix = f"entry:{found[0].fields['home']}:"
        kept = RecordList(noun="progress", key_prefix=prefix, limit=MOST)
        gaps = RecordList(noun="progress", key_prefix=keys.gap(prefix), limit=MOST)
        answers = await self._store.read(kept, gaps)
        rows = nouns.records((*answers[kept], *answers[gaps]), Progress)
        return {str(row.fields["entry"]): row for row in (*rows, *found)}

    # --- inside ----------------------------------------------------------------------------------------------------

    @property
    def _store(self) -> UserStore:
        return self._engine.user_store(self._user)

    def _spoken_turns(self, record: ConversationRecord, entries: Sequence[ConversationEntry]) -> list[Turn]:
        said = [
            (turn_id, one)
            for entry in entries
            for turn_id, one in zip(_turn_ids(entry), messages.recorded_parts([entry.message]), strict=True)
        ]
        return [
            Turn(
                self._user,
                one.role,
                one.text,
                id=turn_id,
                persona=self._persona,
                lane=self._lane,
                conversation=record.conversation_id,
                parts=one.parts or None,
            )
            for turn_id, one in said
        ]


def _conversation(conversation_id: str) -> RecordsByKey:
    return RecordsByKey(noun="progress", keys=(f"conversation:{conversation_id}",))


def _check(conversation_id: str, stored: Sequence[Progress], expected: str | None) -> None:
    found = _RECORD.validate_python(stored[0].fields["record"]).revision if stored else None
    if found != expected:
        raise ConversationConflict(conversation_id)


def _record(record: ConversationRecord, *, version: int) -> Progress:
    fields: dict[str, Json] = {"record": _RECORD.dump_python(record, mode="json")}
    key = f"conversation:{record.conversation_id}"
    return Progress(id=key, key=key, at=record.updated_at, fields=fields, version=version)


def _entry_id(entry_id: str) -> str:
    return f"entry:{entry_id}"


def _places(entry_id: str) -> tuple[str, str]:
    """Where an entry is kept, or what was left of a forgotten one."""
    return _entry_id(entry_id), keys.gap(_entry_id(entry_id))


def _progress(entry: ConversationEntry, *, home: str, record: ConversationRecord) -> Progress:
    message = entry.message
    if isinstance(message, ModelRequest):
        message = replace(message, instructions=None)
    fields: dict[str, Json] = {
        "entry": entry.id,
        "home": home,
        "parent": entry.parent_id,
        "message": _MESSAGE.dump_python(message, mode="json"),
    }
    return Progress(
        id=_entry_id(entry.id),
        key=f"entry:{home}:{entry.id}",
        at=record.updated_at,
        fields=fields,
        sources=_turn_ids(entry),
    )


def _turn_ids(entry: ConversationEntry) -> tuple[str, ...]:
    """The turns that an entry is recorded as, by which it is found when one of them is forgotten."""
    return tuple(f"entry-{entry.id}-{number}" for number in range(len(messages.recorded_parts([entry.message]))))


def _readable(kept: Progress) -> bool:
    """Whether it has a readable message; a forgotten one has none."""
    if kept.fields["message"] is None:
        return False
    try:
        _MESSAGE.validate_python(kept.fields["message"])
    except ValidationError as error:
        LOG.warning("a message of a kind this PydanticAI does not know is left out: %s", error.errors()[0]["msg"])
        return False
    return True


def _entry(kept: Progress) -> ConversationEntry:
    parent = kept.fields["parent"]
    message = _MESSAGE.validate_python(kept.fields["message"])
    assert isinstance(message, ModelRequest | ModelResponse), "every message is one of the two"
    return ConversationEntry(
        id=str(kept.fields["entry"]), parent_id=None if parent is None else str(parent), message=message
    )
