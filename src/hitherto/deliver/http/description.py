"""The OpenAPI description, adapted for client generators: operations are named as in the library, schemas have names that a
programmer would choose, and any JSON value is just that instead of a type that refers to itself."""

import html
import re
from collections.abc import Callable, Mapping
from typing import Any, cast

from fastapi import FastAPI
from fastapi.routing import APIRoute

from hitherto.deliver.http.paths import policy

_ANY_JSON = re.compile(r"(Json|Value)(-Input|-Output)?")
_LONG = re.compile(r"\w+__(\w+)")


def operation_id(route: APIRoute) -> str:
    """`set_user` becomes `setUser`; the function's name tells apart the route that deletes or reads a single record."""
    first, *rest = route.name.split("_")
    return first + "".join(word.title() for word in rest)


def describe(app: FastAPI) -> None:
    """Replaces FastAPI's own description with the finished one."""
    made: Callable[[], dict[str, Any]] = app.openapi
    finished: dict[str, Any] = {}

    def described() -> dict[str, Any]:
        if not finished:
            finished.update(_renamed(made()))
            _require_answers(finished)
            finished["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
            for path, methods in finished["paths"].items():
                for route in methods.values():
                    route["security"] = [] if policy(path).is_open else [{"key": []}]
        return finished

    app.openapi = described


def _renamed(api: Mapping[str, Any]) -> dict[str, Any]:
    """The description with its schemas renamed, wherever they are referred to."""
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
    """Marks the fields of answers as always present, whether or not the value is its default."""
    schemas: dict[str, Any] = api["components"]["schemas"]
    routes = [route for methods in api["paths"].values() for route in methods.values()]
    asked = _reached([route.get("requestBody") for route in routes], schemas)
    for name in _reached([route["responses"] for route in routes], schemas) - asked:
        if properties := schemas[name].get("properties"):
            schemas[name]["required"] = list(properties)


def _reached(value: Any, schemas: Mapping[str, Any]) -> set[str]:
    """The names of the schemas that a part of the description refers to, directly or indirectly."""
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
    if name == "Record":
        return "AnyRecord"  # TypeScript has a type of that name
    long = _LONG.fullmatch(name)
    return (long[1] if long else name).replace("-Input", "Given").replace("-Output", "")


# The page at `/docs`: every route, from the OpenAPI description. It has no script and loads nothing from other hosts, so it
# works wherever the service does.

STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
h2{margin:2.5rem 0 .5rem;text-transform:capitalize}details{border-top:1px solid #ddd;padding:.4rem 0}
summary{cursor:pointer}code{font-family:ui-monospace,monospace;font-size:.9em}
.m{display:inline-block;min-width:4.5rem;font-weight:600}.p{color:#555;margin:.3rem 0 .3rem 4.5rem}
table{border-collapse:collapse;margin:.4rem 0 .8rem 4.5rem}td{padding:.1rem .9rem .1rem 0;vertical-align:top}
@media (prefers-color-scheme:dark){body{color:#ddd;background:#161616}details{border-color:#333}.p{color:#aaa}}
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"


def page(api: Mapping[str, Any]) -> str:
    """The description as HTML."""
    schemas = api.get("components", {}).get("schemas", {})
    groups: dict[str, list[str]] = {}
    for path, methods in api["paths"].items():
        for method, route in methods.items():
            tag = (route.get("tags") or ["other"])[0]
            groups.setdefault(tag, []).append(_route(method, path, route, schemas))
    body = "".join(f"<h2>{html.escape(tag)}</h2>{''.join(routes)}" for tag, routes in groups.items())
    info = api["info"]
    title = html.escape(f"{info['title']} {info['version']}")
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>'
        f"<h1>{title}</h1><p>{html.escape(info.get('description', ''))}</p>"
        f'<p>The same for programs: <a href="openapi.json">openapi.json</a>.</p>{body}</html>'
    )


def _route(method: str, path: str, route: Mapping[str, Any], schemas: Mapping[str, Any]) -> str:
    head = f'<span class="m">{method.upper()}</span><code>{html.escape(path)}</code>'
    words = html.escape(route.get("description", route.get("summary", "")))
    rows = [
        _row(p["name"], p["in"], p.get("schema", {}), p.get("description", "")) for p in route.get("parameters", ())
    ]
    for media, content in route.get("requestBody", {}).get("content", {}).items():
        rows += _body(media, content.get("schema", {}), schemas)
    return f"<details><summary>{head}</summary><p class=p>{words}</p><table>{''.join(rows)}</table></details>"


def _body(media: str, schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> list[str]:
    found = schemas.get(str(schema.get("$ref", "")).rpartition("/")[2])
    if not found:
        return [_row("(body)", media, schema, "")]
    return [
        _row(name, "body", field, field.get("description", "")) for name, field in found.get("properties", {}).items()
    ]


def _row(name: str, place: str, schema: Mapping[str, Any], words: str) -> str:
    cells = (f"<code>{html.escape(name)}</code>", html.escape(place), html.escape(_type(schema)), html.escape(words))
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _type(schema: Mapping[str, Any]) -> str:
    """A schema in a few words."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type(option) for option in schema["anyOf"]))
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return str(schema.get("format") or schema.get("type") or "anything")
