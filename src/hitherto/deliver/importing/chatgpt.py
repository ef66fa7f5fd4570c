"""ChatGPT's own export, `conversations.json`.

A conversation is a tree of nodes: editing a question or asking for another answer makes a branch. The branch that was shown
last leads from `current_node` up to the root, and that one is imported. The file lists the newest conversation first, while
a log runs forward, so a first pass finds its conversations and a second reads them in order of time.
"""

from collections.abc import Iterator
from typing import Final

from hitherto.deliver.importing.source import JsonStream, Source
from hitherto.deliver.untrusted import Raw, child, flag, instant, mapping, number, objects, storable, text, values
from hitherto.errors import InvalidInput
from hitherto.ids import derived_id
from hitherto.types import Media, Part, Role, Thinking, Turn

_ROLES: Final[dict[str, Role]] = {
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "system": "system",
}
_LONGEST_BRANCH: Final = 100_000


def turns(source: Source) -> Iterator[Turn]:
    user = source.owner(of="a ChatGPT export")
    with source.path.open("rb") as file:
        places = sorted(_places(JsonStream(file, name=source.path.name), source=source))
        for _, start, length in places:
            file.seek(start)
            conversation = mapping(JsonStream(file, name=source.path.name).value())
            yield from _turns(conversation, user=user, source=source)
            source.passed += length


def _places(stream: JsonStream, *, source: Source) -> Iterator[tuple[float, int, int]]:
    """When each conversation began and where it is in the file."""
    if stream.peek() != b"[":
        raise InvalidInput(f"{source.path.name}, line {stream.line}: a ChatGPT export is a list of conversations")
    for _ in stream.elements():
        stream.peek()
        start = stream.offset
        conversation = mapping(stream.value())
        if not child(conversation, "mapping"):
            raise InvalidInput(
                f"{source.path.name}, line {stream.line}: the conversation that ends here has no `mapping`"
            )
        yield number(conversation, "create_time") or 0.0, start, stream.offset - start


def _turns(conversation: Raw, *, user: str, source: Source) -> Iterator[Turn]:
    nodes = child(conversation, "mapping")
    branch = _branch(conversation, nodes)
    source.skipped["message of another branch"] += sum(
        bool(child(mapping(node), "message")) for name, node in nodes.items() if name not in branch
    )
    identity = (
        text(conversation, "conversation_id") or text(conversation, "id") or derived_id("chatgpt", *sorted(nodes))
    )
    began = number(conversation, "create_time")
    thoughts: list[Part] = []
    for name in branch:
        message = child(mapping(nodes.get(name)), "message")
        if not message:
            continue
        role = _ROLES.get(text(child(message, "author"), "role") or "")
        said, parts = _content(child(message, "content"))
        if role == "assistant" and not said and parts:
            thoughts += parts
            continue
        if role is None or _hidden(message) or not (said or parts):
            source.skip("hidden or empty message")
            continue
        carried = (*thoughts, *parts) if role == "assistant" else parts
        thoughts = [] if role == "assistant" else thoughts
        yield Turn(
            user,
            role,
            said,
            id=f"chatgpt:{identity}:{name}",
            at=instant(number(message, "create_time") or began),
            persona=source.persona,
            conversation=f"chatgpt:{identity}",
            parts=carried or None,
            origin="import",
        )


def _branch(conversation: Raw, nodes: Raw) -> dict[str, None]:
    """The shown branch from the root down; without a current node, the one that ends in the newest leaf."""
    node = text(conversation, "current_node")
    if node is None or node not in nodes:
        node = max(nodes, key=lambda name: (_time(nodes, name), name))
    path: dict[str, None] = {}
    while node is not None and node in nodes and node not in path and len(path) < _LONGEST_BRANCH:
        path[node] = None
        node = text(mapping(nodes[node]), "parent")
    return dict.fromkeys(reversed(path))


def _time(nodes: Raw, name: str) -> float:
    node = mapping(nodes[name])
    return -1.0 if node.get("children") else number(child(node, "message"), "create_time") or 0.0


def _hidden(message: Raw) -> bool:
    return flag(child(message, "metadata"), "is_visually_hidden_from_conversation") or message.get("weight") == 0


def _content(content: Raw) -> tuple[str, tuple[Part, ...]]:
    """Words, and everything else: reasoning and pictures."""
    kind = text(content, "content_type")
    if kind == "thoughts":
        said = "\n".join(text(thought, "content") or "" for thought in objects(content, "thoughts"))
        return "", (Thinking(text=said),) if said else ()
    if kind == "reasoning_recap":
        return "", ()
    pieces = values(content, "parts")
    said = "\n".join(filter(None, (_words(piece) for piece in pieces)))
    media = tuple(
        Media(media_type="image/*", url=address, caption="image")
        for piece in pieces
        if (address := text(mapping(piece), "asset_pointer")) is not None
    )
    return said or text(content, "text") or text(content, "result") or "", media


def _words(piece: object) -> str:
    return storable(piece) if isinstance(piece, str) else text(mapping(piece), "text") or ""
