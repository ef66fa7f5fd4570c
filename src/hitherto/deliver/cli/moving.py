"""Commands that carry memories out and in: export, load, backup, restore."""

import sys
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from hitherto import private
from hitherto.deliver.cli.call import Call
from hitherto.deliver.cli.moving_stores import put_back
from hitherto.deliver.cli.options import User
from hitherto.errors import Conflict, NotFound

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
        with open(output, "x", encoding="utf-8", newline="\n", opener=private.opener) as file:
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
            envvar="HITHERTO_FORGOTTEN",
            help="The ledger of what was forgotten since (forgotten.jsonl of the lost folder): it is forgotten again.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
) -> None:
    """Bring a backup back into an empty place, less what was forgotten since."""
    from hitherto import store
    from hitherto.privacy.ledger import NAME as LEDGER
    from hitherto.sync import Hitherto

    if "://" in call.data:
        users = put_back(call, source)
        _restored(call, "the database", users=users, again=_forget_again(call, call.data, forgotten))
        return
    if not store.exists(str(source)):
        raise NotFound(f"{str(source)!r} is no backup: there is no memory in it")
    target = Path(call.data)
    if target.is_dir() and any(target.iterdir()):
        raise Conflict(f"{call.data!r} is not empty; restore into a new folder and move it when you have looked at it")
    with (
        Hitherto(source, tenant=call.tenant, **_at_rest(call, str(target))) as memory,
        call.progress("restoring") as advance,
    ):
        users = memory.backup(target, progress=advance)
    if forgotten is not None:
        private.make_folder(target)
        with open(target / LEDGER, "xb", opener=private.opener) as file:
            file.write(forgotten.read_bytes())
    _restored(call, str(target), users=users, again=_forget_again(call, str(target), forgotten))


def _forget_again(call: Call, target: str, ledger: Path | None) -> int:
    """How many users' memories something had to go from once more."""
    from hitherto.sync import Hitherto

    if ledger is None:
        return 0
    with Hitherto(target, tenant=call.tenant, **_at_rest(call, target)) as restored:
        return len(restored.forget_again(ledger))


def _restored(call: Call, target: str, *, users: int, again: int) -> None:
    call.answer(
        {"target": target, "users": users, "forgotten_again": again},
        lambda: f"restored {users:,} users to {target}" + (f", forgot again of {again:,}" if again else ""),
    )


def _at_rest(call: Call, target: str) -> dict[str, Any]:
    """The keys of a restored memory are those of the memory that it is to be."""
    given = call.at_rest()
    if given["master_key"] is not None and given["keys"] is None and "://" not in target:
        given["keys"] = f"{Path(target).absolute()}.keys"
    return {name: value for name, value in given.items() if name != "forgotten"}
