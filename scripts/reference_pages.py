"""Writes docs/cli.md, docs/recipes.md and docs/python.md from the program, the recipe model and the library:
`python scripts/reference_pages.py [--check]`.

A page that is made from what it describes cannot lie; a test compares both with what this script would write.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, cast, get_args, get_origin

from pydantic import BaseModel

from hitherto.deliver.cli.app import program
from hitherto.deliver.cli.call import GLOBAL
from hitherto.deliver.cli.commands import COMMANDS, Command, Topic
from hitherto.recipes import book
from hitherto.recipes import recipe as model
from hitherto.recipes.recipe import Recipe
from hitherto.recipes.titles import HEADINGS, SECTION_IDS, UNTRIMMED

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts.python_page import python_reference

DOCS = Path(__file__).resolve().parent.parent / "docs"

COMMAND_LINE = """\
# Command line

Made by `make docs` from the program itself. The examples work as they stand on the demo's memory (begin in an
empty folder), and a test runs each of them; those in capitals need a file or an id of your own.

```console
$ hitherto demo --data ./memories --brief
```

## For every command

| option | |
|---|---|
{options}

These may stand before or after the command's name. `--user` can come from `HITHERTO_USER`.

- **Exit codes**: 0 done, 1 failed, 2 wrong usage (an unknown option, or a value that cannot be used).
- **Errors** are one line on stderr; with `--json`, one object there: `{{"error": "NotFound", "message": "…"}}`.
- **`--json`** prints one JSON value: field names are those of the Python values, times are ISO 8601. `export` prints JSON
  lines with and without it.
- **Reading never creates**: only a command that writes makes a new folder.
- **Long work** (import, export, load, backup, restore) shows a bar on a terminal, on stderr.
- **Colour** follows the terminal; `NO_COLOR=1` turns it off.
"""

RECIPES = """\
# Recipes

Made by `make docs` from the recipe model and the recipes themselves.

A recipe says what a context is made of: which sections in which order, how many tokens each may take, what is trimmed
first, how many turns, loops and memories are shown, and how memories are searched. A recipe is pure data: one TOML file.

```console
$ hitherto recipes
$ hitherto recipes show companion
```

## A recipe of your own

A recipe may extend another: tables are merged, everything else is replaced. Save this as `mine.toml`, check it with
`hitherto recipes check mine.toml`, and use it with `--recipe mine.toml`, `Hitherto(…, recipe="mine.toml")` or
`memory.context(…, recipe="mine.toml")`.

```toml
extends = "companion"
name = "mine"
description = "Fewer open threads, a longer window"

[limits]
loops = 3

[history]
window = 50
```

`without = ["today", "loops"]` leaves sections of the extended recipe out. A section's tokens are those of its group, such as
`[groups.long_term]`; `[sections.NAME]` declares a section of [your own](howto/section.md).

A field that does not exist is an error that names the nearest one that does.
"""


WORDS = {
    "name": "What it is called; a context and its snapshot name it.",
    "description": "One line for `hitherto recipes`.",
    "tokenizer": "The family of the answering model; without it, the engine's.",
    "total": "The whole context.",
    "arrange": "In the order listed, or what changes least first, which keeps providers' prompt caches warm.",
    "order": "The sections, first to last.",
    "groups": "Budgets, each for one or more sections; every section of `order` but the notice is in one.",
    "history": "The turns before the message.",
    "situation": "What time it is, for whom.",
    "last_time": "The last session.",
    "limits": "How many items a section shows.",
    "recall": "How memories are found.",
    "loops": "What is left open.",
    "sessions": "When a session ends, continues, or counts as a return.",
    "compaction": "When a lane's older turns go into its summary.",
    "summaries": "When summaries are made, and how long they are.",
    "total.target": "Filled up to this first.",
    "total.cap": "Never passed; checked on the final bytes.",
    "total.reserve": "Kept free for the answer, out of the cap.",
    "groups.NAME.sections": "The sections that share it.",
    "groups.NAME.target": "Filled up to this first.",
    "groups.NAME.cap": "Never passed by these sections together.",
    "groups.NAME.floor": "Trimming stops here.",
    "situation.lines": "Which lines, in which order.",
    "situation.deferred": "Leave `{now}` and `{since}` to be filled at delivery, so that the text can be cached.",
    "last_time.sentences": "At most this many sentences of its summary.",
    "last_time.detail": "Also what mattered, commitments, people and tone.",
    "limits.long_term": "Items of long-term memory.",
    "limits.memories": "Relevant memories.",
    "limits.foundation": "Pinned and core memories.",
    "limits.card_facts": "Facts on an entity's card.",
    "limits.loops": "Open loops.",
    "limits.thoughts": "The persona's thoughts.",
    "limits.requests": "Standing requests of the user.",
    "limits.moments": "Key moments of a day or a session.",
    "limits.today_turns": "Turns of today that are no longer in the window.",
    "limits.other_lanes": "Summaries of other lanes.",
    "recall.first": "Which candidates count first: by meaning or by words.",
    "recall.candidates": "How many candidates are ranked.",
    "recall.top_k": "How many of them are kept.",
    "recall.threshold": "Memories less similar to the message than this stay out.",
    "recall.blend": "The weights of a score's parts.",
    "recall.card_importance": "A fact appears on a card if it is at least this important, or pinned.",
    "recall.other_lanes": "When another lane's memory may come in.",
    "recall.blend.similarity": "Weight of the similarity to the message.",
    "recall.blend.recency": "Weight of being recent.",
    "recall.blend.frequency": "Weight of mentioning what other candidates mention, too.",
    "recall.blend.importance": "Weight of importance.",
    "recall.blend.half_life_days": "The number of days in which recency halves.",
    "recall.blend.recent_days": "What counts as recent for the boost.",
    "loops.fade_days": "Older ones come last.",
    "sessions.gap_minutes": "A pause that ends a session.",
    "sessions.chain_hours": "A session that begins within this many hours of the previous one counts as its continuation.",
    "sessions.returning_hours": "After this many hours, the last session is always told of.",
    "compaction.messages": "When a lane has more recent messages than this,",
    "compaction.tokens": "or more tokens than this,",
    "compaction.hours": "or its summary is older than this;",
    "compaction.keep": "this many of the newest messages stay as they are.",
    "summaries.rolling_every": "The rolling summary is renewed after this many turns,",
    "summaries.rolling_chars": "and has at most this many characters.",
    "summaries.spine_messages": "The long-term summary is renewed after more than this many messages.",
    "summaries.chunk_tokens": "A story is cut into pieces of at most this many tokens.",
    "summaries.detail": "How detailed summaries are.",
}
"""What a field means, where the model's source does not say so under the field itself."""

