"""Commands for what people may ask of their memory: forget, retain, review, and who did what."""

import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hitherto.deliver.cli.call import Call, Fields, Limit, User, field_values, moment
from hitherto.errors import InvalidInput
from hitherto.text.numbers import counted as number_of

if TYPE_CHECKING:
    from hitherto.privacy.forget import Receipt

DryRun = Annotated[bool, typer.Option("--dry-run", help="Only count; change nothing.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Whose = Annotated[str | None, typer.Option("--user", "-u", metavar="USER", help="Of this user alone.")]
Held = Annotated[str, typer.Argument(metavar="ID", help="The memory that is held back.")]
Wrong = Annotated[str, typer.Argument(metavar="ID", help="The memory or loop that is wrong, or the memory held back.")]


def forget(
    call: Call,
    *,
    user: User,
    turn: Annotated[str | None, typer.Option(metavar="ID", help="A turn.")] = None,
    memory: Annotated[
        str | None, typer.Option(metavar="ID", help="A memory, or any other record; its turns stay.")
    ] = None,
    entity: Annotated[str | None, typer.Option(metavar="REF", help="Such as person:john.")] = None,
    lane: Annotated[str | None, typer.Option(metavar="NAME", help="All of a lane.")] = None,
    persona: Annotated[str | None, typer.Option(metavar="NAME", help="All that was said with a persona.")] = None,
    before: Annotated[str | None, typer.Option(metavar="ISO", help="What was said before this time.")] = None,
    origin: Annotated[str | None, typer.Option(metavar="ORIGIN", help="What came from import, tool and so on.")] = None,
    conversation: Annotated[str | None, typer.Option(metavar="NAME", help="What came in this conversation.")] = None,
    speaker: Annotated[str | None, typer.Option(metavar="NAME", help="What this speaker said.")] = None,
    everything: Annotated[bool, typer.Option("--everything", help="The whole user.")] = False,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Forget one thing and all that rests on it, for good.

    First it counts what would go and asks; --dry-run stops there, --yes does not ask.
    """
    named: dict[str, Any] = {
        "turn": turn,
        "memory": memory,
        "entity": entity,
        "lane": lane,
        "persona": persona,
        "before": _time(before),
        "origin": origin,
        "conversation": conversation,
        "speaker": speaker,
        "everything": everything,
    }
    if not any(named.values()):
        raise InvalidInput(
            "say what to forget: --turn, --memory, --entity, --lane, --persona, --before, a source (--origin, --conversation,"
            " --speaker) or --everything"
        )
    with call.memory() as engine:
        counted = engine.forget(user=user, dry_run=True, **named)
        if dry_run:
            call.answer(counted, lambda: f"would forget {_words(counted)}")
            return
        if not yes and not _agreed(f"Forget {_words(counted)} for good?"):
            raise typer.Exit(1)
        receipt = engine.forget(user=user, **named)
    call.answer(receipt, lambda: f"forgot {_words(receipt)}")


def _agreed(question: str) -> bool:
    try:
        return typer.confirm(question, err=True)
    except typer.Abort as error:
        if sys.stdin.isatty():
            raise
        raise InvalidInput("nothing was forgotten: nobody answered the question; --yes goes on without it") from error


def scrub(call: Call) -> None:
    """Rewrite what may still hold bytes of something forgotten (PostgreSQL).

    Tables are locked one after the other while they are rewritten, and each needs room for its copy. Where something could
    not be reached, such as the write-ahead log for an owner who is no superuser, it is named (`left` in
    `--json`) and the command exits with 1.
    """
    with call.memory() as memory, call.progress("scrubbing") as advance:
        scrubbed = memory.scrub(progress=advance)
    rewritten = number_of(scrubbed.files, "table" if "://" in call.data else "file")
    done = f"rewrote {rewritten} in {scrubbed.seconds:.1f} s"
    call.answer(scrubbed, lambda: "\n".join([done, *(f"left: {each}" for each in scrubbed.left)]))
    if scrubbed.left:
        raise typer.Exit(1)


def rekey(
    call: Call,
    *,
    new: Annotated[
        Path, typer.Argument(metavar="FILE", help="The new master key.", exists=True, dir_okay=False, readable=True)
    ],
) -> None:
    """Wrap every user's key with a new master key.

    Stop what uses the memory first, and give it the new key afterwards. One that was cut short is finished by running it again.
    """
    from hitherto.privacy import open_keyring
    from hitherto.privacy.keyring import master_key

    given = call.library()
    keyring = open_keyring(call.data, master=given["master_key"], folder=given["keys"])
    if keyring is None:
        raise InvalidInput(
            "nothing is encrypted here: set HITHERTO_MASTER_KEY_FILE to the file of the present master key"
        )
    keys = keyring.rewrap(master_key(new.read_text("utf-8")))
    call.answer({"keys": keys}, lambda: f"wrapped {number_of(keys, 'key')} with the new master key")


def retain(call: Call, *, user: Whose = None, dry_run: DryRun = False) -> None:
    """Remove what has outlived its retention (see `hitherto retention`)."""
    with call.memory() as memory:
        done = memory.retain(user=user, dry_run=dry_run)
    verb = "would remove" if dry_run else "removed"
    lines = [f"{name}: {verb} {_words(receipt)}" for name, receipt in done.items()]
    call.answer(done, lambda: "\n".join(lines) or "nothing is over its time")


def retention(call: Call, *, fields: Fields = None, user: Whose = None) -> None:
    """Show or set for how many days each kind is kept (turn=365; null keeps it)."""
    with call.memory() as memory:
        days: dict[str, Any] = field_values(fields)
        if days:
            memory.set_retention(user=user, **days)
        shown = memory.retention(user=user or "*")
    lines = [f"{kind}: {value:g} days" for kind, value in shown.items()]
    call.answer(shown, lambda: "\n".join(lines) or "everything is kept until it is forgotten")


def held_back(call: Call, *, user: User) -> None:
    """List the memories that are held back for review."""
    from hitherto.deliver.cli import tables

    with call.memory() as memory:
        found = memory.memories(user=user, status="QUARANTINED")
    call.answer(found, lambda: tables.memories(found) if found else "nothing is held back")


def approve(call: Call, *, id: Held, user: User) -> None:
    """Release a memory that was held back."""
    with call.memory() as memory:
        reviewed = memory.review(id, user=user, approve=True)
    call.answer(reviewed, lambda: f"approved {reviewed.id}")


def reject(call: Call, *, id: Wrong, user: User) -> None:
    """Take back a memory or loop that is wrong; its turns do not bring it back."""
    with call.memory() as memory:
        rejected = memory.reject(id, user=user)
    call.answer(rejected, lambda: f"rejected {rejected.id}")


def events(call: Call, *, user: Whose = None, limit: Limit = 100) -> None:
    """Show the audit log: who forgot, exported or changed what; without content."""
    with call.memory() as memory:
        found = memory.events(user=user, limit=limit)
    lines = [f"{e.at:%Y-%m-%d %H:%M:%S}  {e.deed:<9}  {e.by}  {(e.user or 'all')[:12]}" for e in found]
    call.answer(found, lambda: "\n".join(lines) or "nothing was noted")


def _time(value: str | None) -> datetime | None:
    return None if value is None else moment(value, name="--before")


def _words(receipt: "Receipt") -> str:
    """A receipt as a person says it."""
    counts = {"turn": receipt.turns, **receipt.records, "snapshot": receipt.snapshots, "link": receipt.links}
    said = [f"{count:,} {_plural(noun, count)}" for noun, count in counts.items() if count]
    if not said:
        raise InvalidInput("there is nothing to forget by that name")
    return ", ".join(said)


def _plural(noun: str, count: int) -> str:
    many = {"memory": "memories", "summary": "summaries", "entity": "entities", "progress": "progress"}
    return noun if count == 1 else many.get(noun, f"{noun}s")
