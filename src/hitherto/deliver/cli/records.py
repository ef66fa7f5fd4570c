"""Commands for what is remembered: remember, add, update, history and the lists."""

from typing import Annotated, Literal

import typer

from hitherto.deliver.cli.call import Call, Fields, Known, Limit, Persona, User, field_values
from hitherto.types import LoopStatus, Status, SummaryKind

Writable = Literal["memory", "episode", "loop", "thought", "summary", "entity", "slot"]
"""What can be added by hand; state and profile have commands of their own."""


Explain = Annotated[bool, typer.Option("--explain", help="With the words that each rests on, and their turns.")]


def remember(
    call: Call,
    *,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The fact, in a sentence.")],
    user: User,
    fields: Fields = None,
    persona: Persona = None,
) -> None:
    """Write a memory by hand."""
    given = field_values(fields)
    if persona is not None:
        given["persona"] = persona
    with call.memory(create=True) as memory:
        written = memory.remember(user=user, text=text, **given)
    call.answer(written, lambda: f"remembered {written.id}")


def add(
    call: Call,
    *,
    kind: Annotated[
        Writable, typer.Argument(metavar="KIND", help="memory, episode, loop, thought, summary, entity, slot.")
    ],
    user: User,
    fields: Fields = None,
) -> None:
    """Write any record by hand.

    If its key exists already, it becomes the new version.
    """
    given = field_values(fields)
    own_id = given.pop("id", None)
    with call.memory(create=True) as memory:
        written = memory.add(kind, user=user, id=None if own_id is None else str(own_id), **given)
    call.answer(written, lambda: f"added {kind} {written.id}, version {written.version}")


def update(
    call: Call,
    *,
    record: Annotated[str, typer.Argument(metavar="ID", help="The record to change.")],
    user: User,
    fields: Fields = None,
) -> None:
    """Change a record: close a loop, pin or archive a memory.

    The old version stays in the log.
    """
    with call.memory() as memory:
        written = memory.update(record, user=user, **field_values(fields))
    call.answer(written, lambda: f"{written.noun} {written.id} is now at version {written.version}")


def history(
    call: Call, *, record: Annotated[str, typer.Argument(metavar="ID", help="The record.")], user: User
) -> None:
    """Show every version of a record, oldest first."""
    from hitherto.deliver.cli import tables

    with call.memory() as memory:
        versions = memory.history(user=user, id=record)
    call.answer(versions, lambda: tables.versions(versions))


def memories(
    call: Call,
    *,
    user: User,
    persona: Persona = None,
    status: Annotated[Status, typer.Option(metavar="ACTIVE|ARCHIVED|QUARANTINED", help="Which ones.")] = "ACTIVE",
    entity: Annotated[str | None, typer.Option(metavar="REF", help="About this entity, such as person:mukesh.")] = None,
    limit: Limit = 50,
    known: Known = None,
    explain: Explain = False,
) -> None:
    """List memories, newest first."""
    from hitherto.deliver.cli import tables

    with call.memory() as memory:
        found = memory.memories(user=user, persona=persona, status=status, entity=entity, limit=limit, known=known)
    call.answer(found, lambda: tables.memories(found, explain=explain))


def episodes(call: Call, *, user: User, persona: Persona = None, limit: Limit = 50) -> None:
    """List episodes, newest first."""
    from hitherto.deliver.cli import tables

    with call.memory() as memory:
        found = memory.episodes(user=user, persona=persona, limit=limit)
    call.answer(found, lambda: tables.episodes(found))


def loops(
    call: Call,
    *,
    user: User,
    persona: Persona = None,
    status: Annotated[
        LoopStatus, typer.Option(metavar="open|done|not_done|dropped|expired", help="Which ones.")
    ] = "open",
    every: Annotated[bool, typer.Option("--all", help="Closed ones too.")] = False,
    limit: Limit = 50,
    explain: Explain = False,
) -> None:
    """List what is still open: promises, questions, topics …"""
    from hitherto.deliver.cli import tables

    with call.memory() as memory:
        found = memory.loops(user=user, persona=persona, status=None if every else status, limit=limit)
    call.answer(found, lambda: tables.loops(found, explain=explain))


def thoughts(call: Call, *, user: User, persona: Persona = None, limit: Limit = 50) -> None:
    """List a persona's thoughts, including used and expired ones."""
    from hitherto.deliver.cli import tables

    with call.memory() as memory:
        found = memory.thoughts(user=user, persona=persona, limit=limit)
    call.answer(found, lambda: tables.thoughts(found))


def summaries(
    call: Call,
    *,
    user: User,
    persona: Persona = None,
    kind: Annotated[
        SummaryKind | None,
        typer.Option("--kind", "-k", metavar="rolling|session|daily|lane|chat|spine", help="Only this kind."),
    ] = None,
    limit: Limit = 50,
) -> None:
    """List summaries, newest first."""
    from hitherto.deliver.cli import tables

    with call.memory() as memory:
        found = memory.summaries(user=user, persona=persona, kind=kind, limit=limit)
    call.answer(found, lambda: tables.summaries(found))


def entities(call: Call, *, user: User, limit: Limit = 50) -> None:
    """List who and what is talked about."""
    from hitherto.deliver.cli import tables

    with call.memory() as memory:
        found = memory.entities(user=user, limit=limit)
    call.answer(found, lambda: tables.entities(found))
