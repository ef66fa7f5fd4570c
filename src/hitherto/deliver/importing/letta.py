"""Letta's agent file (`.af`): the messages of an agent, and what it wrote about its human.

A Letta agent speaks through a tool; what it said there is its turn. The block `persona` is for the application to define.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Final

from hitherto.deliver.importing.mem0 import when
from hitherto.deliver.importing.source import Imported, KnownFact, Source
from hitherto.deliver.untrusted import Raw, child, mapping, objects, storable, text
from hitherto.errors import InvalidInput
from hitherto.ids import derived_id
from hitherto.types import Part, Role, ToolCall, ToolReturn, Turn

_SPEAKS: Final = "send_message"
_LARGEST: Final = 256 * 1024 * 1024


def read(source: Source) -> Iterator[Imported]:
    owner = source.owner(of="an agent file")
    if source.size > _LARGEST:
        raise InvalidInput(f"{source.path.name}: it is larger than 256 MB, which no agent file is")
    try:
        given = mapping(json.loads(source.path.read_bytes()))
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{source.path.name}: this is not UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{source.path.name}: this is not JSON ({error})") from error
    agents: Sequence[Raw] = objects(given, "agents") or ([given] if "messages" in given else [])
    if not agents:
        raise InvalidInput(f"{source.path.name}: an agent file holds `agents` or `messages`")
    blocks = [*objects(given, "blocks"), *(block for agent in agents for block in _blocks(agent))]
    for block in blocks:
        yield from _known(block, owner=owner, source=source)
    for agent in agents:
        for message in objects(agent, "messages"):
            yield from _said(message, owner=owner, source=source)
    source.passed = source.size


def _blocks(agent: Raw) -> list[Raw]:
    return objects(agent, "core_memory") or objects(child(agent, "memory"), "blocks")


def _known(block: Raw, *, owner: str, source: Source) -> Iterator[Imported]:
    """Each line of the block about the human."""
    if text(block, "label") != "human":
        source.skip(f"block {text(block, 'label') or 'without a label'}")
        return
    for line in (text(block, "value") or "").splitlines():
        if said := line.strip().lstrip("-*• ").strip():
            yield KnownFact(user=owner, id=derived_id("letta", owner, said), text=said, persona=source.persona)


def _said(message: Raw, *, owner: str, source: Source) -> Iterator[Imported]:
    role = text(message, "role") or ""
    words, at = _words(message), when(text(message, "created_at"))
    known = text(message, "id") or derived_id("letta", role, words, str(at))
    parts: tuple[Part, ...] = ()
    kind: Role = "user"
    match role:
        case "user":
            words = _wrapped(words)
        case "assistant":
            spoken, parts = _calls(message)
            kind, words = "assistant", spoken or words
        case "tool":
            kind, parts, words = "tool", (_returned(message, words),), ""
        case _:
            source.skip(f"{role or 'nameless'} message")
            return
    if (not words and not parts) or _is_receipt(parts):
        source.skip("message without words")
        return
    yield Turn(
        owner, kind, words, id=f"letta:{known}", at=at, persona=source.persona, parts=parts or None, origin="import"
    )


def _words(message: Raw) -> str:
    given = message.get("content")
    if isinstance(given, str):
        return storable(given)
    return "\n".join(filter(None, (text(piece, "text") for piece in objects(message, "content"))))


def _wrapped(words: str) -> str:
    """Letta passes a user's words to its model inside JSON; its own events (a login, a heartbeat) are nobody's words."""
    inner = _object(words)
    if not inner:
        return words
    return (text(inner, "message") or "") if text(inner, "type") in (None, "user_message") else ""


def _calls(message: Raw) -> tuple[str, tuple[Part, ...]]:
    """What was said through the speaking tool, and the calls of other tools."""
    spoken: list[str] = []
    others: list[Part] = []
    for call in objects(message, "tool_calls"):
        function = child(call, "function")
        args = text(function, "arguments") or "{}"
        if text(function, "name") == _SPEAKS:
            spoken += filter(None, [text(_object(args), "message")])
        else:
            others.append(ToolCall(id=text(call, "id") or "", name=text(function, "name") or "tool", args=args))
    return "\n".join(spoken), tuple(others)


def _returned(message: Raw, words: str) -> ToolReturn:
    return ToolReturn(id=text(message, "tool_call_id") or "", name=text(message, "name") or "tool", content=words)


def _is_receipt(parts: Sequence[Part]) -> bool:
    """Whether this only confirms that the agent spoke."""
    return any(isinstance(part, ToolReturn) and part.name == _SPEAKS for part in parts)


def _object(value: str) -> Raw:
    try:
        return mapping(json.loads(value))
    except (ValueError, RecursionError):
        return {}
