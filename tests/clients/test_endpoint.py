"""Tool loops and follow-ups of other people's clients through the OpenAI-compatible endpoint.

Each says "one", asks for the weather (the model says a word and calls two tools at once), and goes on twice. What it sends
back in between is its own business: every turn is recorded once, in one lane.
"""

# Most of these packages ship no types for what is used of them.
# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUntypedFunctionDecorator=false

from __future__ import annotations

import json
from typing import Any

import openai
import pytest

from tests.clients import node_packages
from tests.deliver.openai.conftest import Endpoint
from tests.deliver.openai.upstream import Reply

CALLS = [
    ("weather", '{"unit": "C", "city":"Oslo"}', "call_a"),
    ("weather", '{"unit": "C",  "city":"Rome"}', "call_b"),
]
pytestmark = pytest.mark.filterwarnings("default")  # What other packages warn of among themselves is theirs.
SAID = ["one", "weather?", "three", "four"]
ANSWERS = ["a1", "grey", "a3", "a4"]
API = pytest.mark.parametrize("api", ["chat", "responses"])


def both(client: str, package: str, driven: str) -> pytest.MarkDecorator:
    """The newest version of a package of Node's, and the lowest, which is installed beside it."""
    versions = [
        pytest.param(version, marks=pytest.mark.client(client, package + version, driven), id=version or "newest")
        for version in ("", "-lowest")
    ]
    return pytest.mark.parametrize("version", versions)


def prepare(endpoint: Endpoint, *, reasoning: bool = False) -> None:
    endpoint.upstream.answers = ["a1", Reply("Let me look.", CALLS, reasoning=reasoning), "grey", "a3", "a4"]


async def check(endpoint: Endpoint, *, tools: int = 2) -> None:
    """Every turn is there once, in its order, in one lane, and the model was shown whole conversations."""
    turns = await endpoint.turns()
    roles = ["user", "assistant", "user", "assistant", *["tool"] * tools, "assistant"]
    assert [turn.role for turn in turns] == [*roles, "user", "assistant", "user", "assistant"]
    assert {turn.lane for turn in turns} == {None}
    words = [turn.text for turn in turns if turn.text]
    assert words == ["one", "a1", "weather?", "Let me look.", "grey", "three", "a3", "four", "a4"]
    last = json.dumps(
        next(body for body in reversed(endpoint.upstream.asked) if "messages" in body or "instructions" in body)
    )
    assert all(word in last for word in ("one", "a1", "weather?", "grey", "three", "a3", "four"))


