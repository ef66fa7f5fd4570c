from __future__ import annotations

import re

import pytest

from scripts import requirements_page
from scripts.requirements_page import Group, Proof, RequirementError, Row, find_marks, render

GROUPS = (Group(id="R9", title="Nine", rows=(Row("R9.1", "one | two"), Row("R9.2", "three"))),)


def test_marks_are_found_on_functions_classes_modules_and_parameters() -> None:
    source = """
pytestmark = pytest.mark.req("R9.1")

@pytest.mark.req("R9.2", "R9.3")
def test_plain(): ...

@pytest.mark.req("R9.4")
class TestMany:
    @pytest.mark.parametrize("case", [pytest.param(1, marks=pytest.mark.req("R9.5"))])
    async def test_inside(self, case): ...
"""
    assert sorted(find_marks(source, file="t.py")) == [
        ("R9.1", Proof("t.py", "all of it")),
        ("R9.2", Proof("t.py", "test_plain")),
        ("R9.3", Proof("t.py", "test_plain")),
        ("R9.4", Proof("t.py", "TestMany")),
        ("R9.5", Proof("t.py", "TestMany::test_inside")),
    ]


def test_a_mark_with_a_computed_id_is_refused() -> None:
    with pytest.raises(RequirementError, match=r"t\.py:1.*plain strings"):
        list(find_marks("pytestmark = pytest.mark.req(ROW)", file="t.py"))


def test_the_page_shows_proofs_and_open_rows() -> None:
    page = render(GROUPS, {"R9.1": [Proof("tests/a.py", "test_x"), Proof("tests/a.py", "test_y")]})
    assert "1 of 2 rows have a test" in page
    assert r"| R9.1 | one \| two | [tests/a.py](../tests/a.py): `test_x`, `test_y` |" in page
    assert page.endswith("## Open\n\n- R9.2: three\n")


def test_a_page_without_open_rows_says_so() -> None:
    assert render(GROUPS, {row.id: [Proof("t.py", "test")] for row in GROUPS[0].rows}).endswith("## Open\n\nNothing.\n")


def test_every_row_has_an_id_of_its_group_in_order_and_a_text() -> None:
    groups = requirements_page.read_groups(requirements_page.ROWS.read_text("utf-8"))
    for group in groups:
        assert [row.id for row in group.rows] == [f"{group.id}.{n}" for n in range(1, len(group.rows) + 1)]
        assert all(row.text.strip() for row in group.rows)
    assert [group.id for group in groups] == ["R0", "R1", "R2", "R3", "R4"]


def test_every_mark_names_a_row() -> None:
    known = {
        row.id
        for group in requirements_page.read_groups(requirements_page.ROWS.read_text("utf-8"))
        for row in group.rows
    }
    unknown = {id_: proofs for id_, proofs in requirements_page.collect_marks().items() if id_ not in known}
    assert not unknown


def test_the_page_is_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    assert requirements_page.main(["--check"]) == 0, capsys.readouterr().err


def test_an_out_of_date_page_is_noticed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(requirements_page, "collect_marks", dict[str, list[Proof]])
    monkeypatch.setattr(requirements_page, "PAGE", requirements_page.ROWS)
    assert requirements_page.main(["--check"]) == 1
    assert re.search("make docs", capsys.readouterr().err)
