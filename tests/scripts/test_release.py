"""The checks of packages, the image and a release notice what they are for; `.ci/run` runs them on the real thing."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from scripts import image_check, package_check, release_check

ROOT = Path(__file__).resolve().parents[2]
GOOD = """\
FROM python:3.11-slim AS build
RUN pip install --require-hashes -r x.lock && \\
    pip install --no-deps .
FROM python:3.11-slim
USER hitherto
STOPSIGNAL SIGTERM
HEALTHCHECK CMD ["python"]
ENTRYPOINT ["hitherto"]
"""


def test_the_dockerfile_is_in_order() -> None:
    assert list(image_check.faults(image_check.steps((ROOT / "Dockerfile").read_text("utf-8")))) == []
    assert list(image_check.faults(image_check.steps(GOOD))) == []


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("python:3.11-slim AS", "python:latest AS", "name a version"),
        ("USER hitherto\n", "", "no USER"),
        ("USER hitherto", "USER root", "runs as root"),
        ('["hitherto"]', "hitherto", "JSON list"),
        ("--require-hashes -r x.lock", "fastapi", "locked with hashes"),
        ("USER hitherto", "RUN apt-get install curl\nUSER hitherto", "without recommendations"),
        ("USER hitherto", "ADD x /x\nUSER hitherto", "ADD"),
        ("HEALTHCHECK CMD", "LABEL a=b\nHEALTHCHECK CMD", "LABEL"),
    ],
)
def test_a_fault_of_a_dockerfile_is_named(old: str, new: str, says: str) -> None:
    assert old in GOOD
    assert any(says in fault for fault in image_check.faults(image_check.steps(GOOD.replace(old, new, 1))))


def test_a_wheel_that_forgets_a_file_is_noticed(tmp_path: Path) -> None:
    wheel = tmp_path / "hitherto-0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as made:
        made.writestr("hitherto/__init__.py", "")
        made.writestr("hitherto/leftover.txt", "")
        made.writestr("hitherto-0.dist-info/METADATA", "Name: hitherto")
    found = list(package_check.faults(wheel))
    assert "hitherto/engine.py is not in the wheel" in found
    assert "hitherto/leftover.txt is in the wheel, but not in the repository" in found
    assert "the licence is not in the wheel" in found
    assert "README is not the description" in found


def test_this_python_is_found() -> None:
    assert min(package_check.pythons()) >= package_check.LOWEST


def test_versions_agree() -> None:
    assert len(set(release_check.versions().values())) == 1, release_check.versions()


def test_versions_that_disagree_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release_check, "project_version", lambda: "9.9.9")
    assert any("versions disagree" in fault for fault in release_check.faults())


def test_what_is_left_to_the_owner_is_listed() -> None:
    assert any("sign the tag" in step for step in release_check.left())
