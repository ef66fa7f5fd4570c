"""LangChain's and LangGraph's messages: as JSON (`messages_to_dict`, `dumpd`), in the SQLite table that
`SQLChatMessageHistory` writes, and in the checkpoints of LangGraph's `SqliteSaver` (with LangGraph installed).
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from hitherto.deliver.importing.openai import content as read_content
from hitherto.deliver.importing.source import Imported, JsonStream, Source
from hitherto.deliver.untrusted import Raw, child, mapping, objects, storable, text, values
from hitherto.errors import InvalidInput, MissingExtra
from hitherto.ids import derived_id
from hitherto.types import Part, Role, ToolCall, ToolReturn, Turn

_ROLES: Final[dict[str, Role]] = {
    **dict.fromkeys(("human", "user", "humanmessage", "humanmessagechunk"), "user"),
    **dict.fromkeys(("ai", "assistant", "aimessage", "aimessagechunk"), "assistant"),
    **dict.fromkeys(("tool", "toolmessage", "function", "functionmessage"), "tool"),
    **dict.fromkeys(("system", "systemmessage", "developer"), "system"),
}


def read(source: Source) -> Iterator[Imported]:
    owner = source.owner(of="a message store of LangChain")
    if not source.is_sqlite:
        with source.path.open("rb") as file:
            yield from _chat(_loose(JsonStream(file, name=source.path.name), source), "", owner=owner, source=source)
    elif source.has_table("checkpoints"):
        yield from _checkpoints(owner, source)
    elif source.has_table("message_store"):
        yield from _histories(owner, source)
    else:
        raise InvalidInput(f"{source.path.name}: it has neither a table message_store nor checkpoints")


def _loose(stream: JsonStream, source: Source) -> Iterator[Raw]:
    while stream.peek():
        if stream.peek() == b"[":
            for _ in stream.elements():
                yield mapping(stream.value())
                source.passed = stream.offset
        else:
            found = mapping(stream.value())
            yield from objects(found, "messages") if "messages" in found else [found]
            source.passed = stream.offset


def _histories(owner: str, source: Source) -> Iterator[Imported]:
    chats: dict[str, list[Raw]] = {}
    for session, message in source.rows("message_store", "session_id", "message"):
        try:
            chats.setdefault(str(session), []).append(mapping(json.loads(str(message))))
        except (ValueError, RecursionError):
            source.skip("message that is not JSON")
    for session, messages in chats.items():
        yield from _chat(iter(messages), session, owner=owner, source=source)


def _checkpoints(owner: str, source: Source) -> Iterator[Imported]:
    """The messages of each thread's newest checkpoint, which holds all of them."""
    try:
        from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
    except ModuleNotFoundError as error:
        raise MissingExtra("reading LangGraph's checkpoints needs LangGraph: pip install langgraph") from error
    newest: dict[str, tuple[str, tuple[str, bytes]]] = {}
    columns = ("thread_id", "checkpoint_ns", "checkpoint_id", "type", "checkpoint")
    for thread, namespace, known, kind, body in source.rows("checkpoints", *columns):
        if not namespace and newest.get(str(thread), ("",))[0] < str(known):
            newest[str(thread)] = (str(known), (str(kind), body))
    serializer = JsonPlusSerializer()
    for thread, (_, written) in newest.items():
        channels = child(mapping(serializer.loads_typed(written)), "channel_values")
        messages = [cast("Any", one).model_dump() for one in values(channels, "messages") if hasattr(one, "model_dump")]
        yield from _chat(iter(messages), thread, owner=owner, source=source)


def _chat(messages: Iterator[Raw], session: str, *, owner: str, source: Source) -> Iterator[Imported]:
    """Messages have no times, and often no ids: an id is then derived from everything said before."""
    chain = derived_id("langchain", session)
    for message in messages:
        inner = child(message, "data") or child(message, "kwargs") or message
        kind = text(inner, "type") or text(message, "type") or text(inner, "role") or ""
        named = values(message, "id")
        role = _ROLES.get((str(named[-1]) if named else kind).lower())
        if role is None:
            source.skip(f"message of type {kind}" if kind else "message without a type")
            continue
        said, parts = _content(inner, role)
        chain = derived_id(chain, role, said, repr(parts))
        if not said and not parts:
            source.skip("empty message")
            continue
        yield Turn(
            owner,
            role,
            said,
            id=f"langchain:{text(inner, 'id') or chain}",
            persona=source.persona,
            conversation=f"langchain:{session}" if session else None,
            speaker=text(inner, "name") if role == "user" else None,
            parts=parts or None,
            origin="import",
        )


def _content(inner: Raw, role: Role) -> tuple[str, tuple[Part, ...]]:
    said, shown = read_content({"content": _plain(inner.get("content"))}, called={})
    if role == "tool":
        name, call = text(inner, "name") or "tool", text(inner, "tool_call_id") or ""
        return "", (ToolReturn(id=call, name=name, content=said), *shown)
    calls = [_call(call) for call in objects(inner, "tool_calls")]
    return said, (*calls, *shown)


def _plain(given: object) -> object:
    """Content is a text, or a list of pieces some of which are plain texts."""
    if not isinstance(given, list):
        return storable(given) if isinstance(given, str) else ""
    pieces = cast("list[object]", given)
    return [{"type": "text", "text": piece} if isinstance(piece, str) else piece for piece in pieces]


def _call(call: Raw) -> ToolCall:
    args: Mapping[str, object] = child(call, "args")
    return ToolCall(
        id=text(call, "id") or "",
        name=text(call, "name") or "tool",
        args=json.dumps(args, ensure_ascii=False, default=str),
    )
