"""Are two names one person? Precision and recall on pet names, and on misspellings as speech recognition makes them.

`python bench/entities.py` reads `nicknames.csv` of HITHERTO_EVAL_DATA (default `../shared/data`); it is for measuring
only, our own table was written without it. Names that the file calls variants should be joined; pairs of given names drawn
at random from it should not. Misspellings are made from the file's names by what hearing gets wrong (a vowel, a doubled
or dropped consonant, an h), with a fixed seed.
"""

import csv
import os
import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import process_time

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

from bench.measuring import save, table  # noqa: E402
from hitherto.text.names import may_be  # noqa: E402

SEED = 20260302
PAIRS = 20_000
VOWELS = "aeiou"
Row = dict[str, object]


def nicknames() -> list[tuple[str, str]]:
    folder = Path(os.environ.get("HITHERTO_EVAL_DATA", ROOT.parent / "shared" / "data"))
    with (folder / "nicknames.csv").open(encoding="utf-8") as lines:
        return [(row["name1"].title(), row["name2"].title()) for row in csv.DictReader(lines)]


def misspelt(name: str, chance: random.Random) -> str:
    """The name as it might be heard: never its first letter, one change."""
    place = chance.randrange(1, len(name))
    letter = name[place].lower()
    if letter in VOWELS:
        return name[:place] + chance.choice([v for v in VOWELS if v != letter]) + name[place + 1 :]
    changes: Sequence[Callable[[], str]] = (
        lambda: name[:place] + letter + name[place:],
        lambda: name[:place] + name[place + 1 :] if letter == "h" else name[: place + 1] + "h" + name[place + 1 :],
    )
    return chance.choice(changes)()


def strangers(variants: Sequence[tuple[str, str]], chance: random.Random) -> list[tuple[str, str]]:
    """Pairs of full given names that the file does not connect, directly or by a shared pet name."""
    linked: dict[str, set[str]] = {}
    for name, short in variants:
        linked.setdefault(name, set()).add(short)
        linked.setdefault(short, set()).add(name)
    names = sorted({name for name, _ in variants})
    found: list[tuple[str, str]] = []
    while len(found) < PAIRS:
        one, other = chance.sample(names, 2)
        if other not in linked[one] and not linked[one] & linked[other]:
            found.append((one, other))
    return found


def measure(what: str, joined: int, of: int, ms: float) -> Row:
    return {"what": what, "share": joined / of, "count": f"{joined}/{of}", "ms": f"{ms:.4f}"}


def main() -> int:
    variants = nicknames()
    chance = random.Random(SEED)
    start = process_time()
    nick = sum(may_be(name, short) for name, short in variants)
    cost = (process_time() - start) / len(variants) * 1000
    long = sorted({name for name, _ in variants if len(name) >= 5})
    heard = [(name, misspelt(name, chance)) for name in long for _ in range(3)]
    ears = sum(may_be(name, other) for name, other in heard)
    apart = strangers(variants, chance)
    wrong = [pair for pair in apart if may_be(*pair)]
    rows = [
        measure("pet names joined (recall)", nick, len(variants), cost),
        measure("misheard names joined (recall, 5 letters and more)", ears, len(heard), cost),
        measure("strangers JOINED (false merges)", len(wrong), len(apart), cost),
        {
            "what": "precision over pet names and as many strangers",
            "share": nick / (nick + len(wrong) * len(variants) / len(apart)),
        },
    ]
    print(table(rows))
    print("joined wrongly:", ", ".join("/".join(pair) for pair in wrong[:12]))
    print(f"appended to {save('entities', rows)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
