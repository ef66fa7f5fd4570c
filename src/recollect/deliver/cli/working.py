"""Commands for the work behind the answers: settle, and work with its status and retry."""

import signal
from collections.abc import Mapping
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from recollect.deliver.cli.call import Call
from recollect.deliver.cli.options import User
from recollect.errors import NotFound

if TYPE_CHECKING:
    import asyncio

    from rich.console import RenderableType

    from recollect.work.status import Status
    from recollect.work.worker import Settled


def settle(
    call: Call,
    *,
    user: Annotated[
        str | None, typer.Option("--user", "-u", envvar="RECOLLECT_USER", metavar="USER", help="Only this one.")
    ] = None,
) -> None:
    """Run all work that is due now, for one user or for all."""
    with call.memory() as memory:
        if user is not None and user not in memory.users():
            raise NotFound(f"there is no user {user!r} here")
        settled = memory.run(memory.engine.settle(user=user))
    call.answer(settled, lambda: _settled(settled))


def run(
    call: Call,
    *,
    idle: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.01, help="How long to wait when nothing is due.")
    ] = 1.0,
    sweep: Annotated[
        float, typer.Option(metavar="SECONDS", min=1, help="How often every user is looked at.")
    ] = 3_600.0,
) -> None:
    """Work until stopped (Ctrl-C or SIGTERM): what is due, as soon as it is."""
    import asyncio

    with call.memory() as memory:
        stop = asyncio.Event()

        def end(_signal: int, _frame: FrameType | None) -> None:
            memory.run(_set(stop))

        async def work() -> None:
            worker = await memory.engine.worker()
            await worker.run(stop=stop, idle=idle, sweep_every=sweep)

        before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
        typer.echo(f"working on {call.data}; Ctrl-C stops", err=True)
        try:
            memory.run(work())
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def status(call: Call, *, user: User) -> None:
    """Show how far each step of the work is, and what failed."""
    with call.memory() as memory:
        found = memory.run(memory.engine.work_status(user=user))
    call.answer(found, lambda: _status(found))


def retry(
    call: Call,
    *,
    user: User,
    step: Annotated[str | None, typer.Argument(metavar="[STEP]", help="Only this one.")] = None,
) -> None:
    """Make steps that were given up due again."""
    with call.memory() as memory:
        steps = memory.run(memory.engine.retry(user=user, step=step))
    call.answer({"steps": steps}, lambda: f"{steps} steps are due again")


async def _set(stop: "asyncio.Event") -> None:
    stop.set()


def _settled(found: Mapping[str, "Settled"]) -> "RenderableType":
    from recollect.deliver.cli import tables

    columns = (
        tables.Column("user", style="bold"),
        tables.Column("done", right=True),
        tables.Column("failed", right=True),
        tables.Column("next due (UTC)", style="dim"),
        tables.Column(""),
    )
    rows = [
        (user, str(s.done), str(s.failed), tables.when(s.next_due), "another worker is at it" if s.busy else "")
        for user, s in found.items()
    ]
    return tables.table(columns, rows, empty="no users yet")


def _status(found: "Status") -> "RenderableType":
    from recollect.deliver.cli import tables

    rows = [
        tables.Entry(
            title=cursor.step,
            facts=(
                "PARKED" if cursor.parked else "",
                f"due {tables.when(cursor.due)}" if cursor.due else "",
                f"{cursor.attempts} attempts" if cursor.attempts else "",
            ),
            id=f"entry {cursor.position} of {found.head}",
            note=cursor.error or "",
        )
        for cursor in found.cursors
    ]
    return tables.entries(rows, empty="no work was done yet")
