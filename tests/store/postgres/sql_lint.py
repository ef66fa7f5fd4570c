"""Is a statement routed by user? What PostgreSQL's own parser says about it.

On a cluster that is sharded by user, a statement runs on one machine if every table of users in it is pinned to one and
the same user. What cannot be told from the text (functions of time or chance, sequences, locks that span users) is
refused as well, because it would mean something else on every machine.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from pglast import ast, parse_sql
from pglast.enums import A_Expr_Kind, BoolExprType, ConstrType, LockWaitPolicy
from pglast.visitors import Visitor

from hitherto.store.postgres.layout import CATALOG_TABLES, USER_TABLES
from hitherto.store.postgres.statements import USER, numbered

FORBIDDEN_FUNCTIONS = {
    "now",
    "clock_timestamp",
    "statement_timestamp",
    "transaction_timestamp",
    "random",
    "gen_random_uuid",
    "uuidv7",
    "nextval",
    "setval",
    "pg_notify",
    "pg_advisory_lock",
    "pg_advisory_xact_lock",
}
ALLOWED = (ast.SelectStmt, ast.InsertStmt, ast.UpdateStmt, ast.DeleteStmt)
EVERYWHERE = "documents"
"""The table that every machine has whole: a change of many of its rows is each machine's own."""


@dataclass(frozen=True)
class Pin:
    """What names the user: a parameter of a statement, or an argument of a function."""

    number: int | None = None
    argument: str | None = None

    def matches(self, node: object) -> bool:
        if isinstance(node, ast.ParamRef):
            return self.number is not None and node.number == self.number
        return self.argument is not None and _name(node) == self.argument


def problems(sql: str, *, pin: Pin | None = None) -> list[str]:
    """What is wrong with one statement with parameters like `%(user)s`; empty is well."""
    text, found = numbered(sql)
    statements = parse_sql(text)
    if len(statements) != 1:
        return [f"{len(statements)} statements in one"]
    top = statements[0].stmt
    if not isinstance(top, ALLOWED):
        return [f"{type(top).__name__} is not supported"]
    lint = _Lint(pin or Pin(number=found.index(USER) + 1 if USER in found else None))
    lint(top)
    return lint.problems


def function_problems(script: str) -> list[str]:
    """The same for the search functions, whose argument `p_user` is the user; a partition counts as its table."""
    script = re.sub(r"\b(turns|records)_\d+\b", r"\1", script).replace(
        "(t.user_id = p_user) is true", "t.user_id = p_user"
    )
    asked = re.findall(r"\b(?:begin|return query)\s+(select .*?);", script, re.DOTALL)
    found: list[str] = []
    for each in dict.fromkeys(asked):
        found += problems(re.sub(r"\binto [\w, ]+", "", each), pin=Pin(argument="p_user"))
    return found


ROWS_OF_USERS = ("hints", "users")
"""Tables of the catalog with a row for each user: they are read as a whole, and changed for one user at a time."""


class _Lint(Visitor):
    """Collects problems over the whole tree, sub-queries included."""

    def __init__(self, pin: Pin) -> None:
        super().__init__()
        self.problems: list[str] = []
        self._pin = pin

    def visit_SelectStmt(self, _: object, node: ast.SelectStmt) -> None:  # noqa: N802 - named by the parser
        tables, conditions = _sources(node.fromClause or ())
        self._require(tables, [*conditions, *_conjuncts(node.whereClause)])
        for lock in node.lockingClause or ():
            if lock.waitPolicy != LockWaitPolicy.LockWaitBlock:
                self.problems.append("a lock that skips rows")

    def visit_UpdateStmt(self, _: object, node: ast.UpdateStmt) -> None:  # noqa: N802 - named by the parser
        self._require_change(node, node.fromClause or ())

    def visit_DeleteStmt(self, _: object, node: ast.DeleteStmt) -> None:  # noqa: N802 - named by the parser
        self._require_change(node, node.usingClause or ())

    def visit_InsertStmt(self, _: object, node: ast.InsertStmt) -> None:  # noqa: N802 - named by the parser
        table = _table(node)
        if table not in USER_TABLES:
            return
        columns = [column.name for column in node.cols or ()]
        select = node.selectStmt
        if (
            columns[:1] != ["user_id"]
            or not isinstance(select, ast.SelectStmt)
            or not self._begins_with_the_user(select)
        ):
            self.problems.append(f"an insert into {table} that does not begin with the user")
        conflict = node.onConflictClause
        if conflict is not None and conflict.infer is not None:
            named = [element.name for element in conflict.infer.indexElems or ()]
            if named[:1] != ["user_id"]:
                self.problems.append(f"a conflict of {table} that is not the user's")

    def _begins_with_the_user(self, select: ast.SelectStmt) -> bool:
        """Values name the user. What is selected takes the column of a table of users: a coordinator sends it to one machine
        only where it sees that both tables are split alike, and collects and commits it in two phases otherwise."""
        if select.valuesLists:
            return all(self._pin.matches(row[0]) for row in select.valuesLists)
        tables, _ = _sources(select.fromClause or ())
        columns = {f"{_alias(table)}.user_id" for table in tables if table.relname in USER_TABLES}
        return bool(select.targetList) and _name(select.targetList[0].val) in columns

    def visit_FuncCall(self, _: object, node: ast.FuncCall) -> None:  # noqa: N802 - named by the parser
        name = cast("Any", node.funcname)[-1].sval
        if name in FORBIDDEN_FUNCTIONS:
            self.problems.append(f"{name}() means something else on every machine")

    def visit_SQLValueFunction(self, _: object, node: ast.SQLValueFunction) -> None:  # noqa: N802 - the parser's name
        self.problems.append("the server's own time or session")

    def _require_change(self, node: ast.UpdateStmt | ast.DeleteStmt, others: Sequence[object]) -> None:
        tables, conditions = _sources((node.relation, *others))
        self._require(tables, [*conditions, *_conjuncts(node.whereClause)], known=(*USER_TABLES, *ROWS_OF_USERS))

    def _require(
        self, tables: Sequence[ast.RangeVar], conditions: Sequence[object], *, known: Sequence[str] = USER_TABLES
    ) -> None:
        for table in tables:
            if table.relname in known and not any(self._pins(table, each) for each in conditions):
                self.problems.append(f"{table.relname} is not pinned to the user")

    def _pins(self, table: ast.RangeVar, condition: object) -> bool:
        """Whether the condition is `table.user_id = <the user>`."""
        if not isinstance(condition, ast.A_Expr) or condition.kind != A_Expr_Kind.AEXPR_OP:
            return False
        if cast("Any", condition.name)[0].sval != "=":
            return False
        return _name(condition.lexpr) in (f"{_alias(table)}.user_id", "user_id") and self._pin.matches(condition.rexpr)


