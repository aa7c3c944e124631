"""Row security between tenants, declared on the models and built in the database after every migration.

A model declares `security = TableSecurity(...)`. `build` is idempotent and gives every tenant table forced row security, one
policy for each database role, a trigger that holds its rows to the bound tenant, and grants; `core/table_keys.py` gives it
its keys. Source: contract, organizations.md "Rules of the tables".
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from django.apps import apps
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

from core.db import BIND_FUNCTION, BOUND_TENANT, BOUND_TENANT_TEXT, MARKET, OWN

DISPATCHER = "hp_dispatcher"
RUNTIME = "hp_runtime"
PLATFORM = "hp_platform"

# A function of the owner may name, in `hp.may_change`, the table whose rows it is about to change, as the trigger's argument
# does. Nothing else runs as the owner while the service runs.
_FORBID_CHANGE = """
CREATE OR REPLACE FUNCTION hp_forbid_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_LEVEL = 'ROW' AND current_setting('hp.may_change', true) = TG_ARGV[0]
     AND (SELECT pg_get_userbyid(relowner) = current_user FROM pg_class WHERE oid = TG_RELID) THEN
    IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'rows of % are never changed', TG_ARGV[0] USING ERRCODE = 'restrict_violation';
END $$
"""

# The trigger that calls it names the condition, so it runs only where a row is refused. On one PostgreSQL the policy refuses
# first; a distributed one does not check policies for COPY and INSERT … SELECT inside a shard.
_REFUSE_TENANT = """
CREATE OR REPLACE FUNCTION hp_refuse_tenant() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the row belongs to a tenant that is not bound' USING ERRCODE = 'insufficient_privilege';
END $$
"""

# Up to 2026 a role of its own read rows in which the bound tenant was the other party; now that party has its own copy.
_RETIRE_COUNTERPARTY = """
DO $$ DECLARE found record; BEGIN
  FOR found IN SELECT tablename FROM pg_policies WHERE schemaname = 'public' AND policyname = 'hp_other' LOOP
    EXECUTE format('DROP POLICY hp_other ON %I', found.tablename);
  END LOOP;
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'hp_counterparty') THEN
    REVOKE ALL ON ALL TABLES IN SCHEMA public FROM hp_counterparty;
  END IF;
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


Placement = Literal["tenant", "reference", "local"]


@dataclass(frozen=True, slots=True)
class Market:
    """What the market's role may read of a table: rows of all tenants, never to write them.

    `when` is a boolean column that must be true, `of` a column that must be the bound tenant, with both one of them; without
    both, all rows.
    `columns` are the only ones to be read; none named stands for all. The conditions are a stored boolean or one
    leakproof comparison, so that they hinder no index.
    """

    when: str = ""
    of: str = ""
    columns: tuple[str, ...] = ()

    @property
    def condition(self) -> str:
        """The policy's condition."""
        when, of = f'"{self.when}"', f'"{self.of}" = {BOUND_TENANT}'
        if self.when and self.of:
            return f"{when} OR {of}"
        return when if self.when else of if self.of else "true"


@dataclass(frozen=True, slots=True)
class TableSecurity:
    """Who may see a table's rows, and where they are.

    `tenant_column` None makes the table global: everybody may see its rows. `placement` says where a distributed PostgreSQL
    keeps them: "tenant" with the other rows of their tenant, "reference" copied to every node (read on each request, seldom
    written), "local" on one node. `append_only` rows are never updated or deleted. `dispatcher` opens the table to the dispatcher's role.
    `market` opens the table to the role that reads what suppliers offer.
    `before_binding` opens the rows to the login role, which must find a credential or a membership before the tenant is
    known; once a tenant is bound, only its rows are visible.
    """

    tenant_column: str | None = "tenant_id"
    append_only: bool = False
    dispatcher: bool = False
    before_binding: bool = False
    market: Market | None = None
    placement: Placement = "tenant"


REFERENCE = TableSecurity(tenant_column=None, placement="reference")
LOCAL = TableSecurity(tenant_column=None, placement="local")


def security_of(model: type[models.Model]) -> TableSecurity:
    """Return the declared security of a model; tables of libraries are global and local."""
    found: TableSecurity = getattr(model, "security", LOCAL)
    return found


def tenant_models() -> Iterator[type[models.Model]]:
    """Yield every model whose rows belong to one tenant."""
    for model in tables():
        if security_of(model).tenant_column:
            yield model


def is_spread(model: type[models.Model]) -> bool:
    """Tell whether a distributed PostgreSQL spreads the rows of the table by tenant."""
    security = security_of(model)
    return security.tenant_column is not None and security.placement == "tenant"


def partitionedtables() -> Iterator[str]:
    """Yield every table that is partitioned by ranges of time: its model declares `partitioned`."""
    return (model._meta.db_table for model in tables() if getattr(model, "partitioned", False))


