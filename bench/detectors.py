"""What the detectors cost: processor time per turn for secrets and for orders, on short turns and on long ones.

Processor time, because another program's work must not count: the median of some passes over the same turns, the lowest and
the highest.

    python -m bench.detectors [--passes 5]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from statistics import mean, median
from time import process_time

from bench.dev_sets import conversations
from bench.measuring import table
from hitherto.safety.quarantine import quarantine
from hitherto.safety.secrets import find_secrets

SETS = {"locomo-dev": 1, "longmemeval-dev": 15}
"""Development sets, and each how many-th turn of them is taken."""
DETECTORS: dict[str, Callable[[str], object]] = {
    "secrets": find_secrets,
    "orders of a user": lambda text: quarantine(text, "user"),
    "orders of a tool": lambda text: quarantine(text, "tool"),
}


def cost(detector: Callable[[str], object], texts: Sequence[str], *, passes: int) -> list[float]:
    """Milliseconds a turn, one figure for each pass, lowest first."""
    found: list[float] = []
    for _ in range(passes):
        begun = process_time()
        for text in texts:
            detector(text)
        found.append((process_time() - begun) / len(texts) * 1000)
    return sorted(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passes", type=int, default=5)
    arguments = parser.parse_args()
    rows: list[dict[str, object]] = []
    for name, step in SETS.items():
        texts = [turn.text for conversation in conversations(name) for turn in conversation.turns][::step]
        of = f"{len(texts):,} of {name}, {mean(map(len, texts)):.0f} characters"
        for detector, find in DETECTORS.items():
            found = cost(find, texts, passes=arguments.passes)
            spread = f"{median(found):.3f} ({found[0]:.3f}–{found[-1]:.3f})"
            rows.append({"turns": of, "detector": detector, "ms a turn": spread})
    print(table(rows))


if __name__ == "__main__":
    main()
