"""Fenced code blocks of a Markdown file, and how they are run.

All blocks of a file run in order, in one namespace and one folder, so that a page can tell a story. Python
may await at top level; `# > …` lines are the output that the code above them prints. In `console` and `sh`
blocks each `$ hitherto …` line is run by a shell; lines below it must appear in its output, `…` standing for
anything. A block under a comment `<!-- not run: the reason -->` is left alone.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import inspect
import io
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

PROMPT = "$ "
OUTPUT = re.compile(r"^# ?> ?")
_FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,})(?P<language>[\w-]*)[^\n]*$")
_NOT_RUN = re.compile(r"^<!-- not run: \S.* -->$")


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    line: int
    """The line of the file that holds the first line of the text."""
    run: bool


@dataclass(frozen=True)
class Command:
    text: str
    output: tuple[str, ...]
    line: int


def find_blocks(markdown: str) -> Iterator[Block]:
    lines = markdown.splitlines()
    position = 0
    while position < len(lines):
        fence = _FENCE.match(lines[position])
        position += 1
        if fence is None:
            continue
        start, closing = position, fence["indent"] + fence["ticks"]
        while position < len(lines) and lines[position].rstrip() != closing:
            position += 1
        before = next((line.strip() for line in reversed(lines[: start - 1]) if line.strip()), "")
        text = "\n".join(line.removeprefix(fence["indent"]) for line in lines[start:position])
        yield Block(fence["language"], text, line=start + 1, run=not _NOT_RUN.match(before))
        position += 1


def find_commands(block: Block) -> Iterator[Command]:
    """Commands with the lines shown below them; a backslash at the end of a line continues the command."""
    lines = block.text.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith(PROMPT)]
    for start, following in zip(starts, [*starts[1:], len(lines)], strict=True):
        end = start
        while lines[end].endswith("\\"):
            end += 1
        text = "\n".join(lines[start : end + 1]).removeprefix(PROMPT)
        shown = tuple(line for line in lines[end + 1 : following] if line.strip())
        yield Command(text, output=shown, line=block.line + start)


def is_shown(expected: str, output: str) -> bool:
    """Whether a line of the output is the expected one."""
    pattern = ".*".join(re.escape(part) for part in expected.strip().split("…"))
    return any(re.fullmatch(pattern, line.strip()) for line in output.splitlines())


class Session:
    """Runs the blocks of one file, their awaits in one event loop."""

    def __init__(self, file: str, *, folder: Path, environment: Mapping[str, str]) -> None:
        self._file = file
        self._folder = folder
        self._environment = environment
        self._namespace: dict[str, object] = {"__name__": "__main__"}
        self._runner = asyncio.Runner()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._runner.close()

    def run(self, block: Block) -> None:
        if block.language == "python":
            self._run_python(block)
        else:
            for command in find_commands(block):
                self._run_command(command)

    def _run_python(self, block: Block) -> None:
        tree = ast.increment_lineno(ast.parse(block.text, filename=self._file), block.line - 1)
        code = compile(tree, self._file, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            awaitable = eval(code, self._namespace)
            if inspect.iscoroutine(awaitable):
                self._runner.run(awaitable)
        for line in filter(OUTPUT.match, map(str.strip, block.text.splitlines())):
            shown = OUTPUT.sub("", line)
            assert is_shown(shown, printed.getvalue()), f"{shown!r} is not printed, but:\n{printed.getvalue()}"

    def _run_command(self, command: Command) -> None:
        if not command.text.startswith("hitherto"):
            return
        done = subprocess.run(
            ["/bin/sh", "-c", command.text],
            cwd=self._folder,
            env=dict(self._environment),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        place = f"{self._file}:{command.line}: {command.text}"
        assert done.returncode == 0, f"{place}\nexit {done.returncode}\n{done.stdout}{done.stderr}"
        for line in command.output:
            assert is_shown(line, done.stdout), f"{place}\n{line!r} is not in the output:\n{done.stdout}"
