"""The page at `/docs`: every route, from the OpenAPI description. No script and nothing from another host, so it works
where the service does."""

import html
from collections.abc import Mapping
from typing import Any

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
