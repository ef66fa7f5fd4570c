"""Parts of an application's own: found by name, checked by a contract, and named rightly when they are not there."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import EntryPoint
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hitherto import Hitherto, InvalidInput, Turn
from hitherto.errors import MissingExtra
from hitherto.recall.embed import CARRIED, open_embedder
from hitherto.recall.embed.static import static_embedder
from hitherto.recall.rerank import open_reranker
from hitherto.testing import check_embedder, check_reranker, check_tokenizer
from hitherto.tokens import tokenizer


class Counting:
    """Words as tokens, with every sign for itself."""

    def encode_ordinary(self, text: str) -> Sequence[int]:
        return list(text.encode())


class Overlap:
    def judge(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        words = {"job", "begin", "start", "acme"}
        return np.array([sum(word in text.lower() for word in words) for text in texts], dtype=np.float32)


def made(name: str) -> Any:
    return {"words": static_embedder(), "overlap": Overlap(), "bytes": Counting()}[name]


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a package declared these."""

    def entry_points(*, group: str) -> list[EntryPoint]:
        name = {"hitherto.embedders": "ours", "hitherto.rerankers": "ours", "hitherto.tokenizers": "ours"}[group]
        return [EntryPoint(name, f"{__name__}:made", group)]

    monkeypatch.setattr("hitherto.plugins.entry_points", entry_points)


def test_the_parts_of_the_package_keep_the_contract() -> None:
    check_embedder(static_embedder())
    check_reranker(Overlap())
    check_tokenizer(Counting())


@pytest.mark.usefixtures("installed")
def test_a_declared_part_is_found_by_its_name() -> None:
    assert open_embedder("ours:words") is static_embedder()
    assert isinstance(open_reranker("ours:overlap"), Overlap)
    assert tokenizer("ours:bytes").count("häh") == 4
    assert tokenizer("ours:bytes").warning is None


@pytest.mark.usefixtures("installed")
async def test_a_memory_works_with_them(tmp_path: Any) -> None:
    async with Hitherto(tmp_path, embedder="ours:words", reranker="ours:overlap", tokenizer="ours:bytes") as memory:
        await memory.record(Turn("ana", "user", "I start at Acme on Monday!"))
        assert [hit.text for hit in await memory.search(user="ana", query="new job")] == ["I start at Acme on Monday!"]


def test_a_wrong_name_is_answered_with_the_nearest_right_one() -> None:
    with pytest.raises(InvalidInput, match="Did you mean 'static'"):
        open_embedder("statik")
    with pytest.raises(InvalidInput, match=r"There are: .*onnx:e5-small-v2"):
        open_embedder("wat")
    with pytest.raises(InvalidInput, match="Did you mean 'onnx'"):
        open_reranker("onxx")


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "hitherto.recall.embed.onnx", None)
    with pytest.raises(MissingExtra, match=r"hitherto\[onnx\]"):
        open_embedder("e5-small-v2")


def test_the_names_are_those_of_the_onnx_models() -> None:
    onnx = pytest.importorskip("hitherto.recall.embed.onnx")
    assert set(CARRIED) == set(onnx.PRESETS)
