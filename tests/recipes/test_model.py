"""Recipes hold the seeds' numbers, and a wrong one says what is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from hitherto.errors import HithertoError, InvalidRecipe
from hitherto.recipes.book import check, load, names, parse
from hitherto.recipes.titles import HEADINGS, SECTION_IDS, UNTRIMMED


def budgets(recipe: str) -> dict[str, tuple[int, int]]:
    return {name: (group.target, group.cap) for name, group in load(recipe).groups.items()}


def test_the_seeds_four_systems_are_six_recipes() -> None:
    assert {"companion", "companion-text", "companion-voice", "recall", "personas", "lanes"} <= set(names())


@pytest.mark.req("R0.9")
def test_the_companions_budgets_are_the_stacks() -> None:
    recipe = load("companion")
    stack = {
        "persona": (800, 1200),
        "state": (600, 900),
        "working": (1200, 1800),
        "last_time": (150, 250),
        "today": (300, 500),
        "loops": (250, 400),
        "long_term": (500, 800),
        "style": (300, 500),
    }
    assert stack.items() <= budgets("companion").items()
    assert (recipe.total.target, recipe.total.cap) == (4100, 6150)
    assert sum(target for target, _ in budgets("companion").values()) == 4100
    assert recipe.groups["persona"].sections == ("persona", "boundaries")
    assert recipe.groups["state"].sections == ("relationship", "situation")
    assert recipe.groups["loops"].sections == ("loops", "inner_life")


@pytest.mark.req("R0.2", "R0.7", "R0.10")
def test_the_companions_window_minimum_and_trim_order() -> None:
    recipe = load("companion")
    assert (recipe.history.window, recipe.history.minimum, recipe.limits.long_term) == (30, 6, 30)
    assert recipe.trim == ("long_term", "inner_life", "loops", "today", "working")
    assert not {"persona", "boundaries"} & {*recipe.trim, *recipe.last_resort}


@pytest.mark.req("R1.1", "R1.2", "R1.3", "R1.4", "R1.5", "R1.11")
def test_the_text_companions_numbers_are_those_of_text_continuity() -> None:
    recipe = load("companion-text")
    found = budgets("companion-text")
    assert (found["working"], found["today"], found["loops"]) == ((1500, 3000), (300, 500), (250, 400))
    assert found["last_time"] == (200, 300)
    assert (recipe.total.target, recipe.total.cap) == (4100, 6150)
    assert recipe.trim == ("long_term", "last_time", "inner_life", "loops", "today", "working")
    assert (recipe.history.wanted, recipe.history.window) == (30, 80)
    assert (recipe.limits.loops, recipe.loops.fade_days, recipe.sessions.returning_hours) == (5, 7, 24)
    others = {name: budget for name, budget in found.items() if name not in ("working", "last_time")}
    assert others.items() <= budgets("companion").items()


@pytest.mark.req("R0.12")
def test_the_voice_companion_has_no_turns_and_the_companions_budgets() -> None:
    assert load("companion-voice").history.delivery == "moments"
    assert budgets("companion-voice") == budgets("companion")


@pytest.mark.req("R2.5", "R2.7", "R2.8", "R2.9")
def test_recalls_numbers_are_those_of_the_canvas() -> None:
    recipe = load("recall")
    found = budgets("recall")
    assert (recipe.total.cap, recipe.total.reserve) == (8000, 1000)
    assert (found["system"][1], found["memories"][1], found["history"][1], found["task_state"][1]) == (
        1000,
        2000,
        3000,
        1000,
    )
    assert [s for s in recipe.trim if s != "earlier"] == ["task_state", "working", "memories"]
    assert (recipe.history.keep_first, recipe.history.minimum, recipe.history.middle > 0) == (2, 3, True)
    assert (recipe.recall.top_k, recipe.limits.memories, recipe.recall.threshold) == (5, 5, 0.7)
    assert (recipe.recall.blend.recent_boost, recipe.recall.blend.recent_days, recipe.recall.first) == (
        1.2,
        7,
        "dense",
    )
    assert recipe.recall.blend.importance > 0
    assert recipe.summaries.chunk_tokens == 500
    priorities = ("persona", "boundaries", "augmentations", "memories", "working", "task_state")
    assert [s for s in recipe.order if s in priorities] == list(priorities)
    assert recipe.last_resort.index("augmentations") > recipe.last_resort.index("requests")


@pytest.mark.req("R3.5", "R3.6", "R3.7", "R3.9", "R3.14")
def test_the_personas_numbers_are_those_of_the_memory_model() -> None:
    recipe = load("personas")
    blend = recipe.recall.blend
    assert (recipe.recall.candidates, blend.similarity, blend.recency, blend.frequency) == (50, 0.4, 0.3, 0.3)
    assert blend.half_life_days == 14
    assert (recipe.limits.foundation, recipe.limits.card_facts, recipe.recall.card_importance) == (20, 3, 2)
    assert (recipe.summaries.rolling_every, recipe.summaries.rolling_chars) == (4, 600)
    assert (recipe.summaries.spine_messages, recipe.sessions.gap_minutes, recipe.sessions.chain_hours) == (
        20,
        30,
        12,
    )
    assert (recipe.total.target, recipe.total.cap) == (4100, 6150)


@pytest.mark.req("R4.3", "R4.5", "R4.7")
def test_the_lanes_numbers_are_those_of_the_thread_aware_context() -> None:
    recipe = load("lanes")
    compaction = recipe.compaction
    assert (compaction.messages, compaction.tokens, compaction.hours, compaction.keep) == (30, 2500, 24, 10)
    assert (recipe.history.window, recipe.history.minimum, recipe.history_group.cap) == (30, 10, 2500)
    assert (recipe.recall.first, recipe.recall.other_lanes) == ("lexical", "named_or_confident")
    layers = ("policy", "persona", "lane_summary", "memories", "working")
    assert [s for s in recipe.order if s in layers] == list(layers)
    assert (recipe.total.target, recipe.total.cap) == (4100, 6150)


@pytest.mark.parametrize("name", names())
def test_every_section_of_a_recipe_is_either_trimmed_or_never(name: str) -> None:
    recipe = load(name)
    assert {*recipe.trim, *recipe.last_resort} == set(recipe.order) - UNTRIMMED
    assert not recipe.description.endswith(".")


def test_titles_are_a_closed_list() -> None:
    assert tuple(HEADINGS) == SECTION_IDS


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[total]\ntaget = 1", "unknown field 'total.taget' (did you mean 'target'?)"),
        ("[groups.working]\ncapp = 3", "unknown field 'groups.working.capp' (did you mean 'cap'?)"),
        (
            "[recall.blend]\nsimilarty = 1.0",
            "unknown field 'recall.blend.similarty' (did you mean 'similarity'?)",
        ),
        ("lenght = 3", "unknown field 'lenght'"),
        (
            '[history]\ndelivery = "mesages"',
            "history.delivery='mesages' is not allowed (did you mean 'messages'?)",
        ),
        ('trim = ["workin"]', "trim names 'workin', which is no section (did you mean 'working'?)"),
        ("[total]\ncap = 100", "total: target 4100 is over cap 100"),
        ("[total]\nreserve = 7000", "total: reserve 7000 leaves nothing of cap 6150"),
        ("[total]\ncap = 6150.5", "total.cap=6150.5"),
        ("[groups.today]\ntarget = 900", "floor 0, target 900 and cap 500 must rise in this order"),
        ("[limits]\nlong_term = 31", "limits.long_term=31"),
        ("[limits]\nlong_term = 9", "limits.long_term=9"),
        ("[limits]\nloops = -1", "limits.loops=-1"),
        ('trim = ["persona"]', "'persona' is never trimmed"),
        ('trim = ["long_term", "long_term"]', "trim names 'long_term' twice"),
        ('trim = ["long_term", "style"]', "'style' is both in trim and in last_resort"),
        ('trim = ["long_term"]', "'working' is in order but neither in trim nor in last_resort"),
        ('trim = ["spine"]', "trim names 'spine', which is not in order"),
        ('order = ["persona"]', "notice, relationship, situation"),
        ('[titles]\ntoday = "]["', "titles.today"),
        ("[sections.today]\ncap = 100", "the tokens of such a section stand under [groups.…]"),
        ('without = ["tody"]', "without names 'tody', which is not in order (did you mean 'today'?)"),
        (
            'order = ["policy", "persona", "boundaries", "augmentations", "situation", "working", "style"]',
            "notice, relationship, last_time, today, loops, inner_life, long_term, requests, task_state are missing from it",
        ),
        ('without = "today"', "without is a list of sections"),
        ('[groups.more]\nsections = ["today"]\ntarget = 1\ncap = 1', "'today' is in two groups"),
        (
            '[groups.more]\nsections = ["spine"]\ntarget = 1\ncap = 1',
            "'spine' is in a group but not in order",
        ),
    ],
)
def test_a_wrong_recipe_names_the_field_and_the_nearest_right_one(text: str, says: str) -> None:
    with pytest.raises(InvalidRecipe) as error:
        parse(f'extends = "companion"\n{text}', origin="mine.toml")
    assert str(error.value).startswith("mine.toml")
    assert says in str(error.value)


def test_a_block_may_not_come_before_the_notice() -> None:
    fields = json.loads(load("companion").canonical)
    fields["order"].remove("notice")
    fields["order"].append("notice")
    with pytest.raises(InvalidRecipe, match="memory block 'relationship' comes before the notice"):
        check(fields)


@pytest.mark.parametrize("missing", ["persona", "notice", "situation", "working"])
def test_some_sections_must_be_there(missing: str) -> None:
    fields = json.loads(load("companion").canonical)
    for name in ("order", "trim", "last_resort"):
        fields[name] = [section for section in fields[name] if section != missing]
    with pytest.raises(InvalidRecipe, match=f"order must name '{missing}'"):
        check(fields)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("companoin", "did you mean 'companion'"),
        ("", "recipes are"),
        ("no/such.toml", "cannot be read"),
        ("../x", "recipes are"),
    ],
)
def test_an_unknown_recipe_is_a_clear_error(name: str, says: str) -> None:
    with pytest.raises(InvalidRecipe, match=says):
        load(name)


def test_a_recipe_of_ones_own_extends_another_by_name_or_path(tmp_path: Path) -> None:
    base = tmp_path / "base.toml"
    base.write_text('extends = "companion"\nname = "base"\n[total]\ncap = 5000\n')
    own = tmp_path / "own.toml"
    own.write_text('extends = "base.toml"\nname = "own"\n[history]\nminimum = 4\n')
    recipe = load(own)
    assert (recipe.name, recipe.total.cap, recipe.total.target, recipe.history.minimum) == (
        "own",
        5000,
        4100,
        4,
    )
    assert load(str(own)) == recipe


def test_a_section_is_left_out_wherever_it_was_named() -> None:
    recipe = parse('extends = "companion"\nname = "brief"\nwithout = ["today", "loops", "inner_life"]')
    companion = load("companion")
    assert companion.groups["loops"].sections == ("loops", "inner_life")
    assert "loops" not in recipe.groups
    assert "today" not in recipe.groups
    for name in ("order", "trim", "last_resort"):
        kept = [each for each in getattr(companion, name) if each not in ("today", "loops", "inner_life")]
        assert list(getattr(recipe, name)) == kept
    with pytest.raises(InvalidRecipe, match="it extends none"):
        parse('without = ["today"]')


def test_a_recipe_that_extends_itself_is_a_clear_error(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('extends = "own.toml"\nname = "own"\n')
    with pytest.raises(InvalidRecipe, match="perhaps itself"):
        load(own)


@pytest.mark.parametrize("text", ["=", "name = 3", 'extends = "nothing"', "extends = 3", "\x00"])
def test_broken_toml_is_an_error_of_ours(text: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.toml"
    path.write_text(text)
    with pytest.raises(HithertoError):
        load(path)


def test_the_hash_names_the_content_whatever_the_file_and_the_process() -> None:
    here = {name: load(name).hash for name in names()}
    assert len(set(here.values())) == len(here)
    same = check(dict(reversed(json.loads(load("companion").canonical).items())))
    assert same.hash == here["companion"]
    code = "from hitherto.recipes.book import load, names; print({n: load(n).hash for n in names()})"
    there = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONHASHSEED": "7", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert there.stdout.strip() == str(here)


def test_a_copy_with_a_change_has_a_hash_of_its_own() -> None:
    recipe = load("companion")
    worked_out = (recipe.hash, recipe.canonical, recipe.arranged, recipe.group_of, recipe.precious)
    named = recipe.model_copy(update={"name": "own"})
    assert named.hash != recipe.hash
    assert json.loads(named.canonical)["name"] == "own"
    assert named.model_validate(named.model_dump()).hash == named.hash
    tailed = recipe.model_copy(update={"tail": ("long_term",)})
    assert tailed.arranged[-1] == "long_term" != recipe.arranged[-1]
    assert recipe.model_copy().hash == recipe.hash
    assert worked_out == (recipe.hash, recipe.canonical, recipe.arranged, recipe.group_of, recipe.precious)
