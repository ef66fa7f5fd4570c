"""What the default context holds of the evidence of the development questions, and of the notebooks' probes.

Conversations are recorded once into a folder and read again from there, so that a change to recall or assembly is measured in
seconds. Beside the share of the evidence it prints what kind of items there are: those that say nothing by themselves should
be none.

    HITHERTO_EVAL_DATA=… python -m bench.contexts [--sets locomo-dev …] [--recipe continuity] [--data FOLDER] [--misses]
"""

import argparse
import asyncio
import tempfile
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import Final

from bench.dev_sets import SETS, Asked, Conversation, conversations
from bench.measuring import table
from hitherto import Context, Hitherto, Item, Turn
from hitherto.ingest.short import content_words
from hitherto.recall.traits import asks

EXACT: Final = frozenset({"turn", "memory"})
_TELLING: Final = 2


async def recorded(memory: Hitherto, conversation: Conversation) -> None:
    """Records a conversation unless it was recorded here before."""
    if await memory.turns(user=conversation.id, limit=1):
        return
    said = [turn for turn in conversation.turns if turn.text.strip()]
    await memory.record(
        [
            Turn(
                user=conversation.id,
                role=one.role or "user",
                text=one.text,
                id=one.id,
                at=one.at,
                speaker=one.speaker if one.speaker != one.role else None,
            )
            for one in said
        ]
    )


def held(context: Context) -> set[str]:
    """Turns that a context shows, by themselves or in a memory."""
    return {source for item in context.items if item.included and item.kind in EXACT for source in item.sources}


def says_nothing(item: Item) -> bool:
    """Whether an item of long-term memory says nothing by itself: a turn of fewer than two content words, a question and its
    answer without one, or a question that nobody answers."""
    lines = [line.partition(": ")[2] or line for line in item.text.split("\n")]
    return content_words(" ".join(lines)) < (_TELLING if len(lines) == 1 else 1) or asks(lines[-1])


async def measure(name: str, *, folder: Path, recipe: str, misses: bool, settle: bool) -> dict[str, object]:
    shares: list[float] = []
    whole: list[float] = []
    at_ten: list[float] = []
    tokens: list[int] = []
    seconds: list[float] = []
    by_kind: dict[str, list[float]] = {}
    items: Counter[str] = Counter()
    async with Hitherto(folder / name, recipe=recipe) as memory:
        for conversation in conversations(name):
            await recorded(memory, conversation)
            if settle:
                await memory.settle(user=conversation.id)
            for asked in conversation.questions:
                wanted = {conversation.turns[place].id for place in asked.evidence}
                hits = await memory.search(
                    user=conversation.id, query=asked.text, kinds=["turn"], limit=10, at=asked.at
                )
                at_ten.append(_share(wanted, {hit.id for hit in hits}))
                begin = perf_counter()
                context = await memory.context(user=conversation.id, message=asked.text, at=asked.at, keep=False)
                seconds.append(perf_counter() - begin)
                shares.append(_share(wanted, held(context)))
                whole.append(float(shares[-1] == 1))
                by_kind.setdefault(asked.category, []).append(shares[-1])
                tokens.append(context.tokens)
                items.update(_kinds(context))
                if misses and shares[-1] < 1:
                    _print_miss(conversation, asked, wanted - held(context), context)
    seconds.sort()
    print(
        f"{name}: " + ", ".join(f"{kind} {fmean(found):.3f} ({len(found)})" for kind, found in sorted(by_kind.items()))
    )
    return {
        "set": name,
        "questions": len(shares),
        "evidence": round(fmean(shares), 4),
        "all of it": round(fmean(whole), 4),
        "frac@10": round(fmean(at_ten), 4),
        "tokens": round(fmean(tokens)),
        "items": round(items["items"] / len(shares), 1),
        "empty": items["empty"],
        "p50 ms": round(seconds[len(seconds) // 2] * 1e3, 1),
        "p95 ms": round(seconds[int(len(seconds) * 0.95)] * 1e3, 1),
    }


def _kinds(context: Context) -> Counter[str]:
    found = [item for item in context.items if item.included and item.section == "long_term"]
    return Counter({"items": len(found), "empty": sum(map(says_nothing, found))})


def _share(wanted: Collection[str], found: Collection[str]) -> float:
    return sum(turn in found for turn in wanted) / len(wanted)


def _print_miss(conversation: Conversation, asked: Asked, missing: Collection[str], context: Context) -> None:
    reasons = {source: item.reason for item in context.items if not item.included for source in item.sources}
    print(f"\n[{asked.category}] {asked.text}  ({asked.at:%Y-%m-%d})")
    for turn in conversation.turns:
        if turn.id in missing:
            print(
                f"    {turn.at:%Y-%m-%d} {turn.speaker}: {turn.text[:200]!r}  <{reasons.get(turn.id, 'no candidate')}>"
            )


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--recipe", default="continuity")
    parser.add_argument("--data", default=Path(tempfile.gettempdir()) / "hitherto-contexts")
    parser.add_argument("--misses", action="store_true", help="print what was missed, and why")
    parser.add_argument("--settle", action="store_true", help="learn from the conversations first")
    options = parser.parse_args()
    rows = [
        await measure(
            name,
            folder=Path(options.data),
            recipe=options.recipe,
            misses=options.misses,
            settle=options.settle,
        )
        for name in options.sets
    ]
    print(table(rows))


if __name__ == "__main__":
    asyncio.run(main())
