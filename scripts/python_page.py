"""The page about the library's calls and values, docs/python.md, from their declarations; `reference_pages.py` writes it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import get_args, get_origin

import hitherto
from hitherto import types
from hitherto.settings import Settings

SOURCE = Path(__file__).resolve().parent.parent / "src" / "hitherto"

PAGE = """\
# Python

Made by `make docs` from the library itself. `hitherto.sync.Hitherto` has the same calls without `await`, and
`hitherto.client.Client` has them over [HTTP](http.md#from-python). `import hitherto` offers {names}.

## Opening a memory

```text
async with Hitherto(url, …) as memory:     # or: memory = Hitherto(url, …); await memory.open(); …; await memory.close()
```

`url` is a folder, or `postgresql://…`. All other arguments have names:

| argument | default | |
|---|---|---|
{arguments}

A misspelt argument, or a value that cannot be used, is an error that names the nearest right one.

## Calls

{calls}
## Values

All values are frozen dataclasses. What is remembered (`Memory`, `Episode`, `Loop` …) is a `Record` and has its fields as
well. Times carry a zone and are in UTC.

{values}
## Words that fields may hold

| name | values |
|---|---|
{words}

## Errors

All errors of the library are `HithertoError`.

| error | |
|---|---|
{errors}
"""

WORDS = {
    "sections": "Functions that recipes name as sources: [your own section](howto/section.md).",
    "clock": "A function that gives the time, for tests: `hitherto.testing.FakeClock`.",
    "tenant": "Whose users and personas these are, if one store serves several customers.",
    "work": "Learns in the background while the memory is open.",
    "actor": "Who acts, in the audit log.",
}
"""What arguments mean that are no settings."""

INNER = {"Recalled", "Card", "Progress", "NewTurn"}
"""Values that never leave the library."""


def python_reference() -> str:
    return PAGE.format(
        names=", ".join(f"`{name}`" for name in hitherto.__all__),
        arguments="\n".join(_arguments()),
        calls="\n".join(_calls()),
        values="\n".join(_values()),
        words="\n".join(_aliases()),
        errors="\n".join(_errors()),
    )


def _arguments() -> Iterator[str]:
    parts = _class("parts.py", "Parts")
    start = next(node for node in parts.body if isinstance(node, ast.FunctionDef) and node.name == "__init__")
    for argument, default in zip(start.args.kwonlyargs, start.args.kw_defaults, strict=True):
        setting = Settings.model_fields.get(argument.arg)
        words = setting.description if setting is not None else WORDS[argument.arg]
        yield f"| `{argument.arg}` | `{ast.unparse(default) if default else ''}` | {words} |"


def _calls() -> Iterator[str]:
    engine = _class("engine.py", "Hitherto")
    lines = (SOURCE / "engine.py").read_text("utf-8").splitlines()
    heads = {number: line.strip("# -") for number, line in enumerate(lines, 1) if line.strip().startswith("# ---")}
    for node in engine.body:
        if not isinstance(node, ast.AsyncFunctionDef | ast.FunctionDef) or not _is_call(node):
            continue
        for number in [number for number in heads if number < node.lineno]:
            head = heads.pop(number)
            yield f"### {head[0].upper()}{head[1:]}\n"
        yield f"```text\n{_signature(node)}\n```\n\n{' '.join((ast.get_docstring(node) or '').split())}\n"


def _is_call(node: ast.AsyncFunctionDef | ast.FunctionDef) -> bool:
    decorators = [each.func for each in node.decorator_list if isinstance(each, ast.Call)]
    return any(isinstance(each, ast.Name) and each.id == "call" for each in decorators)


def _signature(node: ast.AsyncFunctionDef | ast.FunctionDef) -> str:
    given = [f"{one.arg}: {_plain(one.annotation)}" for one in node.args.args[1:]]
    defaults = node.args.defaults
    for place, default in enumerate(defaults, len(given) - len(defaults)):
        given[place] += f" = {ast.unparse(default)}"
    if node.args.kwonlyargs:
        given.append("*")
    for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
        given.append(
            f"{argument.arg}: {_plain(argument.annotation)}" + (f" = {ast.unparse(default)}" if default else "")
        )
    if node.args.kwarg:
        given.append(f"**{node.args.kwarg.arg}: {_plain(node.args.kwarg.annotation)}")
    line = f"{node.name}({', '.join(given)}) -> {_plain(node.returns)}"
    if len(line) <= 110:
        return line
    return f"{node.name}(\n" + "".join(f"    {each},\n" for each in given) + f") -> {_plain(node.returns)}"


def _plain(annotation: ast.expr | None) -> str:
    return ast.unparse(annotation).strip("'\"") if annotation else ""


def _values() -> Iterator[str]:
    for node in ast.parse((SOURCE / "types.py").read_text("utf-8")).body:
        if not isinstance(node, ast.ClassDef) or node.name.startswith("_") or node.name in INNER:
            continue
        bases = f" ({', '.join(ast.unparse(base) for base in node.bases)})" if node.bases else ""
        yield f"### {node.name}{bases}\n\n{ast.get_docstring(node) or ''}\n\n```text"
        for inner, after in zip(node.body, [*node.body[1:], None], strict=True):
            if not isinstance(inner, ast.AnnAssign) or "ClassVar" in ast.unparse(inner.annotation):
                continue
            if isinstance(inner.annotation, ast.Name) and inner.annotation.id == "KW_ONLY":
                continue
            words = after.value.value if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) else ""
            yield f"{ast.unparse(inner.target)}: {_plain(inner.annotation)}{_default(inner.value)}" + (
                f"    # {' '.join(str(words).split())}" if words else ""
            )
        yield "```\n"


def _default(value: ast.expr | None) -> str:
    if value is None:
        return ""
    return " = {}" if isinstance(value, ast.Call) else f" = {ast.unparse(value)}"


def _aliases() -> Iterator[str]:
    for name, value in vars(types).items():
        if name[0].isupper() and get_origin(value) is not None and all(isinstance(one, str) for one in get_args(value)):
            yield f"| `{name}` | {', '.join(f'`{one}`' for one in get_args(value))} |"


def _errors() -> Iterator[str]:
    for node in ast.parse((SOURCE / "errors.py").read_text("utf-8")).body:
        if isinstance(node, ast.ClassDef):
            yield f"| `{node.name}` | {' '.join((ast.get_docstring(node) or '').split())} |"


def _class(file: str, name: str) -> ast.ClassDef:
    tree = ast.parse((SOURCE / file).read_text("utf-8"))
    return next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
