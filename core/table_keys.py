"""The keys of tenant tables: every key holds the tenant, so that rows of one tenant can be kept in one place.

Django's models keep `id` as their primary key. The database's is `(tenant_id, id)`, and a foreign key between two tenant
tables is `(tenant_id, x_id)`, so that a row refers only to rows of its own tenant. Tables that the dispatcher works on
across tenants have `(id, tenant_id)`, because it finds their rows by id; partitioned ones begin with `created_at`.
Source: contract, organizations.md "Rules of the tables".
"""

from collections.abc import Iterable, Iterator
from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

from core.row_security import is_spread, security_of, tables

# Foreign keys that lead to the former key are dropped with it; `references` gives them back. A unique index on the same
# columns, as earlier versions had one beside the key, becomes the key without being built anew.
_PRIMARY_KEY = """
DO $$ DECLARE have text[]; old text; found record; BEGIN
  SELECT c.conname, (SELECT array_agg(a.attname::text ORDER BY k.n) FROM unnest(c.conkey) WITH ORDINALITY k(num, n)
                       JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.num)
    INTO old, have FROM pg_constraint c WHERE c.conrelid = '"{table}"'::regclass AND c.contype = 'p';
  IF NOT '{tenant}' = ANY (have) THEN
    FOR found IN SELECT conname, conrelid::regclass AS place FROM pg_constraint
                 WHERE confrelid = '"{table}"'::regclass AND contype = 'f' AND conparentid = 0 LOOP
      EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', found.place, found.conname);
    END LOOP;
    EXECUTE format('ALTER TABLE "{table}" DROP CONSTRAINT %I', old);
    IF {is_ready} AND to_regclass('"{beside}"') IS NOT NULL THEN
      ALTER TABLE "{table}" ADD CONSTRAINT "{table}_pkey" PRIMARY KEY USING INDEX "{beside}";
    ELSE
      ALTER TABLE "{table}" ADD CONSTRAINT "{table}_pkey" PRIMARY KEY ({columns});
    END IF;
  END IF;
  DROP INDEX IF EXISTS "{beside}";
END $$
"""

# Django writes table, column, digest and target into the name. A shard appends its number, and 63 letters are the most.
_SHORT_NAMES = """
DO $$ DECLARE found record; BEGIN
  FOR found IN SELECT c.conname, a.attname FROM pg_constraint c
                 JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
                WHERE c.conrelid = '"{table}"'::regclass AND c.contype = 'f' AND length(c.conname) > {longest} LOOP
    EXECUTE format('ALTER TABLE "{table}" RENAME CONSTRAINT %I TO %I', found.conname,
                   left('{table}', 30) || '_' || left(found.attname, 20) || '_fk');
  END LOOP;
END $$
"""
LONGEST_NAME = 55


def build(connection: BaseDatabaseWrapper) -> None:
    """Give all tables their keys; idempotent, run as the owner, after migrations."""
    present = set(connection.introspection.table_names())
    found = [model for model in tables() if model._meta.db_table in present]
    with connection.cursor() as cursor:
        for step in (primary_key, references):
            for model in found:
                for statement in step(model):
                    cursor.execute(statement)


def key_columns(model: type[models.Model]) -> tuple[str, ...]:
    """Return the columns of the primary key that the table has in the database."""
    own = tuple(str(field.column) for field in model._meta.pk_fields)
    tenant = security_of(model).tenant_column
    if tenant is None or tenant in own or not is_spread(model):
        return own
    if getattr(model, "partitioned", False):
        return ("created_at", *own, tenant)
    return (*own, tenant) if security_of(model).dispatcher else (tenant, *own)


def primary_key(model: type[models.Model]) -> Iterator[str]:
    """Yield the statement that gives the table its primary key, and other tables with a tenant a key to refer to."""
    table, security, columns = model._meta.db_table, security_of(model), key_columns(model)
    beside = f"{table[:50]}_tenant_key"
    if is_spread(model) and not _has_own_key(model):
        quoted = ", ".join(f'"{column}"' for column in columns)
        yield _PRIMARY_KEY.format(
            table=table,
            beside=beside,
            columns=quoted,
            tenant=security.tenant_column,
            is_ready="true" if columns[0] == security.tenant_column else "false",
        )
    elif security.tenant_column and not is_spread(model):
        yield f'CREATE UNIQUE INDEX IF NOT EXISTS "{beside}" ON "{table}" ("{security.tenant_column}", "{columns[0]}")'


def _has_own_key(model: type[models.Model]) -> bool:
    """Tell whether the model's own key holds the tenant."""
    return security_of(model).tenant_column in {field.column for field in model._meta.pk_fields}


def references(model: type[models.Model]) -> Iterator[str]:
    """Yield the composite foreign keys `(tenant_id, x_id)`, by which rows refer only to rows of their own tenant."""
    table, column = model._meta.db_table, security_of(model).tenant_column
    if is_spread(model):
        yield _SHORT_NAMES.format(table=table, longest=LONGEST_NAME)
    for field in _tenant_references(model) if column else ():
        target = field.related_model
        name = f"{table[:29]}_{field.column[:15]}_tenant_fk"
        yield _add_once(
            table,
            name,
            f'FOREIGN KEY ("{column}", "{field.column}") REFERENCES "{target._meta.db_table}" '
            f'("{security_of(target).tenant_column}", "{target._meta.pk.column}") DEFERRABLE INITIALLY IMMEDIATE',
        )


def is_partitioned(model: type[models.Model]) -> bool:
    """Tell whether the table is partitioned or has a composite key; no foreign key references such rows."""
    return isinstance(model._meta.pk, models.CompositePrimaryKey) or bool(getattr(model, "partitioned", False))


def _tenant_references(model: type[models.Model]) -> Iterable[Any]:
    for field in model._meta.concrete_fields:
        target = field.related_model if field.is_relation else None
        if isinstance(target, type) and security_of(target).tenant_column and not is_partitioned(target):
            yield field


def _add_once(table: str, name: str, definition: str) -> str:
    return (
        f"DO $$ BEGIN IF NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conname = '{name}') THEN "
        f'ALTER TABLE "{table}" ADD CONSTRAINT "{name}" {definition}; END IF; END $$'
    )
