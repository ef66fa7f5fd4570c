"""The cached prompt: holes filled at delivery, and less of it when it has run out."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitherto.deliver.voice.prompts import CachedPrompt, deliver, dump, load, unknown, without

NOON = datetime(2026, 3, 2, 11, 0, tzinfo=UTC)
MIDNIGHT = datetime(2026, 3, 2, 23, 0, tzinfo=UTC)
SYSTEM = """You are Nikita.

[SITUATION]
Current time: {now}
Current date: Monday, March 2, 2026
Time since last message: {since}
Last session: {since} ago
[/SITUATION]

[LAST TIME]
They said "{now}" and {since} out loud.
[/LAST TIME]

[TODAY SO FAR]
Summary: a good morning
\\[/TODAY SO FAR] is what they typed
[/TODAY SO FAR]

Be kind."""
PROMPT = CachedPrompt(
    system=SYSTEM,
    zone="Europe/Berlin",
    valid_until=MIDNIGHT,
    last_interaction=NOON - timedelta(hours=3),
    snapshot="snap",
    name="Ana",
    variables={"language": "es"},
)


def hours(passed: timedelta) -> str:
    return f"{passed // timedelta(hours=1)} hours"


@pytest.mark.req("R0.12")
def test_what_passes_is_filled_in_at_delivery_and_nothing_else() -> None:
    spoken = deliver(PROMPT, now=NOON, span=hours)
    assert "Current time: 2026-03-02T12:00:00+01:00\n" in spoken.system
    assert "Time since last message: 3 hours\n" in spoken.system
    assert "Last session: 3 hours ago\n" in spoken.system
    assert 'They said "{now}" and {since} out loud.' in spoken.system
    assert "Summary: a good morning" in spoken.system
    assert spoken.fresh


@pytest.mark.req("R0.12")
def test_a_prompt_that_has_run_out_is_served_without_today() -> None:
    spoken = deliver(PROMPT, now=MIDNIGHT, span=hours)
    assert not spoken.fresh
    assert "TODAY" not in spoken.system
    assert "a good morning" not in spoken.system
    assert "Current date" not in spoken.system
    assert "Current time: 2026-03-03T00:00:00+01:00" in spoken.system
    assert "[LAST TIME]" in spoken.system
    assert spoken.system.endswith("\n\nBe kind.")


def test_variables_hold_the_memory_for_agents_that_keep_their_own_prompt() -> None:
    spoken = deliver(PROMPT, now=NOON, span=hours)
    assert spoken.variables == {
        "user_name": "Ana",
        "known_caller": "true",
        "memory": spoken.system,
        "language": "es",
    }


def test_a_stranger_gets_every_variable_empty() -> None:
    spoken = unknown()
    assert spoken.system == ""
    assert set(spoken.variables) < set(deliver(PROMPT, now=NOON, span=hours).variables)


def test_a_prompt_survives_its_note() -> None:
    assert load(dump(PROMPT)) == PROMPT
    plain = CachedPrompt(system="x", zone="UTC", valid_until=NOON)
    assert load(dump(plain)) == plain


@given(st.text(max_size=60))
def test_a_note_of_another_kind_is_no_prompt(body: str) -> None:
    assert load(body) is None


def test_a_missing_block_changes_nothing() -> None:
    assert without("no blocks here", "TODAY SO FAR") == "no blocks here"
