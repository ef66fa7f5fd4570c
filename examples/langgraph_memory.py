"""Memory for a LangGraph graph: one node that recalls, one that remembers, around any model node.

    pip install langgraph && python examples/langgraph_memory.py

A checkpointer must give back a graph's whole state exactly as it was, of any type; a memory of turns is no place for that.
What a conversation needs of it, history and what is known, these two nodes bring without a checkpointer.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypedDict, cast

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.graph import END, START, StateGraph  # pyright: ignore[reportMissingTypeStubs] -- it ships none

from hitherto import Context, Hitherto, Turn
from hitherto.types import Json


class State(TypedDict):
    """What goes through the graph; each node fills in its part."""

    text: str
    prompt: list[BaseMessage]
    snapshot: str
    answer: str


def messages(context: Context) -> list[BaseMessage]:
    """A context as LangChain's messages."""
    return [SystemMessage(context.system), *(_message(entry) for entry in context.messages)]


def _message(entry: dict[str, Json]) -> BaseMessage:
    text = str(entry.get("content") or "")
    match entry["role"]:
        case "assistant":
            calls = cast("list[dict[str, Any]]", entry.get("tool_calls") or [])
            return AIMessage(text, additional_kwargs={"tool_calls": calls} if calls else {})
        case "tool":
            return ToolMessage(text, tool_call_id=str(entry["tool_call_id"]))
        case _:
            return HumanMessage(text)


def remembering(
    memory: Hitherto, model: Callable[[list[BaseMessage]], str], *, user: str, persona: str | None = None
) -> Any:
    """The graph: recall, answer, remember."""

    async def recall(state: State) -> dict[str, object]:
        (turn,) = await memory.record(Turn(user, "user", state["text"], persona=persona))
        context = await memory.context(user=user, persona=persona, turn=turn)
        return {"prompt": messages(context), "snapshot": context.snapshot}

    async def answer(state: State) -> dict[str, object]:
        return {"answer": model(state["prompt"])}

    async def remember(state: State) -> dict[str, object]:
        await memory.record(Turn(user, "assistant", state["answer"], persona=persona, snapshot=state["snapshot"]))
        return {}

    graph: Any = StateGraph(State)
    for node in (recall, answer, remember):
        graph.add_node(node.__name__, node)
    for before, after in ((START, "recall"), ("recall", "answer"), ("answer", "remember"), ("remember", END)):
        graph.add_edge(before, after)
    return graph.compile()


def stand_in(prompt: list[BaseMessage]) -> str:
    """In place of a model: it says how much it was shown."""
    return f"I see {len(prompt) - 1} messages, the first is: {prompt[1].content}"


async def main(folder: Path) -> list[str]:
    answers: list[str] = []
    async with Hitherto(folder) as memory:
        graph = remembering(memory, stand_in, user="ana", persona="nikita")
        for text in ("I start at Acme on Monday!", "Where do I start?"):
            answers.append((await graph.ainvoke({"text": text}))["answer"])
            print(f"Ana: {text}\nNikita: {answers[-1]}\n")
    return answers


if __name__ == "__main__":
    asyncio.run(main(Path("./memories")))