@API
@pytest.mark.client(
    "OpenAI Agents SDK", "openai-agents", "`Runner.run`, two tools at once, four turns, chat and responses"
)
async def test_openai_agents(endpoint: Endpoint, api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")
    agents: Any = pytest.importorskip("agents")

    def weather(city: str, unit: str) -> str:
        return f"grey in {city}"

    prepare(endpoint, reasoning=api == "responses")
    client = await endpoint.client()
    models = {"chat": agents.OpenAIChatCompletionsModel, "responses": agents.OpenAIResponsesModel}
    model = models[api](model="small", openai_client=client)
    agent = agents.Agent(name="Ahab", instructions="You are Ahab.", model=model, tools=[agents.function_tool(weather)])
    items: list[Any] = []
    for words, answer in zip(SAID, ANSWERS, strict=True):
        result = await agents.Runner.run(agent, [*items, {"role": "user", "content": words}])
        assert result.final_output == answer
        items = result.to_input_list()
    await check(endpoint)


@API
@pytest.mark.client(
    "PydanticAI", "pydantic-ai-slim", "`agent.run` with a history, two tools at once, chat and responses"
)
async def test_pydantic_ai(endpoint: Endpoint, api: str) -> None:
    pytest.importorskip("pydantic_ai")
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    prepare(endpoint, reasoning=api == "responses")
    provider = OpenAIProvider(openai_client=await endpoint.client())
    model: Any = (OpenAIChatModel if api == "chat" else OpenAIResponsesModel)("small", provider=provider)
    agent: Any = Agent(model, instructions="You are Ahab.")

    @agent.tool_plain
    def weather(city: str, unit: str) -> str:  # pyright: ignore[reportUnusedFunction] -- the decorator uses it
        return f"grey in {city}"

    history: Any = None
    for words, answer in zip(SAID, ANSWERS, strict=True):
        result = await agent.run(words, message_history=history)
        assert result.output == answer
        history = result.all_messages()
    await check(endpoint)


@API
@pytest.mark.client("LangChain", "langchain-openai", "`ChatOpenAI.bind_tools`, two tools at once, chat and responses")
async def test_langchain(endpoint: Endpoint, api: str) -> None:
    langchain_openai: Any = pytest.importorskip("langchain_openai")
    from langchain_core.messages import HumanMessage, SystemMessage
    from langchain_core.tools import tool

    @tool
    def weather(city: str, unit: str) -> str:
        """The weather in a city."""
        return f"grey in {city}"

    prepare(endpoint, reasoning=api == "responses")
    _, key = await endpoint.keys.create(user="ana")
    model = langchain_openai.ChatOpenAI(
        model="small", base_url=f"{endpoint.url}/v1", api_key=key, use_responses_api=api == "responses", max_retries=0
    ).bind_tools([weather])
    messages: list[Any] = [SystemMessage("You are Ahab.")]
    for words, answer in zip(SAID, ANSWERS, strict=True):
        messages.append(HumanMessage(words))
        while True:
            messages.append(await model.ainvoke(messages))
            if not messages[-1].tool_calls:
                break
            messages += [await weather.ainvoke(call) for call in messages[-1].tool_calls]
        assert messages[-1].text == answer
    await check(endpoint)


@pytest.mark.client("LiteLLM", "litellm", "`acompletion`, two tools at once, streamed at the end")
async def test_litellm(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    litellm: Any = pytest.importorskip("litellm")
    prepare(endpoint)
    _, key = await endpoint.keys.create(user="ana")
    messages: list[Any] = [{"role": "system", "content": "You are Ahab."}]
    options = {"model": "openai/small", "api_base": f"{endpoint.url}/v1", "api_key": key, "max_retries": 0}
    for words, answer in zip(SAID[:3], ANSWERS[:3], strict=True):
        messages.append({"role": "user", "content": words})
        while True:
            made = (await litellm.acompletion(messages=messages, **options)).choices[0].message
            messages.append(made.model_dump(exclude_none=True))
            if not made.tool_calls:
                break
            messages += [
                {"role": "tool", "tool_call_id": call.id, "name": call.function.name, "content": "grey"}
                for call in made.tool_calls
            ]
        assert made.content == answer
    messages.append({"role": "user", "content": "four"})
    pieces = [piece async for piece in await litellm.acompletion(messages=messages, stream=True, **options)]
    assert "".join(piece.choices[0].delta.content or "" for piece in pieces) == "a4"
    await endpoint.settled(11)
    await check(endpoint)


@pytest.mark.client(
    "LiveKit Agents", "livekit-plugins-openai", "`openai.LLM.chat` with a `ChatContext`, two tools at once"
)
async def test_livekit(endpoint: Endpoint) -> None:
    openai_plugin: Any = pytest.importorskip("livekit.plugins.openai")
    from livekit.agents import llm

    @llm.function_tool
    async def weather(city: str, unit: str) -> str:
        """The weather in a city."""
        return f"grey in {city}"

    prepare(endpoint)
    model = openai_plugin.LLM(model="small", client=await endpoint.client())
    chat = llm.ChatContext.empty()
    chat.add_message(role="system", content="You are Ahab.")
    for words, answer in zip(SAID, ANSWERS, strict=True):
        chat.add_message(role="user", content=words)
        while True:
            async with model.chat(chat_ctx=chat, tools=[weather]) as stream:
                said = [chunk.delta async for chunk in stream if chunk.delta]
            text = "".join(delta.content or "" for delta in said)
            if text:
                chat.add_message(role="assistant", content=text)
            calls = [
                llm.FunctionCall(call_id=call.call_id, name=call.name, arguments=call.arguments)
                for delta in said
                for call in delta.tool_calls
            ]
            if not calls:
                break
            chat.insert(calls)
            chat.insert(
                [
                    llm.FunctionCallOutput(call_id=call.call_id, name=call.name, output="grey", is_error=False)
                    for call in calls
                ]
            )
        assert text == answer
    await endpoint.settled(11)
    await check(endpoint)


@both(
    "Vercel AI SDK",
    "npm:ai",
    "`generateText`, `streamText`, two tools at once, chat and responses (references), whole and text history",
)
@pytest.mark.parametrize("way", ["generate", "stream"])
@pytest.mark.parametrize("keeps", ["whole", "text"])
@API
async def test_ai_sdk(endpoint: Endpoint, api: str, keeps: str, way: str, version: str) -> None:
    prepare(endpoint, reasoning=api == "responses")
    _, key = await endpoint.keys.create(user="ana")
    assert await node_packages.run("ai_sdk.mjs", endpoint.url, key, api, keeps, way, version) == ANSWERS
    await endpoint.settled(11)
    await check(endpoint)


@both("openai-node", "npm:openai", "chat with tools, a stream, responses, retrieve, embeddings, an error")
async def test_openai_node(endpoint: Endpoint, version: str) -> None:
    prepare(endpoint)
    _, key = await endpoint.keys.create(user="ana")
    assert await node_packages.run("openai_node.mjs", endpoint.url, key, version) == ANSWERS
    await check(endpoint)


@pytest.mark.client("openai-python", "openai", "chat with tools, a stream, responses, retrieve, embeddings, an error")
async def test_openai_python(endpoint: Endpoint) -> None:
    prepare(endpoint)
    client: Any = await endpoint.client()
    messages: list[Any] = []
    for words, answer in zip(SAID[:2], ANSWERS[:2], strict=True):
        messages.append({"role": "user", "content": words})
        while True:
            made = (await client.chat.completions.create(model="small", messages=messages)).choices[0].message
            messages.append(made.model_dump(exclude_none=True))
            if not made.tool_calls:
                break
            messages += [{"role": "tool", "tool_call_id": call.id, "content": "grey"} for call in made.tool_calls]
        assert made.content == answer
    messages.append({"role": "user", "content": SAID[2]})
    stream = await client.chat.completions.create(model="small", messages=messages, stream=True)
    assert "".join([chunk.choices[0].delta.content or "" async for chunk in stream]) == ANSWERS[2]
    response = await client.responses.create(model="small", input=SAID[3])
    assert response.output_text == ANSWERS[3]
    assert (await client.responses.retrieve(response.id)).id == response.id
    await client.embeddings.create(model="small", input="x", encoding_format="float")
    with pytest.raises(openai.NotFoundError) as refused:
        await client.files.list()
    assert refused.value.code == "not_found"
    await check(endpoint)
