"""Commands between stores: copy one into another, put a backup back into a database, the schema of a sharded cluster."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from hitherto.deliver.cli.call import Call
from hitherto.errors import Conflict, InvalidInput, NotFound

if TYPE_CHECKING:
    from hitherto.store.protocol import Store

Side = Literal["source", "target"]


def copy(
    call: Call,
    *,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A folder or a database.")],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="Another one; it may hold an earlier copy.")],
    plain: Annotated[
        Side | None, typer.Option("--plain", help="With a master key: the one of the two that is not encrypted.")
    ] = None,
) -> None:
    """Copy all users and documents into another store, and verify that both agree.

    Safe while the source is in use. Run it again to continue one that was interrupted, or to catch up with what was written
    since. With `--plain source` and a master key the copy is encrypted, with `--plain target` it no longer is.
    """
    import asyncio

    from hitherto import store
    from hitherto.recall.embed import open_embedder
    from hitherto.store.copy import Copied
    from hitherto.store.copy import copy as copied

    if not store.exists(source):
        raise NotFound(f"there is no memory in {source!r}")
    if source == target:
        raise InvalidInput("source and target are the same place")
    if plain is not None and call.at_rest()["master_key"] is None:
        raise InvalidInput("--plain is for a copy with a master key: set HITHERTO_MASTER_KEY_FILE")

    async def run() -> Copied:
        here = _connected(call, source, plain=plain == "source")
        there = _connected(call, target, plain=plain == "target")
        await here.open()
        try:
            await there.open()
            try:
                with call.progress("copying") as advance:
                    return await copied(here, there, embedders=[open_embedder(None).version], progress=advance)
            finally:
                await there.close()
        finally:
            await here.close()

    done = asyncio.run(run())
    if done.problems:
        raise Conflict("\n".join(("the copy does not agree with its source:", *done.problems)))
    call.answer(
        {"users": done.users, "entries": done.entries, "documents": done.documents},
        lambda: f"copied {done.entries:,} entries of {done.users:,} users and {done.documents:,} documents; both agree",
    )


def _connected(call: Call, url: str, *, plain: bool) -> "Store":
    from hitherto import store
    from hitherto.privacy import open_keyring

    at_rest = call.at_rest()
    if plain:
        return store.connect(url)
    keyring = open_keyring(url, master=at_rest["master_key"], folder=at_rest["keys"])
    return store.connect(url, keys=keyring)


def put_back(call: Call, source: Path) -> int:
    """A backup of a database, into the empty database of --data; the number of users."""
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
    shards: Annotated[int, typer.Option(min=1, help="How many pieces the users are spread over.")] = 128,
) -> None:
    """Print the statements that prepare a PostgreSQL database.

    One server needs none of it: the store prepares its database itself when it may.
    """
    from hitherto.store.postgres.sharding import schema as statements

    text = statements(shards=shards if sharded else None)
    if call.json:
        call.emit({"sql": text})
    else:
        typer.echo(text, nl=False)  # as it is: a terminal's width must not break it
