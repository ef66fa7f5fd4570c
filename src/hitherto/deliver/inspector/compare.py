"""Two contexts side by side, of two snapshots or of one message by two recipes; and another recipe over a conversation."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from hitherto import Recipe
from hitherto.assemble.diff import diff, kept_tokens
from hitherto.deliver.http.paths import ROOT
from hitherto.deliver.http.routes.contexts import recipe_of
from hitherto.deliver.inspector import views
from hitherto.deliver.inspector.anatomy import anatomy
from hitherto.deliver.inspector.charts import Plot, Series, plot
from hitherto.deliver.inspector.context import as_of, of_turn
from hitherto.deliver.inspector.conversation import Filters, personas
from hitherto.deliver.inspector.views import Page, looking, page
from hitherto.pages import LARGEST
from hitherto.tokens import tokenizer
from hitherto.types import Context, Item, StoredTurn

if TYPE_CHECKING:
    from hitherto import Hitherto

router = APIRouter(route_class=Page, include_in_schema=False)

OFFERED = 40
"""Snapshots and messages to choose from."""
AROUND = 2
"""Equal lines shown around a difference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A line of both texts side by side; None if one has no such line. A row of kind `gap` stands for `count` equal lines."""

    kind: Literal["same", "changed", "added", "removed", "gap"]
    a: str | None = None
    b: str | None = None
    count: int = 0


@router.get(f"{ROOT}/compare")
async def compare(
    request: Request,
    user: str | None = None,
    a: str = "",
    b: str = "",
    turn: str = "",
    recipe_a: str = "",
    recipe_b: str = "",
) -> Response:
    """The two contexts that were requested, with differences marked; without a request, the choice of contexts."""
    subject = await looking(request, user)
    memory, whose = subject.memory, subject.user
    pair: tuple[Context, Context] | None = None
    if turn and recipe_a and recipe_b:
        first, second = [
            (await of_turn(memory, user=whose, turn=turn, recipe=await recipe_of(name, memory))).context
            for name in (recipe_a, recipe_b)
        ]
        pair = (first, second)
    elif a and b:
        pair = (await memory.replay(user=whose, snapshot=a), await memory.replay(user=whose, snapshot=b))
    kept = await memory.snapshots(user=whose, limit=OFFERED)
    return page(
        request,
        "compare.html",
        user=whose,
        kept=[(one, json.loads(one.body)) for one in kept],
        messages=await _messages(memory, whose),
        recipes=[recipe.name for recipe in await memory.recipes()],
        asked={"a": a, "b": b, "turn": turn, "recipe_a": recipe_a, "recipe_b": recipe_b},
        pair=pair and (anatomy(pair[0]), anatomy(pair[1])),
        difference=pair and diff(*pair),
        rows=list(folded(lines(pair[0].system, pair[1].system))) if pair else [],
        messages_rows=list(folded(lines(_spoken(pair[0]), _spoken(pair[1])))) if pair else [],
        reused=pair and kept_tokens(*pair, tokenizer(str(pair[1].log.get("tokenizer") or "o200k"))),
    )


async def _messages(memory: "Hitherto", user: str) -> list[StoredTurn]:
    newest = await memory.turns(user=user, before=LARGEST, limit=2 * OFFERED)
    return [turn for turn in reversed(newest) if turn.role == "user"]


def _spoken(context: Context) -> str:
    return "\n".join(f"{message['role']}: {message.get('content') or ''}" for message in context.messages)


def lines(a: str, b: str) -> Iterator[Row]:
    """Both texts line by line, equal lines beside each other."""
    before, after = a.split("\n"), b.split("\n")
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from (Row(kind="same", a=line, b=line) for line in before[i1:i2])
            continue
        left, right = before[i1:i2], after[j1:j2]
        for place in range(max(len(left), len(right))):
            old = left[place] if place < len(left) else None
            new = right[place] if place < len(right) else None
            yield Row(kind="added" if old is None else "removed" if new is None else "changed", a=old, b=new)


def folded(rows: Iterator[Row] | Sequence[Row]) -> Iterator[Row]:
    """The rows with long stretches of equal lines collapsed."""
    listed = list(rows)
    near = {
        place + step for place, row in enumerate(listed) if row.kind != "same" for step in range(-AROUND, AROUND + 1)
    }
    skipped = 0
    for place, row in enumerate(listed):
        if row.kind == "same" and place not in near:
            skipped += 1
            continue
        if skipped:
            yield Row(kind="gap", count=skipped)
            skipped = 0
        yield row
    if skipped:
        yield Row(kind="gap", count=skipped)


# --- another recipe over a recorded conversation: what it would have cost, recalled, kept and dropped ---------------------

MOST = 60
"""Messages in one backtest: as many as somebody waits for."""
RECALLED = frozenset({"memory", "episode", "turn", "summary"})
NOT_RECALLED = frozenset({"working", "message", "quoted", "earlier"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One message by both recipes, and what the second would have left out and brought in."""

    turn: StoredTurn
    a: Context
    b: Context
    lost: tuple[Item, ...]
    gained: tuple[Item, ...]


