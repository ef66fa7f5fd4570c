"""Lanes: which strand of a chat a message belongs to, by name alone.

A lane is stable and deterministic: the same place in a chat always has the same name. A forum topic is the
strongest boundary, then a reply chain, then the chat itself. Callers who do not use lanes pass none: the lane
`None` is their root lane, and no name made here is equal to it.
"""

from collections.abc import Callable
from typing import TypeVar

Chat = int | str
Message = TypeVar("Message", int, str)


def session_id(chat: Chat) -> str:
    """The chat's external id: the scope of its summaries, kept as a turn's `conversation`."""
    return f"telegram:chat:{chat}"


def lane(chat: Chat, *, topic: int | str | None = None, reply_root: int | str | None = None) -> str:
    """The lane of a message: its topic, else its reply chain, else the chat's root lane.

    `reply_root` is the first message of the reply chain (see `chain_root`), not the message replied to.
    """
    if topic is not None:
        return f"topic:{chat}:{topic}"
    if reply_root is not None:
        return f"reply:{chat}:{reply_root}"
    return f"root:{chat}"


def chain_root(message: Message, *, parent: Callable[[Message], Message | None]) -> Message:
    """The first message of the reply chain that `message` stands in; `parent` says what a message replies to.

    A chain that bites its own tail (two exports merged, ids used twice) still has one root, whichever of its
    messages it is entered by: the smallest of the loop.
    """
    visited: dict[Message, None] = {}
    current = message
    while (above := parent(current)) is not None:
        visited[current] = None
        if above in visited:
            order = list(visited)
            return min(order[order.index(above) :])
        current = above
    return current
