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
from hitherto.learn.notes import FactNote, Method, Passage, Reading, SentenceNote, Sitting, SittingNotes
from hitherto.learn.readers.rules import RuleReader
from hitherto.plugins import Moment, SectionItem
from hitherto.recall.embed import CARRIED, open_embedder
from hitherto.recall.embed.static import static_embedder
from hitherto.recall.rerank import open_reranker
from hitherto.recipes.book import parse
from hitherto.testing import FakeClock, check_embedder, check_reader, check_reranker, check_section, check_tokenizer
from hitherto.tokens import tokenizer
from hitherto.types import Quote


class Counting:
    """Words as tokens, with every sign for itself."""

    def encode_ordinary(self, text: str) -> Sequence[int]:
        return list(text.encode())


class Overlap:
    def judge(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        words = {"job", "begin", "start", "acme"}
        return np.array([sum(word in text.lower() for word in words) for text in texts], dtype=np.float32)


def orders(moment: Moment) -> list[SectionItem]:
    return [SectionItem(f"an order of {moment.user}", id="o-1")]


class Sister:
    """Notes one thing only, and what was said of it."""

    method: Method = "rules"

    def __init__(self, words: str = "My sister Lea") -> None:
        self._words = words

    async def read(self, passage: Passage) -> Reading:
        said = next((line.turn for line in passage.new if "My sister" in line.text), None)
        if said is None:
            return Reading()
        quotes = (Quote(turn=said.id, words=self._words),)
        return Reading(facts=(FactNote(text="The user's sister is called Lea", about=("Lea",), quotes=quotes),))

    async def close(self, sitting: Sitting) -> SittingNotes:
        first = sitting.lines[0].turn
        return SittingNotes(summary=(SentenceNote(text=first.text, quotes=(Quote(turn=first.id, words=first.text),)),))


class Failing(Sister):
    async def read(self, passage: Passage) -> Reading:
        raise ZeroDivisionError(passage.scene.user)


def made(name: str) -> Any:
    parts = {
        "words": static_embedder(),
        "overlap": Overlap(),
        "bytes": Counting(),
        "orders": orders,
        "sister": Sister(),
    }
    return parts[name]


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a package declared these."""

    def entry_points(*, group: str) -> list[EntryPoint]:
        assert group in {f"hitherto.{kind}s" for kind in ("embedder", "reranker", "tokenizer", "section", "reader")}
        return [EntryPoint("ours", f"{__name__}:made", group)]

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


async def test_sections_and_readers_are_checked() -> None:
    await check_section(orders)
    await check_reader(Sister())
    await check_reader(RuleReader())
    with pytest.raises(AssertionError, match="'no such words' does not stand in turn 't-1'"):
        await check_reader(Sister("no such words"))


async def test_a_section_that_changes_its_mind_is_noticed() -> None:
    numbers = iter(range(1_000))

    def changing(moment: Moment) -> list[str]:
        return [f"{moment.user} {next(numbers)}"]

    with pytest.raises(AssertionError, match="same moment gives the same lines"):
        await check_section(changing)


@pytest.mark.usefixtures("installed")
async def test_a_recipe_names_a_declared_section(tmp_path: Any) -> None:
    recipe = parse('extends = "continuity"\nname = "shop"\n[sections.orders]\ntitle = "ORDERS"\nsource = "ours:orders"')
    async with Hitherto(tmp_path, recipe=recipe) as memory:
        assert "- an order of ana" in (await memory.context(user="ana", message="hello")).system


@pytest.mark.usefixtures("installed")
async def test_a_declared_reader_learns_instead_of_a_model(tmp_path: Any) -> None:
    clock = FakeClock()
    async with Hitherto(tmp_path, reader="ours:sister", pace="live", clock=clock) as memory:
        await memory.record(Turn("ana", "user", "My sister Lea lives in Lisbon. I live in Leeds."))
        clock.tick(hours=2)
        await memory.settle()
        assert [fact.text for fact in await memory.memories(user="ana")] == ["The user's sister is called Lea"]


async def test_what_a_reader_raises_stops_no_worker(tmp_path: Any) -> None:
    clock = FakeClock()
    async with Hitherto(tmp_path, reader=Failing(), pace="live", clock=clock) as memory:
        await memory.record(Turn("ana", "user", "My sister Lea lives in Lisbon."))
        settled = await memory.settle()
        assert settled["ana"].failed == 1
        status = await memory.work_status(user="ana")
    assert "the reader Failing failed: ZeroDivisionError" in " ".join(cursor.error or "" for cursor in status.cursors)


def test_a_reader_and_a_model_exclude_each_other(tmp_path: Any) -> None:
    with pytest.raises(InvalidInput, match="either model= or reader="):
        Hitherto(tmp_path, reader=Sister(), model="openai:gpt-4.1-mini")


def test_a_reader_that_nobody_declares_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"under hitherto\.readers"):
        Hitherto("unused", reader="theirs")


def test_a_wrong_name_is_answered_with_the_nearest_right_one() -> None:
    with pytest.raises(InvalidInput, match="Did you mean 'static'"):
        open_embedder("statik")
    with pytest.raises(InvalidInput, match=r"There are: .*onnx:e5-small-v2"):
        open_embedder("wat")
    with pytest.raises(InvalidInput, match="Did you mean 'onnx'"):
        open_reranker("onxx")


@pytest.mark.usefixtures("installed")
def test_a_part_that_cannot_be_made_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"the embedder 'ours:nothing' cannot be made: KeyError: 'nothing'"):
        open_embedder("ours:nothing")
    with pytest.raises(InvalidInput, match="Overlap is no embedder: it has no name, version"):
        open_embedder("ours:overlap")


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "hitherto.recall.embed.onnx", None)
    with pytest.raises(MissingExtra, match=r"hitherto\[onnx\]"):
        open_embedder("e5-small-v2")


def test_the_names_are_those_of_the_onnx_models() -> None:
    onnx = pytest.importorskip("hitherto.recall.embed.onnx")
    assert set(CARRIED) == set(onnx.PRESETS)
