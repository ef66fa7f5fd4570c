"""Sections that the application fills: with text that it passes (the persona, its rules, the state of the relationship, the
task at hand), and with lines of its own, which are collected alongside the gathering and become candidates like any others.

What a function yields is data, like everything in a memory block: markers in it are escaped, secrets masked. A function
that fails or takes too long costs its section, never the context.
"""

import asyncio
import inspect
from collections.abc import AsyncIterable, Awaitable, Iterable, Mapping
from dataclasses import replace
from itertools import islice
from typing import Final, cast

from hitherto.assemble.candidates import Candidate, Desk
from hitherto.assemble.exchange import LONGEST
from hitherto.assemble.material import Material
from hitherto.assemble.render import bounded, indented, level, shorten
from hitherto.clock import local
from hitherto.errors import InvalidInput
from hitherto.plugins import PLACEHOLDER, Moment, Section, SectionItem, SectionLines, fitting, plugin, unknown
from hitherto.recipes.recipe import OwnSection, Recipe
from hitherto.recipes.titles import NOTICE
from hitherto.types import Json

_TASK_FRAME: Final = 24
"""Tokens kept free for the markers around the task's lines."""


def policy(desk: Desk) -> list[Candidate]:
    return desk.given("policy", "input", "policy", desk.material.inputs.get("policy", ""))


def persona(desk: Desk) -> list[Candidate]:
    """Who answers; an application may pass its own words instead, or none."""
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
    """What the application says about its current step. It includes tool output, so it is not trusted.

    Verbose lines are shortened first, the longest most, so that the plan survives long observations.
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
    """A JSON value on one line, as a person would write it."""
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


KIND: Final = "own"
_LONGEST: Final = 20_000
"""Characters of one line that are considered."""


class Sources:
    """The functions behind sections: passed with the memory, or declared by installed packages."""

    def __init__(self, given: Mapping[str, Section] | None = None) -> None:
        self._known: dict[str, Section] = {name: fitting("section", each) for name, each in (given or {}).items()}

    def check(self, recipe: Recipe) -> None:
        """Raises InvalidInput if a recipe names an unknown function."""
        for own in recipe.sections.values():
            if own.source:
                self.find(own.source)

    def find(self, name: str) -> Section:
        if name not in self._known:
            made = plugin("section", name)
            if made is None:
                raise unknown("section", name, self._known)
            self._known[name] = cast(Section, made)
        return self._known[name]


async def filled(material: Material, recipe: Recipe, sources: Sources, *, tenant: str) -> Material:
    """The material with the lines of the recipe's own sections."""
    if not recipe.sections:
        return material
    moment = _moment(material, tenant)
    names = list(recipe.sections)
    answers = await asyncio.gather(
        *(_lines(own, name, moment, sources) for name, own in recipe.sections.items()), return_exceptions=True
    )
    found: dict[str, tuple[SectionItem, ...]] = {}
    problems: list[str] = []
    for name, answer in zip(names, answers, strict=True):
        if isinstance(answer, Exception):
            problems.append(f"section {name!r} was left out: {_reason(answer, recipe.sections[name])}")
        elif isinstance(answer, BaseException):
            raise answer
        else:
            found[name] = answer
    return replace(material, own=found, problems=(*material.problems, *problems))


def own(desk: Desk, section: str) -> list[Candidate]:
    """The candidates of an application's own section."""
    return [
        _candidate(desk, section, number, item)
        for number, item in enumerate(desk.material.own.get(section, ()), start=1)
        if item.text.strip()
    ]


def _candidate(desk: Desk, section: str, number: int, item: SectionItem) -> Candidate:
    text = bounded(item.text, _LONGEST)
    shown = ("- " if item.bullet else "") + indented(desk.clean(text))
    return Candidate(
        section=section,
        kind=KIND,
        id=item.id or f"{section}:{number}",
        text=shown,
        tokens=desk.tokenizer.count(shown + "\n"),
        said=text,
        heading=desk.label(item.heading) + ":" if item.heading else "",
        score=item.score,
        sources=item.sources,
        divisible=item.divisible,
    )


