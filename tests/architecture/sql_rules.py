"""The rules of the tables, held against one statement by PostgreSQL's own parser.

A tenant table in FROM, JOIN, USING, UPDATE or DELETE is narrowed where it stands, by `tenant_id = $n` in its own WHERE or
ON. An equality with an outer row or a setting does not count: a sharded PostgreSQL must know the tenant before it plans.
Source: contract, organizations.md "Rules of the tables".
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from pglast import ast, parse_sql
from pglast.enums import A_Expr_Kind, BoolExprType, JoinType, SetOperation

_WRITES = (ast.InsertStmt, ast.UpdateStmt, ast.DeleteStmt)
_QUERIES = (ast.SelectStmt, *_WRITES)


@dataclass(frozen=True, slots=True)
class Rules:
    """What the database is like: the tenant column of each tenant table, and the functions that are not immutable.

    `mutable` functions are not immutable. `momentary` ones are volatile or depend on the moment or the session; others
    only depend on how types are written, as `json_agg` does.
    """

    tenant_columns: Mapping[str, str]
    mutable: frozenset[str]
    momentary: frozenset[str]

    def faults(self, sql: str, *, across: bool = False) -> list[str]:
        """Return what is wrong with a statement; `across`: it is declared to work over many tenants."""
        found: list[str] = []
        for raw in parse_sql(sql):
            found += _Statement(self.tenant_columns, across, set()).walk(raw.stmt, frozenset())
            writes = [node for node in _below(raw.stmt) if isinstance(node, _WRITES)]
            if writes:
                found += _choices(raw.stmt, self.momentary)
            for value in chain(*map(_values, writes)):
                found += _choices(value, self.mutable)
        return [*dict.fromkeys(found)]


@dataclass(frozen=True, slots=True)
class _Statement:
    """One statement on the walk; `narrowed` holds the arms that the condition of their derived table narrows."""

    columns: Mapping[str, str]
    across: bool
    narrowed: set[int]

    def walk(self, node: Any, names: frozenset[str]) -> Iterator[str]:
        """Check a query and all below it; `names` are the CTEs in sight."""
        if isinstance(node, ast.MergeStmt):
            yield "MERGE is not understood by this test"
        if not isinstance(node, _QUERIES):
            for child in _children(node):
                yield from self.walk(child, names)
            return
        clause = node.withClause
        if clause is not None:
            for part in clause.ctes:
                own = {part.ctename} if clause.recursive else set()
                yield from self.walk(part.ctequery, names | own)
                names |= {part.ctename}
        yield from self._query(node, names)
        for child in _children(node):
            if child is not clause:
                yield from self.walk(child, names)

    def _query(self, node: Any, names: frozenset[str]) -> Iterator[str]:
        if isinstance(node, ast.InsertStmt):
            yield from self._insert(node)
            return
        if _has_empty_list(node):
            yield "the select list is empty"
        if self.across or id(node) in self.narrowed:
            return
        tables = []
        for source, tests in _sources(node):
            if isinstance(source, ast.RangeSubselect):
                self._note_arms(source, tests)
            elif source.schemaname is None and source.relname not in names and source.relname in self.columns:
                tables.append(source.relname)
                column = self.columns[source.relname]
                if not any(_names_tenant(test, _alias(source), column, _is_alone(node)) for test in tests):
                    yield f"{source.relname} {_alias(source)} is not narrowed by {column} = $n"
        if isinstance(node, ast.SelectStmt) and node.groupClause:
            grouped = {_last(part) for part in node.groupClause}
            for column in {self.columns[table] for table in tables} - grouped:
                yield f"GROUP BY does not hold {column}"

    def _note_arms(self, derived: Any, tests: Sequence[Any]) -> None:
        """Note the arms of a UNION ALL that a condition on the whole narrows, each a table without a condition.

        PostgreSQL gives such an arm the condition, and keeps the order of its index. An arm with a condition of its own
        is read and sorted whole.
        """
        for column in {*self.columns.values()}:
            if derived.alias and any(_names_tenant(test, _alias(derived), column, False) for test in tests):
                self.narrowed.update(id(arm) for arm in _arms(derived.subquery) if _passes(arm, column))

    def _insert(self, node: Any) -> Iterator[str]:
        table = node.relation.relname
        column = self.columns.get(table, "")
        if column and column not in {one.name for one in node.cols or ()}:
            yield f"INSERT INTO {table} does not name {column}"
        conflict = node.onConflictClause
        if column and conflict is not None and conflict.infer is not None:
            target = {one.name for one in conflict.infer.indexElems or ()}
            if column not in target:
                yield f"ON CONFLICT of {table} does not name {column}"
        selects = node.selectStmt is not None and not node.selectStmt.valuesLists
        if selects and not node.returningClause:
            yield f"INSERT INTO {table} … SELECT without RETURNING"


def _has_empty_list(node: Any) -> bool:
    alone = isinstance(node, ast.SelectStmt) and node.op == SetOperation.SETOP_NONE
    return alone and not node.targetList and not node.valuesLists


def _arms(node: Any) -> Iterator[Any]:
    if node.op == SetOperation.SETOP_UNION and node.all:
        yield from (*_arms(node.larg), *_arms(node.rarg))
    elif node.op == SetOperation.SETOP_NONE:
        yield node


def _passes(arm: Any, column: str) -> bool:
    """Tell whether an arm is one table without a condition, and passes its tenant on."""
    sources = arm.fromClause or ()
    plain = len(sources) == 1 and isinstance(sources[0], ast.RangeVar) and not arm.whereClause and not arm.groupClause
    return plain and any(one.name in (None, column) and _last(one.val) == column for one in arm.targetList or ())


def _sources(node: Any) -> Iterator[tuple[Any, list[Any]]]:
    """Yield each table and derived table of a query with the conditions that narrow it."""
    tests = [*_conjuncts(node.whereClause)]
    if isinstance(node, ast.SelectStmt):
        items = [*(node.fromClause or ())]
    else:
        others = node.fromClause if isinstance(node, ast.UpdateStmt) else node.usingClause
        items = [node.relation, *(others or ())]
    for item in items:
        yield from _joined(item, tests)


def _values(node: Any) -> Iterator[Any]:
    """Yield the values that a write computes itself: those of its rows, of SET and of WHERE."""
    if isinstance(node, ast.InsertStmt):
        if node.selectStmt is not None:
            yield from (*(node.selectStmt.targetList or ()), *(node.selectStmt.valuesLists or ()))
        if node.onConflictClause is not None:
            yield from (*(node.onConflictClause.targetList or ()), node.onConflictClause.whereClause)
    else:
        yield from (*(getattr(node, "targetList", None) or ()), node.whereClause)


def _choices(node: Any, functions: frozenset[str]) -> Iterator[str]:
    """Yield what is wrong with each CASE and COALESCE."""
    for part in _below(node):
        if isinstance(part, ast.CaseExpr) and part.arg is not None:
            yield "simple CASE in a write"
        if isinstance(part, ast.CaseExpr | ast.CoalesceExpr):
            for name in _calls(part, functions):
                yield f"{name} inside CASE or COALESCE of a write"


def _calls(node: Any, functions: frozenset[str]) -> Iterator[str]:
    for part in _below(node):
        if isinstance(part, ast.SQLValueFunction):
            yield part.op.name.removeprefix("SVFOP_").lower()
        elif isinstance(part, ast.FuncCall) and part.funcname[-1].sval in functions:
            yield f"{part.funcname[-1].sval}()"


def _children(node: Any) -> Iterator[Any]:
    values = [getattr(node, name) for name in node] if isinstance(node, ast.Node) else node or ()
    for value in values:
        if isinstance(value, ast.Node):
            yield value
        elif isinstance(value, tuple):
            yield from _children(value)


def _below(node: Any) -> Iterator[Any]:
    if isinstance(node, ast.Node):
        yield node
    for child in _children(node):
        yield from _below(child)


def _joined(item: Any, tests: list[Any]) -> Iterator[tuple[Any, list[Any]]]:
    """Yield the sources of an entry of FROM; an outer join's condition narrows only the side that it may leave out."""
    if isinstance(item, ast.RangeVar | ast.RangeSubselect):
        yield item, tests
    elif isinstance(item, ast.JoinExpr):
        narrowed = [*tests, *_conjuncts(item.quals)]
        inner = item.jointype == JoinType.JOIN_INNER
        yield from _joined(item.larg, narrowed if inner or item.jointype == JoinType.JOIN_RIGHT else tests)
        yield from _joined(item.rarg, narrowed if inner or item.jointype == JoinType.JOIN_LEFT else tests)


