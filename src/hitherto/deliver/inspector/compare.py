"""Two contexts side by side: of two snapshots, or of one message by two recipes."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response

from hitherto import Hitherto
from hitherto.assemble.diff import diff, kept_tokens
from hitherto.deliver.http.paths import ROOT
from hitherto.deliver.http.routes.contexts import recipe_of
from hitherto.deliver.inspector import sources
from hitherto.deliver.inspector.anatomy import anatomy
from hitherto.deliver.inspector.pages import Page, looking, page
from hitherto.pages import LARGEST
from hitherto.tokens import tokenizer
from hitherto.types import Context, StoredTurn

router = APIRouter(route_class=Page, include_in_schema=False)

OFFERED = 40
"""Snapshots and messages to choose from."""
AROUND = 2
"""Equal lines that are shown around a difference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A line of both texts side by side; None where one has nothing. A row of kind `gap` stands for `count` equal lines."""

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
    """The two contexts that were asked for, with what differs marked; with none asked for, the choice."""
    subject = await looking(request, user)
    memory, whose = subject.memory, subject.user
    pair: tuple[Context, Context] | None = None
    if turn and recipe_a and recipe_b:
        first, second = [
            (await sources.of_turn(memory, user=whose, turn=turn, recipe=await recipe_of(name, memory))).context
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


async def _messages(memory: Hitherto, user: str) -> list[StoredTurn]:
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
    """The rows without long stretches of equal lines."""
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