RUN_ELSEWHERE = "<!-- not run: every example of the table of commands has a test of its own -->"
CHANGES = {"FIXED": "never", "RARELY": "rarely", "SESSION": "with the session", "TURN": "with every turn"}


# --- the command line --------------------------------------------------------------------------------------------


def command_line() -> str:
    shared = "\n".join(_row(parameter) for parameter in _find("demo").params if parameter.name in GLOBAL)
    parts = [COMMAND_LINE.format(options=shared)]
    for topic in get_args(Topic):
        parts.append(f"## {topic}\n")
        parts += [_command(command) for command in COMMANDS if command.topic == topic]
    return "\n".join(parts)


def _command(command: Command) -> str:
    found = _find(command.name)
    usage = " ".join(["hitherto", command.name, *_usage(found.params)])
    lines = [f"### {command.name}", "", inspect.getdoc(command.run) or "", "", "```text", usage, "```", ""]
    own = [_row(p) for p in found.params if p.name not in GLOBAL and p.name != "help"]
    if own:
        lines += ["| | |", "|---|---|", *own, ""]
    if command.examples:
        lines += [RUN_ELSEWHERE, "```console", *(f"$ {example}" for example in command.examples), "```", ""]
    if command.sketches:
        reason = "<!-- not run: a file or an id of the reader's own stands in it -->"
        lines += [reason, "```console", *(f"$ {sketch}" for sketch in command.sketches), "```", ""]
    return "\n".join(lines)


def _find(name: str) -> Any:
    found = program()
    for word in name.split():
        found = found.commands[word]
    return found


def _usage(parameters: Sequence[Any]) -> Iterator[str]:
    yield from (p.metavar or p.name.upper() for p in parameters if p.param_type_name == "argument")
    yield from (f"{p.opts[0]} {p.metavar}" for p in parameters if p.param_type_name == "option" and p.required)
    yield "[OPTIONS]"


