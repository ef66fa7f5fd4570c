"""Says whether this tree could be published, and what is left to its owner.

    python scripts/release_check.py

Fails where versions disagree, where the SBOM or the licences are not those of the locks, or where something is forgotten. What
only the owner can do (a date, a tag, a signature, the upload) is listed, not done.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts import sbom

ROOT = Path(__file__).resolve().parent.parent
SECTION = re.compile(r"^## \[(?P<version>[^\]]+)\](?: - (?P<date>.+))?$", re.MULTILINE)
DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
REFUSED = ("AGPL", "GPL-3", "GPL-2", "SSPL", "Commons Clause", "BUSL")
"""Licences that an Apache-2.0 package cannot bring along when it is installed (LGPL is none of them)."""


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def project_version() -> str:
    return str(tomllib.loads(read("pyproject.toml"))["project"]["version"])


def versions() -> dict[str, str]:
    """The version as each file says it."""
    init = re.search(r'^__version__ = "([^"]+)"$', read("src/hitherto/__init__.py"), re.MULTILINE)
    newest = SECTION.search(read("CHANGELOG.md"))
    listed = json.loads(read("sbom.cdx.json"))["metadata"]["component"]["version"]
    return {
        "pyproject.toml": project_version(),
        "src/hitherto/__init__.py": init[1] if init else "missing",
        "CHANGELOG.md": newest["version"] if newest else "missing",
        "sbom.cdx.json": str(listed),
        "clients/typescript/package.json": str(json.loads(read("clients/typescript/package.json"))["version"]),
    }


def faults() -> Iterator[str]:
    """What has to be mended before anything is published."""
    found = versions()
    if len(set(found.values())) > 1:
        yield "versions disagree: " + ", ".join(f"{name} {version}" for name, version in found.items())
    components = {(part["name"].lower(), part["version"]) for part in json.loads(read("sbom.cdx.json"))["components"]}
    locked = {
        (name, version)
        for path in sbom.LOCKS.values()
        for name, (version, _) in sbom.locked(path.read_text("utf-8")).items()
    }
    for name, version in sorted(locked - components):
        yield f"{name} {version} is locked, but not in sbom.cdx.json: run `make sbom`"
    for name, version in sorted(components - locked):
        yield f"{name} {version} is in sbom.cdx.json, but not locked: run `make sbom`"
    shipped = sbom.locked(sbom.LOCKS["run"].read_text("utf-8"))
    for part in json.loads(read("sbom.cdx.json"))["components"]:
        if part["name"].lower() not in shipped:
            continue
        told = json.dumps(part.get("licenses", []))
        if any(word in told and "LGPL" not in told for word in REFUSED):
            yield f"{part['name']}: its licence {told} does not go with ours"
    for name in ("LICENSE", "README.md", "SECURITY.md", "CONTRIBUTING.md", "docs/licences.md"):
        if not (ROOT / name).is_file():
            yield f"{name} is missing"
    if "TODO" in read("CHANGELOG.md"):
        yield "CHANGELOG.md holds a TODO"


def left() -> Iterator[str]:
    """What only the owner does."""
    version, newest = project_version(), SECTION.search(read("CHANGELOG.md"))
    if newest is not None and not DATE.fullmatch(newest["date"] or ""):
        yield f"date the section [{version}] of CHANGELOG.md (it says {newest['date']!r})"
    status = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True)
    if status.stdout:
        yield "commit what is changed: a release is a commit"
    tags = subprocess.run(["git", "tag", "--list", f"v{version}"], cwd=ROOT, capture_output=True, text=True, check=True)
    if not tags.stdout:
        yield f"sign the tag: git tag --sign v{version}"
    yield "build from the tag: make package, which leaves both archives in dist/"
    yield "sign dist/* and sbom.cdx.json with your key, and upload them"


def main() -> int:
    wrong = list(faults())
    for fault in wrong:
        print(f"WRONG  {fault}")
    if not wrong:
        print(f"Hitherto {project_version()}: versions, changelog, SBOM and licences agree.")
    print("Left to the owner:")
    for number, step in enumerate(left(), start=1):
        print(f"  {number}. {step}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
