"""One call of the command line: its global options, the memory it works on and how it answers.

The global options may stand before or after the command's name, so every command takes them as well as the program does;
those after it win. Everything that takes time to import is imported when it is used.
"""

import inspect
import json
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, ParamSpec, cast

import typer

from hitherto.clock import bound
from hitherto.errors import InvalidInput, NotFound
from hitherto.types import Json

if TYPE_CHECKING:
    from rich.console import RenderableType

    from hitherto.settings import Settings
    from hitherto.sync import Hitherto

P = ParamSpec("P")
Advance = Callable[[int, int], None]
"""Reports progress as (done, total); a total of 0 means unknown."""

DATA = "./memories"
DATA_VARIABLE = "HITHERTO_DATA"


_SHOWN = {code: chr(0x2400 + code) for code in range(32) if code != 10} | dict.fromkeys(range(127, 160), "�")
"""Control characters as their visible pictures; only the line feed is left alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The global options as they were given; None for those that were not."""

    data: str | None = None
    as_json: bool | None = None
    at: str | None = None
    tenant: str | None = None
    set: list[str] | None = None

    def over(self, other: "Options") -> "Options":
        """These options, completed from the other's; settings of both, these last."""
        merged: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(Options)}
        merged = {k: getattr(other, k) if v is None else v for k, v in merged.items()}
        merged["set"] = [*(other.set or ()), *(self.set or ())]
        return Options(**merged)


Data = Annotated[
    str | None,
    typer.Option("--data", metavar="DIR|URL", help=f"Where the memory is [env: {DATA_VARIABLE}; default: {DATA}]."),
]
AsJson = Annotated[bool | None, typer.Option("--json", help="Print JSON for programs instead of text for people.")]
At = Annotated[
    str | None, typer.Option("--at", metavar="ISO", help="Take this time for now, such as 2026-03-14T16:52:00Z.")
]
Tenant = Annotated[
    str | None, typer.Option("--tenant", metavar="NAME", help="Whose users these are [default: default].")
]

Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting for this run; `hitherto settings` lists them."),
]

GLOBAL: dict[str, Any] = {"data": Data, "as_json": AsJson, "at": At, "tenant": Tenant, "set": Set}


@dataclass(frozen=True, slots=True)
class Call:
    """What a command is given: the resolved options, and where its answer goes."""

    options: Options

    @property
    def data(self) -> str:
        return self.options.data or self.environ.get(DATA_VARIABLE) or DATA

    @property
    def environ(self) -> dict[str, str]:
        """The environment, overridden by --set."""
        import os

        if not self.options.set:
            return dict(os.environ)
        from hitherto import settings

        return {**os.environ, **settings.given(self.options.set)}

    @property
    def tenant(self) -> str:
        return self.options.tenant or "default"

    @property
    def json(self) -> bool:
        return bool(self.options.as_json)

    @property
    def at(self) -> datetime | None:
        """The time given with --at."""
        return None if self.options.at is None else moment(self.options.at, name="--at")

    @contextmanager
    def memory(self, *, create: bool = False, **options: Any) -> Generator["Hitherto"]:
        """Opens the memory. Only a command that writes may `create` it, so that a wrong folder is noticed."""
        now = self.at
        from hitherto import store

        if not create and not store.exists(self.data):
            raise NotFound(
                f"there is no memory in {self.data!r}; record something first, or name its folder with --data"
            )
        from hitherto.sync import Hitherto

        clock = None if now is None else lambda: now
        given = self.library() | {name: value for name, value in options.items() if value is not None}
        with Hitherto(self.data, clock=clock, tenant=self.tenant, actor="cli", **given) as memory:
            yield memory

    @property
    def settings(self) -> "Settings":
        """The library's settings from the environment and --set."""
        from hitherto.settings import Settings

        return Settings.of_library(self.environ)

    def library(self) -> dict[str, Any]:
        """The arguments of `Hitherto` that the environment sets. Commands that learn name their model themselves."""
        return {name: value for name, value in self.settings.library().items() if name != "model"}

    def answer(self, value: object, render: "Callable[[], RenderableType | str]") -> None:
        """Prints the value as JSON, or what `render` makes of it for people."""
        if self.json:
            self.emit(value)
        else:
            self.show(render())

    def show(self, *parts: "RenderableType | str") -> None:
        """Prints for people, without the spaces that pad tables to the terminal's width.

        Stored text may contain anything, including terminal control sequences: such characters are shown, never sent.
        """
        from rich.console import Console
        from rich.segment import Segment, Segments
        from rich.text import Text

        console = Console(highlight=False)
        with console.capture() as caught:
            for part in parts:
                drawn = console.render(Text(part) if isinstance(part, str) else part)
                harmless = [Segment(segment.text.translate(_SHOWN), segment.style) for segment in drawn]
                console.print(Segments(harmless), end="")
        typer.echo("\n".join(line.rstrip(" ") for line in caught.get().split("\n")), nl=False, color=True)

    def emit(self, value: object) -> None:
        from hitherto.store import codec

        typer.echo(codec.text(value, indent=2))

    @contextmanager
    def progress(self, title: str) -> Generator[Advance]:
        """A progress bar on the terminal for long work; nothing if there is no terminal or JSON was requested."""
        from rich.console import Console

        console = Console(stderr=True)
        if self.json or not console.is_terminal:
            yield _silent
            return
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task(title, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total or None)


