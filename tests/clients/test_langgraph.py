"""LangGraph: its conformance suite for checkpointers, and its store, with and without `await`."""

# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUntypedFunctionDecorator=false

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, TypedDict

import pytest

import hitherto.sync
from hitherto import Hitherto
from hitherto.errors import InvalidInput

pytest.importorskip("langgraph")
pytestmark = pytest.mark.filterwarnings("default")


class State(TypedDict):
    said: list[str]


def graph_of(**parts: Any) -> Any:
    from langgraph.graph import END, START, StateGraph

    def answer(state: State) -> State:
        return {"said": [*state["said"], f"{len(state['said'])} so far"]}

    graph: Any = StateGraph(State)
    graph.add_node("answer", answer)
    graph.add_edge(START, "answer")
    graph.add_edge("answer", END)
    return graph.compile(**parts)


@pytest.mark.client(
    "LangGraph", "langgraph", "checkpoint saver: `langgraph-checkpoint-conformance`, all base capabilities"
)
async def test_the_savers_conformance(tmp_path: Path) -> None:
    conformance: Any = pytest.importorskip("langgraph.checkpoint.conformance")
    from hitherto.integrations import LangGraphSaver

    async with Hitherto(tmp_path / "m") as memory:

        @conformance.checkpointer_test(name="LangGraphSaver")
        async def ours() -> Any:
            yield LangGraphSaver(memory, user="ana")

        report = await conformance.validate(ours)
        assert report.passed_all_base(), report.to_dict()


@pytest.mark.client("LangGraph", "langgraph", "`graph.invoke` and `ainvoke` with the saver, continued after a restart")
async def test_a_thread_goes_on_after_a_restart(tmp_path: Path) -> None:
    from hitherto.integrations import LangGraphSaver

    config = {"configurable": {"thread_id": "t", "user_id": "ana"}}
    with hitherto.sync.Hitherto(tmp_path / "m") as memory:
        graph = graph_of(checkpointer=LangGraphSaver(memory))
        graph.invoke({"said": ["hello"]}, config)
        assert (await graph.aget_state(config)).values == {"said": ["hello", "1 so far"]}
    async with Hitherto(tmp_path / "m") as memory:
        graph = graph_of(checkpointer=LangGraphSaver(memory))
        state = await graph.aget_state(config)
        assert state.values == {"said": ["hello", "1 so far"]}
        assert len([one async for one in graph.aget_state_history(config)]) == 3
        with pytest.raises(InvalidInput, match=r"hitherto\.sync"):
            graph.get_state(config)
        other = {"configurable": {"thread_id": "t", "user_id": "ben"}}
        assert (await graph.aget_state(other)).values == {}


@pytest.mark.client("LangGraph", "langgraph", "a run that failed, tried again and resumed: recorded once")
@pytest.mark.parametrize("way", ["again", "resumed"])
async def test_a_run_that_is_tried_again_records_nothing_twice(tmp_path: Path, way: str) -> None:
    from examples.langgraph_memory import remembering

    def model(prompt: list[Any]) -> str:
        asked.append(prompt)
        if len(asked) == 1:
            raise TimeoutError("the model took too long")
        return "At nine."

    asked: list[list[Any]] = []
    async with Hitherto(tmp_path / "m") as memory:
        graph = remembering(memory, model, user="ana")
        thread = {"configurable": {"thread_id": "t"}}
        said = {"id": "message-1", "text": "when do I start?"}
        with pytest.raises(TimeoutError):
            await graph.ainvoke(said, thread)
        for given in (said if way == "again" else None, said):
            await graph.ainvoke(given, thread)
        assert [turn.text for turn in await memory.turns(user="ana")] == ["when do I start?", "At nine."]


@pytest.mark.client("LangGraph", "langgraph", "`BaseStore`: put, get, search, filter, namespaces, delete")
async def test_the_store(tmp_path: Path) -> None:
    from hitherto.integrations import LangGraphStore

    async with Hitherto(tmp_path / "m") as memory:
        store = LangGraphStore(memory, user=lambda namespace: namespace[1])
        home = ("memories", "ana")
        await store.aput(home, "cello", {"text": "My sister Rita plays the cello", "stars": 3})
        await store.aput(home, "sea", {"text": "I am afraid of deep water", "stars": 1})
        await store.aput((*home, "work"), "job", {"role": "baker", "since": 2020})
        await store.aput(("memories", "ben"), "cello", {"text": "Ben hates the cello"})
        found = await store.aget(home, "cello")
        assert found is not None
        assert found.value == {"text": "My sister Rita plays the cello", "stars": 3}
        ranked = await store.asearch(home, query="who plays an instrument, the cello?")
        assert ranked[0].key == "cello"
        assert "Ben" not in str(ranked)
        assert [one.key for one in await store.asearch(home, filter={"stars": {"$gt": 2}})] == ["cello"]
        await store.aput(home, "cello", {"text": "My sister Rita plays the harp", "stars": 3})
        changed = await store.aget(home, "cello")
        assert changed is not None
        assert changed.value["text"] == "My sister Rita plays the harp"
        assert changed.created_at == found.created_at
        await asyncio.gather(*(store.aput(home, "mood", {"text": f"Mood {number}"}) for number in range(4)))
        assert [one.key for one in await store.asearch(home, limit=50)].count("mood") == 1
        await store.adelete(home, "mood")
        assert await store.alist_namespaces(prefix=home) == [home, (*home, "work")]
        context = await memory.context(user="ana", message="what does Rita play?")
        assert "harp" in context.system, "what is in the store is remembered"
        await store.aput(
            home, "card", {"number": 4111111111111111, "wifi": {"password": "Tr0ut-Lake-88x"}, "year": 2020}
        )
        kept = await store.aget(home, "card")
        assert kept is not None
        assert kept.value == {"number": "[card]", "wifi": {"password": "[password]"}, "year": 2020}
        await store.adelete(home, "cello")
        assert await store.aget(home, "cello") is None
        assert "harp" not in (await memory.context(user="ana", message="what does Rita play?")).system
    with hitherto.sync.Hitherto(tmp_path / "m") as blocking:
        store = LangGraphStore(blocking, user="ana")
        assert store.get(("memories", "ana"), "sea") is not None
        store.put(("other",), "k", {"content": "I like tea"})
        assert [one.key for one in store.search(("other",))] == ["k"]
