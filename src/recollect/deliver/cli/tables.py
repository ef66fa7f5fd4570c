"""Lists for people. Every row shows what the next command would need: its id, or what it is called."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from recollect.types import (
    Entity,
    Episode,
    Hit,
    Json,
    Loop,
    Memory,
    Persona,
    Profile,
    Record,
    Session,
    State,
    StoredTurn,
    Summary,
    Thought,
)

if TYPE_CHECKING:
    from recollect.assemble.recipe import Recipe
    from recollect.assemble.replaying import Trial
    from recollect.deliver.apikeys import ApiKey
    from recollect.store.base import StoredSnapshot


@dataclass(frozen=True, slots=True)
class Column:
    """A heading and what stands under it; `words` may wrap, `right` is for numbers."""

    title: str
    style: str = ""
    words: bool = False
    right: bool = False


def table(columns: Sequence[Column], rows: Sequence[Sequence[str]], *, empty: str) -> RenderableType:
    """The rows under their headings, or a sentence where there are none."""
    if not rows:
        return Text(empty, style="dim")
    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for column in columns:
        drawn.add_column(
            column.title,
            style=column.style,
            overflow="fold" if column.words else "ellipsis",
            no_wrap=not column.words,
            justify="right" if column.right else "left",
            ratio=1 if column.words else None,
        )
    for row in rows:
        drawn.add_row(*(Text(cell) for cell in row))
    return drawn


def when(value: datetime | None) -> str:
    """A time short enough for a column, in UTC as it is stored."""
    return "" if value is None else value.strftime("%Y-%m-%d %H:%M")


WHEN = Column("when (UTC)", style="dim")
TEXT = Column("text", words=True)
ID = Column("id", style="cyan")


def turns(found: Sequence[StoredTurn]) -> RenderableType:
    columns = (WHEN, Column("who", style="bold"), Column("lane", style="magenta"), TEXT, ID)
    rows = [(when(t.at), _who(t), t.lane or "", _said(t), t.id) for t in found]
    return table(columns, rows, empty="no turns")


def sessions(found: Sequence[Session]) -> RenderableType:
    columns = (
        Column("began (UTC)", style="dim"),
        Column("last (UTC)", style="dim"),
        Column("turns", right=True),
        Column("persona"),
        Column("status"),
        ID,
    )
    rows = [(when(s.at), when(s.last_activity), str(s.turn_count), s.persona or "", s.status, s.id) for s in found]
    return table(columns, rows, empty="no sessions")


def memories(found: Sequence[Memory]) -> RenderableType:
    columns = (Column("imp", right=True), Column("type"), TEXT, Column("about", style="magenta", words=True), ID)
    rows = [(f"{m.importance}{'*' if m.pinned else ''}", m.type, m.text, " ".join(m.entities), m.id) for m in found]
    return table(columns, rows, empty="no memories")


def episodes(found: Sequence[Episode]) -> RenderableType:
    rows = [(when(e.at), e.outcome, e.text, e.id) for e in found]
    return table((WHEN, Column("outcome"), TEXT, ID), rows, empty="no episodes")


def loops(found: Sequence[Loop]) -> RenderableType:
    columns = (Column("kind", style="bold"), Column("status"), Column("due (UTC)", style="dim"), TEXT, ID)
    rows = [(loop.kind, loop.status, when(loop.due), loop.text, loop.id) for loop in found]
    return table(columns, rows, empty="nothing is open")


def thoughts(found: Sequence[Thought]) -> RenderableType:
    columns = (WHEN, Column("until (UTC)", style="dim"), Column("used"), TEXT, ID)
    rows = [(when(t.at), when(t.due), "yes" if t.used_in else "", t.text, t.id) for t in found]
    return table(columns, rows, empty="no thoughts")


def summaries(found: Sequence[Summary]) -> RenderableType:
    columns = (Column("kind", style="bold"), Column("of", style="dim"), Column("made by"), TEXT, ID)
    rows = [(s.kind, str(s.day or s.lane or when(s.at)), s.method, s.text, s.id) for s in found]
    return table(columns, rows, empty="no summaries")


def entities(found: Sequence[Entity]) -> RenderableType:
    columns = (
        Column("reference", style="magenta"),
        Column("label", style="bold"),
        Column("also called", words=True),
        ID,
    )
    rows = [(e.key or "", e.label, ", ".join(e.aliases), e.id) for e in found]
    return table(columns, rows, empty="no entities")


def versions(found: Sequence[Record]) -> RenderableType:
    columns = (Column("version", right=True), Column("entry", right=True), WHEN, Column("status"), TEXT)
    rows = [(str(r.version), str(r.seq), when(r.recorded_at), r.status, r.text) for r in found]
    return table(columns, rows, empty="no such record")


def hits(found: Sequence[Hit], *, explain: bool) -> RenderableType:
    columns = [Column("score", right=True, style="bold"), Column("kind"), WHEN, TEXT, ID]
    rows = [[f"{hit.score:.3f}", hit.kind, when(hit.at), hit.text, hit.id] for hit in found]
    if explain:
        columns.insert(4, Column("because", style="green", words=True))
        for row, hit in zip(rows, found, strict=True):
            row.insert(4, parts(hit.parts))
    return table(columns, rows, empty="nothing was found")


def parts(scores: Mapping[str, float]) -> str:
    """The parts of a score in words."""
    return " ".join(f"{name} {value:.2f}" for name, value in scores.items())


def taken(snapshot: "StoredSnapshot") -> dict[str, Json]:
    """A snapshot without its body."""
    return {"id": snapshot.id, "at": snapshot.at.isoformat(), "known": snapshot.known, "full": snapshot.full}


def snapshots(found: Sequence[Mapping[str, Json]]) -> RenderableType:
    columns = (WHEN, Column("entry", right=True), Column("receipt"), ID)
    rows = [
        (
            when(datetime.fromisoformat(str(s["at"]))),
            str(s["known"]),
            "full" if s["full"] else "ids only",
            str(s["id"]),
        )
        for s in found
    ]
    return table(columns, rows, empty="no snapshots")


def trials(found: Sequence["Trial"]) -> RenderableType:
    columns = (WHEN, TEXT, Column("tokens", right=True), Column("in", right=True), Column("out", right=True), ID)
    rows = [
        (
            when(trial.turn.at),
            trial.turn.text,
            f"{trial.context.tokens:,}",
            str(sum(item.included for item in trial.context.items)),
            str(sum(not item.included for item in trial.context.items)),
            trial.turn.id,
        )
        for trial in found
    ]
    return table(columns, rows, empty="no turns of the user")


def personas(found: Sequence[Persona]) -> RenderableType:
    columns = (Column("id", style="cyan"), Column("name", style="bold"), Column("version", right=True), TEXT)
    rows = [(p.id or "", p.name, str(p.version), p.text) for p in found]
    return table(columns, rows, empty="no persona is defined; an undefined one is a minimal default")


def keys(found: Sequence["ApiKey"]) -> RenderableType:
    columns = (ID, Column("tenant"), Column("user"), Column("may", words=True), Column("until (UTC)"), Column("label"))
    rows = [
        (k.id, k.tenant, k.user or "", " ".join(k.scopes), "revoked" if k.revoked_at else when(k.expires_at), k.label)
        for k in found
    ]
    return table(columns, rows, empty="there are no keys; make one with `recollect keys create`")


def persona(one: Persona) -> RenderableType:
    rows = {"id": one.id, "name": one.name, "version": one.version, "text": one.text}
    return facts({**rows, "boundaries": one.boundaries, "style": one.style, **one.extra})


def profile(user: str, one: Profile) -> RenderableType:
    rows = {"user": user, "name": one.name, "zone": one.zone, "locale": one.locale, "stage": one.stage}
    return facts({**rows, **one.extra})


def state(one: State) -> RenderableType:
    return facts({"persona": one.persona, **one.fields}) if one.fields else Text("no state is set", style="dim")


def facts(values: Mapping[str, object]) -> RenderableType:
    """Names and values under one another; what is empty is left out."""
    drawn = Table(box=None, show_header=False, pad_edge=False)
    drawn.add_column(style="bold")
    drawn.add_column(overflow="fold", ratio=1)
    for name, value in values.items():
        if value is not None and value != "":
            drawn.add_row(name, Text(_words(value)))
    return drawn


def recipes(found: Sequence["Recipe"]) -> RenderableType:
    columns = (Column("name", style="cyan"), Column("target", right=True), Column("cap", right=True), TEXT)
    rows = [(r.name, f"{r.total.target:,}", f"{r.total.cap:,}", r.description) for r in found]
    return table(columns, rows, empty="no recipes")


def recipe(one: "Recipe") -> RenderableType:
    """The budget as a table, and everything else field by field as a TOML file would say it."""
    groups = table(
        (
            Column("group", style="bold"),
            Column("target", right=True),
            Column("cap", right=True),
            Column("sections", words=True),
        ),
        [(name, f"{g.target:,}", f"{g.cap:,}", ", ".join(g.sections)) for name, g in one.groups.items()],
        empty="no groups",
    )
    rest = one.model_dump(mode="json", exclude={"groups"})
    return Group(groups, Text(), facts(dict(_flat(rest))))


def _flat(values: Mapping[str, Json], prefix: str = "") -> list[tuple[str, Json]]:
    rows: list[tuple[str, Json]] = []
    for name, value in values.items():
        rows.extend(_flat(value, f"{prefix}{name}.") if isinstance(value, dict) else [(prefix + name, value)])
    return rows


def _words(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_words(entry)}" for key, entry in value.items())  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] -- JSON of any shape
    if isinstance(value, list | tuple):
        return ", ".join(_words(entry) for entry in value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] -- JSON of any shape
    return str(value)


def _who(turn: StoredTurn) -> str:
    if turn.role == "assistant":
        return turn.persona or "assistant"
    return turn.speaker or turn.role


def _said(turn: StoredTurn) -> str:
    return turn.text or f"({len(turn.parts)} parts)"
