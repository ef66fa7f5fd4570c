"""Memory for a LangGraph graph: one node that recalls, one that remembers, around any model node.

    pip install ".[langgraph]" && python examples/langgraph_memory.py "May I bring a cake to Acme on Monday?"

Run it again with "yes": it is understood. A stand-in tells what a model would know; any model takes its place.

History and what is known are brought by these two nodes. Beside them stand, in the same memory, a saver of checkpoints (the
graph goes on where it stopped) and a store (facts that nodes put by hand are found and shown like all others). A run that is
tried again records nothing twice: turns have the message's id.
"""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypedDict, cast
from uuid import uuid4

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.graph import END, START, StateGraph  # pyright: ignore[reportMissingTypeStubs] -- it ships none

from hitherto import Context, Hitherto, Turn
from hitherto.integrations import LangGraphSaver, LangGraphStore
from hitherto.types import Json


class State(TypedDict):
    """What goes through the graph; each node fills in its part."""

    id: str
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
        (turn,) = await memory.record(Turn(user, "user", state["text"], id=state["id"], persona=persona))
        context = await memory.context(user=user, persona=persona, turn=turn)
        return {"prompt": messages(context), "snapshot": context.snapshot}

    async def answer(state: State) -> dict[str, object]:
        return {"answer": model(state["prompt"])}

    async def remember(state: State) -> dict[str, object]:
        answer = Turn(
            user, "assistant", state["answer"], id=f"{state['id']}:answer", persona=persona, snapshot=state["snapshot"]
        )
        await memory.record(answer)
        return {}

    graph: Any = StateGraph(State)
    for node in (recall, answer, remember):
        graph.add_node(node.__name__, node)
    for before, after in ((START, "recall"), ("recall", "answer"), ("answer", "remember"), ("remember", END)):
        graph.add_edge(before, after)
    return graph.compile(checkpointer=LangGraphSaver(memory, user=user), store=LangGraphStore(memory, user=user))


def stand_in(prompt: list[BaseMessage]) -> str:
    """In place of a model."""
    known = "the cake" if any("cake" in str(message.content) for message in prompt) else "no cake"
    return f"I know of {known}."


async def main(folder: Path, said: str) -> str:
    async with Hitherto(folder) as memory:
        graph = remembering(memory, stand_in, user="ana", persona="nikita")
        thread = {"configurable": {"thread_id": "telegram:42"}}
        answer = (await graph.ainvoke({"id": uuid4().hex, "text": said}, thread))["answer"]
    print(f"Ana: {said}\nNikita: {answer}\n")
    return answer


if __name__ == "__main__":
    asyncio.run(main(Path("./memories"), " ".join(sys.argv[1:]) or "May I bring a cake to Acme on Monday?"))
