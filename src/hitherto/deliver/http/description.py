"""The OpenAPI description, made fit for generators of clients: operations are called as in the library, schemas have names
that a programmer would choose, and any JSON value is just that instead of a type that refers to itself."""

import re
from collections.abc import Callable, Mapping
from typing import Any, cast

from fastapi import FastAPI
from fastapi.routing import APIRoute

from hitherto.deliver.http.gate import is_open

_ANY_JSON = re.compile(r"(Json|Value)(-Input|-Output)?")
_LONG = re.compile(r"\w+__(\w+)")


def operation_id(route: APIRoute) -> str:
    """`set_user` is `setUser`; the one behind a route that deletes or reads a single record says so in its function's name."""
    first, *rest = route.name.split("_")
    return first + "".join(word.title() for word in rest)


def describe(app: FastAPI) -> None:
    """Puts the finished description in the place of FastAPI's own."""
    made: Callable[[], dict[str, Any]] = app.openapi
    finished: dict[str, Any] = {}

    def described() -> dict[str, Any]:
        if not finished:
            finished.update(_renamed(made()))
            _require_answers(finished)
            finished["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
            for path, methods in finished["paths"].items():
                for route in methods.values():
                    route["security"] = [] if is_open(path) else [{"key": []}]
        return finished

    app.openapi = described


def _renamed(api: Mapping[str, Any]) -> dict[str, Any]:
    """The description with its schemas under better names, wherever one refers to them."""
    schemas: Mapping[str, Any] = api["components"]["schemas"]
    names = {name: _name(name) for name in schemas}

    def told(value: Any) -> Any:
        if isinstance(value, list):
            return [told(entry) for entry in cast("list[Any]", value)]
        if not isinstance(value, dict):
            return value
        given = cast("dict[str, Any]", value)
        reference = given.get("$ref")
        if isinstance(reference, str):
            return {"$ref": f"#/components/schemas/{names[reference.rpartition('/')[2]]}"}
        return {key: told(entry) for key, entry in given.items()}

    renamed = {names[name]: told(schema) for name, schema in schemas.items()}
    renamed["Json"] = {"description": "Any JSON value."}
    return {**told({k: v for k, v in api.items() if k != "components"}), "components": {"schemas": renamed}}


def _require_answers(api: Mapping[str, Any]) -> None:
    """What only answers hold is there in every answer, whether or not the value is its default."""
    schemas: dict[str, Any] = api["components"]["schemas"]
    routes = [route for methods in api["paths"].values() for route in methods.values()]
    asked = _reached([route.get("requestBody") for route in routes], schemas)
    for name in _reached([route["responses"] for route in routes], schemas) - asked:
        if properties := schemas[name].get("properties"):
            schemas[name]["required"] = list(properties)


def _reached(value: Any, schemas: Mapping[str, Any]) -> set[str]:
    """The names of the schemas that a part of the description refers to, by however many steps."""
    found: set[str] = set()
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += cast("list[Any]", part)
        elif isinstance(part, dict):
            entries = cast("dict[str, Any]", part)
            waiting += entries.values()
            name = str(entries.get("$ref", "")).rpartition("/")[2]
            if name in schemas and name not in found:
                found.add(name)
                waiting.append(schemas[name])
    return found


def _name(name: str) -> str:
    """`Page_Turn_` is `TurnPage`, `Tool-Input` is `ToolGiven`, `package__module__Receipt` is `Receipt`."""
    if _ANY_JSON.fullmatch(name):
        return "Json"
    if page := re.fullmatch(r"Page_(\w+?)_", name):
        return f"{page[1]}Page".replace("strPage", "NamePage")
    if name.startswith("Versions_"):
        return "RecordVersions"
    long = _LONG.fullmatch(name)
    return (long[1] if long else name).replace("-Input", "Given").replace("-Output", "")
