"""Commands for the work behind the answers: settle, work with its status and retry, and what it learnt: progress, audit,
seed, merge, split, reindex."""

import signal
from collections.abc import Mapping
from datetime import datetime
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer

from hitherto.deliver.cli.call import Call, Fields, Persona, User, field_values, moment
from hitherto.errors import InvalidInput, NotFound, near

if TYPE_CHECKING:
    import asyncio

    from rich.console import RenderableType

    from hitherto.learn.cost import Spent
    from hitherto.learn.quality import Audit
    from hitherto.work.overview import SessionState, Status
    from hitherto.work.worker import Settled

OneUser = Annotated[
    str | None, typer.Option("--user", "-u", envvar="HITHERTO_USER", metavar="USER", help="Only this one.")
]
Model = Annotated[
    str | None,
    typer.Option(
        envvar="HITHERTO_MODEL",
        metavar="MODEL",
        help="The model that learns: a PydanticAI name, or http://…/v1#NAME; without one, rules do.",
    ),
]


def settle(call: Call, *, user: OneUser = None, model: Model = None) -> None:
    """Run all work that is due now, for one user or for all."""
    with call.memory(model=model or call.settings.model) as memory:
        if user is not None and user not in memory.users():
            raise NotFound(f"there is no user {user!r} here")
        settled = memory.run(memory.engine.settle(user=user))
    call.answer(settled, lambda: _settled(settled))


def run(
    call: Call,
    *,
    idle: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.01, help="How long to wait when nothing is due.")
    ] = 1.0,
    sweep: Annotated[
        float, typer.Option(metavar="SECONDS", min=1, help="How often every user is looked at.")
    ] = 3_600.0,
    model: Model = None,
) -> None:
    """Do the work as it falls due, until stopped (Ctrl-C or SIGTERM)."""
    import asyncio

    from hitherto import store
    from hitherto.deliver import heap

    heap.lean()
    with call.memory(model=model or call.settings.model, redis=call.settings.found_redis()) as memory:
        stop = asyncio.Event()

        def end(_signal: int, _frame: FrameType | None) -> None:
            memory.run(_set(stop))

        async def work() -> None:
            worker = await memory.engine.worker()
            heap.settled()
            await worker.run(stop=stop, idle=idle, sweep_every=sweep)

        before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
        typer.echo(f"working on {store.shown(call.data)}; Ctrl-C stops", err=True)
        try:
            memory.run(work())
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def status(call: Call, *, user: User) -> None:
    """Show how far each step of the work is, and what failed."""
    with call.memory() as memory:
        found = memory.run(memory.engine.work_status(user=user))
    call.answer(found, lambda: _status(found))


def cost(
    call: Call,
    *,
    user: User,
    since: Annotated[str | None, typer.Option(metavar="DAY", help="From this day on, such as 2026-03-01.")] = None,
) -> None:
    """Show what learning has cost: questions, tokens and notes, by day and step."""
    first = moment(f"{since}T00:00:00Z", name="--since").date() if since else None
    with call.memory() as memory:
        found = memory.run(memory.engine.costs(user=user, since=first))
    call.answer(found, lambda: _cost(found))


def retry(
    call: Call,
    *,
    user: User,
    step: Annotated[str | None, typer.Argument(metavar="[STEP]", help="Only this one.")] = None,
) -> None:
    """Retry steps that were given up."""
    with call.memory() as memory:
        steps = memory.run(memory.engine.retry(user=user, step=step))
    call.answer({"steps": steps}, lambda: f"{steps} steps are due again")


def progress(call: Call, *, user: User, persona: Persona = None) -> None:
    """Show how far the conversation with a persona has come, and its upkeep."""
    with call.memory() as memory:
        found = memory.run(memory.engine.progress(user=user, persona=persona))
    call.answer(found, lambda: _progress(found))


