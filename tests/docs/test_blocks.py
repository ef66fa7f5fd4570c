"""The reader of code blocks, on pages small enough to see through."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.blocks import Block, Command, Session, find_blocks, find_commands, is_shown

PAGE = """\
Text
```python
a = 1
```
<!-- not run: it would delete the reader's data -->

```console
$ hitherto forget
```
1. In a list
   ````text
   ```python
   not a block of its own
   ```
   ````
"""


def python(text: str) -> Block:
    return Block("python", text, line=1, run=True)


def console(text: str) -> Block:
    return Block("console", text, line=1, run=True)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    shim = tmp_path / "hitherto"
    shim.write_text('#!/bin/sh\n[ "$1" = fail ] && exit 3\necho "got $*"\n')
    shim.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    with Session("page.md", folder=tmp_path, environment=environment) as session:
        yield session


def test_blocks_are_found_with_their_lines_and_exemptions() -> None:
    assert list(find_blocks(PAGE)) == [
        Block("python", "a = 1", line=3, run=True),
        Block("console", "$ hitherto forget", line=8, run=False),
        Block("text", "```python\nnot a block of its own\n```", line=12, run=True),
    ]


def test_an_exemption_needs_a_reason() -> None:
    assert [block.run for block in find_blocks("<!-- not run: -->\n```python\n```")] == [True]


def test_commands_carry_their_continuation_and_output() -> None:
    block = Block("console", "$ hitherto a \\\n    b\nout\n\n$ ls\n", line=10, run=True)
    assert list(find_commands(block)) == [
        Command("hitherto a \\\n    b", output=("out",), line=10),
        Command("ls", output=(), line=14),
    ]


@pytest.mark.parametrize(
    ("expected", "shown"),
    [("turn … stored", True), ("turn 7 stored", True), ("turn", False), ("t.rn 7 stored", False)],
)
def test_an_ellipsis_stands_for_anything(expected: str, shown: bool) -> None:
    assert is_shown(expected, "first\nturn 7 stored\n") is shown


def test_blocks_share_names_and_may_await(session: Session) -> None:
    session.run(python("import asyncio\na = await asyncio.sleep(0, 41)\nloop = asyncio.get_running_loop()"))
    session.run(python("assert loop is asyncio.get_running_loop(), await asyncio.sleep(0)"))
    session.run(python("asyncio.run(asyncio.sleep(0))\nprint(a + 1)\n#> 42"))


def test_wrong_output_fails(session: Session) -> None:
    with pytest.raises(AssertionError, match="'43' is not printed"):
        session.run(python("print(42)\n# > 43"))


def test_an_error_points_into_the_page(session: Session) -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        session.run(Block("python", "\n1 / 0", line=7, run=True))
    assert caught.traceback[-1].frame.code.raw.co_filename == "page.md"
    assert caught.traceback[-1].lineno + 1 == 8


def test_commands_are_run_and_their_output_compared(session: Session) -> None:
    session.run(console("$ hitherto a b\ngot a b\n$ make demo"))
    with pytest.raises(AssertionError, match="is not in the output"):
        session.run(console("$ hitherto a\ngot b"))


def test_a_failing_command_fails(session: Session) -> None:
    with pytest.raises(AssertionError, match=r"page\.md:1: hitherto fail\nexit 3"):
        session.run(console("$ hitherto fail"))
