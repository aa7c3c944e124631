"""The rules of the tables with the tenant tables and functions of this database, and the statements not yet checked."""

from functools import cache, lru_cache

from django.db import connections

from core.pipeline import Statement, registered
from core.row_security import security_of, tenant_models
from tests.architecture.sql_rules import Rules

_checked: set[Statement] = set()
# A function counts if all its forms do: the parser does not know which of them is called.
_FUNCTIONS = """
SELECT proname, bool_and(provolatile = 'v' OR pronargs = 0 OR proname = 'current_setting')
FROM pg_proc GROUP BY proname HAVING bool_and(provolatile <> 'i')
"""


@cache
def rules() -> Rules:
    """Return the rules of the tables in this database."""
    columns = {model._meta.db_table: security_of(model).tenant_column or "" for model in tenant_models()}
    with connections["platform"].cursor() as cursor:
        cursor.execute(_FUNCTIONS)
        mutable = dict(cursor.fetchall())
    return Rules(
        columns, frozenset(mutable), frozenset(name for name, of_the_moment in mutable.items() if of_the_moment)
    )


@lru_cache(maxsize=8192)  # a text that a test has made and checked is new to `new_faults` after it
def faults(sql: str, *, across: bool) -> tuple[str, ...]:
    """Return what is wrong with a statement; `across`: it is declared to work over many tenants."""
    return tuple(rules().faults(sql, across=across))


def forget() -> None:
    """Look at every statement again: once names have run out, one that is made anew equals the one before."""
    _checked.clear()


def new_faults() -> list[str]:
    """Return the faults of the statements that were made since the last call.

    Texts that change with every request are made once for each; most of them are alike and take 1 ms each.
    """
    new = [one for one in [*registered] if one not in _checked]
    _checked.update(new)
    texts = {(one.sql.decode(), bool(one.across)) for one in new}
    return [f"{fault}: {sql}" for sql, across in texts for fault in faults(sql, across=across)]
