"""The TypeScript client: generated, compiled strictly and driven by Node against the real service, as its users would."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.architecture.source import SOURCE
from tests.deliver.http.server import Server, serving

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


def test_the_description_compiles_in_the_strictest_form(client: Path) -> None:
    run(
        "npx", "tsc", "--noEmit", "--strict", "--skipLibCheck", "false", "--typeRoots", "none", "src/api.ts", cwd=client
    )


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
