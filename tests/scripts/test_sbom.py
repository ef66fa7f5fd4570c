"""The bill of materials and the page of licences say what the locks say."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from scripts import sbom

ROOT = Path(__file__).parents[2]
BILL: dict[str, Any] = json.loads((ROOT / "sbom.cdx.json").read_text("utf-8"))
COMPONENTS = {one["name"]: one for one in BILL["components"]}
LOCKS = sorted((ROOT / "requirements").glob("*.lock"))
AGAIN = "run: make sbom"


def _locked(path: Path) -> dict[str, tuple[str, tuple[str, ...]]]:
    return sbom.locked(path.read_text("utf-8"))


@pytest.mark.promise("supply chain: locked with hashes", tries=len(LOCKS), pure=True)
def test_everything_is_pinned_with_hashes() -> None:
    assert {path.stem for path in LOCKS} == {"clients", "run", "serve", "test", "dev", "weights"}
    for path in LOCKS:
        lines = [line for line in path.read_text("utf-8").splitlines() if line and not line.startswith(("#", " "))]
        packages = _locked(path)
        assert len(packages) == len({line.partition("==")[0].partition("[")[0].lower() for line in lines})
        assert [name for name, (_, hashes) in packages.items() if not hashes] == []


@pytest.mark.promise("supply chain: locked with hashes", tries=len(COMPONENTS), pure=True)
def test_the_bill_is_that_of_the_locks() -> None:
    expected = {name: entry for path in sbom.LOCKS.values() for name, entry in _locked(path).items()}
    found = {
        name: (one["version"], tuple(digest["content"] for digest in one["hashes"])) for name, one in COMPONENTS.items()
    }
    assert found == expected, AGAIN
    required = {name for name, one in COMPONENTS.items() if one["scope"] == "required"}
    assert required == _locked(sbom.LOCKS["run"]).keys(), AGAIN
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert BILL["metadata"]["component"]["version"] == project["version"], AGAIN


def test_what_is_served_is_in_the_bill() -> None:
    """The service's own lock is a part of the one that the bill is made from."""
    assert _locked(ROOT / "requirements" / "serve.lock").items() <= _locked(sbom.LOCKS["test"]).items()


def test_the_page_of_licences_is_that_of_the_bill() -> None:
    page = (ROOT / "docs" / "licences.md").read_text("utf-8")
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| ") and "==" not in line]
    listed = {name: (version, licence) for name, version, licence, _ in rows[1:]}
    billed = {name: (one["version"], one["licenses"][0]["license"]["name"]) for name, one in COMPONENTS.items()}
    assert listed == billed, AGAIN


def test_every_installation_knows_its_licences() -> None:
    """What everybody installs declares one, and none that asks a product to open its own source."""
    licences = {
        name: one["licenses"][0]["license"]["name"] for name, one in COMPONENTS.items() if one["scope"] == "required"
    }
    unknown = [name for name, licence in licences.items() if licence == sbom.UNKNOWN]
    assert unknown == [], AGAIN
    strong = [name for name, licence in licences.items() if "GPL" in licence.upper().replace("LGPL", "")]
    assert strong == []


def test_a_lock_is_read_with_extras_markers_and_all_hashes() -> None:
    text = (
        "# made by make lock\n"
        f"Some-Thing[extra]==1.2.3 ; python_version >= '3.11' \\\n    --hash=sha256:{'a' * 64} \\\n"
        f"    --hash=sha256:{'b' * 64}\nother==2 \\\n    --hash=sha256:{'c' * 64}\n"
    )
    assert sbom.locked(text) == {"some-thing": ("1.2.3", ("a" * 64, "b" * 64)), "other": ("2", ("c" * 64,))}