def tables() -> Iterator[type[models.Model]]:
    """Yield every model that has a table of its own."""
    for model in apps.get_models(include_auto_created=True):
        if model._meta.managed and not model._meta.proxy:
            yield model


def create_functions(connection: BaseDatabaseWrapper) -> None:
    """Create the functions that migrations and triggers call; run as the owner, before migrations."""
    with connection.cursor() as cursor:
        for function in (BIND_FUNCTION, _FORBID_CHANGE, _REFUSE_TENANT):
            cursor.execute(function)


def build(connection: BaseDatabaseWrapper) -> None:
    """Give all tables their declared security; run as the owner, after migrations."""
    present = set(connection.introspection.table_names())
    create_functions(connection)
    with connection.cursor() as cursor:
        cursor.execute(_HISTORIES.format(tables=",".join(sorted(partitionedtables()))))
        cursor.execute("REVOKE ALL ON FUNCTION hp_history_known(text) FROM PUBLIC")
        cursor.execute(f"GRANT SELECT ON django_migrations TO {RUNTIME}, {OWN}, {DISPATCHER}, {PLATFORM}, {MARKET}")
        cursor.execute(_RETIRE_COUNTERPARTY)
        for model in tables():
            for statement in _statements(model) if model._meta.db_table in present else ():
                cursor.execute(statement)


def _statements(model: type[models.Model]) -> Iterator[str]:
    table, security = f'"{model._meta.db_table}"', security_of(model)
    verbs = "SELECT, INSERT" if security.append_only else "SELECT, INSERT, UPDATE, DELETE"
    everybody = f"{OWN}, {DISPATCHER}, {RUNTIME}, {PLATFORM}, {MARKET}"
    yield f"REVOKE ALL ON {table} FROM PUBLIC, {everybody}"
    yield f"GRANT {verbs} ON {table} TO {PLATFORM}"
    if security.append_only:
        yield from _append_only(model._meta.db_table)
    if security.market is not None:
        columns = ", ".join(f'"{column}"' for column in security.market.columns)
        yield f"GRANT SELECT {f'({columns}) ' if columns else ''}ON {table} TO {MARKET}"
    if security.tenant_column is None:
        yield f"GRANT SELECT ON {table} TO {DISPATCHER}"
        yield f"GRANT {verbs} ON {table} TO {OWN}, {RUNTIME}"
        return
    yield from _walls(table, security, verbs)


def _append_only(table: str) -> Iterator[str]:
    yield (
        f'CREATE OR REPLACE TRIGGER hp_append_only BEFORE UPDATE OR DELETE ON "{table}" '
        f"FOR EACH ROW EXECUTE FUNCTION hp_forbid_change('{table}')"
    )
    yield (
        f'CREATE OR REPLACE TRIGGER hp_no_truncate BEFORE TRUNCATE ON "{table}" '
        f"FOR EACH STATEMENT EXECUTE FUNCTION hp_forbid_change('{table}')"
    )


def _walls(table: str, security: TableSecurity, verbs: str) -> Iterator[str]:
    column = f'"{security.tenant_column}"'
    own, written = f"{column} = {BOUND_TENANT}", f"{column}::text = {BOUND_TENANT_TEXT}"
    yield f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"
    yield f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY"
    yield f"ALTER TABLE {table} ALTER {column} SET STATISTICS 0"
    yield f"DROP POLICY IF EXISTS hp_own ON {table}"
    yield f"CREATE POLICY hp_own ON {table} TO {OWN} USING ({own}) WITH CHECK ({written})"
    yield f"GRANT {verbs} ON {table} TO {OWN}"
    yield (
        f"CREATE OR REPLACE TRIGGER hp_hold_tenant BEFORE INSERT OR UPDATE ON {table} FOR EACH ROW"
        f" WHEN (NEW.{column}::text IS DISTINCT FROM {BOUND_TENANT_TEXT} AND current_user = '{OWN}')"
        " EXECUTE FUNCTION hp_refuse_tenant()"
    )
    if security.before_binding:
        yield f"DROP POLICY IF EXISTS hp_before ON {table}"
        yield f"CREATE POLICY hp_before ON {table} TO {RUNTIME}, {DISPATCHER} USING (true) WITH CHECK (true)"
        yield f"GRANT {verbs} ON {table} TO {RUNTIME}"
        yield f"GRANT SELECT ON {table} TO {DISPATCHER}"
    if security.dispatcher:
        yield f"DROP POLICY IF EXISTS hp_dispatch ON {table}"
        yield f"CREATE POLICY hp_dispatch ON {table} TO {DISPATCHER} USING (true) WITH CHECK (true)"
        yield f"GRANT {verbs} ON {table} TO {DISPATCHER}"
    yield f"DROP POLICY IF EXISTS hp_market ON {table}"
    if security.market is not None:
        yield f"CREATE POLICY hp_market ON {table} FOR SELECT TO {MARKET} USING ({security.market.condition})"
