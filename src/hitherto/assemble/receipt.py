"""The result of a context: every candidate, in or out and why, what each budget was used for, and the log's fields."""

from collections.abc import Iterator
from dataclasses import replace
from hashlib import blake2b
from typing import Final

from hitherto.assemble.draft import Choice, Draft, Table
from hitherto.assemble.exchange import Exchange
from hitherto.assemble.material import OVER_BUDGET, SHORTENED, Assembled, result_hash
from hitherto.recipes.recipe import Recipe
from hitherto.recipes.titles import UNTRIMMED, Volatility
from hitherto.types import Item, Json, SectionUse

_INPUTS: Final = frozenset({"policy", "boundaries", "augmentations", "task_state", "style"})


def assembled(wanted: Table, choice: Choice, draft: Draft) -> Assembled:
    """The finished context."""
    material, recipe, tokenizer = wanted.desk.material, wanted.desk.recipe, wanted.desk.tokenizer
    closing: list[dict[str, Json]] = []
    carriers: list[int | None] = list(draft.carriers)
    costs = list(draft.costs)
    if draft.tail:
        closing.append({"role": "user", "content": "".join(piece.text for piece in draft.tail)})
        carriers.append(None)
        costs.append(draft.tail_tokens)
    if wanted.quoted is not None:
        closing.append({"role": "user", "content": wanted.quoted.content})
        carriers.append(wanted.quoted_number)
        costs.append(wanted.quoted.tokens)
    closing.append({"role": "user", "content": wanted.message})
    carriers.append(wanted.message_number)
    costs.append(wanted.message_tokens)
    messages = (*draft.history, *closing)
    return Assembled(
        system=draft.system,
        history=draft.history,
        messages=messages,
        tokens=draft.tokens,
        items=tuple(_items(wanted, choice, draft)),
        sections=_uses(wanted, choice),
        prefix_hash=_prefix(draft, recipe),
        result=result_hash(draft.system, messages),
        log=_log(wanted, choice, draft),
        warnings=_warnings(wanted),
        recipe=recipe.name,
        recipe_hash=recipe.hash,
        family=tokenizer.family,
        user=material.user,
        at=material.now,
        known=material.known,
        pieces=draft.pieces,
        tail=draft.tail,
        carriers=tuple(carriers),
        costs=tuple(costs),
        breakpoints=tuple(dict.fromkeys((0, len(draft.history)))) if recipe.tail else (),
    )


def _items(wanted: Table, choice: Choice, draft: Draft) -> Iterator[Item]:
    """The items, numbered as in the table."""
    for number, candidate in enumerate(wanted.candidates):
        text = draft.texts.get(number)
        whole = text is None or text is candidate.text
        yield Item(
            section=candidate.section,
            kind=candidate.kind,
            id=candidate.id,
            text=candidate.text if text is None else text,
            tokens=candidate.tokens if whole else choice.shared.given[number],
            score=candidate.score,
            parts=candidate.parts,
            sources=candidate.sources,
            included=text is not None,
            reason=candidate.reason
            or (_absence(wanted, choice, number) if text is None else "" if whole else SHORTENED),
        )
    for place, whole in enumerate(wanted.past.shown):
        yield _turn_item(wanted, choice, draft, place, whole)
    yield _plain("message", "message", wanted.desk.material.message_id or "", wanted.message, wanted.message_tokens)
    if (quoted := wanted.quoted) is not None:
        yield _plain("quoted", "turn", quoted.turn.id, quoted.text, quoted.tokens)
    if (middle := draft.middle) is not None:
        whole = _plain("earlier", middle.kind, middle.id, middle.text, middle.tokens)
        yield replace(whole, sources=middle.sources)
    for left in wanted.past.left:
        turn = left.turn
        shown = _plain("working", "turn", turn.id, turn.text, turn.tokens)
        yield replace(shown, included=False, reason=left.reason)


def _plain(section: str, kind: str, name: str, text: str, tokens: int) -> Item:
    sources = (name,) if name else ()
    return Item(section=section, kind=kind, id=name, text=text, tokens=tokens, sources=sources)


