"""A recipe and its material become a context. Pure: the same arguments give the same bytes.

Every section names its candidates; what says the same is shown once; the budget decides who gets in; the result is laid out
and counted as it will be sent. If the count exceeds the total, the budget is shared out again with less room, so what
leaves here fits.
"""

from collections.abc import Collection, Sequence
from typing import Final

from hitherto.assemble.budget import Share, Shelf, share
from hitherto.assemble.candidates import Candidate, Claim, Desk, duplicates
from hitherto.assemble.draft import Choice, Table, drafted, table
from hitherto.assemble.material import Assembled, Material
from hitherto.assemble.receipt import assembled
from hitherto.errors import ImpossibleBudget
from hitherto.recipes.recipe import Recipe
from hitherto.recipes.titles import UNTRIMMED, SectionId
from hitherto.tokens import Tokenizer

_LEAST_QUOTED: Final = 1
_ROUNDS: Final = 3
"""How often the duplicates of something that did not fit are reconsidered."""


def assemble(recipe: Recipe, material: Material, tokenizer: Tokenizer) -> Assembled:
    """The context, or ImpossibleBudget if persona, message, reserve and wrapping alone exceed the total. The quoted reply
    gives way to the minimum of turns if nothing else can."""
    try:
        return _fitted(recipe, material, tokenizer, quoted=None)
    except ImpossibleBudget:
        return _fitted(recipe, material, tokenizer, quoted=_LEAST_QUOTED)


def _fitted(recipe: Recipe, material: Material, tokenizer: Tokenizer, *, quoted: int | None) -> Assembled:
    most = recipe.total.cap - recipe.total.reserve
    wanted, room = _laid(Desk(recipe, material, tokenizer, quoted=quoted), most)
    while True:
        choice = _choice(wanted, room)
        draft = drafted(wanted, choice)
        if draft.tokens <= most:
            return assembled(wanted, choice, draft)
        if wanted.desk.recount:
            room -= draft.tokens - most
        else:
            wanted, room = _laid(Desk(recipe, material, tokenizer, quoted=quoted, recount=True), most)


def _laid(desk: Desk, most: int) -> tuple[Table, int]:
    """Everything that wants in, and the room for what may be left out."""
    wanted, total = table(desk), desk.recipe.total
    if wanted.fixed > most:
        raise ImpossibleBudget(
            f"persona, message and wrapping take {wanted.fixed} tokens, the reserve {total.reserve},"
            f" but recipe {desk.recipe.name!r} has {total.cap} in all; shorten the message or the persona"
        )
    return wanted, most - wanted.fixed


def _choice(wanted: Table, room: int) -> Choice:
    """Decides what gets in. If something that others repeat does not fit, one of the others may take its place."""
    recipe, without = wanted.desk.recipe, set[int]()
    total = recipe.total
    ample = room - (total.cap - total.target) if total.fill == "target" else None
    for last in range(_ROUNDS, 0, -1):
        twins = _twins(wanted, without)
        surplus = _surplus(wanted, without.union(twins))
        shelves = _shelves(wanted, without.union(twins, surplus))
        shared = share(recipe, shelves, wanted.past, room=room, outside=wanted.outside, spent=wanted.spent, ample=ample)
        absent = {holder for holder in twins.values() if not _shown(wanted, shared, holder)}
        if not absent or last == 1:
            return Choice(shared, twins, surplus)
        without |= absent
    raise AssertionError("the loop returns in its last iteration")


def _shown(wanted: Table, shared: Share, number: int) -> bool:
    place = number - len(wanted.candidates)
    return number in shared.given or place in shared.plan.cuts or number >= wanted.message_number


def _twins(wanted: Table, without: set[int]) -> dict[int, int]:
    """The numbers of entries that repeat something more precious."""
    worth = wanted.desk.recipe.precious
    numbered = [pair for pair in enumerate(wanted.candidates) if not pair[1].reason and pair[0] not in without]
    numbered.sort(key=lambda pair: (worth[pair[1].section], pair[1].kind != "turn" and pair[1].key.startswith("turn:")))
    claims = [Claim(number, candidate.key, candidate.said) for number, candidate in numbered]
    before = sum(worth[candidate.section] < worth["working"] for _, candidate in numbered)
    shown = [Claim(wanted.message_number, f"turn:{wanted.desk.material.message_id}", "")]
    if wanted.quoted is not None:
        shown.append(Claim(wanted.quoted_number, f"turn:{wanted.quoted.turn.id}", ""))
    turns = [
        Claim(number, f"turn:{exchange.turn.id}", exchange.turn.text)
        for place, exchange in enumerate(wanted.past.shown)
        if (number := wanted.turn_number(place)) not in without
    ]
    found = duplicates([*shown, *claims], turns=turns, before=before + len(shown))
    return found | _in_the_window(wanted, numbered, turns)


def _in_the_window(wanted: Table, numbered: Sequence[tuple[int, Candidate]], turns: Sequence[Claim]) -> dict[int, int]:
    """Which earlier exchanges and quotes show a turn that the history shows anyway, in its own place."""
    if wanted.desk.recipe.long_term.form != "exchanges":
        return {}
    held = {turn.key: turn.number for turn in turns}
    return {n: held[one.key] for n, one in numbered if one.section == "long_term" and one.key in held}


def _surplus(wanted: Table, without: Collection[int]) -> dict[int, str]:
    """What exceeds the number of its kind that are shown; what could never fit does not count."""
    recipe = wanted.desk.recipe
    taken: dict[str, int] = {}
    surplus: dict[int, str] = {}
    for number, candidate in enumerate(wanted.candidates):
        quota = candidate.quota
        if quota is None or candidate.reason or number in without:
            continue
        count = taken.get(quota.name, 0)
        if count >= quota.most:
            surplus[number] = f"over the limit of {quota.most}"
        elif candidate.divisible or candidate.tokens <= recipe.groups[recipe.group_of[candidate.section]].cap:
            taken[quota.name] = count + 1
    return surplus


def _shelves(wanted: Table, without: Collection[int]) -> dict[SectionId, Shelf]:
    count = wanted.desk.tokenizer.count
    entries: dict[SectionId, list[tuple[int, Candidate]]] = {
        section: [] for section in wanted.desk.recipe.order if section not in UNTRIMMED
    }
    headings: dict[str, int] = {}
    for number, candidate in enumerate(wanted.candidates):
        if candidate.section not in entries or candidate.reason or number in without:
            continue
        entries[candidate.section].append((number, candidate))
        for heading, shown in (
            (candidate.heading, f"{candidate.heading}\n"),
            (candidate.card, candidate.card),
        ):
            if heading and heading not in headings:
                headings[heading] = count(shown)
    return {
        section: Shelf(section, found, wanted.frames[section].tokens, headings) for section, found in entries.items()
    }
