"""README and docs cannot lie: their code runs, their commands work, their links lead somewhere."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from tests.docs.blocks import Session, find_blocks

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
RUN = {"python", "console", "sh"}
SHOWN = {"http", "html", "json", "mermaid", "sql", "text", "toml"}
LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?P<target>[^)\s]+)\)")

pages = pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A shell in which `hitherto` is this tree's command line, and nothing else of ours is set."""
    shim = tmp_path / "bin" / "hitherto"
    shim.parent.mkdir()
    start = "import sys; sys.argv[0] = 'hitherto'; from hitherto.deliver.cli import main; sys.exit(main())"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{start}" "$@"\n')
    shim.chmod(0o755)
    return {
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
        "PATH": f"{shim.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "src"),
    }


@pages
def test_the_code_of_a_page_runs(
    page: Path, environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "reader"
    folder.mkdir()
    monkeypatch.chdir(folder)
    runnable = [b for b in find_blocks(page.read_text("utf-8")) if b.run and b.language in RUN]
    with Session(str(page.relative_to(ROOT)), folder=folder, environment=environment) as session:
        for block in runnable:
            session.run(block)


@pages
def test_every_block_says_what_it_is(page: Path) -> None:
    unknown = {
        f"{page.name}:{block.line}: {block.language!r}"
        for block in find_blocks(page.read_text("utf-8"))
        if block.language not in RUN | SHOWN
    }
    assert unknown == set(), f"use one of {sorted(RUN | SHOWN)}"


@pages
def test_links_within_the_project_lead_somewhere(page: Path) -> None:
    targets = [match["target"] for match in LINK.finditer(page.read_text("utf-8"))]
    broken = [
        target for target in targets if "://" not in target and not (page.parent / target.partition("#")[0]).exists()
    ]
    assert broken == []
