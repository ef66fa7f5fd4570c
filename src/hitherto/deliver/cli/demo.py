"""Command demo: the shortest way to see what Hitherto does, on a bundled story."""

import shlex
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hitherto.deliver.cli.call import Call, Recipe
from hitherto.errors import MissingExtra

if TYPE_CHECKING:
    from rich.console import RenderableType

    from hitherto.types import StoredTurn

SHORT = 13
"""The number of characters of a snapshot's id that name it."""
NOTICE = (
    "“yes” alone says nothing: it is read in the light of Nikita's last question, and recall asks with both.",
    "Three days of silence are bridged by what happened last time and by today so far.",
    "What is known was learnt from the turns alone, {reader}.",
    "Mateo, the running coach, has his own turns. What Ana told him of herself, Nikita knows too.",
)


DemoModel = Annotated[
    str | None,
    typer.Option(
        envvar="HITHERTO_MODEL",
        metavar="MODEL",
        help="What learns: a PydanticAI name, http://…/v1#NAME, or `recorded` for a strong model's answers from a file; "
        "with none, rules do.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """A command that works on the demo's memory, and what it shows."""

    command: str
    shows: str


def demo(
    call: Call,
    *,
    recipe: Recipe = None,
    brief: Annotated[bool, typer.Option("--brief", help="Leave out the story and the system text.")] = False,
    open_: Annotated[bool, typer.Option("--open", help="Serve the story and open the inspector in a browser.")] = False,
    model: DemoModel = None,
    port: Annotated[int, typer.Option(metavar="PORT", min=1, max=65_535, help="Where --open serves.")] = 8080,
) -> None:
    """Load a story of ten days and show the context a model would get."""
    from hitherto import demo as story
    from hitherto.deliver.cli import show

    folder = Path(call.options.data or tempfile.mkdtemp(prefix="hitherto-demo-"))
    clock = story.SteppingClock()
    with story.open_memory(folder, clock=clock, tenant=call.tenant, model=model) as memory:
        if not story.is_loaded(memory):
            story.load(memory, clock)
        turns = memory.turns(user=story.USER)
        given = _answered(turns)
        built = memory.context(user=story.USER, persona=story.PERSONA, message=story.MESSAGE, recipe=recipe)
    if open_:
        _opened(folder, recipe=recipe, port=port)
        return
    tries = suggestions(folder, given, recipe=recipe)
    if call.json:
        call.emit(
            {
                "data": str(folder),
                "user": story.USER,
                "persona": story.PERSONA,
                "turns": len(turns),
                "snapshots": given,
                "context": built,
                "next": [entry.command for entry in tries],
            }
        )
        return
    told = () if brief else _story(turns, model=model)
    call.show(*told, show.figures(built) if brief else show.context(built), *_next(folder, tries))


def _opened(folder: Path, *, recipe: str | None, port: int) -> None:
    """Serves the story until it is stopped, and opens it in a browser once the server answers."""
    try:
        from hitherto.deliver.http import server
    except ImportError as error:
        raise MissingExtra(f"serving needs {error.name}: pip install 'hitherto[serve]'") from error
    from hitherto.settings import Settings

    given = {"data": str(folder), "port": port, "log_level": "warning"}
    server.serve(Settings.model_validate(given | ({"recipe": recipe} if recipe else {})), browse=True)


def _answered(turns: "Sequence[StoredTurn]") -> dict[str, str]:
    """The snapshots on the answers, by the message that each one answered."""
    given: dict[str, str] = {}
    for before, after in pairwise(turns):
        if after.snapshot:
            given[before.id] = after.snapshot
    return given


def suggestions(folder: Path, given: Mapping[str, str], *, recipe: str | None) -> list[Try]:
    """Commands to try next; they need HITHERTO_DATA and HITHERTO_USER set as shown above them."""
    why, back = (given[message][:SHORT] for message in ("mon-07", "sat-01"))
    other = "companion-text" if recipe != "companion-text" else "companion"
    now = "--at 2026-03-14T16:52Z"
    return [
        Try(command=f'hitherto context "yes" -p nikita -r {other} {now}', shows="the same moment by another recipe"),
        Try(command=f'hitherto context "the hotel?" -p nikita -l trip -r lanes {now}', shows="another lane"),
        Try(command=f'hitherto context "is my knee ok?" -p mateo {now}', shows="another persona, with its own memory"),
        Try(command='hitherto search "who gave her the billing project?" --explain', shows="recall, with its reasons"),
        Try(command=f"hitherto replay {why}", shows="what the model saw for “why?”, byte for byte"),
        Try(command=f"hitherto diff {why} {back}", shows="what changed until Ana came back"),
        Try(command="hitherto memories --entity person:mukesh", shows="what is known about Mukesh"),
        Try(command="hitherto loops -p nikita --all", shows="promises and questions, kept ones too"),
    ]


def _learnt_by(model: str | None) -> str:
    """What the screen says about who learnt."""
    if model is None:
        return "by rules; --model recorded shows what a strong model's recorded answers make of them"
    return "by a strong model's recorded answers" if model == "recorded" else f"by {model}"


def _story(turns: "Sequence[StoredTurn]", *, model: str | None) -> "Iterator[RenderableType]":
    from rich.rule import Rule
    from rich.table import Table
    from rich.text import Text

    yield Rule(Text("The story", style="bold"), align="left", style="dim")
    yield Text(f"{len(turns)} turns of Ana with two personas. Each row is one conversation.\n", style="dim")
    rows = Table.grid(padding=(0, 2), expand=True)
    for style, width in (("dim", 16), ("bold", 6), ("magenta", 9)):
        rows.add_column(style=style, width=width)
    rows.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
    rows.add_column(style="dim", width=7, justify="right")
    for first, count in _conversations(turns):
        where = f"lane {first.lane}" if first.lane else ""
        rows.add_row(first.at.strftime("%a %d %b %H:%M"), first.persona, where, Text(first.text), f"{count} turns")
    yield rows
    yield Text()
    yield Text("Now, Sat 14 Mar 16:52 UTC, Ana writes: ", end="").append("yes", style="bold green")
    yield Text()
    notes = Table.grid(padding=(0, 1))
    for line in NOTICE:
        notes.add_row(Text("•", style="cyan"), line.format(reader=_learnt_by(model)))
    yield notes
    yield Text()


def _conversations(turns: "Sequence[StoredTurn]") -> "Iterator[tuple[StoredTurn, int]]":
    """The first turn of each conversation, with its number of turns."""
    runs: list[list[StoredTurn]] = []
    for turn in turns:
        if not runs or (runs[-1][0].session, runs[-1][0].lane) != (turn.session, turn.lane):
            runs.append([])
        runs[-1].append(turn)
    return ((run[0], len(run)) for run in runs)


def _next(folder: Path, tries: Sequence[Try]) -> "Iterator[RenderableType]":
    from rich.rule import Rule
    from rich.text import Text

    yield Text()
    yield Rule(Text("Try next", style="bold"), align="left", style="dim")
    for setting in (f"HITHERTO_DATA={shlex.quote(str(folder))}", "HITHERTO_USER=ana"):
        yield Text(f"export {setting}", style="bold cyan", no_wrap=True, overflow="ignore")
    for entry in tries:
        yield Text.assemble((f"# {entry.shows}\n", "dim"), (entry.command, "cyan"), no_wrap=True, overflow="ignore")