def _moment(material: Material, tenant: str) -> Moment:
    return Moment(
        tenant=tenant,
        user=material.user,
        persona=material.persona,
        lane=material.lane,
        message=material.message,
        now=material.now,
        profile=material.profile,
        state=material.state,
        window=material.window,
        loops=material.loops,
        recalled=material.recalled,
        inputs=material.inputs,
    )


async def _lines(own: OwnSection, name: str, moment: Moment, sources: Sources) -> tuple[SectionItem, ...]:
    if own.template:
        return _of_text(_written(own.template, moment))
    if own.source:
        section = sources.find(own.source)
        return await asyncio.wait_for(asked(section, moment, own.items), timeout=own.seconds)
    return _of_text(moment.inputs.get(name, ""))


async def asked(section: Section, moment: Moment, most: int) -> tuple[SectionItem, ...]:
    """The lines that a function returns; a plain one runs in a thread, so that it holds up nobody else."""

    def plainly() -> object:
        answer: object = section(moment)
        waits = isinstance(answer, Awaitable | AsyncIterable)
        return answer if waits else _items(answer, most)  # a generator does its work while it is read

    answer = section(moment) if inspect.iscoroutinefunction(section) else await asyncio.to_thread(plainly)
    if isinstance(answer, tuple):
        return cast("tuple[SectionItem, ...]", answer)
    if isinstance(answer, AsyncIterable):
        lines: list[str | SectionItem] = []
        async for line in cast("AsyncIterable[str | SectionItem]", answer):
            lines.append(line)
            if len(lines) == most:
                break
        return _items(lines, most)
    return _items(await cast("Awaitable[SectionLines]", answer), most)


def _items(lines: object, most: int) -> tuple[SectionItem, ...]:
    if isinstance(lines, str) or not isinstance(lines, Iterable):
        raise InvalidInput(f"it returned {type(lines).__name__}, not a list of lines")
    found = tuple(
        SectionItem(line) if isinstance(line, str) else line
        for line in islice(cast("Iterable[str | SectionItem]", lines), most)
    )
    if wrong := [line for line in found if not isinstance(line, SectionItem)]:  # pyright: ignore[reportUnnecessaryIsInstance]  # whoever wrote it may not check types
        raise InvalidInput(f"it returned {type(wrong[0]).__name__} as a line, not str or SectionItem")
    return found


def _of_text(text: str) -> tuple[SectionItem, ...]:
    return tuple(SectionItem(line, bullet=False, divisible=True) for line in text.split("\n") if line.strip())


def _written(template: str, moment: Moment) -> str:
    """The template's lines with their placeholders filled, except lines with an empty placeholder."""
    now = local(moment.now, moment.profile.zone)
    simple = {
        "user": moment.user,
        "name": moment.profile.name or "",
        "persona": moment.persona.name,
        "lane": moment.lane or "",
        "date": now.date().isoformat(),
        "time": f"{now:%H:%M}",
        "weekday": f"{now:%A}",
    }
    fields: dict[str, Mapping[str, Json]] = {
        "input": dict(moment.inputs),
        "state": moment.state.fields if moment.state else {},
        "profile": moment.profile.extra,
    }

    def value(root: str, part: str) -> str:
        found = plain(fields[root].get(part)) if part else simple[root]
        return " ".join(found.split())

    lines: list[str] = []
    for line in template.split("\n"):
        named = [(match[1], match[3]) for match in PLACEHOLDER.finditer(line)]
        if all(value(*one) for one in named):
            lines.append(PLACEHOLDER.sub(lambda match: value(match[1], match[3]), line))
    return "\n".join(lines)


def _reason(error: Exception, own: OwnSection) -> str:
    if isinstance(error, TimeoutError):
        return f"{own.source!r} did not answer within {own.seconds:g} seconds"
    return f"{type(error).__name__}: {error}"[:300]