def _turn_item(wanted: Table, choice: Choice, draft: Draft, place: int, whole: Exchange) -> Item:
    shown = draft.exchanges.get(place)
    number = wanted.turn_number(place)
    reason = ""
    if place in wanted.past.beyond:
        reason = f"beyond the last {wanted.past.rules.window} turns"
    elif shown is None:
        reason = _absence(wanted, choice, number)
    elif shown is not whole and shown.whole < whole.whole:
        reason = SHORTENED
    return Item(
        section="working",
        kind="turn",
        id=whole.turn.id,
        text=(shown or whole).text,
        tokens=(shown or whole).whole,
        sources=(whole.turn.id, *whole.also),
        included=shown is not None,
        reason=reason,
    )


def _absence(wanted: Table, choice: Choice, number: int) -> str:
    holder = choice.twins.get(number)
    if holder is None:
        return choice.surplus.get(number, OVER_BUDGET)
    if holder < len(wanted.candidates):
        return f"duplicate of {wanted.candidates[holder].id} in {wanted.candidates[holder].section}"
    if holder >= wanted.message_number:
        return "duplicate of the message" if holder == wanted.message_number else "duplicate of the quoted reply"
    return f"duplicate of turn {wanted.past.shown[holder - len(wanted.candidates)].turn.id} in working"


def _uses(wanted: Table, choice: Choice) -> tuple[SectionUse, ...]:
    groups = wanted.desk.recipe.groups
    return tuple(
        SectionUse(
            group=name,
            sections=tuple(group.sections),
            tokens=choice.shared.used[name],
            target=group.target,
            cap=group.cap,
        )
        for name, group in groups.items()
    )


def _prefix(draft: Draft, recipe: Recipe) -> str:
    """A hash of the text before the first section that changes with every turn."""
    digest = blake2b(digest_size=16)
    for section, made in draft.sections:
        if made and recipe.heading(section).volatility is Volatility.TURN:
            break
        for piece in made:
            digest.update(piece.text.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _log(wanted: Table, choice: Choice, draft: Draft) -> dict[str, Json]:
    shown = [wanted.candidates[number] for number in draft.texts]
    lines = _lines(wanted, choice, draft) if wanted.transcript else draft.turn_tokens
    problems: list[Json] = [*wanted.desk.material.problems]
    return {
        "message_history_count": len(draft.exchanges),
        "message_history_tokens": lines,
        "today_summary_present": any(one.section == "today" and one.kind == "summary" for one in shown),
        "open_threads_count": sum(one.kind == "loop" for one in shown),
        "last_conversation_present": any(one.section == "last_time" for one in shown),
        "pending_slot": wanted.desk.material.slot,
        "tokenizer": wanted.desk.tokenizer.family,
        "exact_tokens": wanted.desk.tokenizer.exact,
        "target": wanted.desk.recipe.total.target,
        "cap": wanted.desk.recipe.total.cap,
        "reserve": wanted.desk.recipe.total.reserve,
        "problems": problems,
    }


def _lines(wanted: Table, choice: Choice, draft: Draft) -> int:
    """Tokens of the transcript's lines."""
    moments = (n for n in draft.texts if wanted.candidates[n].section == "working")
    return sum(choice.shared.given[n] for n in moments) + sum(one.whole for one in draft.exchanges.values())


def _warnings(wanted: Table) -> tuple[str, ...]:
    material, recipe = wanted.desk.material, wanted.desk.recipe
    found = [*material.problems]
    if wanted.desk.tokenizer.warning:
        found.append(wanted.desk.tokenizer.warning)
    taken = frozenset[str]().union(recipe.sections, *(own.asked for own in recipe.sections.values()))
    for name in sorted(material.inputs):
        if name in taken or (name not in recipe.order and any(own.source for own in recipe.sections.values())):
            continue
        if name not in _INPUTS:
            found.append(f"input {name!r} is no section that takes one; they are {', '.join(sorted(_INPUTS))}")
        elif name not in recipe.order:
            found.append(f"input {name!r} was left out: recipe {recipe.name!r} has no such section")
    for name, group in recipe.groups.items():
        if wanted.spent[name] > group.cap and UNTRIMMED.intersection(group.sections):
            found.append(f"{name} takes {wanted.spent[name]} tokens, over its cap of {group.cap}")
    return tuple(found)
