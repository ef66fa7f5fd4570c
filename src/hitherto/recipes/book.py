"""Recipes by name: bundled ones, files of the application, and those that a tenant saved."""

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, cast, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from hitherto.errors import InvalidInput, InvalidRecipe, StoreError, near
from hitherto.recipes.recipe import Recipe
from hitherto.store.catalog import Catalog, Document

_BUNDLED = files("hitherto.recipes")
_DEEPEST = 8


@cache
def names() -> tuple[str, ...]:
    """The bundled recipes."""
    return tuple(
        sorted(entry.name.removesuffix(".toml") for entry in _BUNDLED.iterdir() if entry.name.endswith(".toml"))
    )


def load(source: str | Path) -> Recipe:
    """A recipe by its name, or from a TOML file."""
    if isinstance(source, str) and source in names():
        return _bundled(source)
    if not isinstance(source, (str, Path)):  # pyright: ignore[reportUnnecessaryIsInstance] -- callers are untyped too
        raise InvalidRecipe(f"recipe={source!r} is neither a name, nor the path of a .toml file, nor a Recipe")
    path = Path(source)
    if path.suffix != ".toml":
        raise InvalidRecipe(
            f"there is no recipe {str(source)!r}{near(str(source), names())};"
            f" recipes are {', '.join(names())}, or the path of a .toml file"
        )
    return parse(_read(path), origin=str(path), folder=path.parent)


def parse(text: str, *, origin: str = "recipe", folder: Path | None = None) -> Recipe:
    """A recipe from TOML text; the recipe it extends is looked up by name, or by path from `folder`."""
    return check(_merged(text, origin=origin, folder=folder, depth=0), origin=origin)


def check(fields: Mapping[str, Any], *, origin: str = "recipe") -> Recipe:
    """A recipe from plain values, or an error that names the field and the nearest valid one."""
    try:
        return Recipe.model_validate(dict(fields))
    except ValidationError as error:
        details = sorted(error.errors(), key=lambda detail: detail["type"] != "extra_forbidden")
        raise InvalidRecipe(f"{origin}: " + "; ".join(_words(detail) for detail in details)) from error


@cache
def _bundled(name: str) -> Recipe:
    return parse((_BUNDLED / f"{name}.toml").read_text("utf-8"), origin=name)


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRecipe(f"the recipe {str(path)!r} cannot be read: {error}") from error


def _merged(text: str, *, origin: str, folder: Path | None, depth: int) -> dict[str, Any]:
    try:
        fields = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidRecipe(f"{origin} is not TOML: {error}") from error
    base, left_out = fields.pop("extends", None), fields.pop("without", [])
    if base is None:
        if left_out:
            raise InvalidRecipe(
                f"{origin}: without= leaves out sections of the recipe that it extends; it extends none"
            )
        return fields
    if depth == _DEEPEST:
        raise InvalidRecipe(f"{origin} extends more than {_DEEPEST} recipes, perhaps itself")
    if base in names():
        below = _merged((_BUNDLED / f"{base}.toml").read_text("utf-8"), origin=base, folder=None, depth=depth + 1)
    elif isinstance(base, str) and folder is not None and base.endswith(".toml"):
        path = folder / base
        below = _merged(_read(path), origin=str(path), folder=path.parent, depth=depth + 1)
    else:
        raise InvalidRecipe(f"{origin} extends {base!r}, which is no recipe{near(str(base), names())}")
    below = _left_out(below, left_out, origin=origin)
    merged = _over(below, fields)
    _check_order(below, merged, origin=origin)
    return merged


def _check_order(below: Mapping[str, Any], merged: Mapping[str, Any], *, origin: str) -> None:
    """Refuses an order that drops sections which the extended recipe still budgets or trims; all of them at once."""
    order = merged["order"]
    if order == below["order"] or not isinstance(order, list):
        return
    named = {section for group in merged["groups"].values() for section in group.get("sections", ())}
    named |= {"notice", *merged.get("tail", ()), *merged.get("trim", ()), *merged.get("last_resort", ())}
    if missing := [section for section in below["order"] if section in named and section not in order]:
        raise InvalidRecipe(
            f"{origin}: order is the whole list, and {', '.join(missing)} are missing from it;"
            " name them too (`without` leaves out sections that a context can do without)"
        )


