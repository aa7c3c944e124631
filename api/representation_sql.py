"""Pieces of SQL in compiled representations: instants, conditions written as Django's Q, orders, aliases."""

import re
from collections.abc import Sequence
from typing import Any

from django.db import DEFAULT_DB_ALIAS, models
from psycopg.sql import quote

from core.conditions import TENANT
from core.row_security import security_of

INSTANT = "to_char({0} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"
_ROW = re.compile(r"(?<![\w.\"])t\.")


def moved_to(sql: str, row: str) -> str:
    """Rewrite SQL over the alias `t` for another alias."""
    return sql if row == "t" else _ROW.sub(f"{row}.", sql)


def condition_sql(model: type[models.Model], condition: models.Q, row: str = "t") -> str:
    """Write a condition on the model's own columns as SQL over an alias, with its constants in the text.

    :raises django.core.exceptions.FieldError: the condition names no column of the model.
    """
    query = model._default_manager.filter(condition).order_by().query
    sql, parameters = query.get_compiler(DEFAULT_DB_ALIAS).compile(query.where)
    written: str = sql % tuple(quote(value) for value in parameters)
    return "(" + written.replace(f'"{model._meta.db_table}".', f"{row}.") + ")"


def order_sql(model: type[models.Model], ordering: Sequence[str], row: str) -> str:
    """Write the ORDER BY clause of names in Django's notation; empty without names.

    :raises django.core.exceptions.FieldDoesNotExist: a name is no field of the model.
    """
    names = [(name.removeprefix("-"), name.startswith("-")) for name in ordering]
    columns = [f'{row}."{_column(model, name)}"{" DESC" if down else ""}' for name, down in names]
    return f" ORDER BY {', '.join(columns)}" if columns else ""


def _column(model: type[models.Model], name: str) -> str:
    found = model._meta.get_field(name)
    assert isinstance(found, models.Field)
    return str(found.column)


def beside_sql(model: type[models.Model], other: type[models.Model], by: str, value: str) -> str:
    """A sub-select of a value over `h`, the one row of another table whose column `by` names the row `t` of a model."""
    tenant, outer = security_of(other).tenant_column, security_of(model).tenant_column
    walls = [f'h."{tenant}" = {TENANT}'] if tenant and outer else []
    walls.append(f'h."{by}" = t."{model._meta.pk.column}"')
    return f'(SELECT {value} FROM "{other._meta.db_table}" h WHERE {" AND ".join(walls)})'


def with_default(value: str, column: "models.Field[Any, Any]") -> str:
    """A value over a column, or the column's `db_default` where it is null."""
    return f"coalesce({value}, {_default(column)})" if column.has_db_default() else value


def or_null(value: str, column: "models.Field[Any, Any]") -> str:
    """A column's value, null where it is the column's `db_default`."""
    return f"nullif({value}, {_default(column)})" if column.has_db_default() else value


def _default(column: "models.Field[Any, Any]") -> str:
    default: Any = column.db_default
    return quote(getattr(default, "value", default))
