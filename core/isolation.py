"""Comparison of the live database with the row security that the models declare, table by table and role by role."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from django.apps import apps
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

from core.db import COUNTERPARTY, OWN
from core.row_security import DISPATCHER, RUNTIME, TableSecurity, security_of, tenant_models

_TABLES = """
SELECT c.relname, c.relrowsecurity, c.relforcerowsecurity, pg_get_userbyid(c.relowner),
       EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped)
  FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
"""
_POLICIES = """
SELECT tablename, r.role, coalesce(qual, ''), coalesce(with_check, ''), cmd
  FROM pg_policies CROSS JOIN unnest(roles) AS r(role) WHERE schemaname = 'public'
"""
_KEYS = """
SELECT conrelid::regclass::text, confrelid::regclass::text,
       (SELECT array_agg(a.attname::text ORDER BY k.n) FROM unnest(conkey) WITH ORDINALITY k(num, n)
          JOIN pg_attribute a ON a.attrelid = conrelid AND a.attnum = k.num)
  FROM pg_constraint WHERE contype = 'f' AND connamespace = 'public'::regnamespace
"""
_ROLES = "SELECT rolname, rolsuper, rolbypassrls FROM pg_roles WHERE rolname = ANY (%s)"
_TRIGGERS = "SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgname = 'hp_append_only' AND tgenabled <> 'D'"


@dataclass(frozen=True, slots=True)
class Fault:
    """One difference between the database and the declarations: the table or role, and what is wrong with it."""

    where: str
    what: str

    def as_json(self) -> dict[str, str]:
        """Return the fault as a JSON object."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _Found:
    """What exists in the database: tables, policies, foreign keys, tables with the append-only trigger."""

    tables: dict[str, tuple[bool, bool, str, bool]]
    policies: dict[tuple[str, str], list[tuple[str, str, str]]]
    keys: set[tuple[str, str, tuple[str, ...]]]
    guarded: set[str]


def find_faults(connection: BaseDatabaseWrapper) -> list[Fault]:
    """Compare the live database with the declared row security and list the faults."""
    found = _read_catalogs(connection)
    faults = [fault for model in tenant_models() for fault in _of_table(model, found)]
    return [*faults, *_undeclared(found), *_of_roles(connection)]


def _read_catalogs(connection: BaseDatabaseWrapper) -> _Found:
    policies: dict[tuple[str, str], list[tuple[str, str, str]]] = {}
    for table, role, using, check, command in _rows(connection, _POLICIES):
        policies.setdefault((table, role), []).append((using, check, command))
    return _Found(
        tables={row[0]: tuple(row[1:]) for row in _rows(connection, _TABLES)},
        policies=policies,
        keys={(table, target, tuple(columns)) for table, target, columns in _rows(connection, _KEYS)},
        guarded={row[0] for row in _rows(connection, _TRIGGERS)},
    )


def _rows(connection: BaseDatabaseWrapper, sql: str, parameters: list[Any] | None = None) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return list(cursor.fetchall())


def _of_table(model: type[models.Model], found: _Found) -> Iterator[Fault]:
    table, security = model._meta.db_table, security_of(model)
    state = found.tables.get(table)
    if state is None:
        yield Fault(table, "the table does not exist")
        return
    enabled, forced, owner, _ = state
    if not enabled:
        yield Fault(table, "row security is off")
    if not forced:
        yield Fault(table, "row security is not forced")
    if owner in (RUNTIME, OWN, COUNTERPARTY, DISPATCHER):
        yield Fault(table, f"the table is owned by {owner}")
    if security.append_only and table not in found.guarded:
        yield Fault(table, "the append-only trigger is missing")
    yield from _of_policies(table, security, found)
    yield from _of_references(model, security, found)


def _of_policies(table: str, security: TableSecurity, found: _Found) -> Iterator[Fault]:
    own = found.policies.get((table, OWN), [])
    if not own:
        yield Fault(table, f"no policy for {OWN}")
    for using, check, _ in own:
        if not all(_binds(text, security.tenant_column) for text in (using, check or using)):
            yield Fault(table, f"the policy of {OWN} does not limit rows to the bound tenant")
    yield from _of_counterparty(table, security, found)
    declared = {OWN, COUNTERPARTY}
    declared |= {DISPATCHER} if security.dispatcher or security.before_binding else set()
    declared |= {RUNTIME} if security.before_binding else set()
    for name, role in found.policies:
        if name == table and role not in declared:
            yield Fault(table, f"an undeclared policy for {role}")


def _of_counterparty(table: str, security: TableSecurity, found: _Found) -> Iterator[Fault]:
    other = found.policies.get((table, COUNTERPARTY), [])
    if security.counterparty_column and not other:
        yield Fault(table, f"no policy for {COUNTERPARTY}")
    for using, _, command in other:
        if not _binds(using, security.counterparty_column) or command != "SELECT":
            yield Fault(table, f"the policy of {COUNTERPARTY} does not limit rows to the bound tenant")


def _binds(expression: str, column: str | None) -> bool:
    text = expression.replace('"', "")
    return bool(column) and f"({column} = " in text and "app.tenant_id" in text and " OR " not in text.upper()


def _of_references(model: type[models.Model], security: TableSecurity, found: _Found) -> Iterator[Fault]:
    for field in model._meta.concrete_fields:
        target = field.related_model if field.is_relation else None
        if not isinstance(target, type) or security_of(target).tenant_column is None:
            continue
        if isinstance(target._meta.pk, models.CompositePrimaryKey) or getattr(target, "partitioned", False):
            continue
        columns = (str(security.tenant_column), str(field.column))
        if (model._meta.db_table, target._meta.db_table, columns) not in found.keys:
            yield Fault(model._meta.db_table, f"no composite key ({', '.join(columns)}) to {target._meta.db_table}")


def _undeclared(found: _Found) -> Iterator[Fault]:
    """Yield the tables that have a `tenant_id` but no declaration of who may see their rows."""
    declared = {
        model._meta.db_table for model in apps.get_models(include_auto_created=True) if "security" in _names(model)
    }
    for table, (enabled, _, _, has_tenant) in sorted(found.tables.items()):
        if has_tenant and not enabled and table not in declared:
            yield Fault(table, "has tenant_id but declares no security")


def _names(model: type[models.Model]) -> set[str]:
    return {name for base in model.__mro__ for name in vars(base)}


def _of_roles(connection: BaseDatabaseWrapper) -> Iterator[Fault]:
    wanted = [RUNTIME, OWN, COUNTERPARTY, DISPATCHER]
    present = {name: (is_super, bypasses) for name, is_super, bypasses in _rows(connection, _ROLES, [wanted])}
    for role in wanted:
        if role not in present:
            yield Fault(role, "the role does not exist")
        elif any(present[role]):
            yield Fault(role, "the role is a superuser or bypasses row security")
    ((current, is_super, bypasses),) = _rows(
        connection, "SELECT rolname, rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user"
    )
    if connection.alias == "default" and (is_super or bypasses):
        yield Fault(current, "the service logs in as a role that bypasses row security")
