"""The public interface fits in the head, and changes only on purpose."""

from __future__ import annotations

import subprocess
import sys

import hitherto
from tests.architecture.source import SOURCE

# A name added here is a promise to every user; documentation and changelog speak of it in the same commit.
PUBLIC = {
    "Conflict",
    "Context",
    "Entity",
    "Episode",
    "Hit",
    "ImpossibleBudget",
    "InvalidInput",
    "Item",
    "Loop",
    "Memory",
    "NotFound",
    "Persona",
    "Profile",
    "Recipe",
    "Hitherto",
    "HithertoError",
    "Session",
    "State",
    "StoreError",
    "Summary",
    "Thought",
    "ToolCall",
    "ToolReturn",
    "Turn",
}
MOST_NAMES = 25
# Packages of the extras: importing Hitherto must work, and stay quick, without them.
OPTIONAL = {
    "cryptography",
    "fastapi",
    "httpx",
    "jinja2",
    "mcp",
    "onnxruntime",
    "openai",
    "opentelemetry",
    "prometheus_client",
    "psycopg",
    "pydantic_ai",
    "redis",
    "tokenizers",
    "uvicorn",
}


def test_the_public_names_are_exactly_these() -> None:
    assert set(hitherto.__all__) == PUBLIC
    assert len(hitherto.__all__) == len(PUBLIC) <= MOST_NAMES


def test_every_public_name_is_there() -> None:
    assert [name for name in hitherto.__all__ if not hasattr(hitherto, name)] == []


def test_importing_the_package_loads_no_extra() -> None:
    loaded = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, hitherto, hitherto.sync; hitherto.Hitherto; print(*{name.split('.')[0] for name in sys.modules})",
        ],
        env={"PYTHONPATH": str(SOURCE)},
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    assert "hitherto" in loaded
    assert OPTIONAL.isdisjoint(loaded)
