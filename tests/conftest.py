"""What every test runs under: one printed seed, a Hypothesis profile, and no network but loopback.

`HITHERTO_TEST_SEED` repeats a run; `HITHERTO_TEST_PROFILE` is `dev` (default), `ci` or `soak`.
"""

from __future__ import annotations

import os
import random
import secrets

import pytest
from hypothesis import HealthCheck, settings

from tests import effort, network_guard

# Before anything imports it: failing assertions of the published suite show their values.
pytest.register_assert_rewrite("hitherto.testing.conformance")
pytest_plugins = ("tests.folders", "tests.promise_table", "tests.redis_server", "tests.stores")

SEED_VARIABLE = "HITHERTO_TEST_SEED"

# No deadline: no test may depend on how fast the machine is.
settings.register_profile("dev", deadline=None, print_blob=True, max_examples=100)
settings.register_profile("ci", parent=settings.get_profile("dev"), max_examples=200)
settings.register_profile(
    "soak",
    parent=settings.get_profile("dev"),
    max_examples=2_000,
    suppress_health_check=[HealthCheck.too_slow],
)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Chooses the seed before Hypothesis reads its option; worker processes inherit it by the environment."""
    network_guard.install()
    settings.load_profile(effort.profile())
    if config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = os.environ.setdefault(SEED_VARIABLE, str(secrets.randbelow(2**32)))
    else:
        os.environ[SEED_VARIABLE] = str(config.option.hypothesis_seed)


def pytest_report_header() -> str:
    return _how_to_repeat()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, exitstatus: int) -> None:
    """Says it again below the failures, where a quiet run has no header."""
    if exitstatus != pytest.ExitCode.OK:
        terminalreporter.write_line(_how_to_repeat())


def _how_to_repeat() -> str:
    seed = os.environ[SEED_VARIABLE]
    return f"hitherto: profile {effort.profile()}, seed {seed} (repeat with {SEED_VARIABLE}={seed})"


@pytest.fixture(scope="session")
def seed() -> int:
    """The run's seed, for tests that must hand it to another process."""
    return int(os.environ[SEED_VARIABLE])


@pytest.fixture
def rng(seed: int, request: pytest.FixtureRequest) -> random.Random:
    """Randomness of this test alone: the same for the same seed, whichever tests ran before it."""
    return random.Random(f"{seed}:{request.node.nodeid}")
