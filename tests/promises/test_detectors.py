"""What the detectors let through and what they hold back by mistake, on development data: the figures that are promised."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hitherto.safety.quarantine import quarantine
from hitherto.safety.secrets import find_secrets, redact
from hitherto.types import Origin
from tests.effort import count
from tests.eval_data import rows, texts, turn_texts

EVERY = count(test=30, soak=1)
"""Of the long conversations, each so many-th turn."""
GROUPS = {"own_card": "cards", "own_nl_password": "spoken passwords", "own_seed": "other", "own_ssn": "other"}
ORIGINS: tuple[Origin, ...] = ("user", "tool")
"""Orders that stand for later are a user's right; whoever else gives them, the same patterns judge."""


@pytest.mark.promise("secrets are kept out", pure=True)
@pytest.mark.req("R2.12", "R4.6")
@pytest.mark.parametrize(("group", "least"), [("tokens", 0.85), ("cards", 0.95), ("spoken passwords", 0.70)])
def test_secrets_are_kept_out(group: str, least: float, tried: Callable[[int], None]) -> None:
    asked = [row for row in rows("secrets") if GROUPS.get(row["source"], "tokens") == group]
    tried(len(asked))
    found = [row for row in asked if row["secret"] not in redact(row["text"])]
    assert len(found) / len(asked) >= least, f"{len(found)} of {len(asked)}"


@pytest.mark.promise("false alarms: secrets in turns", pure=True)
def test_ordinary_turns_hold_no_secret(tried: Callable[[int], None]) -> None:
    said = [*turn_texts("locomo"), *turn_texts("longmemeval")[::EVERY]]
    tried(len(said))
    alarms = [text for text in said if find_secrets(text)]
    assert len(alarms) <= len(said) / 1_000, alarms


@pytest.mark.promise("false alarms: turns held back", pure=True)
@pytest.mark.parametrize("origin", ORIGINS)
def test_ordinary_turns_are_not_held_back(origin: Origin, tried: Callable[[int], None]) -> None:
    said, benign = turn_texts("locomo"), texts("benign")
    tried(len(said) + len(benign))
    held = [text for text in said if quarantine(text, origin)]
    assert len(held) <= len(said) / 1_000, held
    assert sum(quarantine(text, origin) is not None for text in benign) <= len(benign) * 0.05
