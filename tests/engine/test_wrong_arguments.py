"""What people write wrongly when they open a memory: each mistake is one error that names the right value, the missing member
or the extra to install, before anything is stored."""

import sys
import threading
from pathlib import Path
from typing import Any, cast

import pytest

from hitherto import Hitherto, Turn
from hitherto.errors import HithertoError, InvalidInput, MissingExtra
from hitherto.sync import Hitherto as Blocking


class Half:
    """An embedder that somebody has begun to write."""

    name = "half"
    version = "1"
    dimension = 2

    def embed(self, texts: list[str]) -> list[list[float]]:
        return [[1.0, 0.0] for _ in texts]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"embedder": "statik"}, "Did you mean 'static'?"),
        ({"embedder": Half()}, "Half is no embedder: it has no at_once, trust"),
        ({"embedder": Half}, "pass an object of it: embedder=Half()"),
        ({"embedder": 42}, "int is no embedder"),
        ({"reranker": "onx"}, "Did you mean 'onnx'?"),
        ({"reranker": Half()}, "it has no judge"),
        ({"reader": "allergies"}, "No installed package declares one under hitherto.readers"),
        ({"reader": Half()}, "it has no method, read, close"),
        ({"sections": {"orders": "SELECT 1"}}, "'SELECT 1' is no section: it must be a function"),
        ({"model": "gpt-4.1"}, "write openai:gpt-4.1"),
        ({"model": ["openai:gpt-4.1", "gpt-4.1-mini"]}, "write openai:gpt-4.1-mini"),
        ({"model": 3}, "neither a name, nor a PydanticAI model"),
        ({"model": "test", "reader": Half()}, "either model= or reader="),
        ({"pace": "slow"}, "pace='slow' is not one of live, pause, session"),
        ({"recipe": "compagnion"}, "did you mean 'companion'"),
        ({"recipe": 5}, "neither a name, nor the path of a .toml file"),
        ({"tokenizer": " "}, "use one of o200k"),
        ({"tenant": ""}, "tenant"),
    ],
)
def test_an_argument_that_cannot_be_used_is_named(tmp_path: Path, given: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidInput) as error:
        Hitherto(tmp_path / "memories", **given)
    assert says in str(error.value)
    assert not (tmp_path / "memories").exists()


def test_a_misspelt_argument_is_named_and_leaves_no_thread(tmp_path: Path) -> None:
    threads = threading.active_count()
    misspelt: dict[str, Any] = {"wrk": True}
    unknown: dict[str, Any] = {"pace": "slow"}
    with pytest.raises(TypeError, match=r"no argument 'wrk' \(did you mean 'work'\?\)"):
        Blocking(tmp_path / "memories", **misspelt)
    with pytest.raises(InvalidInput):
        Blocking(tmp_path / "memories", **unknown)
    assert threading.active_count() == threads


@pytest.mark.parametrize(
    ("url", "says"),
    [("mysql://localhost/x", "'mysql' is not a store"), (__file__, "is a file; pass a folder")],
)
def test_a_place_that_is_no_store_is_named(url: str, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        Hitherto(url)


def test_a_store_without_its_driver_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("hitherto.store.postgres")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r"pip install 'hitherto\[postgres\]'"):
        Hitherto("postgresql://localhost/x")


async def test_work_with_a_model_that_cannot_be_asked_does_not_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> None:
        assert name == "pydantic_ai"

    monkeypatch.setattr("hitherto.learn.steps.find_spec", missing)
    memory = Hitherto(tmp_path / "memories", model="openai:gpt-4.1", work=True)
    with pytest.raises(HithertoError, match=r"pip install 'hitherto\[pydantic-ai\]'"):
        await memory.open()
    await memory.close()


def test_a_wrong_kind_or_status_is_named(tmp_path: Path) -> None:
    with Blocking(tmp_path / "memories") as memory:
        with pytest.raises(InvalidInput, match="kinds='fact' is not one of turn, memory, episode, summary"):
            memory.search(user="ana", query="tea", kinds=cast(Any, ["turn", "fact"]))
        with pytest.raises(InvalidInput, match=r"status='active' is not one of ACTIVE, ARCHIVED, QUARANTINED"):
            memory.memories(user="ana", status="active")
        with pytest.raises(InvalidInput, match=r"status='opn' .*did you mean 'open'"):
            memory.loops(user="ana", status="opn")
        with pytest.raises(InvalidInput, match="define_recipe takes a Recipe, not a dict"):
            memory.define_recipe(cast(Any, {"name": "mine"}))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"user": "ana", "role": "user", "text": "hi"},
            r"record takes Turn\(user=…, role=…, text=…\) or several, not a dict",
        ),
        ([{"user": "ana", "role": "user", "text": "hi"}], "not a dict"),
        ("hi", "not a str"),
        (None, "not a NoneType"),
        (Turn("ana", "user", "hi", at=cast(Any, "2026-13-01")), "at='2026-13-01' is a str, not a datetime"),
    ],
)
def test_what_is_no_turn_is_refused_with_what_to_pass(tmp_path: Path, given: Any, words: str) -> None:
    with Blocking(tmp_path / "memories") as memory:
        with pytest.raises(InvalidInput, match=words):
            memory.record(given)
        assert memory.users() == []
