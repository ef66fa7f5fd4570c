"""A context on the terminal: the exact text a model would get, section by section, then its budget and its receipt.

The words carry everything (markers, numbers, reasons); colour only helps the eye, so the output reads the same without it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.rule import Rule
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from hitherto.deliver.blocks import blocks_of, is_marker
from hitherto.deliver.cli import tables
from hitherto.types import Context, Item, Json, SectionUse

if TYPE_CHECKING:
    from hitherto.assemble.diff import Difference

BAR = 28
"""Cells of a bar; its end is the cap."""
LEFT_OUT = 8
RECALLED = 6
EXCERPT = 160

_BUDGETS = frozenset({"target", "cap"})
_PLAIN = "white"
_COLOURS = {
    "persona": "bright_white",
    "boundaries": "bright_white",
    "style": "bright_white",
    "relationship": "magenta",
    "situation": "cyan",
    "working": "green",
    "earlier": "green",
    "last_time": "blue",
    "today": "yellow",
    "loops": "bright_red",
    "inner_life": "bright_magenta",
    "long_term": "bright_cyan",
    "foundation": "bright_cyan",
    "memories": "cyan",
    "spine": "bright_blue",
    "rolling": "bright_green",
    "lane_summary": "bright_yellow",
    "other_lanes": "yellow",
    "requests": "bright_yellow",
    "task_state": "red",
}


@dataclass(frozen=True, slots=True)
class Striped:
    """Text behind a stripe that runs along all its lines, including those wrapped by the terminal."""

    words: Text
    stripe: str
    style: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        style = console.get_style(self.style)
        room = options.update(width=max(1, options.max_width - len(self.stripe) - 1))
        for line in console.render_lines(self.words, room, pad=False):
            yield Segment(f"{self.stripe} ", style)
            yield from line
            yield Segment.line()


def context(built: Context) -> RenderableType:
    """Everything about one context."""
    return Group(headline(built), *system(built), *messages(built), figures(built))


def figures(built: Context) -> RenderableType:
    """A context without its text: its budget, what was left out, its receipt."""
    return Group(*budget(built), *left_out(built), *receipt(built))


def headline(built: Context) -> RenderableType:
    total = _total(built)
    allowed = f" of {total.target:,}, never more than {total.cap:,}" if total else ""
    line = Text.assemble(
        ("Context", "bold"),
        f"  recipe {built.recipe}, {built.at.strftime('%a %d %b %Y %H:%M %Z')}, ",
        (f"{built.tokens:,} tokens", "bold green"),
        allowed,
    )
    warnings = [Text(f"! {warning}", style="bold red") for warning in built.warnings]
    return Group(line, *warnings, Text())


def system(built: Context) -> Iterator[RenderableType]:
    """The system text as it is, each section behind a stripe of its own colour."""
    yield _title("System text")
    for block in blocks_of(built.system):
        colour = _COLOURS.get(block.section, _PLAIN)
        words = Text()
        for number, line in enumerate(block.text.strip("\n").split("\n")):
            named = is_marker(line) or (number == 0 and block.section in ("boundaries", "style"))
            words.append(line if number == 0 else f"\n{line}", style=f"bold {colour}" if named else "")
        yield Striped(words, stripe="▌", style=colour)
        yield Text()


def messages(built: Context) -> Iterator[RenderableType]:
    """The chat messages after the system text; the last one is the message itself."""
    yield _title("Messages")
    last = len(built.messages) - 1
    for number, message in enumerate(built.messages):
        role = str(message.get("role", ""))
        colour = {"user": "green", "assistant": "blue"}.get(role, "yellow")
        words = Text.assemble((f"{role}: ", f"bold {colour}"), _content(message))
        yield Striped(words, stripe="▶" if number == last else "▌", style=colour)
    yield Text()


def budget(built: Context) -> Iterator[RenderableType]:
    """A bar for each group of sections: filled to its tokens, with a mark at its target; its end is the cap."""
    if not built.sections:
        return
    yield _title("Budget")
    rows = Table.grid(padding=(0, 2))
    rows.add_column(style="bold")
    rows.add_column()
    rows.add_column(justify="right")
    rows.add_column(justify="right", style="dim")
    rows.add_column(justify="right", style="dim")
    legend = Text("█ used  │ target, up to the cap", style="dim")
    rows.add_row("", legend, Text("tokens", style="dim"), "target", "cap")
    total = _total(built)
    used = [use for use in built.sections if use.tokens or use.target]
    for use in (*used, *((total,) if total else ())):
        rows.add_row(use.group, bar(use), f"{use.tokens:,}", f"{use.target:,}", f"{use.cap:,}")
    yield Padding(rows, (0, 0, 1, 0))


def bar(use: SectionUse, *, width: int = BAR) -> Text:
    """How full a budget is: `█` used, `·` free, `│` the target."""
    most = max(use.cap, use.tokens, 1)
    filled = min(width, -(-use.tokens * width // most))
    target = min(width - 1, use.target * width // most)
    over = use.tokens > use.target
    colour = "yellow" if over else _COLOURS.get(use.sections[0], _PLAIN) if use.sections else _PLAIN
    drawn = Text()
    for cell in range(width):
        if cell == target and target and not over:
            drawn.append("│", style="dim")
        else:
            drawn.append("█" if cell < filled else "·", style=colour if cell < filled else "dim")
    return drawn


def left_out(built: Context) -> Iterator[RenderableType]:
    """Candidates that did not get in, and why."""
    out = [item for item in built.items if not item.included]
    yield _title(f"Left out ({len(out)})")
    if not out:
        yield Padding(Text("Nothing: every candidate fits its budget.", style="dim"), (0, 0, 1, 0))
        return
    rows = Table.grid(padding=(0, 2))
    rows.add_column(style="bold")
    rows.add_column(ratio=1, overflow="fold")
    for item in out[:LEFT_OUT]:
        words = Text.assemble((excerpt(item.text), "dim"), "\n", (f"↳ {item.reason or 'not needed'}", "yellow"))
        rows.add_row(item.section, words)
    if len(out) > LEFT_OUT:
        rows.add_row("", Text(f"… and {len(out) - LEFT_OUT} more; --json shows all", style="dim"))
    yield Padding(rows, (0, 0, 1, 0))


def receipt(built: Context) -> Iterator[RenderableType]:
    """What the snapshot says, and how the recalled items earned their places."""
    yield _title("Receipt")
    included = [item for item in built.items if item.included]
    shown: dict[str, object] = {
        "snapshot": built.snapshot,
        "prefix": built.prefix_hash,
        "log entry": built.known,
        "items": f"{len(included)} of {len(built.items)} candidates are in",
        **{name.replace("_", " "): _short(value) for name, value in built.log.items() if name not in _BUDGETS},
    }
    yield tables.facts(shown)
    ranked = sorted((item for item in included if item.score and item.parts), key=lambda item: -item.score)
    if ranked:
        yield Text()
        yield _scores(ranked[:RECALLED])


def difference(a: Context, b: Context, found: "Difference") -> RenderableType:
    """What came, went and changed from one context to the other."""
    parts: list[RenderableType] = [_side("from", a), _side("to", b), Text()]
    if found.same_bytes:
        return Group(*parts, Text("The two are the same, byte for byte.", style="green"))
    parts += [_line("-", "red", item) for item in found.removed]
    parts += [_line("+", "green", item) for item in found.added]
    for change in found.changed:
        parts += [_line("~", "yellow", change.before), _line("→", "yellow", change.after)]
    counts = ", ".join(f"{section} {tokens:+,}" for section, tokens in found.sections.items())
    prefix = "the fixed beginning is the same" if found.same_prefix else "the fixed beginning differs"
    closing = Text.assemble(("Tokens ", "bold"), f"{found.tokens:+,}", (f"  {counts}", "dim"), f"; {prefix}.")
    return Group(*parts, Text(), closing)


def _side(word: str, built: Context) -> Text:
    asked = excerpt(_content(built.messages[-1]), length=60) if built.messages else ""
    return Text.assemble(
        (f"{word:<5}", "bold"),
        f"{built.at.strftime('%a %d %b %Y %H:%M %Z')}, recipe {built.recipe}, {built.tokens:,} tokens: ",
        (f"“{asked}”", "bold green"),
    )


def _line(mark: str, colour: str, item: Item) -> RenderableType:
    return Striped(Text.assemble((f"{item.section}: ", "bold"), excerpt(item.text)), stripe=mark, style=colour)


def excerpt(text: str, *, length: int = EXCERPT) -> str:
    """The beginning of a text on one line, without a list marker."""
    line = " ".join(text.split()).removeprefix("- ")
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


def _scores(ranked: Sequence[Item]) -> RenderableType:
    rows = Table.grid(padding=(0, 2))
    rows.add_column(justify="right", style="bold green")
    rows.add_column(ratio=1, overflow="fold")
    for item in ranked:
        rows.add_row(
            f"{item.score:.3f}", Text.assemble(excerpt(item.text), "\n", (f"↳ {tables.parts(item.parts)}", "dim"))
        )
    return Group(Text("Recalled, best first, with the parts of each score:", style="dim"), rows)


def _total(built: Context) -> SectionUse | None:
    """The whole context against its own budget."""
    target, cap = built.log.get("target"), built.log.get("cap")
    if not isinstance(target, int) or not isinstance(cap, int):
        return None
    return SectionUse(group="total", sections=(), tokens=built.tokens, target=target, cap=cap)


def _title(words: str) -> RenderableType:
    return Rule(Text(words, style="bold"), align="left", style="dim")


def _content(message: dict[str, Json]) -> str:
    content = message.get("content")
    calls = message.get("tool_calls")
    said = content if isinstance(content, str) else "" if content is None else str(content)
    return said if not calls else f"{said} → {calls}".strip()


def _short(value: Json) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value in (None, "", [], {}) else str(value)
