"""Conversations and memories from elsewhere: streamed, with ids that make a repeated import change nothing."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, Literal

from hitherto.deliver.importing import (
    character,
    chatgpt,
    jsonl,
    langchain,
    letta,
    mem0,
    openai,
    telegram,
    whatsapp,
    zep,
)
from hitherto.deliver.importing.source import Imported, KnownFact, Source
from hitherto.errors import InvalidInput

Format = Literal["jsonl", "telegram", "whatsapp", "chatgpt", "openai", "character", "langchain", "mem0", "zep", "letta"]

FORMATS: Final[Mapping[Format, Callable[[Source], Iterator[Imported]]]] = {
    "jsonl": jsonl.turns,
    "telegram": telegram.turns,
    "whatsapp": whatsapp.read,
    "chatgpt": chatgpt.turns,
    "openai": openai.turns,
    "character": character.read,
    "langchain": langchain.read,
    "mem0": mem0.read,
    "zep": zep.read,
    "letta": letta.read,
}


def read(source: Source, *, format: Format) -> Iterator[Imported]:
    """The file's turns, oldest first within a conversation, and known facts; an InvalidInput with the line number for what
    cannot be read, and for a file in which the format finds nothing at all.
    """
    found = False
    for one in FORMATS[format](source):
        found = True
        yield one
    if not found and not source.skipped:
        raise InvalidInput(f"{source.path.name}: it contains nothing that the format {format!r} reads")


__all__ = ["FORMATS", "Format", "Imported", "KnownFact", "Source", "read"]
