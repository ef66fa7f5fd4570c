"""A context prepared for display: its sections in order with their bytes and tokens, the stable beginning, its budgets, and
every candidate with how its score came about and why it is in or out, in words."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from hitherto.assemble.material import OVER_BUDGET, SHORTENED
from hitherto.deliver.blocks import SystemBlock, blocks_of, is_marker
from hitherto.recipes.titles import HEADINGS, Volatility
from hitherto.tokens import Tokenizer, tokenizer
from hitherto.types import Context, Item, Json, SectionUse

NAMES: Final[Mapping[str, str]] = {
    "persona": "Persona",
    "policy": "Policy",
    "boundaries": "Boundaries",
    "augmentations": "Instructions",
    "notice": "Notice about memory",
    "relationship": "Relationship",
    "situation": "Situation",
    "working": "Recent turns",
    "earlier": "Earlier turns",
    "last_time": "Last time",
    "today": "Today",
    "loops": "Open threads",
    "inner_life": "Inner life",
    "long_term": "Long-term memory",
    "foundation": "Foundation",
    "memories": "Memories",
    "spine": "Long-term summary",
    "rolling": "Conversation summary",
    "lane_summary": "Thread summary",
    "other_lanes": "Other threads",
    "requests": "User requests",
    "task_state": "Task state",
    "style": "Style",
    "message": "The message",
    "quoted": "Quoted reply",
}
HUES: Final[Mapping[str, int]] = {
    **dict.fromkeys(("persona", "policy", "boundaries", "augmentations", "style", "notice"), 0),
    **dict.fromkeys(("relationship", "situation", "inner_life"), 1),
    **dict.fromkeys(("working", "earlier", "message", "quoted"), 2),
    **dict.fromkeys(("last_time", "today", "spine", "rolling", "lane_summary", "other_lanes"), 3),
    **dict.fromkeys(("loops", "requests", "task_state"), 4),
    **dict.fromkeys(("long_term", "foundation", "memories"), 5),
}
"""Colours tell what a section is made of; its name is always shown as well."""
_REASONS: Final = (
    (re.compile(OVER_BUDGET), "the budget of its section was used up by better ones"),
    (re.compile(r"over the limit of (\d+)"), r"its section takes \1 at most, and better ones were there"),
    (re.compile(r"below threshold"), "too little like the message: below the recipe's threshold"),
    (re.compile(r"duplicate of the message"), "it is the message itself"),
    (re.compile(r"a question without its answer"), "it is a question, and its answer did not come along"),
    (re.compile(r"says nothing by itself"), "it says nothing by itself"),
    (re.compile(r"shown with (\S+)"), r"it is shown as part of the exchange with \1"),
    (re.compile(r"duplicate of the quoted reply"), "it is the quoted reply"),
    (re.compile(r"duplicate of (?:turn )?(\S+) in (\w+)"), r"\1 says the same in \2 already"),
    (re.compile(r"beyond the last (\d+) turns"), r"older than the last \1 turns, which is all the recipe shows"),
    (re.compile(r"ranked below the best"), "the recipe takes the best few, and others ranked higher"),
    (re.compile(r"expired"), "its time is over"),
    (re.compile(r"used"), "an earlier answer used it already"),
    (re.compile(r"stale.*"), "no longer true at that moment"),
    (re.compile(r"other lane"), "said in another thread"),
    (
        re.compile(r"said to another persona"),
        "it was said to another persona, and words are not carried from one to the other",
    ),
    (re.compile(r"quarantined"), "quarantined: it reads like an instruction and did not come from the user"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """A block of the system text as the stack shows it. `stable` says that it is part of what stays the same from turn to
    turn."""

    section: str
    name: str
    hue: int
    text: str
    bytes: int
    tokens: int
    share: float
    """Percent of the whole system text."""
    stable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of a score; `share` is in percent of the largest part of its list."""

    name: str
    value: float
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateEntry:
    """A candidate with its reason in words."""

    item: Item
    name: str
    hue: int
    parts: tuple[Part, ...]
    why: str
    other: str
    """The id that a duplicate stands for, if it is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Anatomy:
    """Everything a page shows about one context."""

    context: Context
    layers: tuple[Layer, ...]
    tail: tuple[Layer, ...]
    """Sections that the recipe puts after the history, so that what comes before stays the same."""
    message_tokens: int
    uses: tuple[SectionUse, ...]
    total: SectionUse | None
    entries: tuple[CandidateEntry, ...]

    @property
    def stable_tokens(self) -> int:
        return sum(layer.tokens for layer in self.layers if layer.stable)

    @property
    def system_bytes(self) -> int:
        return sum(layer.bytes for layer in self.layers)

    @property
    def messages(self) -> list[dict[str, Json]]:
        """The chat messages, without those that contain sections."""
        after = [message for message in _after(self.context) if not _holds_sections(message)]
        return [*self.context.history, *after, *self.context.messages[-1:]]

    @property
    def included(self) -> int:
        return sum(entry.item.included for entry in self.entries)


def anatomy(context: Context) -> Anatomy:
    counter = tokenizer(str(context.log.get("tokenizer") or "o200k"))
    layers = tuple(_layers(context.system, context.items, counter, stable=True))
    told = [str(message["content"]) for message in _after(context) if _holds_sections(message)]
    tail = tuple(layer for text in told for layer in _layers(text, context.items, counter, stable=False))
    return Anatomy(
        context=context,
        layers=layers,
        tail=tail,
        message_tokens=max(0, context.tokens - sum(layer.tokens for layer in (*layers, *tail))),
        uses=tuple(use for use in context.sections if use.tokens or use.target),
        total=total(context),
        entries=tuple(_entry(item) for item in context.items),
    )


def total(context: Context) -> SectionUse | None:
    """The whole context against its own budget."""
    target, cap = context.log.get("target"), context.log.get("cap")
    if not isinstance(target, int) or not isinstance(cap, int):
        return None
    return SectionUse(group="total", sections=(), tokens=context.tokens, target=target, cap=cap)


def why(item: Item) -> str:
    """Why a candidate is in or out, as part of a sentence."""
    if item.included:
        return "in, but shortened to fit" if item.reason == SHORTENED else "in"
    for shape, words in _REASONS:
        if found := shape.fullmatch(item.reason):
            return f"out: {found.expand(words)}"
    return f"out: {item.reason or 'nothing asked for it'}"


def name_of(section: str) -> str:
    return NAMES.get(section, section.capitalize())


def hue_of(section: str) -> int:
    return HUES.get(section, 6)


def _layers(text: str, items: Sequence[Item], counter: Tokenizer, *, stable: bool) -> Iterator[Layer]:
    """The text's sections; `stable` marks those before the first that changes with every turn, like the prefix hash."""
    whole = max(1, len(text.encode("utf-8", "surrogatepass")))
    for block in blocks_of(text):
        section = _known(block, items)
        size = len(block.text.encode("utf-8", "surrogatepass"))
        stable = stable and _is_steady(section)
        yield Layer(
            section=section,
            name=name_of(section),
            hue=hue_of(section),
            text=block.text.strip("\n"),
            bytes=size,
            tokens=counter.count(block.text),
            share=round(100 * size / whole, 2),
            stable=stable,
        )


