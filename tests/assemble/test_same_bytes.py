"""The same input gives the same bytes, whatever the hash seed and the process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hitherto.assemble.snapshot import taken
from hitherto.recipes.book import load, names
from hitherto.types import Card
from tests.assemble.build import everything, made, memory, turn, turns

ROOT = Path(__file__).parents[2]
SEEDS = ("0", "1", "42", "4294967295", "random")
SCRIPT = "from tests.assemble.test_same_bytes import printed; print(printed())"


def printed() -> str:
    """A digest of everything that a context and its snapshot hold, for all recipes."""
    facts = tuple(memory(f"j{n}", f"John fact {n}", entities=("person:john",)) for n in range(3))
    given = everything(
        window=turns(40, "turn {} about the sea and the trains to Porto"),
        quoted=turn(70, "as I said"),
        cards=(Card(ref="person:john", label="John", facts=facts),),
    )
    lines: list[str] = []
    for name in names():
        context = made(name, given)
        snapshot, blobs = taken(context, load(name), given)
        lines += [
            context.snapshot,
            context.prefix_hash,
            snapshot.body,
            repr(list(blobs.items())),
            repr(context),
        ]
    return "\n".join(lines)


@pytest.mark.promise("same bytes over processes", tries=len(SEEDS) * len(names()), pure=True)
@pytest.mark.req("R0.10")
def test_contexts_are_the_same_bytes_over_hash_seeds_and_processes() -> None:
    here = printed()
    for seed in SEEDS:
        there = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "PYTHONUTF8": "1"},
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=True,
        )
        assert there.stdout.rstrip("\n") == here, f"hash seed {seed}"
