"""Every table says what personal data it holds; every tenant table is walled in, in the database itself."""

import pytest
from django.apps import apps
from django.db import connections

from core.row_security import is_spread, security_of, tenant_models
from tests.architecture.contracts import root_packages

OURS = set(root_packages())
MODELS = [model for model in apps.get_models() if model._meta.app_label in OURS]
TENANT = list(tenant_models())


def ask(sql, *parameters):
    with connections["platform"].cursor() as cursor:
        cursor.execute(sql, parameters)
        return cursor.fetchall()


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.label)
def test_docstring_names_the_personal_data(model):
    assert "Personal data:" in (model.__doc__ or "")


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.label)
def test_table_with_a_tenant_column_is_declared_as_such(model):
    names = {field.column for field in model._meta.concrete_fields}
    read_before_a_tenant_is_known = {
        "membership",
        "apikey",
        "role",
        "oauthapplication",
        "securitylogentry",
        "provisioningstep",
        "serviceaccount",
    }
    published = {"pharmacylisting", "prescriptiontoken"}  # what strangers may find, written by one module only
    sealed = {"tenantkey"}  # read for both tenants of a document in one transaction; opens nothing without the key ring
    if "tenant_id" in names and model._meta.model_name not in read_before_a_tenant_is_known:
        assert security_of(model).tenant_column or model._meta.model_name in published | sealed


@pytest.mark.parametrize("model", TENANT, ids=lambda model: model._meta.label)
def test_tenant_table_has_forced_row_security_and_a_policy(model):
    table = model._meta.db_table
    assert ask("SELECT relrowsecurity, relforcerowsecurity FROM pg_class WHERE relname = %s", table) == [(True, True)]
    policies = dict(
        ask(
            "SELECT polname, pg_get_expr(polqual, polrelid) FROM pg_policy p JOIN pg_class c ON c.oid = polrelid WHERE relname = %s",
            table,
        )
    )
    assert "app.tenant_id" in policies["hp_own"]
    assert ask("SELECT has_table_privilege('hp_runtime', %s, 'SELECT')", f'"{table}"') == [
        (security_of(model).before_binding,)
    ]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.label)
def test_table_says_where_its_rows_are(model):
    security = model.security  # every model of ours declares it

    assert (security.tenant_column is None) <= (security.placement in ("reference", "local"))


@pytest.mark.parametrize("model", [m for m in TENANT if is_spread(m)], ids=lambda model: model._meta.label)
def test_primary_key_holds_the_tenant(model):
    found = ask(
        "SELECT a.attname FROM pg_constraint k JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey)"
        " WHERE k.conrelid = %s::regclass AND k.contype = 'p'",
        model._meta.db_table,
    )

    assert (security_of(model).tenant_column,) in found
    assert not ask("SELECT 1 FROM pg_class WHERE relname = %s", f"{model._meta.db_table[:50]}_tenant_key")


@pytest.mark.parametrize("model", TENANT, ids=lambda model: model._meta.label)
def test_tenant_table_and_its_partitions_keep_no_statistics_of_the_tenant(model):
    kept = ask(
        "SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = %s"
        " WHERE (c.oid = %s::regclass OR c.oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = %s::regclass))"
        " AND a.attstattarget IS DISTINCT FROM 0",
        security_of(model).tenant_column,
        model._meta.db_table,
        model._meta.db_table,
    )
    assert not kept


@pytest.mark.parametrize("model", TENANT, ids=lambda model: model._meta.label)
def test_reference_between_tenant_tables_carries_the_tenant(model):
    for field in model._meta.concrete_fields:
        if (
            field.is_relation
            and security_of(field.related_model).tenant_column
            and len(field.related_model._meta.pk_fields) == 1
        ):
            found = ask(
                "SELECT array_length(conkey, 1) FROM pg_constraint k JOIN pg_class c ON c.oid = conrelid JOIN pg_attribute a ON a.attrelid = c.oid"
                " AND a.attnum = ANY(conkey) WHERE contype = 'f' AND c.relname = %s AND a.attname = %s",
                model._meta.db_table, field.column,
            )  # fmt: skip
            assert (2,) in found, field.name


@pytest.mark.parametrize("role", ["hp_runtime", "hp_app", "hp_dispatcher", "hp_market"])
def test_runtime_roles_are_neither_superuser_nor_beyond_row_security(role):
    assert ask("SELECT rolsuper, rolbypassrls, rolcreaterole FROM pg_roles WHERE rolname = %s", role) == [
        (False, False, False)
    ]


def test_tests_run_as_the_runtime_role():
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT session_user, current_user")
        assert cursor.fetchone() == ("hp_runtime", "hp_runtime")


@pytest.mark.parametrize(
    "model", [m for m in MODELS if security_of(m).append_only], ids=lambda model: model._meta.label
)
def test_append_only_table_refuses_change_even_to_its_owner(model):
    table = model._meta.db_table
    triggers = {
        row[0]
        for row in ask("SELECT tgname FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid WHERE relname = %s", table)
    }
    assert {"hp_append_only", "hp_no_truncate"} <= triggers
    for role in ("hp_runtime", "hp_app", "hp_platform"):
        assert ask(
            "SELECT has_table_privilege(%s, %s, 'UPDATE'), has_table_privilege(%s, %s, 'DELETE')",
            role,
            f'"{table}"',
            role,
            f'"{table}"',
        ) == [(False, False)]
