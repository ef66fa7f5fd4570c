"""docs/cli.md and docs/recipes.md say what the program and the recipe model are."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import reference_pages


@pytest.mark.parametrize("page", sorted(reference_pages.pages()), ids=lambda page: page.name)
def test_the_page_is_up_to_date(page: Path) -> None:
    assert page.read_text("utf-8") == reference_pages.pages()[page], "run `make docs`"


def test_every_field_of_a_recipe_is_described() -> None:
    text = reference_pages.recipe_reference()
    for part, notes in reference_pages.field_notes().items():
        for field, note in notes.items():
            assert note, f"{part}.{field} has no words"
            assert f"| `{field}` |" in text
