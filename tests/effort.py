"""How much of a randomised test to run: a quota that fits `make test`, or the full count of `make soak`."""

from __future__ import annotations

import os
from typing import Literal, get_args

import pytest

Profile = Literal["dev", "ci", "soak"]
PROFILE_VARIABLE = "HITHERTO_TEST_PROFILE"


def profile() -> Profile:
    name = os.environ.get(PROFILE_VARIABLE, "dev")
    for known in get_args(Profile):
        if name == known:
            return known
    raise pytest.UsageError(f"{PROFILE_VARIABLE}={name!r} is none of {', '.join(get_args(Profile))}")


def count(*, test: int, soak: int) -> int:
    """For example `@settings(max_examples=count(test=2_000, soak=20_000))`."""
    return soak if profile() == "soak" else test
