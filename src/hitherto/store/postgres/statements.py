"""The named statements of the `.sql` files beside this module.

A statement may have gaps such as `{persona}`; what fills them comes from the closed lists here, never from
data. Values travel as parameters.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import product

from hitherto.store.postgres.layout import USER_TABLES
from hitherto.store.protocol import ANY, Everything, Scope
from hitherto.store.sql import all_queries

TURN_COLUMNS = (
    "t.seq, t.place, t.id, t.version, t.role, t.text, t.at, t.recorded_at, t.retired, t.persona, t.lane,"
    " t.conversation, t.speaker, t.reply_to, t.origin, t.parts, t.snapshot, t.session, t.position, t.number,"
    " t.tokens, t.family"
)
RECORD_COLUMNS = (
    "t.noun, t.id, t.text, t.persona, t.lane, t.key, t.status, t.origin, t.sources, t.entities, t.at, t.due,"
    " t.valid_from, t.valid_to, t.tokens, t.family, t.body, t.seq, t.version, t.recorded_at, t.retired,"
    " t.retired_at"
)

USER = "user"
"""The parameter by which every statement about a user is routed."""
LIVE = "t.retired is null"
KNOWN = "t.seq <= %(known)s and (t.retired is null or t.retired > %(known)s)"
EVER = "true"
EVER_KNOWN = "t.seq <= %(known)s"

GAPS: Mapping[str, tuple[str, ...]] = {
    "columns": (TURN_COLUMNS, RECORD_COLUMNS),
    "visible": (LIVE, KNOWN, EVER, EVER_KNOWN),
    "persona": (
        "true",
        "t.persona is null",
        "t.persona = %(persona)s",
        "(t.persona is null or t.persona = %(persona)s)",
    ),
    "lane": ("true", "t.lane is null", "t.lane = %(lane)s"),
    "session": ("true", "t.session = %(session)s"),
    "since": ("true", "t.at >= %(since)s::bigint"),
    "until": ("true", "t.at < %(until)s::bigint"),
    "order": ("t.place", "t.place + 0"),
    "newest": ("t.place desc", "t.persona desc, t.lane desc, t.place desc"),
    "alone": ("", " is true"),
    "about": ("true", "d.about = %(about)s"),
}
"""Everything that may fill a gap."""


def visible(known: int | None, *, history: bool = False) -> str:
    """The filter for versions that are visible at an entry; with `history`, retired ones as well."""
    if history:
        return EVER if known is None else EVER_KNOWN
    return LIVE if known is None else KNOWN


def scope(column: str, wanted: Scope, *, shared: bool = False) -> str:
    """The filter for a persona or lane; `shared` also admits what belongs to none."""
    if isinstance(wanted, Everything):
        return "true"
    if wanted is None:
        return f"t.{column} is null"
    own = f"t.{column} = %({column})s"
    return f"(t.{column} is null or {own})" if shared else own


def name_of(wanted: Scope) -> str | None:
    """The parameter that belongs to `scope`."""
    return None if wanted is ANY or isinstance(wanted, Everything) else wanted


@cache
def statement(name: str, **gaps: str) -> str:
    """The statement of that name with its gaps filled."""
    text = all_queries("postgres")[name]
    for gap, filling in gaps.items():
        text = text.replace(f"{{{gap}}}", filling)
    return text


@cache
def numbered(sql: str) -> tuple[str, tuple[str, ...]]:
    """The statement with $1 for its first parameter, and the parameters' names; the driver does not interpret it further."""
    names: list[str] = []

    def number(match: re.Match[str]) -> str:
        if match[1] not in names:
            names.append(match[1])
        return f"${names.index(match[1]) + 1}"

    return re.sub(r"%\((\w+)\)s", number, sql), tuple(names)


@cache
def together(statements: tuple[str, ...]) -> str:
    """Joins statements with the same columns into one, whose last column says which of them a row is from. The rows stay in
    order, because no session here runs a statement in parallel."""
    return "\nunion all\n".join(
        f"select part_{place}.*, {place} as part from (\n{_own(text, place)}\n) part_{place}"
        for place, text in enumerate(statements)
    )


def together_values(values: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """The parameters of merged statements; all belong to one user."""
    return {own(name, place): value for place, each in enumerate(values) for name, value in each.items()}


def own(name: str, place: int) -> str:
    """The name of a parameter in one of several merged statements."""
    return name if name == USER else f"{name}_{place}"


def _own(text: str, place: int) -> str:
    return re.sub(r"%\((\w+)\)s", lambda match: f"%({own(match[1], place)})s", text)


def wiping() -> tuple[str, ...]:
    """One statement per user table; together they remove a user."""
    return tuple(f"delete from {table} where user_id = %(user)s" for table in USER_TABLES)


def every_statement() -> dict[str, str]:
    """Each statement with each combination of fillings, for the lint."""
    found = {f"wiping/{number}": text for number, text in enumerate(wiping())}
    for name, text in all_queries("postgres").items():
        gaps = [gap for gap in GAPS if f"{{{gap}}}" in text]
        for number, fillings in enumerate(product(*(GAPS[gap] for gap in gaps))):
            if "columns" in gaps and (fillings[gaps.index("columns")] is TURN_COLUMNS) != ("from turns t" in text):
                continue
            found[f"{name}/{number}"] = statement(name, **dict(zip(gaps, fillings, strict=True)))
    return found
