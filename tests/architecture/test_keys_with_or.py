"""No statement finds rows by their keys OR by something else.

PostgreSQL has no index for such a condition where bitmap scans are off (`config.settings`): it reads all rows of the tenant, and a line
of an adjustment cost the more, the more products its supplier had. The ids are united instead: `id = ANY(ARRAY(… UNION …))`.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from pglast import ast, parse_sql
from pglast.enums import A_Expr_Kind, BoolExprType
from pglast.visitors import Visitor

from tests.architecture.test_statements import STATEMENTS

# Tables of which a tenant, or the platform, has some thousands of rows at most.
FEW = {"organizations_tenant", "organizations_organization", "organizations_location"}


class _Keys(Visitor):  # type: ignore[misc]
    """Collects the aliases of a statement's tables, and those whose `id` is one arm of an OR."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: dict[str, str] = {}
        self.keys: list[str] = []

    def visit_RangeVar(self, _ancestors: Any, node: Any) -> None:
        """Remember a table."""
        self.tables[node.alias.aliasname if node.alias else node.relname] = node.relname

    def visit_BoolExpr(self, _ancestors: Any, node: Any) -> None:
        """Look at the arms of an OR."""
        if node.boolop == BoolExprType.OR_EXPR:
            self.keys += [name for arm in node.args for name in _key(arm)]


def _key(arm: Any) -> Iterator[str]:
    """The alias of the row whose `id` an expression compares with an array."""
    if isinstance(arm, ast.A_Expr) and arm.kind == A_Expr_Kind.AEXPR_OP_ANY and isinstance(arm.lexpr, ast.ColumnRef):
        names = [getattr(one, "sval", "") for one in arm.lexpr.fields]
        if len(names) == 2 and names[1] == "id":
            yield names[0]


def offenders(sql: str) -> list[str]:
    """The tables whose rows a statement finds so."""
    seen = _Keys()
    seen(parse_sql(sql))
    return sorted({seen.tables.get(name, name) for name in seen.keys} - FEW)


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda one: one.sql.decode().strip()[:60])
def test_registered_statement_finds_keys_alone(statement: Any) -> None:
    assert offenders(statement.sql.decode()) == []


def test_planted_offender_is_found() -> None:
    sql = "SELECT 1 FROM suppliers_product p WHERE p.tenant_id = $1 AND (p.id = ANY($2::uuid[]) OR p.name = $3)"
    assert offenders(sql) == ["suppliers_product"]
    assert offenders(sql.replace("suppliers_product p", "organizations_location p")) == []
