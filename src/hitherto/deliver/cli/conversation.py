"""Commands for turns: record, import, turns, revise, sessions."""

import sys
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import typer

from hitherto.deliver.cli.call import Call, Known, Lane, Limit, Persona, User, moment
from hitherto.errors import Conflict, InvalidInput
from hitherto.text.numbers import counted
from hitherto.types import Role, Turn

if TYPE_CHECKING:
    from hitherto.deliver import importing
    from hitherto.sync import Hitherto

Format = Literal["jsonl", "telegram", "whatsapp", "chatgpt", "openai", "character", "langchain", "mem0", "zep", "letta"]
BATCH = 500
"""An import is recorded in batches of this many turns, each durable before the next."""


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
        typer.Option("--format", "-f", metavar="|".join(get_args(Format)), help="A line of jsonl is a turn."),
    ] = "jsonl",
    user: Annotated[
        str | None, typer.Option("--user", "-u", metavar="USER", help="Whose memory, where the file does not say.")
    ] = None,
    persona: Persona = None,
    assistant: Annotated[
        str | None, typer.Option(metavar="NAME", help="Whose messages are the persona's, where it is not said.")
    ] = None,
    zone: Annotated[str, typer.Option(metavar="ZONE", help="The time zone of times that come without one.")] = "UTC",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be imported.")] = False,
) -> None:
    """Import turns and facts from a file; what is known already changes nothing.

    The whole file is checked first: if it holds a mistake, nothing is recorded and the error names the line. Run an
    interrupted import again to continue it.
    """
    from hitherto.deliver import importing

    def source() -> importing.Source:
        return importing.Source(path=file, user=user, persona=persona, assistant=assistant, zone=zone)

    checked, read = source(), source()
    turns, facts, users, speakers = _checked(call, checked, format_name)
    left = ", ".join(f"{why} ({number})" for why, number in sorted(checked.skipped.items()))
    if not users:
        raise InvalidInput(f"{file.name} holds nothing that the format {format_name!r} reads; left out: {left}")
    if persona is not None and assistant is None and len(speakers) > 1:
        raise InvalidInput(
            f"{file.name}: nobody in it answers as {persona!r}; name who does, --assistant {' or '.join(sorted(speakers))},"
            " or leave --persona out"
        )
    if not dry_run:
        with call.memory(create=True) as memory, call.progress("importing") as advance:
            found = importing.read(read, format=format_name)
            while batch := list(islice(found, BATCH)):
                memory.record([one for one in batch if isinstance(one, Turn)])
                for fact in batch:
                    if isinstance(fact, importing.KnownFact):
                        _remember(memory, fact)
                advance(read.passed, read.size)
    learnt = f" and {counted(facts, 'fact')}" if facts else ""
    call.answer(
        {"turns": turns, "facts": facts, "users": len(users), "skipped": dict(checked.skipped), "dry_run": dry_run},
        lambda: (
            f"{'would import' if dry_run else 'imported'} {counted(turns, 'turn')}{learnt} of"
            f" {f'user {min(users)!r}' if len(users) == 1 else counted(len(users), 'user')} from {file.name}"
            + (f"; left out: {left}" if left else "")
        ),
    )


def _checked(call: Call, source: "importing.Source", format_name: Format) -> tuple[int, int, set[str], set[str]]:
    """How many turns and facts the file holds, whose, and who speaks in it if nobody answers; an error for the first that
    cannot be stored."""
    from hitherto.clock import system_clock
    from hitherto.deliver import importing
    from hitherto.ingest import validation as validate

    turns, facts, users, now = 0, 0, set[str](), call.at or system_clock()
    speakers, answers = set[str](), False
    with call.progress("checking") as advance:
        for number, one in enumerate(importing.read(source, format=format_name), 1):
            try:
                if isinstance(one, Turn):
                    users.add(validate.turn(one, now=now).user)
                    turns += 1
                    answers = answers or one.role == "assistant"
                    speakers |= {one.speaker} if one.speaker else set()
                else:
                    users.add(validate.name(one.user, what="user"))
                    validate.text(one.text, what="text", empty=False)
                    facts += 1
            except InvalidInput as error:
                raise InvalidInput(f"{source.path.name}, entry {number}: {error}") from error
            advance(source.passed, source.size)
    return turns, facts, users, set() if answers else speakers


def _remember(memory: "Hitherto", fact: "importing.KnownFact") -> None:
    """A fact that was imported before and has changed since gets a new version."""
    fields = {name: value for name, value in asdict(fact).items() if name not in ("user", "id") and value is not None}
    try:
        memory.add("memory", user=fact.user, id=fact.id, origin="import", **fields)
    except Conflict:
        memory.update(fact.id, user=fact.user, text=fact.text)


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
