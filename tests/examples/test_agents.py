"""The examples for agents run as they are."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from examples import mcp_session, openai_client
from tests.architecture.source import SOURCE
from tests.deliver.openai.conftest import serving
from tests.deliver.openai.upstream import FakeUpstream

LONGEST = 150


async def test_a_plain_openai_client_through_the_endpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    upstream = FakeUpstream(answers=["How exciting!", "Yes.", "Because of Mukesh."])
    async with serving(tmp_path, upstream) as endpoint:
        _, key = await endpoint.keys.create()
        monkeypatch.setenv("HITHERTO_URL", endpoint.url)
        monkeypatch.setenv("HITHERTO_KEY", key)
        answers = await asyncio.to_thread(openai_client.main)
        assert answers == ["How exciting!", "Yes.", "Because of Mukesh."]
        sent = [message["content"] for message in upstream.messages[1:]]
        assert sent == [openai_client.SAID[0], "How exciting!", openai_client.SAID[1], "Yes.", "why?"]


async def test_an_mcp_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(SOURCE))
    told = await mcp_session.main(tmp_path / "m")
    assert "Mukesh" in told[0]
    assert "Ana's boss is called Mukesh" in told[1]


async def test_the_session_of_the_agents_sdk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")
    from agents.models.openai_responses import OpenAIResponsesModel
    from openai import AsyncOpenAI

    from examples import openai_agents_session
    from tests.deliver.openai.upstream import listening

    upstream = FakeUpstream(answers=["Good luck!", "At Acme."])
    async with (
        listening(upstream.app) as address,
        AsyncOpenAI(base_url=f"{address}/v1", api_key="x") as client,
    ):
        model = OpenAIResponsesModel(model="small", openai_client=client)
        answers = [
            await openai_agents_session.main(tmp_path / "m", said, model=model)
            for said in ("I start at Acme on Monday!", "Where do I start?")
        ]
    assert answers == ["Good luck!", "At Acme."]
    sent = [(item["role"], item["content"]) for item in upstream.asked[1]["input"]]
    assert sent == [("user", "I start at Acme on Monday!"), ("assistant", "Good luck!"), ("user", "Where do I start?")]


@pytest.mark.parametrize("name", ["langgraph_memory", "openai_agents_session"])
def test_an_adapter_stays_small(name: str) -> None:
    lines = (Path(__file__).parents[2] / "examples" / f"{name}.py").read_text("utf-8").splitlines()
    assert len(lines) < LONGEST
