"""Comparison of the live database with the row security that the models declare, table by table and role by role."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

from core.db import MARKET, OWN
from core.faults import Fault
from core.market_walls import faults_of_market
from core.row_security import DISPATCHER, RUNTIME, TableSecurity, is_spread, security_of, tenant_models
from core.table_keys import LONGEST_NAME, is_partitioned

_TABLES = """
SELECT c.relname, c.relrowsecurity, c.relforcerowsecurity, pg_get_userbyid(c.relowner),
       EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped)
  FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
"""
_POLICIES = """
SELECT tablename, r.role, coalesce(qual, ''), coalesce(with_check, ''), cmd
  FROM pg_policies CROSS JOIN unnest(roles) AS r(role) WHERE schemaname = 'public'
"""
_KEYS = """
SELECT conrelid::regclass::text, confrelid::regclass::text,
       (SELECT array_agg(a.attname::text ORDER BY k.n) FROM unnest(conkey) WITH ORDINALITY k(num, n)
          JOIN pg_attribute a ON a.attrelid = conrelid AND a.attnum = k.num),
       (SELECT array_agg(a.attname::text ORDER BY k.n) FROM unnest(confkey) WITH ORDINALITY k(num, n)
          JOIN pg_attribute a ON a.attrelid = confrelid AND a.attnum = k.num)
  FROM pg_constraint WHERE contype = 'f' AND connamespace = 'public'::regnamespace AND conparentid = 0
"""
_ROLES = "SELECT rolname, rolsuper, rolbypassrls FROM pg_roles WHERE rolname = ANY (%s)"
_TRIGGERS = """
SELECT tgrelid::regclass::text, tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE tgname LIKE 'hp_%' AND tgenabled <> 'D'
"""
_HOLDS_TENANT = (
    " BEFORE INSERT OR UPDATE ON public.{table} FOR EACH ROW WHEN ((((new.{column})::text IS DISTINCT FROM"
    " current_setting('app.tenant_id'::text, true)) AND (CURRENT_USER = '{role}'::name))) EXECUTE FUNCTION hp_refuse_tenant()"
)
_UNIQUE = """
SELECT i.indrelid::regclass::text, i.indexrelid::regclass::text, i.indisprimary,
       ARRAY(SELECT a.attname::text FROM unnest(i.indkey) WITH ORDINALITY k(num, n)
               JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.num ORDER BY k.n)
  FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
 WHERE i.indisunique AND c.relnamespace = 'public'::regnamespace AND NOT c.relispartition
"""
_NAMES = """
SELECT t.relname, k.conname FROM pg_class t JOIN pg_constraint k ON k.conrelid = t.oid AND k.contype <> 'n'
 WHERE t.relname = ANY (%s) UNION
SELECT t.relname, i.relname FROM pg_class t JOIN pg_index x ON x.indrelid = t.oid JOIN pg_class i ON i.oid = x.indexrelid
 WHERE t.relname = ANY (%s)
"""


@dataclass(frozen=True, slots=True)
class _Found:
    """What exists in the database: tables, policies, foreign keys, unique keys, the platform's triggers."""

    tables: dict[str, tuple[bool, bool, str, bool]]
    policies: dict[tuple[str, str], list[tuple[str, str, str]]]
    keys: set[tuple[str, str, tuple[str, ...], tuple[str, ...]]]
    unique: list[tuple[str, str, bool, tuple[str, ...]]]
    triggers: dict[tuple[str, str], str]


def find_faults(connection: BaseDatabaseWrapper) -> list[Fault]:
    """Compare the live database with the declared row security and list the faults."""
    found = _read_catalogs(connection)
    faults = [fault for model in tenant_models() for fault in _of_table(model, found)]
    return [
        *faults,
        *_across(found),
        *_undeclared(found),
        *_long_names(connection),
        *_of_roles(connection),
        *faults_of_market(connection),
    ]


