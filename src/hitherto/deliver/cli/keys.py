"""Commands for keys to the service: create, list, revoke."""

from typing import TYPE_CHECKING, Annotated

import typer

from hitherto.deliver.apikeys import MEANING, SCOPES, USUAL, ApiKey, Keys
from hitherto.deliver.cli.call import Call, moment
from hitherto.types import Json

if TYPE_CHECKING:
    from hitherto.sync import Hitherto


def _keys(memory: "Hitherto", call: Call) -> Keys:
    from hitherto.clock import system_clock

    now = call.at
    return Keys(memory.engine.catalog, clock=system_clock if now is None else lambda: now)


def _shown(key: ApiKey) -> dict[str, Json]:
    """A key without its digest."""
    from hitherto.deliver.plain import plain

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
    """List the keys of all tenants, revoked ones too."""
    from hitherto.deliver.cli import tables

    with call.memory() as memory:
        found = memory.run(_keys(memory, call).all())
    call.answer([_shown(key) for key in found], lambda: tables.keys(found))


def revoke(call: Call, *, key: Annotated[str, typer.Argument(metavar="ID", help="The key's id.")]) -> None:
    """End a key: a running service refuses it within a second."""
    with call.memory() as memory:
        revoked = memory.run(_keys(memory, call).revoke(key))
    call.answer(_shown(revoked), lambda: f"revoked {revoked.id}")
