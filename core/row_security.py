"""Row security between tenants, declared on the models and built in the database after every migration.

A model declares `security = TableSecurity(...)`; without it the table is global. `build` is idempotent and gives every
tenant table forced row security, one policy for each database role, grants, and composite keys `(tenant_id, id)`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

from core.db import COUNTERPARTY, OWN

DISPATCHER = "hp_dispatcher"
RUNTIME = "hp_runtime"
PLATFORM = "hp_platform"
BOUND = "(SELECT NULLIF(current_setting('app.tenant_id', true), '')::uuid)"

# A function of the owner may name, in `hp.may_change`, one table whose rows it is about to change. Nothing else runs as
# the owner while the service runs.
_FORBID_CHANGE = """
CREATE OR REPLACE FUNCTION hp_forbid_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_LEVEL = 'ROW' AND current_setting('hp.may_change', true) = TG_TABLE_NAME
     AND (SELECT pg_get_userbyid(relowner) = current_user FROM pg_class WHERE oid = TG_RELID) THEN
    IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$
"""

# The owner's functions that create and drop ranges of time (webhooks, migration 0006) work on these tables only.
_HISTORIES = """
CREATE OR REPLACE FUNCTION hp_history_known(parent text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp SET lock_timeout = '500ms' AS $$
BEGIN
  IF parent IS NULL OR parent <> ALL ('{{{tables}}}'::text[]) THEN
    RAISE EXCEPTION '% is no history', parent USING ERRCODE = 'insufficient_privilege';
  END IF;
END $$
"""


@dataclass(frozen=True, slots=True)
class TableSecurity:
    """Who may see a table's rows.

    `tenant_column` None makes the table global. `counterparty_column` names the tenant that may read a row as the other
    party. `append_only` rows are never updated or deleted. `dispatcher` opens the table to the dispatcher's role.
    `before_binding` opens the rows to the login role, which must find a credential or a membership before the tenant is
    known; once a tenant is bound, only its rows are visible.
    """

    tenant_column: str | None = "tenant_id"
    counterparty_column: str | None = None
    append_only: bool = False
    dispatcher: bool = False
    before_binding: bool = False


GLOBAL = TableSecurity(tenant_column=None)


def security_of(model: type[models.Model]) -> TableSecurity:
    """Return the declared security of a model; tables of libraries are global."""
    found: TableSecurity = getattr(model, "security", GLOBAL)
    return found


def tenant_models() -> Iterator[type[models.Model]]:
    """Yield every model whose rows belong to one tenant."""
    for model in _tables():
        if security_of(model).tenant_column:
            yield model


def partitioned_tables() -> Iterator[str]:
    """Yield every table that is partitioned by ranges of time: its model declares `partitioned`."""
    return (model._meta.db_table for model in _tables() if getattr(model, "partitioned", False))


def _tables() -> Iterator[type[models.Model]]:
    for model in apps.get_models(include_auto_created=True):
        if model._meta.managed and not model._meta.proxy:
            yield model


def build(connection: BaseDatabaseWrapper) -> None:
    """Give all tables their declared security; run as the owner, after migrations."""
    present = set(connection.introspection.table_names())
    with connection.cursor() as cursor:
        cursor.execute(_FORBID_CHANGE)
        cursor.execute(_HISTORIES.format(tables=",".join(sorted(partitioned_tables()))))
        cursor.execute("REVOKE ALL ON FUNCTION hp_history_known(text) FROM PUBLIC")
        cursor.execute(f"GRANT SELECT ON django_migrations TO {RUNTIME}, {OWN}, {DISPATCHER}, {PLATFORM}")
        models_present = [model for model in _tables() if model._meta.db_table in present]
        for step in (_statements, _own_key, _references):
            for model in models_present:
                for statement in step(model):
                    cursor.execute(statement)


def _statements(model: type[models.Model]) -> Iterator[str]:
    table, security = f'"{model._meta.db_table}"', security_of(model)
    verbs = "SELECT, INSERT" if security.append_only else "SELECT, INSERT, UPDATE, DELETE"
    everybody = f"{OWN}, {COUNTERPARTY}, {DISPATCHER}, {RUNTIME}, {PLATFORM}"
    yield f"REVOKE ALL ON {table} FROM PUBLIC, {everybody}"
    yield f"GRANT {verbs} ON {table} TO {PLATFORM}"
    if security.append_only:
        yield from _append_only(table)
    if security.tenant_column is None:
        yield f"GRANT SELECT ON {table} TO {COUNTERPARTY}, {DISPATCHER}"
        yield f"GRANT {verbs} ON {table} TO {OWN}, {RUNTIME}"
        return
    yield from _walls(table, security, verbs)


def _append_only(table: str) -> Iterator[str]:
    yield (
        f"CREATE OR REPLACE TRIGGER hp_append_only BEFORE UPDATE OR DELETE ON {table} "
        "FOR EACH ROW EXECUTE FUNCTION hp_forbid_change()"
    )
    yield (
        f"CREATE OR REPLACE TRIGGER hp_no_truncate BEFORE TRUNCATE ON {table} "
        "FOR EACH STATEMENT EXECUTE FUNCTION hp_forbid_change()"
    )


def _walls(table: str, security: TableSecurity, verbs: str) -> Iterator[str]:
    own = f'"{security.tenant_column}" = {BOUND}'
    yield f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"
    yield f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY"
    yield f'ALTER TABLE {table} ALTER "{security.tenant_column}" SET STATISTICS 0'
    yield f"DROP POLICY IF EXISTS hp_own ON {table}"
    yield f"CREATE POLICY hp_own ON {table} TO {OWN} USING ({own}) WITH CHECK ({own})"
    yield f"GRANT {verbs} ON {table} TO {OWN}"
    if security.counterparty_column:
        other = f'"{security.counterparty_column}" = {BOUND}'
        yield f"DROP POLICY IF EXISTS hp_other ON {table}"
        yield f"CREATE POLICY hp_other ON {table} FOR SELECT TO {COUNTERPARTY} USING ({other})"
        yield f"GRANT SELECT ON {table} TO {COUNTERPARTY}"
    if security.before_binding:
        yield f"DROP POLICY IF EXISTS hp_before ON {table}"
        yield f"CREATE POLICY hp_before ON {table} TO {RUNTIME}, {DISPATCHER} USING (true) WITH CHECK (true)"
        yield f"GRANT {verbs} ON {table} TO {RUNTIME}"
        yield f"GRANT SELECT ON {table} TO {DISPATCHER}"
    if security.dispatcher:
        yield f"DROP POLICY IF EXISTS hp_dispatch ON {table}"
        yield f"CREATE POLICY hp_dispatch ON {table} TO {DISPATCHER} USING (true) WITH CHECK (true)"
        yield f"GRANT {verbs} ON {table} TO {DISPATCHER}"


def _own_key(model: type[models.Model]) -> Iterator[str]:
    """Yield the unique key that composite foreign keys reference."""
    table, key, column = model._meta.db_table, model._meta.pk.column, security_of(model).tenant_column
    if column and key != column and not _is_partitioned(model):
        yield f'CREATE UNIQUE INDEX IF NOT EXISTS "{table[:50]}_tenant_key" ON "{table}" ("{column}", "{key}")'


def _references(model: type[models.Model]) -> Iterator[str]:
    """Yield the composite foreign keys `(tenant_id, x_id)`, by which rows reference only rows of their own tenant."""
    table, column = model._meta.db_table, security_of(model).tenant_column
    for field in _tenant_references(model) if column else ():
        target = field.related_model
        name = f"{table[:30]}_{field.column[:20]}_tenant_fk"
        yield _add_once(
            table,
            name,
            f'FOREIGN KEY ("{column}", "{field.column}") REFERENCES "{target._meta.db_table}" '
            f'("{security_of(target).tenant_column}", "{target._meta.pk.column}") DEFERRABLE INITIALLY IMMEDIATE',
        )


def _is_partitioned(model: type[models.Model]) -> bool:
    """Tell whether the table is partitioned or has a composite key; no foreign key references such rows."""
    return isinstance(model._meta.pk, models.CompositePrimaryKey) or bool(getattr(model, "partitioned", False))


def _tenant_references(model: type[models.Model]) -> Iterable[Any]:
    for field in model._meta.concrete_fields:
        target = field.related_model if field.is_relation else None
        if isinstance(target, type) and security_of(target).tenant_column and not _is_partitioned(target):
            yield field


def _add_once(table: str, name: str, definition: str) -> str:
    return (
        f"DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_constraint WHERE conname = '{name}') THEN "
        f'ALTER TABLE "{table}" ADD CONSTRAINT "{name}" {definition}; END IF; END $$'
    )