def _left_out(below: dict[str, Any], sections: object, *, origin: str) -> dict[str, Any]:
    """A recipe's fields without these sections, wherever they are named; a group that has no others is removed."""
    if not isinstance(sections, list):
        raise InvalidRecipe(f'{origin}: without is a list of sections, such as ["today"]')
    order: list[str] = below["order"]
    for section in cast("list[object]", sections):
        if section not in order:
            raise InvalidRecipe(
                f"{origin}: without names {section!r}, which is not in order{near(str(section), order)}"
            )

    def kept(named: Iterable[str]) -> list[str]:
        return [section for section in named if section not in sections]

    lists = {name: kept(below[name]) for name in ("order", "tail", "trim", "last_resort") if name in below}
    groups = {name: {**group, "sections": kept(group["sections"])} for name, group in below["groups"].items()}
    return {**below, **lists, "groups": {name: group for name, group in groups.items() if group["sections"]}}


def _over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = dict(below)
    for name, value in above.items():
        under, over = _table(result.get(name)), _table(value)
        result[name] = value if under is None or over is None else _over(under, over)
    return result


def _table(value: object) -> Mapping[str, Any] | None:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else None


def _words(detail: ErrorDetails) -> str:
    """One validation error in words."""
    where = ".".join(str(step) for step in detail["loc"])
    context = detail.get("ctx", {})
    match detail["type"]:
        case "extra_forbidden":
            fields = _fields(detail["loc"][:-1])
            return f"unknown field {where!r}{near(str(detail['loc'][-1]), fields)}"
        case "missing":
            return f"field {where!r} is missing"
        case "literal_error":
            allowed = re.findall(r"'([^']*)'", str(context["expected"]))
            return f"{where}={detail['input']!r} is not allowed{near(str(detail['input']), allowed)}"
        case "value_error":
            return f"{where + ': ' if where else ''}{context['error']}"
        case _:
            return f"{where}={detail['input']!r}: {detail['msg']}"


def _fields(path: tuple[int | str, ...]) -> tuple[str, ...]:
    """The fields of the recipe part at this place."""
    here: object = Recipe
    for step in path:
        if get_origin(here) is dict:
            here = get_args(here)[1]
        elif model := _model(here):
            here = model.model_fields[str(step)].annotation
    model = _model(here)
    return tuple(model.model_fields) if model else ()


def _model(annotation: object) -> type[BaseModel] | None:
    return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None


# --- saved in the catalog under a name, versioned, and from then on named like any other ---------------------------------

KIND: Final = "recipe"
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class Chosen:
    """The recipe of a context, and any warning about it."""

    recipe: Recipe
    warnings: tuple[str, ...] = ()


class SavedRecipes:
    """The recipes that a tenant has saved."""

    def __init__(self, catalog: Catalog, *, tenant: str) -> None:
        self._catalog = catalog
        self._tenant = tenant

    async def define(self, recipe: Recipe, *, now: datetime) -> Recipe:
        """Saves a new version, unless the newest says the same."""
        if not isinstance(recipe, Recipe):  # pyright: ignore[reportUnnecessaryIsInstance] -- callers are untyped too
            raise InvalidInput(
                f"define_recipe takes a Recipe, not a {type(recipe).__name__}; hitherto.recipes.book.load reads one from a file"
            )
        if _NAME.fullmatch(recipe.name) is None:
            raise InvalidInput(
                f"{recipe.name!r} cannot be a recipe's name; use lower-case letters, digits, hyphens and underscores"
            )
        if recipe.name in names():
            raise InvalidInput(f"{recipe.name!r} comes with Hitherto and cannot be replaced; choose another name")
        # Checked again from its fields: a copy with changed fields may carry the canonical text of its original.
        body = check(recipe.model_dump(mode="json"), origin=recipe.name).canonical
        return _recipe_of(await self._catalog.put(self._tenant, KIND, recipe.name, body, at=now))

    async def all(self) -> list[Recipe]:
        return [_recipe_of(document) for document in await self._catalog.documents(self._tenant, KIND)]

    async def chosen(self, name: str, *, usual: Recipe) -> Chosen:
        """The recipe of that name: a bundled one, a saved one, or a file. If the catalog cannot be read, the usual recipe
        is used, with a warning: the conversation goes on."""
        if name in names() or _NAME.fullmatch(name) is None:
            return Chosen(load(name))
        try:
            found = await self._catalog.documents(self._tenant, KIND, [name])
        except StoreError as error:
            return Chosen(usual, (f"recipe {name!r} could not be read, {usual.name!r} is used: {error}",))
        return Chosen(_recipe_of(found[0]) if found else load(name))


def _recipe_of(document: Document) -> Recipe:
    return check(json.loads(document.body), origin=document.name)
