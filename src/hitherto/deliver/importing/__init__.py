"""Conversations from elsewhere, as turns: streamed, and with ids that make importing twice the same as
once.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, Literal

from hitherto.deliver.importing import chatgpt, jsonl, openai, telegram
from hitherto.deliver.importing.source import Source
from hitherto.types import Turn

Format = Literal["jsonl", "telegram", "chatgpt", "openai"]

FORMATS: Final[Mapping[Format, Callable[[Source], Iterator[Turn]]]] = {
    "jsonl": jsonl.turns,
    "telegram": telegram.turns,
    "chatgpt": chatgpt.turns,
    "openai": openai.turns,
}


def read(source: Source, *, format: Format) -> Iterator[Turn]:
    """The file's turns, oldest first within a conversation; an InvalidInput with the line for what cannot
    be read.
    """
    return FORMATS[format](source)


__all__ = ["FORMATS", "Format", "Source", "read"]
