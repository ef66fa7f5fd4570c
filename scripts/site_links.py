"""A hook of mkdocs: files outside docs/ that pages link to, such as tests and examples, become part of the site as text."""

from __future__ import annotations

import re
import shutil
from pathlib import Path, PurePosixPath
from posixpath import relpath
from typing import Any

ROOT = Path(__file__).parents[1]
LINK = re.compile(r'(?<= href=")(?![a-z]+:|#|/)([^"#]+)')


def on_page_content(html: str, page: Any, config: Any, **_: Any) -> str:
    """Copies what each link outside leads to, and points the link at the copy."""
    docs, site = Path(config["docs_dir"]), Path(config["site_dir"])
    folder = (docs / page.file.src_uri).parent

    def inside(found: re.Match[str]) -> str:
        target = (folder / found[1]).resolve()
        if not target.is_file() or (target.is_relative_to(docs) and target.suffix != ".toml"):
            return found[1]
        copy = PurePosixPath("source", target.relative_to(ROOT).as_posix() + ".txt")
        (site / copy).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(target, site / copy)
        return relpath(str(copy), str(PurePosixPath(page.url).parent))

    return LINK.sub(inside, html)