def command(function: Callable[Concatenate[Call, P], None]) -> Callable[..., None]:
    """The function as Typer takes it: with the global options added, and a Call made of them.

    As the callback of a group, it runs if the group's name stands alone; before a subcommand it only passes its options on.
    """
    own = list(inspect.signature(function).parameters.values())[1:]

    def run(context: typer.Context, **values: Any) -> None:
        given = Options(**{name: values.pop(name) for name in GLOBAL})
        before = context.obj if isinstance(context.obj, Options) else Options()
        context.obj = given.over(before)
        if context.invoked_subcommand is None:
            function(Call(context.obj), **values)  # pyright: ignore[reportCallIssue] -- Typer made the values from this signature

    shared = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=hint)
        for name, hint in GLOBAL.items()
    ]
    first = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    keyword = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]
    parameters = [first, *keyword, *shared]
    setattr(run, "__signature__", inspect.Signature(parameters))  # noqa: B010 -- functions have no such field for the type checker
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__name__, run.__doc__ = function.__name__, function.__doc__
    return run


def moment(value: str, *, name: str) -> datetime:
    """A time from its ISO form, or a clear error."""
    try:
        read = datetime.fromisoformat(value)
    except ValueError as error:
        raise InvalidInput(f"{name} {value!r} is not a time; write it as 2026-03-14T16:52:00Z") from error
    return bound(read, name=name)


def _silent(done: int, total: int) -> None:
    """Without a progress bar."""


# Options that many commands share, so that they read and behave the same everywhere.

User = Annotated[
    str,
    typer.Option("--user", "-u", envvar="HITHERTO_USER", metavar="USER", help="Whose memory."),
]
Persona = Annotated[str | None, typer.Option("--persona", "-p", metavar="ID", help="Who answers.")]
Lane = Annotated[str | None, typer.Option("--lane", "-l", metavar="LANE", help="The thread of the conversation.")]
Limit = Annotated[int, typer.Option("--limit", "-n", metavar="COUNT", min=1, help="At most this many.")]
Known = Annotated[
    int | None, typer.Option("--known", metavar="SEQ", help="Only what was known at this entry of the log.")
]
Recipe = Annotated[
    str | None, typer.Option("--recipe", "-r", metavar="NAME|FILE", help="A recipe's name, or its TOML file.")
]
Fields = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[FIELD=VALUE]...",
        help="What reads as JSON (0.7, true, null, [1, 2]) is JSON, anything else is text.",
    ),
]


# `field=value` on the command line.


def field_values(given: Sequence[str] | None) -> dict[str, Json]:
    """The fields by name. A value that parses as JSON is JSON; any other is the text itself."""
    return {name: _value(value) for name, value in field_texts(given).items()}


def field_texts(given: Sequence[str] | None) -> dict[str, str]:
    """The fields by name, each value as it was written."""
    fields: dict[str, str] = {}
    for name, value in _pairs(given):
        if name in fields:
            raise InvalidInput(f"{name!r} is given twice")
        fields[name] = value
    return fields


def _pairs(given: Sequence[str] | None) -> Iterator[tuple[str, str]]:
    for pair in given or ():
        name, mark, value = pair.partition("=")
        if not mark or not name.isidentifier():
            raise InvalidInput(f"{pair!r} is not a field and its value; write it as name=value")
        yield name, value


def _value(text: str) -> Json:
    try:
        return cast(Json, json.loads(text))
    except (ValueError, RecursionError):
        return text
