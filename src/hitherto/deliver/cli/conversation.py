"""Commands for turns: record, import, turns, revise, sessions."""

import sys
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal

import typer

from hitherto.deliver.cli.call import Call, moment
from hitherto.deliver.cli.options import Known, Lane, Limit, Persona, User
from hitherto.errors import InvalidInput
from hitherto.types import Role, Turn

Format = Literal["jsonl", "telegram", "chatgpt", "openai"]
BATCH = 500
"""Turns of an import are recorded in batches of this size, each durable before the next."""


def record(
    call: Call,
    *,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What was said; - reads it from standard input.")],
    user: User,
    role: Annotated[Role, typer.Option("--role", metavar="user|assistant|tool|system", help="Who said it.")] = "user",
    persona: Persona = None,
    lane: Lane = None,
    turn_id: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="Recording the same id again changes nothing.")
    ] = None,
    conversation: Annotated[str | None, typer.Option(metavar="ID", help="The chat it belongs to.")] = None,
    speaker: Annotated[str | None, typer.Option(metavar="NAME", help="Who spoke, in a group.")] = None,
    reply_to: Annotated[str | None, typer.Option(metavar="TURN", help="The turn it replies to.")] = None,
    snapshot: Annotated[
        str | None, typer.Option(metavar="ID", help="On an answer: the snapshot of the context it was given.")
    ] = None,
) -> None:
    """Store one turn; it is durable when the command returns."""
    turn = Turn(
        user=user,
        role=role,
        text=sys.stdin.read() if text == "-" else text,
        id=turn_id,
        at=call.at,
        persona=persona,
        lane=lane,
        conversation=conversation,
        speaker=speaker,
        reply_to=reply_to,
        snapshot=snapshot,
    )
    with call.memory(create=True) as memory:
        [recorded] = memory.record(turn)
    call.answer({"ids": [recorded]}, lambda: f"recorded {recorded}")


def import_file(
    call: Call,
    *,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to read.", exists=True, dir_okay=False)],
    format_name: Annotated[
        Format,
        typer.Option("--format", "-f", metavar="jsonl|telegram|chatgpt|openai", help="A line of jsonl is a turn."),
    ] = "jsonl",
    user: Annotated[
        str | None, typer.Option("--user", "-u", metavar="USER", help="Whose memory, where the file does not say.")
    ] = None,
    persona: Persona = None,
    assistant: Annotated[
        str | None, typer.Option(metavar="NAME", help="Whose messages are the persona's, where it is not said.")
    ] = None,
) -> None:
    """Record the turns of a file; known ones change nothing.

    The whole file is checked first: of a file with a mistake nothing is recorded, and the error names the line.
    """
    from hitherto.clock import system_clock
    from hitherto.deliver import importing
    from hitherto.ingest import validation as validate

    def source() -> importing.Source:
        return importing.Source(path=file, user=user, persona=persona, assistant=assistant)

    checked, users, now = source(), set[str](), call.at or system_clock()
    with call.progress("checking") as advance:
        for number, turn in enumerate(importing.read(checked, format=format_name), 1):
            try:
                users.add(validate.turn(turn, now=now).user)
            except InvalidInput as error:
                raise InvalidInput(f"{file.name}, turn {number}: {error}") from error
            advance(checked.passed, checked.size)
    read, count = source(), 0
    turns = importing.read(read, format=format_name)
    with call.memory(create=True) as memory, call.progress("importing") as advance:
        while batch := list(islice(turns, BATCH)):
            count += len(memory.record(batch))
            advance(read.passed, read.size)
    left = ", ".join(f"{why} ({number})" for why, number in sorted(read.skipped.items()))
    call.answer(
        {"turns": count, "users": len(users), "skipped": dict(read.skipped)},
        lambda: (
            f"imported {count:,} turns of {len(users):,} user{'s' if len(users) != 1 else ''} from {file.name}"
            + (f"; left out: {left}" if left else "")
        ),
    )


def turns(
    call: Call,
    *,
    user: User,
    turn: Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="These turns only.")] = None,
    persona: Persona = None,
    lane: Lane = None,
    session: Annotated[str | None, typer.Option(metavar="ID", help="Of this session only.")] = None,
    since: Annotated[str | None, typer.Option(metavar="ISO", help="Said at this time or later.")] = None,
    until: Annotated[str | None, typer.Option(metavar="ISO", help="Said before this time.")] = None,
    after: Annotated[int, typer.Option(metavar="PLACE", help="Continue behind this place.")] = 0,
    limit: Limit = 50,
    known: Known = None,
) -> None:
    """List turns in the order of the conversation."""
    from hitherto.deliver.cli import tables

    with call.memory() as memory:
        found = memory.turns(
            user=user,
            ids=turn or None,
            persona=persona,
            lane=lane,
            session=session,
            since=None if since is None else moment(since, name="--since"),
            until=None if until is None else moment(until, name="--until"),
            after=after,
            limit=limit,
            known=known,
        )
    call.answer(found, lambda: tables.turns(found))


def revise(
    call: Call,
    *,
    turn: Annotated[str, typer.Argument(metavar="ID", help="The turn to change.")],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What it should say.")],
    user: User,
) -> None:
    """Give a turn a new version; the old one stays in the log."""
    with call.memory() as memory:
        revised = memory.revise(user=user, turn=turn, text=text)
    call.answer(revised, lambda: f"{revised.id} is now at version {revised.version}")


def sessions(call: Call, *, user: User, persona: Persona = None, limit: Limit = 50) -> None:
    """List sessions, newest first."""
    from hitherto.deliver.cli import tables

    with call.memory() as memory:
        found = memory.sessions(user=user, persona=persona, limit=limit)
    call.answer(found, lambda: tables.sessions(found))
