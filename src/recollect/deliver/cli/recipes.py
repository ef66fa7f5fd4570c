"""Commands for recipes: list, show, check."""

from pathlib import Path
from typing import Annotated

import typer

from recollect.deliver.cli.call import Call


def listed(call: Call) -> None:
    """List the recipes that come with Recollect."""
    from recollect.assemble import recipe_book as recipes
    from recollect.deliver.cli import tables

    found = [recipes.load(name) for name in recipes.names()]
    rows = [
        {
            "name": recipe.name,
            "description": recipe.description,
            "target": recipe.total.target,
            "cap": recipe.total.cap,
            "reserve": recipe.total.reserve,
            "sections": list(recipe.arranged),
        }
        for recipe in found
    ]
    call.answer(rows, lambda: tables.recipes(found))


def shown(
    call: Call,
    *,
    recipe: Annotated[str, typer.Argument(metavar="NAME|FILE", help="A recipe's name, or its TOML file.")],
) -> None:
    """Show a recipe whole, with what it inherits."""
    from recollect.assemble import recipe_book as recipes
    from recollect.deliver.cli import tables

    found = recipes.load(recipe)
    call.answer(found.model_dump(mode="json"), lambda: tables.recipe(found))


def checked(
    call: Call,
    *,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A recipe in TOML.", exists=True, dir_okay=False)],
) -> None:
    """Check a recipe of your own.

    An error names the field and the nearest right one.
    """
    from recollect.assemble import recipe_book as recipes

    found = recipes.load(file)
    call.answer(
        {"name": found.name, "valid": True, "hash": found.hash},
        lambda: f"{file.name}: recipe {found.name!r} is valid, {found.total.target:,} to {found.total.cap:,} tokens",
    )
