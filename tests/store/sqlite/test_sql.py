"""Every query has a name and says what it is for, and every name is used."""

import re
from importlib.resources import files

import pytest

from hitherto.errors import StoreUnavailable
from hitherto.store.sql import parse, queries
from hitherto.store.sqlite.connections import require_sound_library
from hitherto.store.sqlite.queries import under

FOLDER = files("hitherto.store.sqlite") / "queries"
FILES = sorted(file.name for file in FOLDER.iterdir() if file.name.endswith(".sql"))
SQL = "\n".join((FOLDER / name).read_text(encoding="utf-8") for name in FILES)
CODE = "\n".join(
    file.read_text(encoding="utf-8") for file in files("hitherto.store.sqlite").iterdir() if file.name.endswith(".py")
)


@pytest.mark.parametrize("name", FILES)
def test_every_query_is_described(name: str) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8")
    pieces = re.split(r"^-- name: (\w+)\n", text, flags=re.MULTILINE)[1:]
    descriptions = {title: re.match(r"-- (.+)", body) for title, body in zip(pieces[::2], pieces[1::2], strict=True)}
    assert descriptions
    assert [title for title, found in descriptions.items() if found is None or len(found[1]) < 10] == []
    assert len(descriptions) == len(pieces) // 2, "two queries have the same name"


def _is_used(title: str) -> bool:
    """By its name, or by one that is put together from what is asked for."""
    by_target = re.sub(r"(turn|record)s$", "{query.target}s", title)
    return f"{{{title}}}" in SQL or f'"{title}"' in CODE or f'f"{by_target}"' in CODE


@pytest.mark.parametrize("name", FILES)
def test_every_query_is_used(name: str) -> None:
    assert [title for title in queries("sqlite", name.removesuffix(".sql")) if not _is_used(title)] == []


def test_a_query_may_hold_another() -> None:
    assert parse("-- name: a\n-- What.\nx, y\n\n-- name: b\n-- What.\nSELECT {a}\nFROM t WHERE {conditions}\n") == {
        "a": "x, y",
        "b": "SELECT x, y\nFROM t WHERE {conditions}",
    }


def test_the_past_is_what_is_live_and_what_ended_since() -> None:
    now = under("SELECT 1 FROM t WHERE {conditions}", False, ("a = 1",), "a")
    past = under("SELECT 1 FROM t WHERE {conditions}", True, ("a = 1",), "a")
    assert now == "SELECT 1 FROM t WHERE a = 1 AND retired IS NULL ORDER BY a LIMIT :limit"
    assert past.count("UNION ALL") == 1
    assert "retired > :known AND seq <= :known" in past


@pytest.mark.parametrize("version", ["3.40.1", "3.51.2"])
def test_an_unsound_library_is_refused(version: str) -> None:
    with pytest.raises(StoreUnavailable, match=f"SQLite {version} is too old"):
        require_sound_library(version)


@pytest.mark.parametrize("version", ["3.51.3", "3.54.0", "4.0.0"])
def test_a_sound_library_is_taken(version: str) -> None:
    require_sound_library(version)
