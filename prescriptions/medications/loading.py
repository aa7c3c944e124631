"""Loading a table: all rows of a file become the table's next version, or none does; a dry run tells the differences.

A load states the whole table. Rows that are equal stay as they are, so their version tells when they last changed; a
load that changes nothing makes no version.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connections, transaction

from core.db import tenant_context
from core.ids import uuid7

from .load_sql import LoadSql
from .models import PlatformTableVersion, TenantTableVersion
from .search_index import words_of_medication
from .tables import MEDICATIONS, Row, Table

# A release has some 200,000 drugs. Nothing is known of the rows that just came, so PostgreSQL would compare each with each.
_BEGIN = "SET LOCAL statement_timeout = '30min'; SET LOCAL enable_nestloop = off"
_END = "SET LOCAL enable_nestloop = on"
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"
_COPY = "COPY prescriptions_incomingrow (id, load_id, content, words) FROM STDIN"
_CLEAR = "DELETE FROM prescriptions_incomingrow WHERE load_id = %s"


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference of a load: `added`, `changed` or `removed`, the row's key, and the columns that changed."""

    kind: str
    key: str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Load:
    """What a load did, or would do: the table's version, its digest, the numbers of differences and the first of them.

    `version` is the one in force afterwards; `is_new` tells whether this load made it.
    """

    table: str
    version: int
    is_new: bool
    digest: str
    rows: int
    added: int
    changed: int
    removed: int
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class Target:
    """Where a load goes: a tenant's own tables, or the platform's (no tenant); `using` names the connection."""

    tenant_id: UUID | None = None
    demonstration: bool = False
    using: str = DEFAULT_DB_ALIAS

    def transaction(self) -> AbstractContextManager[None]:
        """Return the transaction of the load, bound to the tenant."""
        return tenant_context(self.tenant_id) if self.tenant_id else transaction.atomic(using=self.using)


def load(
    table: Table, rows: Iterable[Row], target: Target, *, source: str, at: datetime, dry_run: bool = False
) -> Load:
    """Make the rows the content of a table, in one transaction; `source` says where they come from.

    :raises UnusableTable: `rows` is a reader that found faults; nothing is loaded.
    """
    sql = LoadSql(table, target.tenant_id is not None)
    values: dict[str, Any] = {
        "load": uuid7(), "tenant": target.tenant_id, "at": at, "demonstration": target.demonstration,
    }  # fmt: skip
    with target.transaction(), connections[target.using].cursor() as cursor:
        cursor.execute(_BEGIN)
        cursor.execute(_LOCK, [f"prescriptions {target.tenant_id or 'platform'} {table.name}"])
        _copy(cursor, table, rows, values["load"])
        current = current_version(table, target)
        found = _compared(cursor, sql, values, current)
        same_mark = target.tenant_id is not None or current is None or current.demonstration == target.demonstration
        if dry_run or (current is not None and same_mark and not (found.added or found.changed or found.removed)):
            _clear(cursor, values["load"])
            return found
        values["number"] = found.version + 1
        for statement in _changes(sql):
            cursor.execute(statement, values)
        _clear(cursor, values["load"])
        return _recorded(found, target, source, at)


def current_version(table: Table, target: Target) -> Any:
    """Return the newest version of a table, or None if it was never loaded; a tenant's must be bound."""
    return _versions(target).filter(table=table.name).order_by("-number", "id").first()


def versions(target: Target) -> list[Any]:
    """Return all versions of the platform's or a tenant's tables, the newest first; a tenant's must be bound."""
    return list(_versions(target).order_by("-loaded_at", "id"))


def _versions(target: Target) -> Any:
    if target.tenant_id:
        return TenantTableVersion.objects.using(target.using).filter(tenant_id=target.tenant_id)
    return PlatformTableVersion.objects.using(target.using).all()


def _copy(cursor: Any, table: Table, rows: Iterable[Row], load_id: UUID) -> None:
    with cursor.copy(_COPY) as copy:
        for row in rows:
            words = words_of_medication(row) if table is MEDICATIONS else []
            copy.write_row((uuid7(), load_id, json.dumps(row, ensure_ascii=False), words))


def _compared(cursor: Any, sql: LoadSql, values: dict[str, Any], current: Any) -> Load:
    cursor.execute(sql.digest, values)
    rows, digest = cursor.fetchone()
    cursor.execute(sql.differences, values)
    found = cursor.fetchall()
    totals = {kind: total for kind, _, _, total in found}
    return Load(
        table=sql.table.name,
        version=current.number if current else 0,
        is_new=False,
        digest=digest,
        rows=rows,
        added=totals.get("added", 0),
        changed=totals.get("changed", 0),
        removed=totals.get("removed", 0),
        differences=tuple(Difference(kind, label, tuple(columns)) for kind, label, columns, _ in found),
    )


def _clear(cursor: Any, load_id: UUID) -> None:
    cursor.execute(_CLEAR, [load_id])
    cursor.execute(_END)


def _changes(sql: LoadSql) -> Iterator[str]:
    yield from (sql.remove, sql.change, sql.add)
    if sql.table is MEDICATIONS:
        yield from sql.words


def _recorded(found: Load, target: Target, source: str, at: datetime) -> Load:
    """Write the version that the load made."""
    values: dict[str, Any] = {
        "table": found.table, "number": found.version + 1, "digest": found.digest, "rows": found.rows,
        "added": found.added, "changed": found.changed, "removed": found.removed, "source": source[:200],
        "loaded_at": at,
    }  # fmt: skip
    if target.tenant_id:
        TenantTableVersion.objects.using(target.using).create(tenant_id=target.tenant_id, **values)
    else:
        PlatformTableVersion.objects.using(target.using).create(demonstration=target.demonstration, **values)
    return Load(
        found.table, found.version + 1, True, found.digest, found.rows, found.added, found.changed, found.removed,
        found.differences,
    )  # fmt: skip
