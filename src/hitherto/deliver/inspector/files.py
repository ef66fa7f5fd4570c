"""The files that pages are made with."""

from pathlib import Path
from typing import Final

STATIC: Final = Path(__file__).parent / "static"
KINDS: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
"""What is served, and as what."""


def style() -> str:
    """The style sheet, for a page that is a file of its own."""
    return (STATIC / "inspector.css").read_text("utf-8")
