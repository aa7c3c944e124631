"""Export of all rows of a tenant, and their deletion when the tenant is closed."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db import IntegrityError, connection, models, transaction

from core.db import tenant_context
from core.row_security import security_of, tenant_models

from .models import ApiKey, Membership, Organization, ProvisioningStep, SecurityLogEntry, ServiceAccount, Tenant, User
from .signing_keys import published_keys

BATCH = 2_000
# Conditions for the rows of global tables that belong to a tenant.
_GLOBAL: dict[type[models.Model], str] = {
    Tenant: "t.id = %(tenant)s",
    Organization: "t.id = (SELECT n.organization_id FROM organizations_tenant n WHERE n.id = %(tenant)s)",
    Membership: "t.tenant_id = %(tenant)s",
    User: "t.id IN (SELECT m.user_id FROM organizations_membership m WHERE m.tenant_id = %(tenant)s)",
    ServiceAccount: "t.id IN (SELECT m.service_account_id FROM organizations_membership m WHERE m.tenant_id = %(tenant)s)",
    ApiKey: "t.tenant_id = %(tenant)s",
    ProvisioningStep: "t.tenant_id = %(tenant)s",
    SecurityLogEntry: "t.tenant_id = %(tenant)s",
}
# Columns that never leave the platform.
_SECRET = ("digest", "password", "is_staff", "is_superuser", "staff_role")


def export(tenant_id: UUID, folder: Path) -> dict[str, Any]:
    """Write a tenant's rows as NDJSON, one file per table, and a manifest with the size and SHA-256 of each file.

    All tables are read in one snapshot. Sealed columns stay sealed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        with tenant_context(tenant_id):
            for table, where in _tables_with_conditions():
                files.append(_write(folder / f"{table}.ndjson", _rows_as_json(table, where, tenant_id)))
    keys = [key.public_jwk() for key in published_keys()]
    files.append(_write(folder / "jwks.json", iter([json.dumps({"keys": keys})])))
    manifest = {"tenant_id": str(tenant_id), "format": "ndjson", "files": files}
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    return manifest


def delete_rows(tenant_id: UUID) -> dict[str, int]:
    """Delete a tenant's rows in batches, each in its own transaction, and return the number by table.

    Tables refer to one another, so passes repeat until every table is empty or a pass deletes nothing. Append-only
    tables keep their rows: these hold ids, never names.

    :raises RuntimeError: rows are left to which other rows still refer.
    """
    tables = [model._meta.db_table for model in tenant_models() if not security_of(model).append_only]
    deleted = dict.fromkeys(tables, 0)
    blocked = set(tables)
    while blocked:
        before = sum(deleted.values())
        blocked = {table for table in sorted(blocked) if not _empty(table, tenant_id, deleted)}
        if blocked and sum(deleted.values()) == before:
            raise RuntimeError(f"rows are left in {', '.join(sorted(blocked))}")
    return {table: count for table, count in deleted.items() if count}


def _empty(table: str, tenant_id: UUID, deleted: dict[str, int]) -> bool:
    """Delete one table's rows; False if other tables still refer to some of them."""
    mine = f"{_column(table)} = %(tenant)s"
    sql = f'DELETE FROM "{table}" WHERE {mine} AND ctid = ANY (ARRAY(SELECT ctid FROM "{table}" WHERE {mine} LIMIT {BATCH}))'
    while True:
        try:
            with tenant_context(tenant_id), connection.cursor() as cursor:
                cursor.execute(sql, {"tenant": tenant_id})
                count = cursor.rowcount
        except IntegrityError:
            return False
        deleted[table] += count
        if count < BATCH:
            return True


def _column(table: str) -> str:
    model = next(model for model in tenant_models() if model._meta.db_table == table)
    return f'"{security_of(model).tenant_column}"'


def _tables_with_conditions() -> Iterator[tuple[str, str]]:
    for model in sorted(tenant_models(), key=lambda model: model._meta.db_table):
        yield model._meta.db_table, f't."{security_of(model).tenant_column}" = %(tenant)s'
    for model, where in _GLOBAL.items():
        yield model._meta.db_table, where


def _rows_as_json(table: str, where: str, tenant_id: UUID) -> Iterator[str]:
    model = next(model for model in apps.get_models() if model._meta.db_table == table)
    columns = ", ".join(
        f't."{field.column}"' for field in model._meta.concrete_fields if field.column and field.column not in _SECRET
    )
    sql = f'SELECT row_to_json(r)::text FROM (SELECT {columns} FROM "{table}" t WHERE {where}) r'
    with connection.chunked_cursor() as cursor:
        cursor.execute(sql, {"tenant": tenant_id})
        while rows := cursor.fetchmany(BATCH):
            for (line,) in rows:
                yield line


def _write(path: Path, lines: Iterator[str]) -> dict[str, Any]:
    digest, count, size = hashlib.sha256(), 0, 0
    with path.open("wb") as file:
        for line in lines:
            content = line.encode() + b"\n"
            digest.update(content)
            file.write(content)
            count, size = count + 1, size + len(content)
    return {"name": path.name, "rows": count, "bytes": size, "sha256": digest.hexdigest()}
