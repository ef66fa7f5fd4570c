"""What people cost: bytes on disk and processor time on each store, and what that means for a thousand, a hundred thousand and
ten million of them.

A *visitor* says two things and never comes back. A *regular* sends `--messages` a day, each recorded with its answer and one
context whose receipt is kept. Bytes are those that more of the same add to the disk, after a vacuum where there is a server.
Processor time is this process's, and the server's where this starts it. Neither holds for another machine; the arithmetic does.

    python -m bench.footprint [--visitors 300] [--turns 2000] [--contexts 200] [--messages 20] [--active 0.1]
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import psycopg

from bench.measuring import save, table
from bench.stores import PERSONA, Place, Talk, place
from hitherto import Hitherto, Turn
from hitherto.store.postgres.layout import SCHEMA

DAY = 86_400
PEAK = 3.0
"""The busiest hour against the day's mean."""
USED = 0.5
"""How much of a core may be busy in it."""
RECEIPTS = 1_000
"""Of each user, the newest that are kept whole."""
CROWDS = (1_000, 100_000, 10_000_000)
DAYS = 365


@dataclass(frozen=True, slots=True)
class Cost:
    """Bytes of each, and processor seconds here and in the server."""

    visitor: float
    turn: float
    receipt: float
    message: float
    served: float


def taken(at: Place) -> int:
    """Bytes on disk of everything in the store, while nobody has it open."""
    if "://" not in at.url:
        return sum(path.stat().st_size for path in Path(at.url).rglob("*") if path.is_file())
    at.settle()
    with psycopg.connect(at.url) as owner:
        found = owner.execute(
            "select sum(pg_total_relation_size(oid))::bigint from pg_class"
            " where relnamespace = to_regnamespace(%s) and relkind = 'r'",
            (SCHEMA,),
        ).fetchone()
    return int(found[0]) if found else 0


async def come(at: Place, talk: Talk, names: range) -> int:
    """Visitors, and how much the store takes after them."""
    async with Hitherto(at.url) as memory:
        for name in names:
            said = [Turn(f"visitor {name}", role, talk.sentence(), persona=PERSONA) for role in ("user", "assistant")]
            await memory.record(said)
    return taken(at)


async def measured(at: Place, *, visitors: int, turns: int, contexts: int) -> Cost:
    talk = Talk()
    few = await come(at, talk, range(visitors // 3))
    many = await come(at, talk, range(visitors // 3, visitors))
    async with Hitherto(at.url) as memory:
        for batch in talk.turns("regular", turns):
            await memory.record(batch)
    filled = taken(at)
    async with Hitherto(at.url) as memory:
        await memory.context(user="regular", persona=PERSONA, message=talk.sentence(), keep=False)
        begun, served = process_time(), at.server_time()
        for _ in range(contexts):
            said = talk.sentence()
            await memory.record(Turn("regular", "user", said, persona=PERSONA))
            made = await memory.context(user="regular", persona=PERSONA, message=said)
            answer = Turn("regular", "assistant", talk.sentence(), persona=PERSONA, snapshot=made.snapshot)
            await memory.record(answer)
        here, there = process_time() - begun, at.server_time() - served
    turn = (filled - many) / turns
    return Cost(
        visitor=(many - few) / (visitors - visitors // 3),
        turn=turn,
        receipt=(taken(at) - filled) / contexts - 2 * turn,
        message=here / contexts,
        served=there / contexts,
    )


def bill(cost: Cost, people: int, *, messages: int, active: float) -> dict[str, object]:
    """What to buy for so many people, of whom a share is there on a day and the others came once."""
    daily = people * active * messages
    cores = daily / DAY * PEAK / USED
    year = people * (1 - active) * cost.visitor + people * active * (
        2 * messages * DAYS * cost.turn + min(RECEIPTS, messages * DAYS) * cost.receipt
    )
    return {
        "people": f"{people:,}",
        "messages a second, busiest hour": f"{daily / DAY * PEAK:,.1f}",
        "application cores": f"{cores * cost.message:,.2f}",
        "server cores": f"{cores * cost.served:,.2f}",
        "GB after a year": f"{year / 1e9:,.1f}",
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--stores", default="sqlite,postgres")
    parser.add_argument("--visitors", type=int, default=300)
    parser.add_argument("--turns", type=int, default=2_000)
    parser.add_argument("--contexts", type=int, default=200)
    parser.add_argument("--messages", type=int, default=20, help="of a regular, a day")
    parser.add_argument("--active", type=float, default=0.1, help="the share of people who are there on a day")
    given = parser.parse_args(arguments)
    costs: list[dict[str, object]] = []
    bills: list[dict[str, object]] = []
    for backend in given.stores.split(","):
        with place(backend) as at:
            cost = asyncio.run(measured(at, visitors=given.visitors, turns=given.turns, contexts=given.contexts))
        costs.append(
            {
                "store": backend,
                "visitor kB": round(cost.visitor / 1e3, 1),
                "turn kB": round(cost.turn / 1e3, 2),
                "receipt kB": round(cost.receipt / 1e3, 1),
                "message, process ms": round(cost.message * 1e3, 1),
                "message, server ms": round(cost.served * 1e3, 1),
            }
        )
        bills += [
            {"store": backend, **bill(cost, crowd, messages=given.messages, active=given.active)} for crowd in CROWDS
        ]
    print(table(costs))
    print(table(bills))
    print(f"saved to {save('footprint', [*costs, *bills])}")


if __name__ == "__main__":
    main()
