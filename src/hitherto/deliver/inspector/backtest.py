"""Another recipe over a recorded conversation: what it would have cost, recalled, kept from turn to turn, and dropped."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from hitherto import Hitherto, Recipe
from hitherto.assemble.diff import diff, kept_tokens
from hitherto.deliver.http.paths import ROOT
from hitherto.deliver.http.routes.contexts import recipe_of
from hitherto.deliver.inspector import pages, sources
from hitherto.deliver.inspector.charts import Plot, Series, plot
from hitherto.deliver.inspector.conversation import Filters, personas
from hitherto.deliver.inspector.pages import Page, looking, page
from hitherto.pages import LARGEST
from hitherto.tokens import tokenizer
from hitherto.types import Context, Item, StoredTurn

router = APIRouter(route_class=Page, include_in_schema=False)

MOST = 60
"""Messages of one backtest: as many as a page waits for."""
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
    """The newest messages by two recipes; with the second not chosen, the choice."""
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
    memory: Hitherto, user: str, pair: tuple[Recipe, Recipe], filters: Filters, *, count: int
) -> list[Trial]:
    newest = await memory.turns(user=user, before=LARGEST, limit=4 * count, **filters.given)
    asked = [turn for turn in newest if turn.role == "user"][-count:]
    found: list[Trial] = []
    for turn in asked:
        a, b = [await sources.as_of(memory, user=user, turn=turn, recipe=recipe) for recipe in pair]
        change = diff(a, b)
        found.append(Trial(turn=turn, a=a, b=b, lost=_recalled(change.removed), gained=_recalled(change.added)))
    return found


def plots(trials: Sequence[Trial], a: str, b: str) -> tuple[Plot, ...]:
    """Tokens, recalled evidence, prefix reuse and what was left out, of both recipes."""
    labels = [pages.excerpt(f"{trial.turn.at:%d %b %H:%M}") for trial in trials]
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
    """Hundredths of each context that a provider's cache would have found; the first has none before it."""
    found: list[float | None] = [None]
    for before, after in pairwise(contexts):
        counter = tokenizer(str(after.log.get("tokenizer") or "o200k"))
        found.append(round(100 * min(1.0, kept_tokens(before, after, counter) / max(1, after.tokens)), 1))
    return found


def _recalled(items: Iterable[Item]) -> tuple[Item, ...]:
    return tuple(item for item in items if item.kind in RECALLED and item.section not in NOT_RECALLED)
