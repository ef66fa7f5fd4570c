"""docs/cli.md and docs/recipes.md say what the program and the recipe model are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import get_origin

import pytest
from pydantic import BaseModel

from hitherto.recipes.recipe import Recipe
from scripts import reference_pages


@pytest.mark.parametrize("page", sorted(reference_pages.pages()), ids=lambda page: page.name)
def test_the_page_is_up_to_date(page: Path) -> None:
    assert page.read_text("utf-8") == reference_pages.pages()[page], "run `make docs`"


def described(part: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Every field of the recipe model with its words."""
    for path, inner, annotation in reference_pages.parts_of(part, prefix):
        yield path, reference_pages.words(part, path)
        if inner is not None:
            yield from described(inner, f"{path}.NAME" if get_origin(annotation) is dict else path)


def test_every_field_of_a_recipe_is_described() -> None:
    assert [path for path, words in described(Recipe) if not words] == []


def test_no_words_are_left_for_a_field_that_is_gone() -> None:
    assert reference_pages.WORDS.keys() - {path for path, _ in described(Recipe)} == set()


def test_every_option_names_its_value() -> None:
    page = reference_pages.command_line()
    assert "| `--plain SIDE` |" in page
    assert " None`" not in page
