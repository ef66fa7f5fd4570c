"""Commands for recipes: list, show, check, save."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hitherto.deliver.cli.call import Call
from hitherto.errors import InvalidInput

if TYPE_CHECKING:
    from hitherto.recipes.recipe import Recipe


def listed(call: Call) -> None:
    """List the recipes that come with Hitherto, and those that were saved."""
    from hitherto.deliver.cli import tables

    found = _nameable(call)
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
    from hitherto.deliver.cli import tables
    from hitherto.recipes import book

    saved = [one for one in _nameable(call) if one.name == recipe]
    found = saved[0] if saved else book.load(recipe)
    call.answer(found.model_dump(mode="json"), lambda: tables.recipe(found))


def checked(
    call: Call,
    *,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A recipe in TOML.", exists=True, dir_okay=False)],
) -> None:
    """Check a recipe of your own.

    An error names the field and the nearest right one.
    """
    from hitherto.recipes import book

    found = book.load(file)
    absent = _absent(found)
    words = f"{file.name}: recipe {found.name!r} is valid, {found.total.target:,} to {found.total.cap:,} tokens"
    call.answer(
        {"name": found.name, "valid": True, "hash": found.hash, "absent": absent}, lambda: "\n".join([words, *absent])
    )


def _absent(recipe: "Recipe") -> list[str]:
    """The sources of its sections that no installed package declares; the application may still pass them."""
    from hitherto.assemble.sections.application import Sources

    found: list[str] = []
    for name, own in recipe.sections.items():
        if own.source:
            try:
                Sources().find(own.source)
            except InvalidInput as error:
                found.append(
                    f"In Python, pass sections={{{own.source!r}: …}}. The command line and the service cannot fill section"
                    f" {name!r}: {error}"
                )
    return found


def saved(
    call: Call,
    *,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A recipe in TOML.", exists=True, dir_okay=False)],
) -> None:
    """Save a recipe of your own in the memory, to use it by name like any other.

    A name that was saved before gets a new version.
    """
    from hitherto.recipes import book

    with call.memory(create=True) as memory:
        kept = memory.define_recipe(book.load(file))
    call.answer({"name": kept.name, "hash": kept.hash}, lambda: f"recipe {kept.name!r} is saved")


def _nameable(call: Call) -> "list[Recipe]":
    """What comes with Hitherto and, where there is a memory, what was saved in it."""
    from hitherto import store
    from hitherto.recipes import book

    if not store.exists(call.data):
        return [book.load(name) for name in book.names()]
    with call.memory() as memory:
        return memory.recipes()
