"""The command that measures recall on conversations with gold evidence."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hitherto.deliver.cli.call import Advance, Call, Recipe
from hitherto.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import RenderableType

    from hitherto.evaluate.engine_run import Conversation
    from hitherto.evaluate.report import QuestionGroup, Report


def evaluate(
    call: Call,
    *,
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", exists=True, dir_okay=False, help="Conversations, .jsonl or .jsonl.gz."),
    ],
    embedder: Annotated[str, typer.Option(metavar="NAME", help="Such as static or onnx:e5-small-v2.")] = "static",
    reranker: Annotated[
        str | None, typer.Option(metavar="NAME", help="A second look at what was found: onnx, with the extra.")
    ] = None,
    recipe: Recipe = None,
    settle: Annotated[bool, typer.Option(help="Do the work after the turns before asking.")] = True,
    conversations: Annotated[
        int | None,
        typer.Option("--first", metavar="COUNT", min=1, help="Only the first COUNT conversations of each file."),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where the JSON goes; the plot stands beside it.")
    ] = Path("hitherto-eval.json"),
) -> None:
    """Measure recall on conversations with gold evidence, beside plain BM25.

    Every conversation is recorded and settled as a user of its own, in a folder that is thrown away, or where --data says.
    """
    import asyncio

    from hitherto import evaluate as evaluating
    from hitherto.evaluate.report import svg
    from hitherto.store import codec

    reports: list[Report] = []
    for file in files:
        held = list(evaluating.read(file))[:conversations]
        if not any(conversation.questions for conversation in held):
            raise InvalidInput(f"no answerable question with evidence in {str(file)!r}")
        name = file.name.removesuffix(".gz").removesuffix(".jsonl")
        with tempfile.TemporaryDirectory() as folder, call.progress(name) as advance:
            where = call.options.data or folder
            measured = _measured(
                where,
                name,
                held,
                embedder=embedder,
                reranker=reranker,
                recipe=recipe or "continuity",
                settle=settle,
                advance=advance,
            )
            reports.append(asyncio.run(measured))
    output.write_text(codec.text(reports, indent=1) + "\n", encoding="utf-8")
    picture = output.with_suffix(".svg")
    picture.write_text(svg(reports), encoding="utf-8")
    call.answer(reports, lambda: _shown(reports, saved=(output, picture)))


async def _measured(
    where: str,
    name: str,
    held: "Sequence[Conversation]",
    *,
    embedder: str,
    reranker: str | None,
    recipe: str,
    settle: bool,
    advance: Advance,
) -> "Report":
    from hitherto import evaluate as evaluating
    from hitherto.engine import Hitherto

    total = sum(len(conversation.questions) for conversation in held)
    answered: list[evaluating.Answered] = []
    async with Hitherto(where, embedder=embedder, reranker=reranker) as memory:
        for conversation in held:
            before = len(answered)
            answered += await evaluating.run(
                memory,
                conversation,
                user=f"{name}:{conversation.id}",
                recipe=recipe,
                settle=settle,
                done=lambda count, before=before: advance(before + count, total),
            )
    turns = sum(len(conversation.turns) for conversation in held)
    return evaluating.report(name, answered, conversations=len(held), turns=turns)


def _shown(reports: "Sequence[Report]", *, saved: tuple[Path, ...]) -> "RenderableType":
    from rich.console import Group as Parts
    from rich.text import Text

    from hitherto.deliver.cli.tables import Column, table

    parts: list[RenderableType] = []
    metrics = (Column("metric"), Column("Hitherto"), Column("BM25"), Column("gain"))
    categories = (Column("category"), *(Column(title, right=True) for title in ("of", *_BRIEF)))
    for report in reports:
        figures = (
            f"{report.conversations} conversations, {report.turns} turns, {report.questions} questions; "
            f"median search {report.search_ms:.1f} ms, context {report.context_ms:.1f} ms"
        )
        parts.append(Text.assemble((report.name, "bold"), f"  {figures}"))
        lines = [(line.metric, *map(_interval, (line.ours, line.bm25, line.gain))) for line in report.overall.lines]
        parts.append(table(metrics, lines, empty="nothing measured"))
        parts.append(table(categories, [_category(group) for group in report.categories], empty="no categories"))
    parts.append(Text(f"saved {' and '.join(str(path) for path in saved)}", style="dim"))
    return Parts(*parts)


_BRIEF = ("frac@10", "frac 1k", "long-term block")


def _category(group: "QuestionGroup") -> tuple[str, ...]:
    lines = {line.metric: line for line in group.lines}
    cells = (f"{_short(lines[metric].ours[0])} ({_short(lines[metric].gain[0], signed=True)})" for metric in _BRIEF)
    return (group.name, str(group.questions), *cells)


def _interval(value: tuple[float, float, float]) -> str:
    mean, low, high = map(_short, value)
    return f"{mean} [{low}, {high}]"


def _short(value: float, *, signed: bool = False) -> str:
    """Three places without the leading zero: a terminal of 80 columns holds three intervals."""
    return f"{value:+.3f}".replace("0.", ".", 1) if signed else f"{value:.3f}".replace("0.", ".", 1)
