"""The command that serves one user's memory to an MCP client on standard input and output."""

from typing import Annotated

import typer

from hitherto.deliver.cli.call import Call
from hitherto.deliver.cli.options import Lane, Persona, User
from hitherto.errors import MissingExtra


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
        raise MissingExtra(f"an MCP server needs {error.name}; install hitherto[mcp]") from error
    import asyncio

    from hitherto import Hitherto

    at = call.at
    clock = None if at is None else lambda: at

    async def run() -> None:
        async with Hitherto(call.data, clock=clock, tenant=call.tenant, recipe=recipe or "companion") as memory:
            await server(fixed(Owner(memory=memory, user=user, persona=persona, lane=lane))).run_stdio_async()

    asyncio.run(run())
