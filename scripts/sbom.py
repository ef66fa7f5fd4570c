"""The software bill of materials: what an installation of Hitherto consists of, from its hash-locked requirements.

    python scripts/sbom.py          writes sbom.cdx.json (CycloneDX 1.6) and docs/licences.md

Versions and hashes are those of the lock, licences those that the installed packages declare. A package that is not installed
here (another system's) is listed without a licence rather than left out.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

ROOT = Path(__file__).resolve().parent.parent
LOCKS = {name: ROOT / "requirements" / f"{name}.lock" for name in ("run", "test", "weights")}
_PINNED = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)(?:\[[^\]]*\])?==(?P<version>[^ ;\\]+)")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
UNKNOWN = "not declared"
ELSEWHERE = {
    "async-timeout": "Apache Software License",
    "colorama": "BSD License",
    "pywin32": "Python Software Foundation License",
    "tzdata": "Apache-2.0",
}
"""What packages declare that are installed on other systems or older Pythons only, as read from their wheels."""


@dataclass(frozen=True, slots=True)
class Package:
    """One locked package; `group` is the smallest lock that has it."""

    name: str
    version: str
    hashes: tuple[str, ...]
    licence: str
    group: str


def locked(text: str) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Names with their version and the hashes of every file that may be installed for it."""
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    for entry in re.split(r"\n(?=\S)", text):
        pinned = _PINNED.match(entry)
        if pinned:
            found[pinned["name"].lower()] = (pinned["version"], tuple(_HASH.findall(entry)))
    return found


def licence_of(name: str) -> str:
    """As the installed package says: its expression, its classifier, or the first line of its field."""
    try:
        about = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return ELSEWHERE.get(name, UNKNOWN)
    given = {field: about[field] for field in ("License-Expression", "License") if field in about}
    if "License-Expression" in given:
        return given["License-Expression"]
    classifiers = [c.rsplit(" :: ", 1)[1] for c in about.get_all("Classifier") or [] if c.startswith("License :: ")]
    named = [c for c in classifiers if c != "OSI Approved"]
    if named:
        return " OR ".join(sorted(named))
    return given.get("License", "").strip().split("\n")[0][:60] or UNKNOWN


def packages() -> list[Package]:
    found: dict[str, Package] = {}
    for group, path in LOCKS.items():
        for name, (version, hashes) in locked(path.read_text("utf-8")).items():
            found.setdefault(name, Package(name, version, hashes, licence_of(name), group))
    return sorted(found.values(), key=lambda package: package.name)


def bill(found: Iterable[Package], *, version: str) -> dict[str, object]:
    """CycloneDX; without a time, so that the same lock gives the same bytes."""
    components = [
        {
            "type": "library",
            "bom-ref": f"pkg:pypi/{package.name}@{package.version}",
            "name": package.name,
            "version": package.version,
            "purl": f"pkg:pypi/{package.name}@{package.version}",
            "scope": "required" if package.group == "run" else "optional",
            "hashes": [{"alg": "SHA-256", "content": digest} for digest in package.hashes],
            "licenses": [{"license": {"name": package.licence}}],
        }
        for package in found
    ]
    serial = uuid5(NAMESPACE_URL, json.dumps(components, sort_keys=True))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": f"pkg:pypi/hitherto@{version}",
                "name": "hitherto",
                "version": version,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            }
        },
        "components": components,
    }


def page(found: Iterable[Package]) -> str:
    rows = [f"| {p.name} | {p.version} | {p.licence} | {p.group} |" for p in found]
    return "\n".join(
        [
            "# Licences",
            "",
            "Written by `make sbom` from the locks and what the packages declare. `run` is what every installation has,",
            "`test` what the extras and the tests add, `weights` the package whose models the tests of `[onnx]` use.",
            "",
            "| package | version | licence | lock |",
            "|---|---|---|---|",
            *rows,
            "",
        ]
    )


def main() -> int:
    found = packages()
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    (ROOT / "sbom.cdx.json").write_text(json.dumps(bill(found, version=version), indent=1) + "\n", "utf-8")
    (ROOT / "docs" / "licences.md").write_text(page(found), "utf-8")
    missing = [package.name for package in found if package.licence == UNKNOWN]
    print(f"{len(found)} packages; without a declared licence here: {', '.join(missing) or 'none'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
