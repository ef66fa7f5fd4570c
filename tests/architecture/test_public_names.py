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

# What the class needs before anything is opened. Databases, stemmers and the rules of the work come when they are used.
IMPORTED = {
    "annotated_types",
    "hitherto",
    "jellyfish",
    "numpy",
    "pydantic",
    "pydantic_core",
    "rapidfuzz",
    "simsimd",
    "splintr",
    "typing_extensions",
    "typing_inspection",
}
LATER = (
    "hitherto.deliver",
    "hitherto.evaluate",
    "hitherto.learn.readers.rules",
    "hitherto.store.postgres",
    "hitherto.store.sqlite",
)


def test_the_public_names_are_exactly_these() -> None:
    assert set(hitherto.__all__) == PUBLIC
    assert len(hitherto.__all__) == len(PUBLIC) <= MOST_NAMES


def test_completion_in_a_shell_offers_the_public_names_alone() -> None:
    assert {name for name in dir(hitherto) if not name.startswith("_")} == PUBLIC


def test_every_public_name_is_there() -> None:
    assert [name for name in hitherto.__all__ if not hasattr(hitherto, name)] == []


def _loaded(imported: str) -> set[str]:
    """The modules that a fresh interpreter, without what this machine starts every one with, has loaded after that."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys; at_first = set(sys.modules); {imported}; print(*set(sys.modules) - at_first)",
        ],
        env={"PYTHONPATH": str(SOURCE)},
        check=True,
        capture_output=True,
        text=True,
    )
    return set(done.stdout.split())


def test_importing_the_package_loads_no_extra() -> None:
    loaded = {name.partition(".")[0] for name in _loaded("import hitherto, hitherto.sync; hitherto.Hitherto")}
    assert "hitherto" in loaded
    assert OPTIONAL.isdisjoint(loaded)


def test_importing_the_class_loads_what_it_needs() -> None:
    """What a module list says of the time holds on every machine."""
    loaded = _loaded("from hitherto import Hitherto")
    packages = {name.partition(".")[0] for name in loaded} - sys.stdlib_module_names
    assert {name for name in packages if not name.startswith(("_", "cython"))} == IMPORTED
    assert sorted(name for name in loaded if name.startswith(LATER)) == []