def _is_steady(section: str) -> bool:
    return any(section == known and heading.volatility is not Volatility.TURN for known, heading in HEADINGS.items())


def _after(context: Context) -> list[dict[str, Json]]:
    """What stands between the history and the message: sections that a recipe puts there, a quoted reply."""
    return context.messages[len(context.history) : -1]


def _holds_sections(message: Mapping[str, Json]) -> bool:
    found = blocks_of(str(message.get("content") or ""))
    return bool(found) and all(block.section in HEADINGS and is_marker(block.text.split("\n")[0]) for block in found)


def _known(block: SystemBlock, items: Sequence[Item]) -> str:
    """The section of a block; one with a title of the recipe's own is recognised by its content."""
    if block.section in HEADINGS:
        return block.section
    holders = (item.section for item in items if item.included and item.text and item.text in block.text)
    return next(holders, block.section)


def _entry(item: Item) -> CandidateEntry:
    most = max((abs(value) for value in item.parts.values()), default=0.0) or 1.0
    parts = tuple(
        Part(name=name, value=value, share=round(100 * abs(value) / most, 1)) for name, value in item.parts.items()
    )
    duplicate = re.fullmatch(r"duplicate of (?:turn )?(\S+) in \w+", item.reason)
    return CandidateEntry(
        item=item,
        name=name_of(item.section),
        hue=hue_of(item.section),
        parts=parts,
        why=why(item),
        other=duplicate[1] if duplicate else "",
    )


def redacted(context: Context) -> Context:
    """The same context without anything that anybody said or is called: letters and digits masked, ids replaced by marks
    that only tell them apart. Markers, numbers, reasons and score parts stay."""
    mask = _Mask()
    return replace(
        context,
        system="".join(_masked_block(block, mask) for block in blocks_of(context.system)),
        history=[],
        messages=[
            {"role": message["role"], "content": mask.text(str(message.get("content") or ""))}
            for message in context.messages
        ],
        items=[
            replace(
                item,
                id=mask.id(item.id),
                text=mask.text(item.text),
                sources=tuple(mask.id(source) for source in item.sources),
                reason=mask.reason(item.reason),
            )
            for item in context.items
        ],
        warnings=tuple("a warning, redacted" for _ in context.warnings),
        log={**context.log, "problems": ["redacted" for _ in _problems(context)]},
    )


def _problems(context: Context) -> list[object]:
    found = context.log.get("problems")
    return [*found] if isinstance(found, list) else []


def _masked_block(block: SystemBlock, mask: "_Mask") -> str:
    lines = block.text.split("\n")
    return "\n".join(mask.title(line) if _is_title(line) else mask.text(line) for line in lines)


_TITLES: Final = frozenset(heading.title for heading in HEADINGS.values() if heading.title)


def _is_title(line: str) -> bool:
    return line in _TITLES or re.fullmatch(r"\[/?[^\[\]]+\]", line) is not None


class _Mask:
    """Masks texts, and gives every id a mark of its own."""

    def __init__(self) -> None:
        self._marks: dict[str, str] = {}

    def text(self, text: str) -> str:
        return re.sub(r"\w", "•", text)

    def message(self, message: Mapping[str, Json]) -> dict[str, Json]:
        """Who speaks, and how much; what a tool was asked is left out."""
        said = str(message.get("content") or "")
        words = (
            "".join(_masked_block(s, self) for s in blocks_of(said)) if _holds_sections(message) else self.text(said)
        )
        return {"role": message["role"], "content": words}

    def title(self, line: str) -> str:
        """A marker as it is; a marker that is not one of our sections may contain a name."""
        bare = line.strip("[]/")
        known = any(bare in (heading.title, heading.closing) for heading in HEADINGS.values())
        return line if known or line in _TITLES else self.text(line)

    def id(self, name: str) -> str:
        return self._marks.setdefault(name, f"id-{len(self._marks) + 1}") if name else ""

    def reason(self, reason: str) -> str:
        return re.sub(
            r"(duplicate of (?:turn )?|shown with )(\S+)(?= in \w+|$)", lambda m: m[1] + self.id(m[2]), reason
        )
