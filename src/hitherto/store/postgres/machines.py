"""The machines of a database: one server, or a coordinator and its workers.

What a session of the coordinator asks, the coordinator answers for itself. What is about a machine's own files and settings
is asked of each.
"""

from dataclasses import dataclass

from psycopg import errors

from hitherto.store.postgres.connections import query
from hitherto.store.postgres.migrations import distributed
from hitherto.store.postgres.sending import Connection

HERE = "the server"


@dataclass(frozen=True, slots=True)
class Reply:
    """What one machine said to a statement: its first value, or why not."""

    machine: str
    text: str
    done: bool = True


async def ask_each(connection: Connection, statement: str) -> list[Reply]:
    """Runs a statement outside any transaction on every machine; of its rows, the first value of the first is told."""
    replies = [await _ask_here(connection, statement)]
    if await distributed(connection):
        cursor = await connection.execute(
            "select n.nodename || ':' || n.nodeport, r.success, r.result"
            " from run_command_on_workers(%s) r join pg_dist_node n using (nodename, nodeport) order by 1",
            (statement,),
        )
        replies += [Reply(name, text or "", done) for name, done, text in await cursor.fetchall()]
    return replies


async def _ask_here(connection: Connection, statement: str) -> Reply:
    try:
        cursor = await connection.execute(query(statement))
    except (errors.InsufficientPrivilege, errors.ObjectNotInPrerequisiteState) as error:
        return Reply(HERE, str(error.diag.message_primary), done=False)
    return Reply(HERE, str((await cursor.fetchone() or ("",))[0]) if cursor.description else "")


def refused(replies: list[Reply]) -> dict[str, str]:
    """The machines that did not do it, and why."""
    return {reply.machine: " ".join(reply.text.split()) for reply in replies if not reply.done}


async def citus_workers(connection: Connection) -> int:
    """How many workers the database has, whether or not they hold anything of this memory."""
    cursor = await connection.execute("select to_regclass('pg_catalog.pg_dist_node')")
    if await cursor.fetchone() == (None,):
        return 0
    cursor = await connection.execute("select count(*) from pg_catalog.pg_dist_node where groupid <> 0")
    return int((await cursor.fetchone() or (0,))[0])
