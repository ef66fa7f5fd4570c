"""A clone works anywhere: no file names somebody's machine, and the locks hold for every machine."""

from __future__ import annotations

import re
import tomllib

import pytest

from tests.architecture.source import ROOT, project_files

# Written so that this file does not match itself.
MACHINE = re.compile(
    r"""(?<![\w.<{])/(?:[r]oot|[w]ork|[o]pt)/\w   # folders of one machine
    | (?<![\w.<{])/(?:[h]ome|[U]sers)/\w          # somebody's home
    | \b[A-Z]:\\[U]sers\\
    | [f]ile:///
    | \b(?:[p]ypi\.org|[p]ythonhosted\.org|[n]pmjs\.(?:org|com)|[a]rtifactory\b)
    | --(?:extra-)?[i]ndex-url | --[f]ind-links
    """,
    re.VERBOSE,
)
PINNED = re.compile(r"^([a-z0-9-]+)==([^ ;\\]+)", re.MULTILINE)


def lock(name: str) -> str:
    return (ROOT / "requirements" / name).read_text("utf-8")


def pins(name: str) -> set[tuple[str, str]]:
    return set(PINNED.findall(lock(name)))


def project_names(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[<>=~! ;]", requirement)[0].lower() for requirement in requirements}


def test_no_file_names_a_machine() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in project_files()
        for match in MACHINE.finditer(path.read_bytes().decode("utf-8", "ignore"))
    ]
    assert found == []


@pytest.mark.parametrize("text", ["/" + "root/x", "cd /" + "home/ana/memories", "fi" + "le:///x", "py" + "pi.org"])
def test_machine_names_are_noticed(text: str) -> None:
    assert MACHINE.search(text)


@pytest.mark.parametrize("text", ["tests/work/test_lease.py", "src/hitherto/work/worker.py", "./home/x", "root:42"])
def test_paths_of_the_project_are_not(text: str) -> None:
    assert not MACHINE.search(text)


@pytest.mark.parametrize("name", ["run.lock", "serve.lock", "test.lock", "dev.lock", "weights.lock"])
def test_everything_locked_is_pinned_with_hashes(name: str) -> None:
    entries = re.split(r"\n(?=\S)", lock(name).strip())
    entries = [entry for entry in entries if not entry.startswith("#")]
    assert entries
    assert [entry for entry in entries if not PINNED.match(entry) or "--hash=sha256:" not in entry] == []


def test_the_locks_agree() -> None:
    assert pins("run.lock") <= pins("serve.lock") <= pins("test.lock") <= pins("dev.lock")


def test_the_locks_hold_what_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    core = project_names(project["project"]["dependencies"])
    groups = project["dependency-groups"]
    assert core | project_names(groups["build"]) <= {name for name, _ in pins("run.lock")}
    assert project_names(groups["test"]) <= {name for name, _ in pins("test.lock")}
    assert project_names(groups["lint"]) <= {name for name, _ in pins("dev.lock")}
