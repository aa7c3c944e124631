"""Comparison of what the market's role may read in the live database with what the models declare, column by column."""

from collections.abc import Iterator

from django.db.backends.base.base import BaseDatabaseWrapper

from core.db import MARKET
from core.faults import Fault
from core.row_security import security_of, tables

_POLICIES = """
SELECT tablename, coalesce(qual, ''), cmd, with_check IS NOT NULL FROM pg_policies
WHERE schemaname = 'public' AND roles = ARRAY[%s]::name[]
"""
_OF_TABLES = """
SELECT c.relname, a.privilege_type FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) a
WHERE c.relnamespace = 'public'::regnamespace AND a.grantee = to_regrole(%s)
"""
_OF_COLUMNS = """
SELECT c.relname, a.privilege_type, n.attname FROM pg_class c
JOIN pg_attribute n ON n.attrelid = c.oid CROSS JOIN LATERAL aclexplode(n.attacl) a
WHERE c.relnamespace = 'public'::regnamespace AND a.grantee = to_regrole(%s)
"""
_WHOLE = ("*",)
_OPEN = frozenset({"django_migrations"})  # every role may read which migrations have run


def faults_of_market(connection: BaseDatabaseWrapper) -> Iterator[Fault]:
    """Yield what the market's role may do beyond or below its declarations."""
    declared = {model._meta.db_table: market for model in tables() if (market := security_of(model).market) is not None}
    bound = {model._meta.db_table for model in tables() if security_of(model).tenant_column}
    with connection.cursor() as cursor:
        cursor.execute(_POLICIES, [MARKET])
        policies = {table: (condition, verb, writes) for table, condition, verb, writes in cursor.fetchall()}
        cursor.execute(_OF_TABLES, [MARKET])
        granted = {(table, verb): {*_WHOLE} for table, verb in cursor.fetchall()}
        cursor.execute(_OF_COLUMNS, [MARKET])
        for table, verb, column in cursor.fetchall():
            granted.setdefault((table, verb), set()).add(column)
    for (table, verb), columns in sorted(granted.items()):
        market = declared.get(table)
        if table not in _OPEN and (market is None or verb != "SELECT" or columns != {*(market.columns or _WHOLE)}):
            yield Fault(table, f"{MARKET} may {verb} {', '.join(sorted(columns))}, which is not declared")
    for table, market in declared.items():
        if (table, "SELECT") not in granted:
            yield Fault(table, f"{MARKET} may not read what is declared")
        if table not in bound:
            continue
        condition, verb, writes = policies.get(table, ("", "", False))
        if (_plain(condition), verb, writes) != (_plain(market.condition), "SELECT", False):
            yield Fault(table, f"the policy of {MARKET} is not the declared one")


def _plain(condition: str) -> str:
    """Write a condition without what PostgreSQL adds when it prints it."""
    found = condition.replace('"', "").replace("::text", "")
    return "".join(letter for letter in found if letter not in "() ")
