"""The program: Typer's view of the table of commands. Help is plain text, which starts four times faster than styled help."""

from collections.abc import Iterable
from functools import cache
from typing import Any, get_args

import typer
from typer.core import TyperGroup
from typer.main import get_command

from hitherto.deliver.cli.call import AsJson, At, Data, Options, Set, Tenant, command
from hitherto.deliver.cli.commands import COMMANDS, GROUPS, Command, CommandGroup, Topic


class Program(TyperGroup):
    """The program's own help: commands by topic."""

    def get_help(self, ctx: Any) -> str:
        lines = [
            "Usage: hitherto [OPTIONS] COMMAND [ARGS]...",
            "",
            "  Memory and context engine for conversational products.",
            "  Start with `hitherto demo`; `hitherto COMMAND --help` shows options and examples.",
        ]
        for topic in get_args(Topic):
            lines += ["", f"{topic}:", *_listing(c for c in COMMANDS if c.topic == topic)]
        lines += ["", "Options for every command (before or after its name):"]
        records = [parameter.get_help_record(ctx) for parameter in self.get_params(ctx)]
        width = max(len(record[0]) for record in records if record) + 2
        lines += [f"  {record[0]:<{width}}{record[1]}" for record in records if record]
        lines += ["", "Exit codes: 0 done, 1 failed, 2 wrong usage. Errors are one line on stderr."]
        return "\n".join(lines)


def _listing(commands: Iterable[Command]) -> list[str]:
    return [f"  {c.name:<15}{(c.run.__doc__ or '').splitlines()[0]}" for c in commands]


def _options(
    context: typer.Context,
    data: Data = None,
    as_json: AsJson = None,
    at: At = None,
    tenant: Tenant = None,
    set: Set = None,
    version: bool = typer.Option(False, "--version", help="Print the version.", is_eager=True),  # noqa: FBT001 -- how Typer declares a flag
) -> None:
    if version:
        from hitherto import __version__

        typer.echo(f"hitherto {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit
    context.obj = Options(data=data, as_json=as_json, at=at, tenant=tenant, set=set)


@cache
def program() -> Any:
    """The whole program, ready to run."""
    app = typer.Typer(
        cls=Program,
        name="hitherto",
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    app.callback(invoke_without_command=True)(_options)
    groups = {group.name: _group(group) for group in GROUPS}
    for entry in COMMANDS:
        first, _, second = entry.name.partition(" ")
        home = groups[first] if second else app
        home.command(second or first, epilog=_epilog(entry))(command(entry.run))
    for group in groups.values():
        app.add_typer(group)
    return get_command(app)


def _group(group: CommandGroup) -> typer.Typer:
    alone = command(next(entry.run for entry in COMMANDS if entry.name == group.alone))
    return typer.Typer(
        name=group.name, help=group.help, callback=alone, invoke_without_command=True, rich_markup_mode=None
    )


def _epilog(entry: Command) -> str | None:
    """Examples, exactly as they are written."""
    shown = (*entry.examples, *entry.sketches)
    return "\n".join(["\b", "Examples:", *(f"  {example}" for example in shown)]) if shown else None