def audit(call: Call, *, user: User) -> None:
    """Measure how much of a memory is duplicated, unsupported, stale or secret."""
    with call.memory() as memory:
        found = memory.run(memory.engine.audit(user=user))
    call.answer(found, lambda: _audit(found))


def seed(
    call: Call,
    *,
    file: Annotated[
        typer.FileText, typer.Argument(metavar="FILE", help="A fact a line; - reads standard input.", encoding="utf-8")
    ],
    user: User,
) -> None:
    """Load what you know about a user before the first message.

    A line may be said ("I live in Austin"), told ("Lives in Austin") or filled in ("home: Austin"). What is known already, or
    what the user has said otherwise, is left out; the same file again changes nothing.
    """
    with call.memory(create=True) as memory:
        made = memory.run(memory.engine.seed(user=user, facts=file.read().splitlines()))
    held_back = sum(one.status == "QUARANTINED" for one in made)
    note = f", {held_back} of them held back for review" if held_back else ""
    call.answer(made, lambda: f"{len(made)} memories written{note}")


def merge(
    call: Call,
    *,
    user: User,
    entities: Annotated[
        list[str], typer.Argument(metavar="ENTITY ENTITY...", help="References or ids; the first is kept.")
    ],
) -> None:
    """Merge entities into the first: whatever names the others names it from now on."""
    from hitherto.deliver.cli import tables

    with call.memory() as memory:
        found = memory.run(memory.engine.merge(user=user, entities=entities))
    call.answer(found, lambda: tables.entities([found]))


