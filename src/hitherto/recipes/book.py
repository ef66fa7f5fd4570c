"""Recipes from files: the ones that come with the package, and the application's own."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, cast, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from rapidfuzz import process

from hitherto.errors import InvalidRecipe
from hitherto.recipes.model import Recipe

_BUNDLED = files("hitherto.recipes")
_DEEPEST = 8


def names() -> tuple[str, ...]:
    """The recipes that come with the package."""
    return tuple(
        sorted(entry.name.removesuffix(".toml") for entry in _BUNDLED.iterdir() if entry.name.endswith(".toml"))
    )


def load(source: str | Path) -> Recipe:
    """A recipe by its name, or from a TOML file."""
    if isinstance(source, str) and source in names():
        return _bundled(source)
    path = Path(source)
    if path.suffix != ".toml":
        near = _nearest(str(source), names())
        raise InvalidRecipe(
            f"there is no recipe {str(source)!r}{near}; recipes are {', '.join(names())}, or the path of a .toml file"
        )
    return parse(_read(path), origin=str(path), folder=path.parent)


def parse(text: str, *, origin: str = "recipe", folder: Path | None = None) -> Recipe:
    """A recipe from TOML text; what it extends is looked up by name, or by path from `folder`."""
    return check(_merged(text, origin=origin, folder=folder, depth=0), origin=origin)


def check(fields: Mapping[str, Any], *, origin: str = "recipe") -> Recipe:
    """A recipe from plain values, or an error that names the field and the nearest right one."""
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
    base = fields.pop("extends", None)
    if base is None:
        return fields
    if depth == _DEEPEST:
        raise InvalidRecipe(f"{origin} extends more than {_DEEPEST} recipes, perhaps itself")
    if base in names():
        below = _merged((_BUNDLED / f"{base}.toml").read_text("utf-8"), origin=base, folder=None, depth=depth + 1)
    elif isinstance(base, str) and folder is not None and base.endswith(".toml"):
        path = folder / base
        below = _merged(_read(path), origin=str(path), folder=path.parent, depth=depth + 1)
    else:
        raise InvalidRecipe(f"{origin} extends {base!r}, which is no recipe{_nearest(str(base), names())}")
    return _over(below, fields)


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
            return f"unknown field {where!r}{_nearest(str(detail['loc'][-1]), fields)}"
        case "missing":
            return f"field {where!r} is missing"
        case "literal_error":
            allowed = re.findall(r"'([^']*)'", str(context["expected"]))
            return f"{where}={detail['input']!r} is not allowed{_nearest(str(detail['input']), allowed)}"
        case "value_error":
            return f"{where + ': ' if where else ''}{context['error']}"
        case _:
            return f"{where}={detail['input']!r}: {detail['msg']}"


def _fields(path: tuple[int | str, ...]) -> tuple[str, ...]:
    """The fields of the part of a recipe that stands at this place."""
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


def _nearest(wrong: str, right: Sequence[str]) -> str:
    found = process.extractOne(wrong, right, score_cutoff=50)
    return f" (did you mean {found[0]!r}?)" if found else ""
