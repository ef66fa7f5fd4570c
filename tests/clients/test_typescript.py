"""The TypeScript client: generated, compiled strictly and driven by Node against the real service, as its users would."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
from asyncio.subprocess import PIPE
from collections.abc import Generator
from pathlib import Path

import pytest

from hitherto import Hitherto
from hitherto.calls import calls_of
from tests.architecture.source import SOURCE
from tests.deliver.http.server import Server, serving
from tests.deliver.openai.upstream import FakeUpstream, listening

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "clients" / "typescript"
NPM = shutil.which("npm")
pytestmark = [
    pytest.mark.skipif(NPM is None, reason="Node with npm is not installed: the TypeScript client is not tested"),
    pytest.mark.xdist_group("typescript"),
]


def run(*command: str, cwd: Path = CLIENT, **variables: str) -> str:
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **variables}, capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def client() -> Path:
    """The client's folder, with its packages installed and its code compiled from the description of today's service."""
    run("npm", "ci", "--silent")
    described = run(sys.executable, str(ROOT / "scripts" / "openapi.py"), cwd=ROOT, PYTHONPATH=str(SOURCE))
    (CLIENT / "openapi.json").write_text(described, "utf-8")
    run("npm", "run", "--silent", "build")
    return CLIENT


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    with serving(tmp_path_factory.mktemp("typescript"), HITHERTO_RATE="0") as running:
        yield running


def test_the_client_has_every_call_that_the_service_offers() -> None:
    written = set(
        re.findall(r"^  (?:async )?(\w+)[<(]", (CLIENT / "src" / "client.ts").read_text("utf-8"), re.MULTILINE)
    )
    offered = {name for name, call in calls_of(Hitherto).items() if call.reason is None}
    named = {re.sub("_([a-z])", lambda found: found[1].upper(), name) for name in offered}
    assert named <= written


@pytest.mark.client(
    "openapi-typescript", "npm:openapi-typescript", "types of our OpenAPI, compiled in the strictest form"
)
def test_the_description_compiles_in_the_strictest_form(client: Path) -> None:
    run(
        "npx", "tsc", "--noEmit", "--strict", "--skipLibCheck", "false", "--typeRoots", "none", "src/api.ts", cwd=client
    )


@pytest.mark.client(
    "@hey-api/openapi-ts", "npm:@hey-api/openapi-ts", "a client generated from our OpenAPI, compiled strictly"
)
def test_another_generators_client_compiles_strictly_with_readable_names(client: Path, tmp_path: Path) -> None:
    run(
        *("npx", "openapi-ts", "--input", "openapi.json", "--output", str(tmp_path), "--silent"),
        *("--plugins", "@hey-api/typescript", "@hey-api/sdk", "@hey-api/client-fetch"),
        cwd=client,
    )
    settings = ("--strict", "--noEmit", "--skipLibCheck", "--target", "es2022", "--module", "nodenext")
    run("npx", "tsc", *settings, "--lib", "es2023,dom,dom.iterable", str(tmp_path / "index.ts"), cwd=client)
    named = set(re.findall(r"export const (\w+)", (tmp_path / "sdk.gen.ts").read_text("utf-8")))
    assert {"record", "context", "search", "memories", "forgetTurn"} <= named
    assert not [name for name in named if "V1" in name]


@pytest.mark.parametrize("suite", ["client", "ai-sdk"])
def test_the_client_works_against_the_real_service(client: Path, server: Server, suite: str) -> None:
    said = run(
        *("node", "--test", "--test-timeout=120000", f"dist/test/{suite}.test.js"),
        cwd=client,
        HITHERTO_URL=server.url,
        HITHERTO_KEY=server.token(),
    )
    assert "# fail 0" in said
    assert "# pass 0" not in said


async def test_the_example_bot_understands_yes_on_its_second_run(client: Path, server: Server) -> None:
    upstream = FakeUpstream(answers=["Shall I remind you to buy flour?", "Then I will."])
    async with listening(upstream.app) as address:
        own = {"HITHERTO_URL": server.url, "HITHERTO_KEY": server.token(), "OPENAI_BASE_URL": f"{address}/v1"}
        for said, answer in (("I bake a cake for Acme", "Shall I remind you to buy flour?"), ("yes", "Then I will.")):
            bot = await asyncio.create_subprocess_exec(
                "node", "dist/examples/bot.js", "ana", cwd=client, env={**os.environ, **own, "OPENAI_API_KEY": "x"},
                stdin=PIPE, stdout=PIPE, stderr=PIPE,
            )  # fmt: skip
            async with asyncio.timeout(120):
                out, err = await bot.communicate(f"{said}\n".encode())
            assert bot.returncode == 0, err.decode()
            assert f"Nikita: {answer}" in out.decode()
    told = [(message["role"], message["content"]) for message in upstream.messages]
    assert told[0][0] == "system"
    assert told[1:] == [
        ("user", "I bake a cake for Acme"), ("assistant", "Shall I remind you to buy flour?"), ("user", "yes"),
    ]  # fmt: skip
