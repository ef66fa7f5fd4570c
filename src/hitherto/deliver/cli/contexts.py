"""Commands for contexts: context, search, snapshots, replay, diff, backtest."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from hitherto.deliver.cli.call import Call, Known, Lane, Limit, Persona, Recipe, User, field_texts
from hitherto.errors import InvalidInput, MissingExtra, near
from hitherto.types import HitKind

if TYPE_CHECKING:
    from hitherto.sync import Hitherto
    from hitherto.types import Context

Html = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", dir_okay=False, help="Write it as one page that needs nothing else."),
]
Redact = Annotated[
    bool, typer.Option("--redact", help="On that page, mask every word and id; numbers and reasons stay.")
]

NEWER = 1_000
"""How many of the newest snapshots may be named by the beginning of their id."""


def context(
    call: Call,
    *,
    user: User,
    message: Annotated[
        str | None, typer.Argument(metavar="[MESSAGE]", help="The user's message, not recorded yet.")
    ] = None,
    turn: Annotated[str | None, typer.Option("--turn", "-t", metavar="ID", help="Or: the recorded message.")] = None,
    persona: Persona = None,
    lane: Lane = None,
    recipe: Recipe = None,
    tokenizer: Annotated[
        str | None, typer.Option(metavar="FAMILY", help="Of the model that will answer, such as o200k.")
    ] = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option("--input", "-i", metavar="SECTION=TEXT", help="A section's text, such as task_state=…"),
    ] = None,
    known: Known = None,
    raw: Annotated[bool, typer.Option("--raw", help="Only the system text, byte for byte.")] = False,
    html: Html = None,
    redact: Redact = False,
) -> None:
    """Show what the model should see for a message, and why."""
    _check(html, redact)
    with call.memory() as memory:
        _warn_of_nobody(memory, user)
        built = memory.context(
            user=user,
            message=message,
            turn=turn,
            persona=persona,
            lane=lane,
            recipe=recipe,
            at=call.at,
            tokenizer=tokenizer,
            inputs=field_texts(inputs),
            known=known,
        )
    if html is not None:
        _written(call, built, html, redact=redact)
        return
    if raw and not call.json:
        typer.echo(built.system)
        return
    from hitherto.deliver.cli import show

    call.answer(built, lambda: show.context(built))


def _warn_of_nobody(memory: "Hitherto", user: str) -> None:
    """Nothing is said against a user who is new, but a misspelt one is one as well."""
    if memory.turns(user=user, limit=1) or user in (users := memory.users()):
        return
    if meant := near(user, users):
        typer.echo(f"hitherto: nobody called {user!r} has said anything{meant}", err=True)


def search(
    call: Call,
    *,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for.")],
    user: User,
    limit: Limit = 10,
    kinds: Annotated[
        list[str] | None,
        typer.Option("--kind", "-k", metavar="KIND", help="turn, memory, episode or summary; may be repeated."),
    ] = None,
    persona: Persona = None,
    lane: Lane = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show how each score came about.")] = False,
    known: Known = None,
) -> None:
    """Find turns, memories, episodes and summaries, best first."""
    from hitherto.deliver.cli import tables

    with call.memory() as memory:
        _warn_of_nobody(memory, user)
        hits = memory.search(
            user=user,
            query=query,
            limit=limit,
            kinds=[_kind(kind) for kind in kinds] if kinds else None,
            persona=persona,
            lane=lane,
            at=call.at,
            explain=explain,
            known=known,
        )
    call.answer(hits, lambda: tables.hits(hits, explain=explain))


def snapshots(call: Call, *, user: User, limit: Limit = 20) -> None:
    """List the contexts that were given out, newest first."""
    from hitherto.deliver.cli import tables

    with call.memory() as memory:
        found = memory.snapshots(user=user, limit=limit)
    taken = [tables.taken(snapshot) for snapshot in found]
    call.answer(taken, lambda: tables.snapshots(taken))


def replay(
    call: Call,
    *,
    snapshot: Annotated[str, typer.Argument(metavar="SNAPSHOT", help="The id of a snapshot, or its beginning.")],
    user: User,
    raw: Annotated[bool, typer.Option("--raw", help="Only the system text, byte for byte.")] = False,
    html: Html = None,
    redact: Redact = False,
) -> None:
    """Rebuild a context that was given out, byte for byte."""
    _check(html, redact)
    from hitherto.deliver.cli import show

    with call.memory() as memory:
        rebuilt = memory.replay(user=user, snapshot=_whole(memory, user, snapshot))
    if html is not None:
        _written(call, rebuilt, html, redact=redact)
        return
    if raw and not call.json:
        typer.echo(rebuilt.system)
        return
    call.answer(rebuilt, lambda: show.context(rebuilt))


def diff(
    call: Call,
    *,
    first: Annotated[str, typer.Argument(metavar="SNAPSHOT", help="The id of a snapshot, or its beginning.")],
    second: Annotated[str, typer.Argument(metavar="SNAPSHOT", help="Another one.")],
    user: User,
) -> None:
    """Show what changed from one context to another."""
    from hitherto.deliver.cli import show

    with call.memory() as memory:
        a, b = (memory.replay(user=user, snapshot=_whole(memory, user, given)) for given in (first, second))
        difference = memory.diff(a, b)
    call.answer(difference, lambda: show.difference(a, b, difference))


def backtest(
    call: Call,
    *,
    user: User,
    recipe: Annotated[str, typer.Option("--recipe", "-r", metavar="NAME|FILE", help="The recipe to try.")],
    persona: Persona = None,
    lane: Lane = None,
    limit: Limit = 1_000,
) -> None:
    """Try a recipe over a recorded conversation.

    Each of the user's turns is shown with the context it would have had, knowing only what was known then.
    """
    from hitherto.deliver.cli import tables

    with call.memory() as memory:
        trials = memory.backtest(user=user, recipe=recipe, persona=persona, lane=lane, limit=limit)
    call.answer(trials, lambda: tables.trials(trials))


def _check(html: Path | None, redact: bool) -> None:  # noqa: FBT001 -- the option as it was given
    if redact and html is None:
        raise InvalidInput("--redact is for the page that --html writes")


def _written(call: Call, context: "Context", file: Path, *, redact: bool) -> None:
    """Writes the context as one page."""
    try:
        from hitherto.deliver.inspector.views import standalone
    except ImportError as error:
        raise MissingExtra(f"a page needs {error.name}: pip install 'hitherto[serve]'") from error
    file.write_text(standalone(context, redact=redact), "utf-8")
    call.answer({"file": file, "snapshot": context.snapshot, "redacted": redact}, lambda: f"{file} holds the context")


def _whole(memory: "Hitherto", user: str, given: str) -> str:
    """The id of the one recent snapshot that begins with this text; a text that begins none is returned unchanged."""
    fitting = [taken.id for taken in memory.snapshots(user=user, limit=NEWER) if taken.id.startswith(given)]
    if len(fitting) > 1 and given not in fitting:
        raise InvalidInput(f"{given!r} matches {len(fitting)} snapshots; give more of the id")
    return fitting[0] if len(fitting) == 1 else given


def _kind(given: str) -> HitKind:
    kinds: tuple[HitKind, ...] = get_args(HitKind)
    for kind in kinds:
        if given == kind:
            return kind
    raise InvalidInput(f"--kind {given!r} is not one of {', '.join(kinds)}")
