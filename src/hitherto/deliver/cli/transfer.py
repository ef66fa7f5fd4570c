"""Commands that move memories: export, load, backup, restore, copy to another store, the schema of a sharded cluster."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO

import typer

from hitherto import private
from hitherto.deliver.cli.call import Call, User
from hitherto.errors import Conflict, InvalidInput, NotFound
from hitherto.text.numbers import counted

if TYPE_CHECKING:
    from hitherto.store.protocol import Store

HEADER_AND_FOOTER = 2
"""Lines of an export that are not entries."""
NOTES = 10
"""How many users that only the target has are named on screen."""


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
    """Load an export; what is there already stays as it is."""
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
    call.answer({"target": target, "users": users}, lambda: f"backed up {counted(users, 'user')} to {target}")


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
    """Restore a backup into an empty place, without what was forgotten since."""
    from hitherto import store
    from hitherto.privacy.ledger import NAME as LEDGER
    from hitherto.sync import Hitherto

    if "://" in call.data:
        users = put_back(call, source)
        _restored(call, "the database", users=users, again=_forget_again(call, call.data, forgotten))
        return
    if not store.exists(str(source)):
        raise NotFound(f"{str(source)!r} is not a backup: there is no memory in it")
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
    """How many users' memories something had to be removed from again."""
    from hitherto.sync import Hitherto

    if ledger is None:
        return 0
    with Hitherto(target, tenant=call.tenant, **_at_rest(call, target)) as restored:
        return len(restored.forget_again(ledger))


def _restored(call: Call, target: str, *, users: int, again: int) -> None:
    call.answer(
        {"target": target, "users": users, "forgotten_again": again},
        lambda: (
            f"restored {counted(users, 'user')} to {target}"
            + (f"; what was forgotten since is forgotten again for {counted(again, 'user')}" if again else "")
        ),
    )


def _at_rest(call: Call, target: str) -> dict[str, Any]:
    """The keys of a restored memory are those of the memory that it replaces."""
    given = call.library()
    if given["master_key"] is not None and given["keys"] is None and "://" not in target:
        given["keys"] = f"{Path(target).absolute()}.keys"
    return {name: value for name, value in given.items() if name != "forgotten"}


Side = Literal["source", "target"]


def copy(
    call: Call,
    *,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A folder or a database.")],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="Another one; it may hold an earlier copy.")],
    plain: Annotated[
        Side | None,
        typer.Option(
            "--plain", metavar="SIDE", help="With a master key: which is not encrypted, the source or the target."
        ),
    ] = None,
) -> None:
    """Copy all users and documents into another store, and verify that both agree.

    Safe while the source is in use. Run it again to continue one that was interrupted, or to catch up with what was written
    since. Users that only the target has stay there and are noted; one whose memory there is another one is refused before
    anything is written. With `--plain source` and a master key the copy is encrypted, with `--plain target` it no longer is.
    """
    import asyncio

    from hitherto import store
    from hitherto.recall.embed import open_embedder
    from hitherto.recall.search import index_version
    from hitherto.store.copy import Copied
    from hitherto.store.copy import copy as copied

    if not store.exists(source):
        raise NotFound(f"there is no memory in {source!r}")
    if source == target:
        raise InvalidInput("source and target are the same place")
    if plain is not None and call.library()["master_key"] is None:
        raise InvalidInput("--plain is for a copy with a master key: set HITHERTO_MASTER_KEY_FILE")

    async def run() -> Copied:
        here = _connected(call, source, plain=plain == "source")
        there = _connected(call, target, plain=plain == "target")
        await here.open()
        try:
            await there.open()
            try:
                vectors = index_version(open_embedder(call.settings.embedder))
                with call.progress("copying") as advance:
                    return await copied(here, there, embedders=[vectors], progress=advance)
            finally:
                await there.close()
        finally:
            await here.close()

    done = asyncio.run(run())
    if done.problems:
        raise Conflict("\n".join(("the copy does not agree with its source:", *done.problems)))
    verdict = (
        f"copied {done.entries:,} {'entry' if done.entries == 1 else 'entries'} of {counted(done.users, 'user')} and"
        f" {counted(done.documents, 'document')}; both agree"
    )
    notes = [f"note: {note}" for note in done.notes[:NOTES]]
    if len(done.notes) > NOTES:
        notes.append(f"note: and {len(done.notes) - NOTES:,} more (--json names all)")
    call.answer(
        {"users": done.users, "entries": done.entries, "documents": done.documents, "notes": done.notes},
        lambda: "\n".join((verdict, *notes)),
    )


def _connected(call: Call, url: str, *, plain: bool) -> "Store":
    from hitherto import store
    from hitherto.privacy import open_keyring

    at_rest = call.library()
    if plain:
        return store.connect(url)
    keyring = open_keyring(url, master=at_rest["master_key"], folder=at_rest["keys"])
    return store.connect(url, keys=keyring)


def put_back(call: Call, source: Path) -> int:
    """Restores a backup into the empty database of --data; returns the number of users."""
    import asyncio

    from hitherto.store.postgres import PostgresStore

    async def run() -> int:
        database = PostgresStore(call.data)
        await database.open()
        try:
            return await database.restore_backup(str(source))
        finally:
            await database.close()

    return asyncio.run(run())


def schema(
    call: Call,
    *,
    sharded: Annotated[
        bool, typer.Option("--sharded", help="For a cluster that Citus shards by user, instead of one server.")
    ] = False,
    shards: Annotated[int, typer.Option(metavar="N", min=1, help="How many pieces the users are spread over.")] = 128,
    rename_from: Annotated[
        Literal["recollect"] | None,
        typer.Option(
            "--rename-from", metavar="NAME", help="Rename the schema of a database that version 0.1.0 made (recollect)."
        ),
    ] = None,
) -> None:
    """Print the statements that prepare a PostgreSQL database.

    One server needs none of it: the store prepares its database itself when it may.
    """
    from hitherto.store.postgres import shards as sharding

    text = sharding.renaming(rename_from) if rename_from else sharding.schema(shards=shards if sharded else None)
    if call.json:
        call.emit({"sql": text})
    else:
        typer.echo(text, nl=False)  # unwrapped: a terminal's width must not break it
