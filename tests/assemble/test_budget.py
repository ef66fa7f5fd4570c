"""Who gives way when there is not enough room, by the rows that say so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hitherto.assemble import personas
from hitherto.assemble.material import Assembled, Material
from hitherto.errors import ImpossibleBudget, PersonaTooLarge
from hitherto.recipes.book import load, names, parse
from hitherto.recipes.recipe import Recipe
from hitherto.tokens import tokenizer
from tests.assemble.build import (
    O200K,
    PERSONA,
    PROFILE,
    episode,
    left_out,
    loop,
    made,
    material,
    memory,
    recalled,
    shown,
    state,
    summary,
    thought,
    turn,
    turns,
)

SENTENCE = "The sea was calm and the {} boats came home late in the evening. "


def words(tokens: int, name: str) -> str:
    """A text of about so many tokens, like no other."""
    text = SENTENCE.format(name)
    return text * max(1, tokens // O200K.count(text))


def plenty(**fields: Any) -> Material:
    """More than any budget holds, in every tier."""
    basics: dict[str, Any] = {
        "state": state(**{f"field_{n}": words(80, f"state {n}") for n in range(20)}),
        "window": turns(80, "turn {} " + words(60, "small")),
        "last_interaction": PROFILE.at,
        "last_time": summary(
            "last",
            " ".join(words(90, f"last {n}").strip()[:-1].replace(".", ",") + "." for n in range(3)),
            kind="session",
        ),
        "today": summary(
            "day",
            words(200, "today"),
            kind="daily",
            detail={"key_moments": [words(60, f"k{n}") for n in range(9)]},
        ),
        "loops": tuple(loop(f"loop{n}", words(60, f"loop {n}")) for n in range(2)),
        "thoughts": tuple(thought(f"th{n}", words(60, f"thought {n}")) for n in range(5)),
        "recalled": recalled(
            *(memory(f"m{n}", words(40, f"fact {n}")) for n in range(25)),
            *(episode(f"e{n}", words(40, f"ep {n}")) for n in range(5)),
        ),
        "persona": replace(PERSONA, text=words(1000, "persona"), style=words(350, "style")),
    }
    return material(**{**basics, **fields})


def used(context: Assembled) -> dict[str, int]:
    return {use.group: use.tokens for use in context.sections}


def with_cap(name: str, cap: int) -> Recipe:
    return parse(f'extends = "{name}"\nname = "tight"\n[total]\ntarget = {min(4100, cap)}\ncap = {cap}\n')


@pytest.mark.req("R0.9", "R1.11")
@pytest.mark.parametrize("name", ["companion", "companion-text"])
def test_plenty_of_everything_fills_the_sections_within_their_caps_and_the_total(name: str) -> None:
    recipe = load(name)
    context = made(recipe, plenty())
    for use in context.sections:
        assert use.tokens <= use.cap
    assert recipe.total.target < context.tokens <= recipe.total.cap
    found = used(context)
    for group in ("state", "last_time", "today", "loops", "long_term", "style"):
        assert found[group] >= 0.5 * recipe.groups[group].target


@pytest.mark.req("R0.9")
def test_what_one_section_does_not_need_goes_to_others_up_to_their_caps() -> None:
    recipe = load("companion")
    context = made(recipe, plenty(today=None, last_time=None, loops=(), thoughts=()))
    found = used(context)
    assert recipe.groups["working"].target < found["working"] <= recipe.groups["working"].cap
    assert recipe.groups["long_term"].target < found["long_term"] <= recipe.groups["long_term"].cap


def trimming(name: str, *sections: str) -> list[str]:
    """In which order groups lose everything they can, as the total shrinks."""
    gone: list[str] = []
    for cap in range(6150, 1500, -50):
        context = made(with_cap(name, cap), plenty())
        gone += [s for s in sections if s not in gone and not shown(context, s)]
    return gone


@pytest.mark.req("R0.10")
def test_the_companion_trims_long_term_then_thoughts_and_loops_then_today_then_turns() -> None:
    assert trimming("companion", "today", "loops", "inner_life", "long_term") == [
        "long_term",
        "inner_life",
        "loops",
        "today",
    ]


@pytest.mark.req("R1.5")
def test_the_text_companion_trims_last_conversation_then_threads_then_today_then_history() -> None:
    assert trimming("companion-text", "today", "loops", "last_time", "long_term") == [
        "long_term",
        "last_time",
        "loops",
        "today",
    ]


@pytest.mark.req("R0.10")
@pytest.mark.parametrize("cap", [6150, 4100, 3000, 2600])
def test_the_persona_is_never_cut_and_the_last_six_turns_stay(cap: int) -> None:
    given = plenty()
    context = made(with_cap("companion", cap), given)
    assert given.persona.text in context.system
    assert given.persona.boundaries in context.system
    assert [item.id for item in shown(context, "working")][-6:] == [f"t{n}" for n in range(75, 81)]


@pytest.mark.req("R0.10")
def test_turns_shrink_only_when_all_that_is_trimmed_before_them_is_gone() -> None:
    whole = made(with_cap("companion", 5000), plenty())
    for cap in range(5000, 2600, -200):
        context = made(with_cap("companion", cap), plenty())
        if shown(context, "long_term") or shown(context, "today"):
            assert used(context)["working"] >= load("companion").groups["working"].target * 0.9
    assert len(shown(whole, "working")) > 6


def test_what_the_trim_order_does_not_name_keeps_to_its_cap_while_others_starve() -> None:
    context = made(with_cap("companion", 3600), plenty())
    assert not shown(context, "long_term")
    assert shown(context, "last_time")
    assert shown(context, "style")
    assert shown(context, "relationship")


@pytest.mark.req("R2.8", "R2.9")
def test_recall_prunes_task_state_then_history_then_memories() -> None:
    given = plenty(
        inputs={
            "task_state": "\n".join(words(70, f"observation {n}") for n in range(20)),
            "augmentations": "Talk slowly.",
        },
        persona=replace(PERSONA, text=words(700, "persona"), style=""),
        recalled=recalled(*(memory(f"m{n}", words(250, f"fact {n}")) for n in range(5))),
    )
    amounts: dict[str, list[int]] = {"task_state": [], "working": [], "memories": []}
    for size in (10, 1500, 3000, 4500, 5500):
        context = made("recall", replace(given, message=words(size, "message")))
        for section, seen in amounts.items():
            seen.append(sum(item.tokens for item in shown(context, section)))
        assert context.tokens <= 7000
        assert "Talk slowly." in context.system
    task, history, memories = amounts.values()
    assert task == sorted(task, reverse=True)
    assert task[-1] == 0
    assert memories[2] == memories[0]
    assert memories[-1] < memories[0]
    assert history == sorted(history, reverse=True)


@pytest.mark.req("R2.9")
def test_verbose_lines_of_the_task_state_are_shortened_and_the_plan_stays() -> None:
    text = "Plan: first greet, then ask about the trip\nObservation: " + words(3000, "verbose") + "\nNext: ask"
    context = made("recall", material(inputs={"task_state": text}))
    lines = [item.text for item in shown(context, "task_state")]
    assert lines[0] == "Plan: first greet, then ask about the trip"
    assert lines[2] == "Next: ask"
    assert "shortened" in lines[1]
    assert used(context)["task_state"] <= load("recall").groups["task_state"].cap


@pytest.mark.req("R2.8", "R2.11")
@pytest.mark.parametrize("name", names())
def test_a_message_that_cannot_fit_is_a_typed_error_before_anything_is_sent(name: str) -> None:
    with pytest.raises(ImpossibleBudget, match="shorten the message or the persona"):
        made(name, material(message=words(load(name).total.cap + 3000, "message")))


@pytest.mark.req("R2.8", "R2.11")
@pytest.mark.parametrize("name", names())
def test_a_message_that_just_fits_is_sent_whole(name: str) -> None:
    recipe = load(name)
    free = recipe.total.cap - recipe.total.reserve - 300
    message = words(free, "message")
    context = made(recipe, plenty(message=message, persona=PERSONA))
    assert context.messages[-1]["content"] == message
    assert context.tokens <= recipe.total.cap - recipe.total.reserve


def test_when_nothing_else_fits_the_minimum_of_turns_is_all_that_is_left() -> None:
    recipe = load("companion")
    message = "word " * (recipe.total.cap - 170)
    context = made(recipe, plenty(message=message, persona=replace(PERSONA, style="", text="Hi.")))
    assert len(shown(context, "working")) == recipe.history.minimum
    assert {item.text for item in shown(context, "working")} == {"…"}


def test_a_quoted_reply_gives_way_to_the_message() -> None:
    recipe = load("companion")
    message = "word " * (recipe.total.cap - 150)
    context = made(recipe, material(message=message, quoted=turn(5, words(400, "quoted"))))
    assert "\n[/QUOTED REPLY]" in str(context.messages[-2]["content"])
    assert context.messages[-1]["content"] == message


@pytest.mark.req("R0.9")
def test_a_quoted_reply_gives_way_to_the_minimum_of_turns() -> None:
    recipe = load("companion")
    persona = replace(PERSONA, style="", text="Hi.")
    for words_left in range(150, 600, 10):
        message = "word " * (recipe.total.cap - words_left)
        context = made(recipe, plenty(message=message, persona=persona, quoted=turn(99, words(400, "quoted"))))
        assert len(shown(context, "working")) >= recipe.history.minimum


@pytest.mark.req("R0.9")
def test_a_quoted_reply_gives_way_also_where_the_whole_counts_more_than_its_parts() -> None:
    counting, quoted = tokenizer("no such family"), turn(99, "日本語の文章です。" * 12)
    persona = replace(PERSONA, style="", text="😀 " * 34, boundaries="Be kind, never rude. " * 448)
    for count in range(140, 200):
        said = material(message="word " * count, persona=persona, quoted=quoted, window=turns(3, "{}"))
        assert made("companion", said, counting=counting).tokens <= 6150


@pytest.mark.parametrize("family", ["o200k", "cl100k", "claude", "gemini", "gemma3", "no such family"])
def test_the_cap_is_the_target_models_own_tokens(family: str) -> None:
    counting = tokenizer(family)
    context = made("companion", plenty(), counting=counting)
    texts = [context.system, *(str(message["content"]) for message in context.messages)]
    assert sum(counting.count(text) for text in texts) < context.tokens <= 6150
    assert context.log["tokenizer"] == counting.family
    assert any("unknown" in warning for warning in context.warnings) == (family == "no such family")


def test_the_tokens_of_the_parts_are_the_tokens_of_the_whole() -> None:
    """Lines of the renderer never join in these vocabularies, so no second round of trimming is needed."""
    for family in ("o200k", "cl100k"):
        counting = tokenizer(family)
        context = made("companion", plenty(), counting=counting)
        parts = sum(counting.count("".join(p.text for p in line)) for line in _lines(context))
        assert parts == counting.count(context.system)


def _lines(context: Assembled) -> list[list[Any]]:
    lines: list[list[Any]] = [[]]
    for piece in context.pieces:
        lines[-1].append(piece)
        if piece.item is None and piece.text.endswith("\n"):
            lines.append([])
    return lines


@pytest.mark.req("R0.9")
def test_a_persona_over_its_cap_is_an_error_where_it_is_defined() -> None:
    recipe = load("companion")
    personas.check(replace(PERSONA, text=words(1100, "persona")), recipe=recipe, tokenizer=O200K)
    too_long = {
        "1200": replace(PERSONA, text=words(1300, "persona")),
        "persona and boundaries": replace(PERSONA, text=words(700, "persona"), boundaries=words(700, "bounds")),
        "500 for 'style'": replace(PERSONA, style=words(700, "style")),
    }
    for said, persona in too_long.items():
        with pytest.raises(PersonaTooLarge, match=said):
            personas.check(persona, recipe=recipe, tokenizer=O200K)


def test_a_persona_that_is_over_its_cap_all_the_same_stays_whole_and_is_warned_about() -> None:
    persona = replace(PERSONA, text=words(2000, "persona"))
    context = made("companion", plenty(persona=persona))
    assert persona.text in context.system
    assert any("over its cap of 1200" in warning for warning in context.warnings)


@pytest.mark.req("R1.6")
def test_the_log_holds_the_fields_of_the_snapshot() -> None:
    context = made("companion-text", plenty(window=turns(40)))
    log = context.log
    assert log["message_history_count"] == len(context.history) == 40
    assert log["message_history_tokens"] == sum(4 + O200K.count(str(m["content"])) for m in context.history)
    assert (log["today_summary_present"], log["last_conversation_present"]) == (True, True)
    assert log["open_threads_count"] == len(shown(context, "loops"))
    bare = made("companion-text", material()).log
    assert [bare[name] for name in ("message_history_count", "message_history_tokens", "open_threads_count")] == [
        0,
        0,
        0,
    ]
    assert (bare["today_summary_present"], bare["last_conversation_present"]) == (False, False)


@pytest.mark.req("R1.10")
def test_what_could_not_be_gathered_is_said_and_the_rest_is_delivered() -> None:
    context = made("companion", plenty(window=(), problems=("history could not be read",)))
    assert context.history == ()
    assert context.warnings == ("history could not be read",)
    assert context.log["problems"] == ["history could not be read"]
    assert len(context.messages) == 1


def test_every_candidate_is_in_the_receipt_with_a_reason_when_it_is_out() -> None:
    context = made(
        "companion", plenty(recalled=recalled(*(memory(f"m{n}", words(40, f"fact {n}")) for n in range(40))))
    )
    assert len({item.id for item in context.items if item.section == "long_term"}) == 40
    assert all(item.reason for item in context.items if not item.included)
    assert set(left_out(context, "long_term").values()) <= {"over budget", "over the limit of 30"}
    first = next(item for item in context.items if item.section == "long_term")
    assert (first.score, first.parts) == (1.0, {"bm25": 1.0})


def test_the_best_of_a_kind_are_not_pushed_out_by_smaller_ones_of_lower_rank() -> None:
    best = memory("best", words(600, "best"))
    others = [memory(f"m{n}", f"small fact {n}") for n in range(40)]
    context = made("companion", material(recalled=recalled(best, *others)))
    assert shown(context, "long_term")[0].id == "best"
    assert len(left_out(context, "long_term")) == 41 - load("companion").limits.long_term


def test_what_could_never_fit_takes_nobodys_place() -> None:
    huge = memory("huge", words(3000, "huge"))
    others = [memory(f"m{n}", f"small fact {n}") for n in range(40)]
    context = made("companion", material(recalled=recalled(huge, *others)))
    assert len(shown(context, "long_term")) == load("companion").limits.long_term
    assert left_out(context, "long_term")["huge"] == "over budget"
