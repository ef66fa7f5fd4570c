"""Lists for people. Every row shows what the next command would need: its id, or what it is called."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from hitherto.types import (
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
    from hitherto.assemble.replay import Trial
    from hitherto.deliver.apikeys import ApiKey
    from hitherto.recipes.recipe import Recipe
    from hitherto.store.protocol import StoredSnapshot


@dataclass(frozen=True, slots=True)
class Column:
    """A heading and what stands under it; `words` may wrap, `right` is for numbers."""

    title: str
    style: str = ""
    words: bool = False
    right: bool = False


def table(columns: Sequence[Column], rows: Sequence[Sequence[str]], *, empty: str) -> RenderableType:
    """The rows under their headings, or a sentence if there are none."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedEntry:
    """One entry of a list of texts: a line of facts that ends with its id, and the text below."""

    title: str
    facts: Sequence[str]
    id: str
    text: str = ""
    note: str = ""


def entries(found: Sequence[ListedEntry], *, empty: str) -> RenderableType:
    """The entries below one another, or a sentence if there are none."""
    if not found:
        return Text(empty, style="dim")
    parts: list[RenderableType] = []
    for entry in found:
        head = Text(entry.title, style="bold")
        for fact in entry.facts:
            if fact:
                head.append("  ").append(fact, style="not bold dim")
        parts.append(head.append("  ").append(entry.id, style="not bold cyan"))
        if entry.text:
            parts.append(Padding(Text(entry.text), (0, 0, 0, 2)))
        if entry.note:
            parts.append(Padding(Text(f"↳ {entry.note}", style="green"), (0, 0, 0, 2)))
    return Group(*parts)


def turns(found: Sequence[StoredTurn]) -> RenderableType:
    rows = [
        ListedEntry(title=_who(t), facts=(when(t.at), f"lane {t.lane}" if t.lane else ""), id=t.id, text=_said(t))
        for t in found
    ]
    return entries(rows, empty="no turns")


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


def _quoted(record: Record) -> str:
    """The words that a record rests on, each with its turn."""
    return "\n".join(f"“{quote.words}” ({quote.turn})" for quote in record.quotes)


def memories(found: Sequence[Memory], *, explain: bool = False) -> RenderableType:
    rows = [
        ListedEntry(
            title=m.type,
            facts=(f"importance {m.importance}", "pinned" if m.pinned else "", m.persona or "", " ".join(m.entities)),
            id=m.id,
            text=m.text,
            note=_quoted(m) if explain else "",
        )
        for m in found
    ]
    return entries(rows, empty="no memories")


def episodes(found: Sequence[Episode]) -> RenderableType:
    rows = [ListedEntry(title=e.outcome or "", facts=(when(e.at), e.tone), id=e.id, text=e.text) for e in found]
    return entries(rows, empty="no episodes")


def loops(found: Sequence[Loop], *, explain: bool = False) -> RenderableType:
    rows = [
        ListedEntry(
            title=f"({loop.kind})",
            facts=(loop.status, loop.persona or "", f"due {when(loop.due)}" if loop.due else ""),
            id=loop.id,
            text=loop.text,
            note=_quoted(loop) if explain else "",
        )
        for loop in found
    ]
    return entries(rows, empty="nothing is open")


def thoughts(found: Sequence[Thought]) -> RenderableType:
    rows = [
        ListedEntry(
            title=t.persona or "thought",
            facts=(when(t.at), f"until {when(t.due)}" if t.due else "", "used" if t.used_in else ""),
            id=t.id,
            text=t.text,
        )
        for t in found
    ]
    return entries(rows, empty="no thoughts")


def summaries(found: Sequence[Summary]) -> RenderableType:
    rows = [
        ListedEntry(
            title=s.kind,
            facts=(str(s.day or s.lane or when(s.at)), s.persona or "", f"by {s.method}"),
            id=s.id,
            text=s.text,
        )
        for s in found
    ]
    return entries(rows, empty="no summaries")


def entities(found: Sequence[Entity]) -> RenderableType:
    rows = [
        ListedEntry(
            title=e.key or e.label,
            facts=(
                e.label,
                f"also {', '.join(e.aliases)}" if e.aliases else "",
                f"merged into {e.merged_into}" if e.merged_into else "",
            ),
            id=e.id,
        )
        for e in found
    ]
    return entries(rows, empty="no entities")


def versions(found: Sequence[Record]) -> RenderableType:
    rows = [
        ListedEntry(
            title=f"version {r.version}",
            facts=(when(r.recorded_at), r.status, f"entry {r.seq}"),
            id=r.id,
            text=r.text or _words(fields_of(r)),
        )
        for r in found
    ]
    return entries(rows, empty="no such record")


def fields_of(record: Record) -> Mapping[str, Json]:
    """What a record without words says."""
    if isinstance(record, State):
        return record.fields
    if isinstance(record, Profile):
        return {
            "name": record.name,
            "zone": record.zone,
            "locale": record.locale,
            "stage": record.stage,
            **record.extra,
        }
    return {}


def hits(found: Sequence[Hit], *, explain: bool) -> RenderableType:
    rows = [
        ListedEntry(
            title=f"{hit.score:.3f}",
            facts=(hit.kind, when(hit.at)),
            id=hit.id,
            text=hit.text,
            note=f"because {parts(hit.parts)}" if explain else "",
        )
        for hit in found
    ]
    return entries(rows, empty="nothing was found")


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
    rows: list[ListedEntry] = []
    for trial in found:
        included = sum(item.included for item in trial.context.items)
        left_out = len(trial.context.items) - included
        note = f"{trial.context.tokens:,} tokens, {included} items in, {left_out} left out"
        facts = (when(trial.turn.at), trial.turn.persona or "")
        rows.append(
            ListedEntry(title=trial.turn.id, facts=facts, id=trial.context.snapshot, text=trial.turn.text, note=note)
        )
    return entries(rows, empty="no turns of the user")


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
    return table(columns, rows, empty="there are no keys; make one with `hitherto keys create`")


def persona(one: Persona) -> RenderableType:
    rows = {"id": one.id, "name": one.name, "version": one.version, "text": one.text}
    return facts({**rows, "boundaries": one.boundaries, "style": one.style, **one.extra})


def profile(user: str, one: Profile) -> RenderableType:
    rows = {"user": user, "name": one.name, "zone": one.zone, "locale": one.locale, "stage": one.stage}
    return facts({**rows, **one.extra})


def state(one: State) -> RenderableType:
    return facts({"persona": one.persona, **one.fields}) if one.fields else Text("no state is set", style="dim")


def facts(values: Mapping[str, object]) -> RenderableType:
    """Names and values below one another; empty ones are left out."""
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
    """The budget as a table, and everything else field by field, as in a TOML file."""
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