def _alias(table: ast.RangeVar) -> str:
    return str(table.alias.aliasname if table.alias else table.relname)


def _name(node: object) -> str | None:
    if not isinstance(node, ast.ColumnRef):
        return None
    parts = [part.sval for part in node.fields or () if isinstance(part, ast.String)]
    return ".".join(part for part in parts if part)


def _table(node: ast.InsertStmt | ast.UpdateStmt | ast.CreateStmt | ast.IndexStmt) -> str:
    return str(cast("Any", node.relation).relname)


def _conjuncts(node: object) -> list[object]:
    """The conditions that all must hold."""
    if isinstance(node, ast.BoolExpr) and node.boolop == BoolExprType.AND_EXPR:
        return [each for argument in node.args or () for each in _conjuncts(argument)]
    return [] if node is None else [node]


def _sources(items: Sequence[object]) -> tuple[list[ast.RangeVar], list[object]]:
    """The tables of a FROM clause and the conditions of its joins; sub-queries are looked at on their own."""
    tables: list[ast.RangeVar] = []
    conditions: list[object] = []
    for item in items:
        if isinstance(item, ast.RangeVar):
            tables.append(item)
        elif isinstance(item, ast.JoinExpr):
            inner, more = _sources((item.larg, item.rarg))
            tables += inner
            conditions += [*more, *_conjuncts(item.quals)]
    return tables, conditions


def schema_problems(script: str) -> list[str]:
    """What in a migration would not hold on a sharded cluster."""
    found: list[str] = []
    for statement in parse_sql(script):
        node = statement.stmt
        if isinstance(node, ast.CreateStmt):
            found += _table_problems(node)
        elif isinstance(node, ast.IndexStmt):
            found += _index_problems(node)
        elif isinstance(node, ast.UpdateStmt) and _table(node) == EVERYWHERE:
            continue
        elif not isinstance(node, ast.AlterTableStmt):
            found.append(f"{type(node).__name__} is not supported")
    return found


def _table_problems(node: ast.CreateStmt) -> list[str]:
    table = _table(node)
    if table not in (*USER_TABLES, *CATALOG_TABLES):
        return [f"{table} is neither a table of users nor of the catalog"]
    found: list[str] = []
    columns = [element for element in node.tableElts or () if isinstance(element, ast.ColumnDef)]
    constraints = [element for element in node.tableElts or () if isinstance(element, ast.Constraint)]
    inline = [constraint for column in columns for constraint in column.constraints or ()]
    found += [
        f"{table} has a constraint that needs the server: {constraint.contype!r}"
        for constraint in (*constraints, *inline)
        if constraint.contype in (ConstrType.CONSTR_FOREIGN, ConstrType.CONSTR_IDENTITY, ConstrType.CONSTR_DEFAULT)
    ]
    if table in USER_TABLES:
        keys = [
            [key.sval for key in constraint.keys or ()]
            for constraint in constraints
            if constraint.contype in (ConstrType.CONSTR_PRIMARY, ConstrType.CONSTR_UNIQUE)
        ]
        if columns[0].colname != "user_id":
            found.append(f"the first column of {table} is not the user")
        if not keys or any(key[:1] != ["user_id"] for key in keys):
            found.append(f"a key of {table} is not led by the user")
        if node.partspec is None:
            found.append(f"{table} is not partitioned")
    return found


def _index_problems(node: ast.IndexStmt) -> list[str]:
    if _table(node) not in USER_TABLES:
        return []
    first = cast("tuple[ast.IndexElem, ...]", node.indexParams)[0]
    # Words carry the user's mark themselves; such an index is never unique.
    if node.accessMethod == "gin" and not node.unique:
        return []
    return [] if first.name == "user_id" else [f"the index {node.idxname} is not led by the user"]