@router.get(f"{ROOT}/backtest")
async def backtest(
    request: Request,
    user: str | None = None,
    persona: str = "",
    lane: str = "",
    recipe_a: str = "continuity",
    recipe_b: str = "",
    count: Annotated[int, Query(ge=2, le=MOST)] = 20,
) -> Response:
    """The newest messages by two recipes; without a second recipe, the choice of recipes."""
    subject = await looking(request, user)
    memory, whose = subject.memory, subject.user
    filters = Filters(persona=persona, lane=lane)
    trials: list[Trial] = []
    if recipe_b:
        pair = (await recipe_of(recipe_a, memory), await recipe_of(recipe_b, memory))
        trials = await _trials(memory, whose, pair, filters, count=count)
    return page(
        request,
        "backtest.html",
        user=whose,
        filters=filters,
        personas=await personas(memory, whose),
        recipes=[recipe.name for recipe in await memory.recipes()],
        asked={"recipe_a": recipe_a, "recipe_b": recipe_b, "count": count},
        most=MOST,
        trials=trials,
        plots=plots(trials, recipe_a, recipe_b) if trials else (),
    )


async def _trials(
    memory: "Hitherto", user: str, pair: tuple[Recipe, Recipe], filters: Filters, *, count: int
) -> list[Trial]:
    newest = await memory.turns(user=user, before=LARGEST, limit=4 * count, **filters.given)
    asked = [turn for turn in newest if turn.role == "user"][-count:]
    found: list[Trial] = []
    for turn in asked:
        a, b = [await as_of(memory, user=user, turn=turn, recipe=recipe) for recipe in pair]
        change = diff(a, b)
        found.append(Trial(turn=turn, a=a, b=b, lost=_recalled(change.removed), gained=_recalled(change.added)))
    return found


def plots(trials: Sequence[Trial], a: str, b: str) -> tuple[Plot, ...]:
    """Tokens, recalled evidence, prefix reuse and what was left out, for both recipes."""
    labels = [views.excerpt(f"{trial.turn.at:%d %b %H:%M}") for trial in trials]
    names = (a, b if a != b else f"{b} again")
    sides = ([trial.a for trial in trials], [trial.b for trial in trials])

    def both(
        title: str, meaning: str, measure: Callable[[Sequence[Context]], list[float | None]], unit: str = ""
    ) -> Plot:
        lines = [Series(name=name, values=tuple(measure(side))) for name, side in zip(names, sides, strict=True)]
        return plot(title, meaning, lines, labels, unit=unit)

    return (
        both("Tokens", "of the whole context", _tokens),
        both("Recalled evidence", "memories and old turns that got in", _evidence),
        both("Prefix reuse", "the same as in the message before", _reuse, " %"),
        both("Left out", "candidates that found no place", _dropped),
    )


def _tokens(contexts: Sequence[Context]) -> list[float | None]:
    return [float(context.tokens) for context in contexts]


def _evidence(contexts: Sequence[Context]) -> list[float | None]:
    return [float(len(_recalled(item for item in context.items if item.included))) for context in contexts]


def _dropped(contexts: Sequence[Context]) -> list[float | None]:
    return [float(sum(not item.included for item in context.items)) for context in contexts]


def _reuse(contexts: Sequence[Context]) -> list[float | None]:
    """Percent of each context that a provider's cache would have found; the first has no predecessor."""
    found: list[float | None] = [None]
    for before, after in pairwise(contexts):
        counter = tokenizer(str(after.log.get("tokenizer") or "o200k"))
        found.append(round(100 * min(1.0, kept_tokens(before, after, counter) / max(1, after.tokens)), 1))
    return found


def _recalled(items: Iterable[Item]) -> tuple[Item, ...]:
    return tuple(item for item in items if item.kind in RECALLED and item.section not in NOT_RECALLED)
