"""Writes the tables that follow from the code into the pages about the service: calls into docs/http.md, settings into
docs/deploy.md. Each table is the last thing on its page.

    python scripts/service_tables.py
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from hitherto.deliver.cli.commands import COMMANDS  # noqa: E402 -- after the path is set
from hitherto.deliver.http.routes.calls import routes_of  # noqa: E402
from hitherto.engine import Hitherto  # noqa: E402
from hitherto.settings import Settings, variable  # noqa: E402


def calls() -> list[str]:
    """One row a call: its first route, and the commands that reach it."""
    rows: list[str] = []
    for call, routes in routes_of(Hitherto).items():
        commands = ", ".join(f"`{command.name}`" for command in COMMANDS if call in command.calls)
        method, path = routes[0]
        rows.append(f"| `{call}` | `{method} {path}` | {commands} |")
    return rows


def settings() -> list[str]:
    """One row a setting: its default and its help line."""
    rows: list[str] = []
    for name, field in Settings.model_fields.items():
        default = "" if field.default is None else f"`{field.default}`"
        rows.append(f"| `{variable(name)}` | {default} | {field.description} |")
    return rows


def rewrite(page: Path, head: str, rows: list[str]) -> None:
    """The page with these rows under the table's head."""
    before, found, _ = page.read_text("utf-8").partition(head)
    if not found:
        raise SystemExit(f"{page.name} has no table that begins with {head!r}")
    page.write_text(f"{before}{head}\n|---|---|---|\n" + "".join(f"{row}\n" for row in rows), "utf-8")


def main() -> None:
    rewrite(ROOT / "docs" / "http.md", "| call | route | command |", calls())
    rewrite(ROOT / "docs" / "deploy.md", "| variable | default | meaning |", settings())


if __name__ == "__main__":
    main()
