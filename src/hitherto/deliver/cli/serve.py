"""Commands that let others in: serve over HTTP, serve MCP on standard input and output, keys to the service."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hitherto.deliver.apikeys import MEANING, SCOPES, USUAL, ApiKey, Keys
from hitherto.deliver.cli.call import Call, Lane, Persona, User, moment
from hitherto.errors import InvalidInput, MissingExtra
from hitherto.types import Json

if TYPE_CHECKING:
    from hitherto.sync import Hitherto


def serve(
    call: Call,
    *,
    host: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Where to listen [default: 127.0.0.1].")] = None,
    port: Annotated[int | None, typer.Option(metavar="PORT", min=0, max=65_535, help="[default: 8080]")] = None,
    workers: Annotated[int | None, typer.Option(metavar="COUNT", min=1, help="Processes [default: 1].")] = None,
    recipe: Annotated[str | None, typer.Option("--recipe", "-r", metavar="NAME", help="The usual recipe.")] = None,
    model: Annotated[str | None, typer.Option(metavar="NAME", help="The model that learns and summarises.")] = None,
    upstream: Annotated[
        str | None, typer.Option(metavar="URL", help="The OpenAI-compatible server for chat requests.")
    ] = None,
) -> None:
    """Serve the memory over HTTP.

    On loopback, with no key yet, a key for this run is printed; elsewhere a service without keys does not start.
    Everything else is set with --set NAME=VALUE or a variable HITHERTO_NAME: `hitherto settings` lists both.
    """
    try:
        from hitherto.deliver.http import server
    except ImportError as error:
        raise MissingExtra(f"serving needs {error.name}: pip install 'hitherto[serve]'") from error
    from hitherto.settings import Settings

    if call.at is not None:
        raise InvalidInput("a service has the time of its machine; --at is for other commands")
    given: dict[str, Any] = {
        "data": call.data,
        "host": host,
        "port": port,
        "workers": workers,
        "recipe": recipe,
        "model": model,
        "upstream": upstream,
    }
    settings = Settings.read(call.environ)
    server.serve(settings.model_copy(update={name: value for name, value in given.items() if value is not None}))


def mcp(
    call: Call,
    *,
    user: User,
    persona: Persona = None,
    lane: Lane = None,
    recipe: Annotated[str | None, typer.Option("--recipe", "-r", metavar="NAME", help="The usual recipe.")] = None,
) -> None:
    """Serve one user's memory to an MCP client on stdio.

    The user is fixed here: no tool has an argument for it. Over HTTP the same server is at /mcp of `hitherto serve`.
    """
    try:
        from hitherto.deliver.mcp import Owner, fixed, server
    except ModuleNotFoundError as error:
        raise MissingExtra(f"an MCP server needs {error.name}: pip install 'hitherto[mcp]'") from error
    import asyncio

    from hitherto import Hitherto

    at = call.at
    clock = None if at is None else lambda: at

    async def run() -> None:
        given: dict[str, Any] = call.library() | ({"recipe": recipe} if recipe else {})
        async with Hitherto(call.data, clock=clock, tenant=call.tenant, **given) as memory:
            await server(fixed(Owner(memory=memory, user=user, persona=persona, lane=lane))).run_stdio_async()

    asyncio.run(run())


def _keys(memory: "Hitherto", call: Call) -> Keys:
    from hitherto.clock import system_clock

    now = call.at
    return Keys(memory.engine.catalog, clock=system_clock if now is None else lambda: now)


def _shown(key: ApiKey) -> dict[str, Json]:
    """A key without its digest."""
    from hitherto.store.codec import plain

    values = plain(key)
    assert isinstance(values, dict), "a key is an object"
    return {name: value for name, value in values.items() if name != "digest"}


def create(
    call: Call,
    *,
    scope: Annotated[
        list[str] | None,
        typer.Option(
            "--scope",
            "-s",
            metavar="SCOPE",
            help=f"What it may do ({'; '.join(f'{name}: {MEANING[name]}' for name in SCOPES)}); "
            f"several times for several [default: {', '.join(USUAL)}].",
        ),
    ] = None,
    user: Annotated[
        str | None, typer.Option("--user", "-u", metavar="USER", help="It acts for this user alone.")
    ] = None,
    label: Annotated[str, typer.Option(metavar="TEXT", help="A note of your own.")] = "",
    rate: Annotated[
        float | None, typer.Option(metavar="N", min=0, help="Requests a second, instead of the service's own limit.")
    ] = None,
    expires: Annotated[str | None, typer.Option(metavar="ISO", help="Valid until then.")] = None,
) -> None:
    """Make a key and show it. It is not kept and cannot be shown again."""
    with call.memory(create=True) as memory:
        key, token = memory.run(
            _keys(memory, call).create(
                tenant=call.tenant,
                scopes=scope or USUAL,
                user=user,
                label=label,
                rate=rate,
                expires_at=None if expires is None else moment(expires, name="--expires"),
            )
        )
    call.answer({**_shown(key), "token": token}, lambda: token)


def listed(call: Call) -> None:
    """List the keys of all tenants, including revoked ones."""
    from hitherto.deliver.cli import tables

    with call.memory() as memory:
        found = memory.run(_keys(memory, call).all())
    call.answer([_shown(key) for key in found], lambda: tables.keys(found))


def revoke(call: Call, *, key: Annotated[str, typer.Argument(metavar="ID", help="The key's id.")]) -> None:
    """End a key: a running service refuses it within a second."""
    with call.memory() as memory:
        revoked = memory.run(_keys(memory, call).revoke(key))
    call.answer(_shown(revoked), lambda: f"revoked {revoked.id}")