def _read_catalogs(connection: BaseDatabaseWrapper) -> _Found:
    policies: dict[tuple[str, str], list[tuple[str, str, str]]] = {}
    for table, role, using, check, command in _rows(connection, _POLICIES):
        policies.setdefault((table, role), []).append((using, check, command))
    return _Found(
        tables={row[0]: tuple(row[1:]) for row in _rows(connection, _TABLES)},
        policies=policies,
        keys={(table, target, tuple(own), tuple(its)) for table, target, own, its in _rows(connection, _KEYS)},
        unique=[(table, name, primary, tuple(columns)) for table, name, primary, columns in _rows(connection, _UNIQUE)],
        triggers={(table, name): definition for table, name, definition in _rows(connection, _TRIGGERS)},
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
    if owner in (RUNTIME, OWN, DISPATCHER, MARKET):
        yield Fault(table, f"the table is owned by {owner}")
    yield from _of_trigger(table, str(security.tenant_column), found)
    if security.append_only and (table, "hp_append_only") not in found.triggers:
        yield Fault(table, "the append-only trigger is missing")
    yield from _of_policies(table, security, found)
    yield from _of_references(model, security, found)
    if is_spread(model):
        yield from _of_keys(table, str(security.tenant_column), found)


def _of_trigger(table: str, column: str, found: _Found) -> Iterator[Fault]:
    definition = found.triggers.get((table, "hp_hold_tenant"))
    if definition is None:
        yield Fault(table, "the trigger that holds rows to the bound tenant is missing")
    elif not definition.endswith(_HOLDS_TENANT.format(table=table, column=column, role=OWN)):
        yield Fault(table, "the trigger hp_hold_tenant does not hold rows to the bound tenant")


def _of_keys(table: str, column: str, found: _Found) -> Iterator[Fault]:
    """Yield the unique keys without the tenant, and those that only repeat the primary key."""
    keys = {name: (primary, columns) for place, name, primary, columns in found.unique if place == table}
    for name, (primary, columns) in keys.items():
        if column not in columns:
            yield Fault(table, f"the unique key {name} does not hold {column}")
        if not primary and any(first and set(columns) == set(others) for first, others in keys.values()):
            yield Fault(table, f"the unique key {name} repeats the primary key")


def _of_policies(table: str, security: TableSecurity, found: _Found) -> Iterator[Fault]:
    own = found.policies.get((table, OWN), [])
    if not own:
        yield Fault(table, f"no policy for {OWN}")
    for using, check, _ in own:
        if not all(_binds(text, security.tenant_column) for text in (using, check or using)):
            yield Fault(table, f"the policy of {OWN} does not limit rows to the bound tenant")
    declared = {OWN}
    declared |= {DISPATCHER} if security.dispatcher or security.before_binding else set()
    declared |= {RUNTIME} if security.before_binding else set()
    declared |= {MARKET} if security.market else set()
    for (name, role), policies in found.policies.items():
        if name == table and role not in declared:
            yield Fault(table, f"an undeclared policy for {role}")
        if name == table and any("SELECT" in text for using, check, _ in policies for text in (using, check)):
            yield Fault(table, f"the policy of {role} holds a sub-select")


def _binds(expression: str, column: str | None) -> bool:
    text = expression.replace('"', "")
    compared = any(f"({name} = " in text for name in (column, f"({column})::text"))
    return bool(column) and compared and "app.tenant_id" in text and " OR " not in text.upper()


def _of_references(model: type[models.Model], security: TableSecurity, found: _Found) -> Iterator[Fault]:
    for field in model._meta.concrete_fields:
        target = field.related_model if field.is_relation else None
        if not isinstance(target, type) or security_of(target).tenant_column is None:
            continue
        if is_partitioned(target):
            continue
        columns = (str(security.tenant_column), str(field.column))
        its = (str(security_of(target).tenant_column), str(target._meta.pk.column))
        if (model._meta.db_table, target._meta.db_table, columns, its) not in found.keys:
            yield Fault(model._meta.db_table, f"no composite key ({', '.join(columns)}) to {target._meta.db_table}")


def _across(found: _Found) -> Iterator[Fault]:
    """Yield the foreign keys that lead from a global table to a tenant's, or to a tenant's without the tenant."""
    spread = {
        model._meta.db_table: str(security_of(model).tenant_column) for model in tenant_models() if is_spread(model)
    }
    for table, target, columns, its in sorted(found.keys):
        if target in spread and table not in spread:
            yield Fault(table, f"a foreign key leads from this global table to {target}")
        elif target in spread and (spread[table], spread[target]) not in zip(columns, its, strict=True):
            yield Fault(table, f"the foreign key ({', '.join(columns)}) to {target} does not hold the tenant")


def _long_names(connection: BaseDatabaseWrapper) -> Iterator[Fault]:
    """Yield names that a distributed PostgreSQL, which appends the number of a shard, would cut off."""
    tables = [model._meta.db_table for model in tenant_models() if is_spread(model)]
    for table, name in _rows(connection, _NAMES, [tables, tables]):
        if len(name) > LONGEST_NAME:
            yield Fault(table, f"the name {name} has more than {LONGEST_NAME} letters")


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
    wanted = [RUNTIME, OWN, DISPATCHER, MARKET]
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