def _row(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return _cells(f"`{parameter.metavar or parameter.name.upper()}`", parameter.help)
    names = ", ".join(parameter.opts)
    if parameter.is_flag:
        return _cells(f"`{names}`", parameter.help)
    given = "" if parameter.default is None else f" Default: `{parameter.default}`."
    return _cells(f"`{names} {parameter.metavar}`", parameter.help + (" Required." if parameter.required else given))


# --- recipes -------------------------------------------------------------------------------------------------------


def recipe_reference() -> str:
    known = [book.load(name) for name in book.names()]
    parts = [RECIPES, "## The recipes that come with Hitherto\n", *_bundled(known)]
    parts += ["## Sections\n", *_sections(known), "## Fields\n", *_fields(Recipe, "")]
    return "\n".join(parts) + "\n"


def _bundled(known: Sequence[Recipe]) -> Iterator[str]:
    yield "| recipe | target | cap | reserved for the answer | what it is for |"
    yield "|---|---|---|---|---|"
    for recipe in known:
        total = recipe.total
        yield _cells(
            f"`{recipe.name}`", f"{total.target:,}", f"{total.cap:,}", f"{total.reserve:,}", recipe.description
        )
    yield ""
    for recipe in known:
        yield f"### {recipe.name}\n"
        yield "| budget group | target | cap | sections |"
        yield "|---|---|---|---|"
        for name, group in recipe.groups.items():
            yield _cells(f"`{name}`", f"{group.target:,}", f"{group.cap:,}", ", ".join(group.sections))
        yield ""
        yield f"Trimmed first to last: {', '.join(recipe.trim)}.\n"


def _sections(known: Sequence[Recipe]) -> Iterator[str]:
    yield "| section | shown as | changes | trimmed | recipes |"
    yield "|---|---|---|---|---|"
    for section in SECTION_IDS:
        heading = HEADINGS[section]
        shown = f"`{heading.title}`" if heading.trusted and heading.title else "plain text"
        if not heading.trusted:
            shown = f"`{heading.opened('{PERSONA}')}`"
        used = ", ".join(recipe.name for recipe in known if section in recipe.order)
        trimmed = "never" if section in UNTRIMMED else "yes"
        yield _cells(f"`{section}`", shown, CHANGES[heading.volatility.name], trimmed, used)
    yield ""


def _fields(part: type[BaseModel], prefix: str) -> Iterator[str]:
    """A table of one part of the model, then those of the parts within it."""
    if prefix:
        yield f"### {prefix}\n"
    if part.__doc__ and prefix:
        yield " ".join(inspect.cleandoc(part.__doc__).split()) + "\n"
    yield "| field | type | `companion` | |"
    yield "|---|---|---|---|"
    within: list[tuple[str, type[BaseModel]]] = []
    for path, inner, annotation in parts_of(part, prefix):
        name = path.rpartition(".")[2]
        if inner is None:
            yield _cells(f"`{name}`", _type(annotation), _value(path), words(part, path))
            continue
        below = f"{path}.NAME" if get_origin(annotation) is dict else path
        within.append((below, inner))
        yield _cells(f"`{name}`", "table", f"[below](#{below.replace('.', '').lower()})", words(part, path))
    yield ""
    for path, inner in within:
        yield from _fields(inner, path)


def parts_of(part: type[BaseModel], prefix: str) -> Iterator[tuple[str, type[BaseModel] | None, Any]]:
    """Each field's path, the part of the model it holds if it does, and its type."""
    for name, field in part.model_fields.items():
        yield (f"{prefix}.{name}" if prefix else name), _part(field.annotation), field.annotation


def words(part: type[BaseModel], path: str) -> str:
    """What a field means: the source's own words, else ours."""
    return field_notes()[part.__name__].get(path.rpartition(".")[2]) or WORDS.get(path, "")


@cache
def field_notes() -> dict[str, dict[str, str]]:
    """What stands under each field in the source of the model, by class and field."""
    found: dict[str, dict[str, str]] = {}
    for node in ast.parse(inspect.getsource(model)).body:
        if isinstance(node, ast.ClassDef):
            found[node.name] = {}
            for before, after in pairwise(node.body):
                if (
                    isinstance(before, ast.AnnAssign)
                    and isinstance(after, ast.Expr)
                    and isinstance(after.value, ast.Constant)
                ):
                    found[node.name][ast.unparse(before.target)] = inspect.cleandoc(str(after.value.value))
    return found


def _part(annotation: Any) -> type[BaseModel] | None:
    """The part of the model that a field holds, alone or by name."""
    inner = get_args(annotation)[-1] if get_origin(annotation) is dict else annotation
    return inner if isinstance(inner, type) and issubclass(inner, BaseModel) else None


def _type(annotation: Any) -> str:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return "section id" if "section id" in arguments else _type(arguments[0])
    if origin is Literal:
        return ", ".join(f"`{argument}`" for argument in arguments)
    if origin is tuple:
        return f"list of {_type(arguments[0])}".replace("list of section id", "list of section ids")
    if origin is dict:
        return f"table of {_type(arguments[1])}"
    if type(None) in arguments:
        return _type(next(argument for argument in arguments if argument is not type(None)))
    return {"int": "whole number", "float": "number", "str": "text", "bool": "true or false"}.get(
        annotation.__name__, ""
    )


def _value(path: str) -> str:
    found: Any = book.load("companion")
    for step in path.split("."):
        if step == "NAME":
            return ""
        found = getattr(found, step)
    if isinstance(found, tuple):
        return ", ".join(map(str, cast(tuple[object, ...], found)))
    if isinstance(found, bool):
        return f"`{str(found).lower()}`"
    return "" if found in (None, {}) else f"`{found}`"


def _cells(*cells: str | None) -> str:
    return "| " + " | ".join(_cell((cell or "").replace("\n", " ")) for cell in cells) + " |"


def _cell(text: str) -> str:
    """A bar in code is an entity: what a backslash does there depends on who shows the page."""
    coded = re.sub(r"`([^`]*\|[^`]*)`", lambda found: f"<code>{found[1]}</code>", text)
    return coded.replace("|", "&#124;")


def pages() -> dict[Path, str]:
    return {
        DOCS / "cli.md": command_line(),
        DOCS / "recipes.md": recipe_reference(),
        DOCS / "python.md": python_reference(),
    }


def main(arguments: Sequence[str]) -> int:
    stale = {path: text for path, text in pages().items() if not path.exists() or path.read_text("utf-8") != text}
    if "--check" in arguments:
        for path in stale:
            print(f"docs/{path.name} is out of date; run `make docs`.", file=sys.stderr)
        return 1 if stale else 0
    for path, text in stale.items():
        path.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
