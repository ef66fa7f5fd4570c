"""Sections whose text the application gives: the persona, its rules, the state of the relationship, the task
at hand.
"""

from collections.abc import Iterable
from typing import Final

from hitherto.assemble.candidates import Candidate, Desk
from hitherto.assemble.exchange import LONGEST
from hitherto.assemble.render import bounded, level, shorten
from hitherto.recipes.titles import NOTICE
from hitherto.types import Json

_TASK_FRAME: Final = 24
"""Tokens kept free for the markers around the task's lines."""


def policy(desk: Desk) -> list[Candidate]:
    return desk.given("policy", "input", "policy", desk.material.inputs.get("policy", ""))


def persona(desk: Desk) -> list[Candidate]:
    """Who answers; an application that says so itself gives its own words, or none."""
    persona, inputs = desk.material.persona, desk.material.inputs
    return desk.given("persona", "persona", persona.id or "", inputs.get("persona", persona.text))


def boundaries(desk: Desk) -> list[Candidate]:
    persona, inputs = desk.material.persona, desk.material.inputs
    return [
        *desk.given("boundaries", "persona", persona.id or "", persona.boundaries),
        *desk.given("boundaries", "input", "boundaries", inputs.get("boundaries", "")),
    ]


def augmentations(desk: Desk) -> list[Candidate]:
    return desk.given("augmentations", "input", "augmentations", desk.material.inputs.get("augmentations", ""))


def notice(desk: Desk) -> list[Candidate]:
    return desk.given("notice", "notice", "notice", NOTICE)


def style(desk: Desk) -> list[Candidate]:
    persona, inputs = desk.material.persona, desk.material.inputs
    return [
        *desk.given("style", "persona", persona.id or "", persona.style),
        *desk.given("style", "input", "style", inputs.get("style", "")),
    ]


def task_state(desk: Desk) -> list[Candidate]:
    """What the application says about its current step. Tool output is in it, so it is not trusted.

    Verbose lines are shortened first, the longest most, so that the plan survives what was observed.
    """
    text = desk.clean(bounded(desk.material.inputs.get("task_state", ""), LONGEST))
    lines = [desk.line("task_state", "input", "task_state", line) for line in text.split("\n") if line.strip()]
    cap = desk.recipe.groups[desk.recipe.group_of["task_state"]].cap
    longest = level([line.tokens for line in lines], cap - _TASK_FRAME)
    return [
        line
        if line.tokens <= longest
        else desk.line("task_state", "input", "task_state", shorten(line.text, longest - 1, desk.tokenizer))
        for line in lines
    ]


def relationship(desk: Desk) -> list[Candidate]:
    state = desk.material.state
    if state is None:
        return []
    lines = [(label(name), plain(value)) for name, value in state.fields.items() if value not in (None, "", [], {})]
    entries = [
        desk.entry("relationship", state, value, prefix=f"{name}: ", divisible=True) for name, value in lines if value
    ]
    if state.text.strip():
        entries.append(desk.entry("relationship", state, state.text, prefix="Note: "))
    return entries


def label(name: str) -> str:
    """A field's name as the beginning of a line."""
    words = " ".join(name.replace("_", " ").replace("[", " ").replace("]", " ").replace(":", " ").split())
    return words[:1].upper() + words[1:]


def plain(value: Json) -> str:
    """A JSON value in a line, as a person would write it."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case dict():
            return ", ".join(f"{name.replace('_', ' ')} {plain(inner)}" for name, inner in value.items())
        case list():
            return ", ".join(plain(inner) for inner in value)
        case _:
            return str(value)


def strings(value: Json) -> list[str]:
    """The lines of a JSON list; anything else counts as one line."""
    lines: Iterable[Json] = value if isinstance(value, list) else [value]
    return [text for line in lines if (text := plain(line).strip())]