def _conjuncts(condition: Any) -> Iterator[Any]:
    if isinstance(condition, ast.BoolExpr) and condition.boolop == BoolExprType.AND_EXPR:
        for part in condition.args:
            yield from _conjuncts(part)
    elif condition is not None:
        yield condition


def _alias(table: Any) -> str:
    return str(table.alias.aliasname if table.alias else table.relname)


def _is_alone(node: Any) -> bool:
    """Tell whether a query reads one source of rows only, so that a column needs no alias."""
    if not isinstance(node, ast.SelectStmt):
        return not (node.fromClause if isinstance(node, ast.UpdateStmt) else node.usingClause)
    sources = [one for one in node.fromClause or () if not isinstance(one, ast.RangeFunction)]
    return len(sources) == 1 and isinstance(sources[0], ast.RangeVar)


def _names_tenant(test: Any, alias: str, column: str, alone: bool) -> bool:
    if not isinstance(test, ast.A_Expr) or test.kind != A_Expr_Kind.AEXPR_OP or test.name[-1].sval != "=":
        return False
    return any(
        _is_column(one, alias, column, alone) and _is_parameter(other)
        for one, other in ((test.lexpr, test.rexpr), (test.rexpr, test.lexpr))
    )


def _is_column(node: Any, alias: str, column: str, alone: bool) -> bool:
    if not isinstance(node, ast.ColumnRef):
        return False
    path = [getattr(part, "sval", "*") for part in node.fields]
    return path == [alias, column] or (alone and path == [column])


def _is_parameter(node: Any) -> bool:
    while isinstance(node, ast.TypeCast):
        node = node.arg
    return isinstance(node, ast.ParamRef)


def _last(node: Any) -> str:
    return str(getattr(node.fields[-1], "sval", "")) if isinstance(node, ast.ColumnRef) else ""
