"""Commands that carry memories out and in: export, load, backup, restore."""

import shutil
import sys
from pathlib import Path
from typing import Annotated, TextIO

import typer

from recollect.deliver.cli.call import Call
from recollect.deliver.cli.moving_stores import put_back
from recollect.deliver.cli.options import User
from recollect.errors import Conflict, NotFound

HEADER_AND_FOOTER = 2
"""Lines of an export that are no entries."""


def export(
    call: Call,
    *,
    user: User,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to this new file instead.")
    ] = None,
) -> None:
    """Write a user's whole memory as JSON lines."""
    with call.memory() as memory, call.progress("exporting") as advance:

        async def write(file: TextIO) -> int:
            lines = 0
            async for line in memory.engine.export(user=user):
                file.write(f"{line}\n")
                lines += 1
                advance(lines, 0)
            return lines - HEADER_AND_FOOTER

        if user not in memory.users():
            raise NotFound(f"there is no user {user!r} here")
        if output is None:
            memory.run(write(sys.stdout))
            return
        with output.open("x", encoding="utf-8", newline="\n") as file:
            entries = memory.run(write(file))
    call.answer({"file": str(output), "entries": entries}, lambda: f"exported {entries:,} entries to {output}")


def load(
    call: Call,
    *,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An export.", exists=True, dir_okay=False)],
    user: Annotated[
        str | None, typer.Option("--user", "-u", metavar="USER", help="Load it for this user instead of its own.")
    ] = None,
) -> None:
    """Read an export back; what is there already stays as it is."""
    with call.memory(create=True) as memory, call.progress("loading"):
        entries = memory.load(file, user=user)
    call.answer({"entries": entries}, lambda: f"loaded {entries:,} entries from {file.name}")


def backup(
    call: Call, *, target: Annotated[str, typer.Argument(metavar="TARGET", help="A new folder for the copy.")]
) -> None:
    """Copy the whole memory while it is in use.

    Everything that was acknowledged before the call is in the copy.
    """
    with call.memory() as memory, call.progress("backing up") as advance:
        users = memory.backup(target, progress=advance)
    call.answer({"target": target, "users": users}, lambda: f"backed up {users:,} users to {target}")


def restore(
    call: Call,
    *,
    source: Annotated[Path, typer.Argument(metavar="BACKUP", help="A backup.", exists=True, file_okay=False)],
    forgotten: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            envvar="RECOLLECT_FORGOTTEN",
            help="The ledger of what was forgotten since (forgotten.jsonl of the lost folder): it is forgotten again.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
) -> None:
    """Bring a backup back into an empty place, less what was forgotten since."""
    from recollect import store
    from recollect.store.ledger import NAME as LEDGER
    from recollect.sync import Recollect

    if "://" in call.data:
        users = put_back(call, source)
        call.answer({"target": "the database", "users": users}, lambda: f"restored {users:,} users to the database")
        return
    if not store.exists(str(source)):
        raise NotFound(f"{str(source)!r} is no backup: there is no memory in it")
    target = Path(call.data)
    if target.is_dir() and any(target.iterdir()):
        raise Conflict(f"{call.data!r} is not empty; restore into a new folder and move it when you have looked at it")
    with (
        Recollect(source, tenant=call.tenant, **_at_rest(call, target)) as memory,
        call.progress("restoring") as advance,
    ):
        users = memory.backup(target, progress=advance)
    again = 0
    if forgotten is not None:
        shutil.copyfile(forgotten, target / LEDGER)
        with Recollect(target, tenant=call.tenant, **_at_rest(call, target)) as restored:
            again = len(restored.forget_again(forgotten))
    call.answer(
        {"target": str(target), "users": users, "forgotten_again": again},
        lambda: f"restored {users:,} users to {target}" + (f", forgot again of {again:,}" if again else ""),
    )


def _at_rest(call: Call, target: Path) -> dict[str, str | None]:
    """The keys of a restored memory are those of the memory that it is to be."""
    given = call.at_rest()
    if given["master_key"] is not None and given["keys"] is None:
        given["keys"] = f"{target.absolute()}.keys"
    return {name: value for name, value in given.items() if name != "forgotten"}
