"""Splits a system text for people to look at: into blocks with their markers, and the paragraphs between them. Joined, they
are the text again."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hitherto.recipes.titles import HEADINGS

_MARKER = re.compile(r"\[(/?)([^\[\]]+)\]")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemBlock:
    """A part of a system text; `section` is a section's id, or the title of a block without an id of ours."""

    section: str
    text: str


def is_marker(line: str) -> bool:
    return _MARKER.fullmatch(line) is not None


def blocks_of(text: str) -> list[SystemBlock]:
    """The text's blocks and, outside of blocks, its paragraphs; empty lines belong to what precedes them."""
    found: list[SystemBlock] = []
    for section, content in _cut(text):
        name = section or _outside(content, first=not any(block.text.strip() for block in found))
        found.append(SystemBlock(section=name, text=content))
    return found


def _cut(text: str) -> Iterator[tuple[str, str]]:
    """Each block with the section of its opening marker; empty for text outside of all blocks."""
    lines: list[str] = []
    section, inside, ended = "", False, False
    for line in _LINE.findall(text):
        bare = line.rstrip("\n")
        marker = _MARKER.fullmatch(bare)
        if inside:
            inside = not (marker and marker[1])
            ended = not inside
        elif bare.strip():
            opens = marker is not None and not marker[1]
            if lines and (ended or (opens and not _is_heading(lines))):
                yield section, "".join(lines)
                lines, section = [], ""
            if opens and marker is not None:
                section, inside = _section(marker[2]), True
            ended = False
        else:
            ended = True
        lines.append(line)
    if lines:
        yield section, "".join(lines)


def _is_heading(lines: list[str]) -> bool:
    """A recipe may put a Markdown heading above a block; it belongs to it."""
    return len(lines) == 1 and lines[0].startswith("#")


def _section(title: str) -> str:
    """The section that is shown under this title, which may contain a persona's name."""
    for section, heading in HEADINGS.items():
        shape = re.escape(heading.title).replace(re.escape("{persona}"), ".+")
        if heading.title and re.fullmatch(shape, title):
            return section
    return title


def _outside(content: str, *, first: bool) -> str:
    """The trusted section that a paragraph outside of all blocks belongs to, as far as its first line tells."""
    line = content.split("\n", 1)[0]
    for section, heading in HEADINGS.items():
        if heading.trusted and heading.title and line.startswith(heading.title):
            return section
    return "persona" if first else "notice"