def split(
    call: Call,
    *,
    user: User,
    entity: Annotated[str, typer.Argument(metavar="ENTITY", help="Its reference or id.")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of it that is someone else.")],
    memory: Annotated[
        list[str] | None,
        typer.Option(
            "--memory", metavar="ID", help="A memory that goes along; with none, those whose turns use the name."
        ),
    ] = None,
) -> None:
    """Split a name off an entity: it belongs to somebody else."""
    from hitherto.deliver.cli import tables

    with call.memory() as opened:
        found = opened.run(opened.engine.split(user=user, entity=entity, name=name, memories=memory))
    call.answer(found, lambda: tables.entities([found]))


def reindex(
    call: Call,
    *,
    user: OneUser = None,
    embedder: Annotated[
        str | None, typer.Option(metavar="NAME", help="static (the default), or onnx:NAME with the extra.")
    ] = None,
) -> None:
    """Write missing vectors; run it again to continue after an interruption."""
    with call.memory(embedder=embedder) as memory, call.progress("embedding") as advance:
        found = memory.run(memory.engine.reindex(user=user, progress=advance))
    call.answer(
        found, lambda: "\n".join(f"{name}: {count:,} vectors" for name, count in found.items()) or "no users yet"
    )


async def _set(stop: "asyncio.Event") -> None:
    stop.set()


def _settled(found: Mapping[str, "Settled"]) -> "RenderableType":
    from hitherto.deliver.cli import tables

    columns = (
        tables.Column("user", style="bold"),
        tables.Column("done", right=True),
        tables.Column("failed", right=True),
        tables.Column("next due (UTC)", style="dim"),
        tables.Column(""),
    )
    rows = [
        (user, str(s.done), str(s.failed), tables.when(s.next_due), "another worker is at it" if s.busy else "")
        for user, s in found.items()
    ]
    return tables.table(columns, rows, empty="no users yet")


def _status(found: "Status") -> "RenderableType":
    from hitherto.deliver.cli import tables

    rows = [
        tables.ListedEntry(
            title=cursor.step,
            facts=(
                "PARKED" if cursor.parked else "",
                f"due {tables.when(cursor.due)}" if cursor.due else "",
                f"{cursor.attempts} attempts" if cursor.attempts else "",
            ),
            id=f"entry {cursor.position} of {found.head}",
            note=cursor.error or "",
        )
        for cursor in found.cursors
    ]
    if found.capped:
        cap = tables.ListedEntry(
            title="model",
            facts=("CAPPED",),
            id="",
            note=f"the {found.capped}'s tokens of today are used up: rules do the work",
        )
        rows.insert(0, cap)
    return tables.entries(rows, empty="no work was done yet")


def _cost(found: "list[Spent]") -> "RenderableType":
    from hitherto.deliver.cli import tables

    rows = [
        tables.ListedEntry(
            title=f"{one.day} {one.step}",
            facts=(
                f"{one.calls} questions",
                f"{one.asked} tokens asked",
                f"{one.answered} answered",
                *(f"{count} {name}" for name, count in sorted(one.kept.items())),
            ),
            id="",
            note=", ".join(f"{count} dropped: {name}" for name, count in sorted(one.dropped.items())),
        )
        for one in found
    ]
    return tables.entries(rows, empty="nothing was learnt yet")


def _progress(found: "SessionState") -> "RenderableType":
    from hitherto.deliver.cli import tables

    error = found.last_rolling_error
    return tables.facts(
        {
            "persona": found.persona,
            "messages": found.message_count,
            "last interaction": tables.when(found.last_interaction),
            "last user message": found.last_user_message,
            "curator ran": tables.when(found.curator.last_run),
            "memories then": found.curator.memory_count,
            "rolling summary tried": tables.when(found.last_rolling_attempt),
            "rolling summary made": tables.when(found.last_rolling_success),
            "rolling summary failed": f"{error.reason}: {error.detail}" if error else "",
            "rolling summary": found.rolling_summary,
        }
    )


def _audit(found: "Audit") -> "RenderableType":
    from hitherto.deliver.cli import tables

    columns = (
        tables.Column("what", style="bold"),
        tables.Column("share", right=True),
        tables.Column("count", right=True),
        tables.Column("look at", style="cyan", words=True),
    )
    shares = {
        "duplicate": found.duplicate,
        "nearly duplicate": found.near_duplicate,
        "unsupported": found.unsupported,
        "stale": found.stale,
        "quarantined": found.quarantined,
        "secret": found.secret,
    }
    rows = [(name, f"{s.rate:.1%}", f"{s.count}/{s.of}", " ".join(s.examples)) for name, s in shares.items()]
    return tables.table(columns, rows, empty="no memories")


def any_call(
    call: Call,
    *,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="The call; with none, all are listed.")] = None,
    fields: Fields = None,
) -> None:
    """Make any call of the library by its name.

    Arguments are given as fields; the answer is JSON. Most calls have a command of their own that reads better.
    """
    from hitherto.calls import calls_of
    from hitherto.engine import Hitherto

    known = {key: one for key, one in calls_of(Hitherto).items() if one.reason is None and key != "export"}
    if name is None:
        summaries = {key: one.summary.partition("\n")[0] for key, one in known.items()}
        call.answer(summaries, lambda: "\n".join(f"{key:<15}{text}" for key, text in summaries.items()))
        return
    if name not in known:
        raise InvalidInput(f"there is no call {name!r}{near(name, known)}; there are {', '.join(known)}")
    arguments = _arguments(known[name].method, field_values(fields))
    positional = [arguments.pop(p.name) for p in known[name].parameters if _leads(p, arguments)]
    with call.memory(create=True) as memory:
        try:
            answer: object = getattr(memory, name)(*positional, **arguments)
        except TypeError as error:
            raise InvalidInput(f"{name}: {str(error).partition('()')[2].strip() or error}") from error
    call.emit(answer)


def _leads(parameter: Any, given: dict[str, Any]) -> bool:
    return parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD) and parameter.name in given


def _arguments(method: Any, given: dict[str, Any]) -> dict[str, Any]:
    """The fields in the form that the call takes: times parsed, texts left as text."""
    hints = get_type_hints(method)
    for name, value in given.items():
        kinds = (hints.get(name), *get_args(hints.get(name)))
        if datetime in kinds:
            given[name] = moment(str(value), name=name)
        elif str in kinds and not isinstance(value, str | None):
            given[name] = str(value)
    return given
