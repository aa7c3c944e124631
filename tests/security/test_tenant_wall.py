"""Group 3: the wall in the database itself, as the runtime role, without any of our filters."""

import os
import random
import signal
import threading
import time
from contextlib import suppress

import pytest
from django.db import DatabaseError, IntegrityError, close_old_connections, connection, connections, transaction

from core.db import bind_tenant, tenant_context
from core.row_security import security_of, tenant_models
from suppliers.inventory.models import StockLevel
from tests import factories
from tests.security import worlds

CLOSED = sorted(
    (model._meta.db_table, security_of(model).tenant_column)
    for model in tenant_models()
    if not security_of(model).before_binding
)
TABLES = sorted({(model._meta.db_table, security_of(model).tenant_column) for model in tenant_models()})


@pytest.fixture(scope="module")
def mine():
    return worlds.make()


@pytest.fixture(scope="module")
def theirs():
    return worlds.make()


def count(table: str, where: str = "true", *parameters: object) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f'SELECT count(*) FROM "{table}" WHERE {where}', parameters)
        return cursor.fetchone()[0]


@pytest.mark.parametrize(("table", "column"), CLOSED)
def test_unbound_table_is_closed(table, column):
    with pytest.raises(DatabaseError, match="permission denied"):
        count(table)


@pytest.mark.parametrize(("table", "column"), TABLES)
def test_bound_to_nobody_there_is_nothing(table, column):
    with transaction.atomic():
        bind_tenant(None)
        assert count(table) == 0


@pytest.mark.parametrize(("table", "column"), TABLES)
def test_bound_table_shows_own_rows_only(table, column, mine, theirs):
    with tenant_context(mine.tenant.id):
        assert count(table, f'"{column}" <> %s', mine.tenant.id) == 0


@pytest.mark.parametrize(("table", "column"), TABLES)
def test_row_of_another_tenant_is_neither_changed_nor_taken_nor_made(table, column, mine, theirs):
    with tenant_context(theirs.tenant.id):
        before = count(table)
    with tenant_context(mine.tenant.id), connection.cursor() as cursor:
        for statement in (
            f'DELETE FROM "{table}" WHERE "{column}" = %s',
            f'UPDATE "{table}" SET "{column}" = "{column}" WHERE "{column}" = %s',
        ):
            try:
                with transaction.atomic():
                    cursor.execute(statement, [theirs.tenant.id])
                    assert cursor.rowcount == 0
            except DatabaseError as error:
                assert "permission denied" in str(error)  # append-only
    if before:
        with pytest.raises(DatabaseError), tenant_context(theirs.tenant.id), connection.cursor() as cursor:
            cursor.execute(f'CREATE TEMPORARY TABLE moved ON COMMIT DROP AS SELECT * FROM "{table}" LIMIT 1')
            cursor.execute(f'UPDATE moved SET "{column}" = %s', [mine.tenant.id])
            cursor.execute(f'INSERT INTO "{table}" SELECT * FROM moved')
    with tenant_context(theirs.tenant.id):
        assert count(table) == before


@pytest.mark.parametrize(
    "statement",
    ["SET row_security = off", "SET ROLE hp_owner", "SET ROLE hp_platform", "SET SESSION AUTHORIZATION hp_owner"],
)
def test_runtime_role_cannot_step_out(statement, mine):
    with pytest.raises(DatabaseError), tenant_context(mine.tenant.id), connection.cursor() as cursor:
        cursor.execute(statement)
        cursor.execute("SELECT count(*) FROM suppliers_product")


def test_reference_to_another_tenants_row_is_refused(mine, theirs):
    with pytest.raises(IntegrityError), tenant_context(mine.tenant.id):
        StockLevel.objects.create(
            tenant_id=mine.tenant.id, product_id=theirs.ids["products"], location_id=mine.ids["locations"], on_hand=1
        )


def test_binding_ends_with_the_transaction_also_of_a_pooled_connection(mine):
    with tenant_context(mine.tenant.id):
        pass
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('app.tenant_id', true), current_user")
        assert cursor.fetchone() in (("", "hp_runtime"), (None, "hp_runtime"))


def test_nested_bindings_come_back_in_order(mine, theirs):
    def bound() -> str:
        with connection.cursor() as cursor:
            cursor.execute("SELECT current_setting('app.tenant_id', true)")
            return cursor.fetchone()[0]

    with tenant_context(mine.tenant.id):
        with tenant_context(theirs.tenant.id):
            assert bound() == str(theirs.tenant.id)
            with pytest.raises(ZeroDivisionError), tenant_context(mine.tenant.id):
                raise ZeroDivisionError
            assert bound() == str(theirs.tenant.id)
        assert bound() == str(mine.tenant.id)


def _kill_one() -> int:
    """End one server process of the runtime role; only where the database server runs on this machine."""
    with connections["platform"].cursor() as cursor:
        cursor.execute(
            "SELECT pid FROM pg_stat_activity WHERE usename = 'hp_runtime' AND datname = current_database() ORDER BY random() LIMIT 1"
        )
        found = cursor.fetchone()
    if found and not connections["default"].settings_dict["PASSWORD"]:
        with suppress(ProcessLookupError):  # it has ended since
            os.kill(found[0], signal.SIGTERM)
    return 1


def test_interleaved_requests_over_few_connections_with_killed_backends(mine, theirs, long):
    """Requests of two tenants over pooled connections whose servers are killed: errors may come, foreign rows never."""
    rounds = 250 if long else 60
    wrong: list[object] = []
    served = [0]

    def ask(world, other):
        for _ in range(rounds):
            close_old_connections()  # as the server does around every request
            answer = world.api.get(random.choice(["/v1/products", "/v1/locations", "/v1/webhooks"]))
            if other.canary.encode() in answer.content:
                wrong.append(answer.content)
            if answer.status_code == 200:
                served[0] += 1
            elif answer.status_code != 503:
                wrong.append((answer.status_code, answer.content))
        connection.close()

    pairs = [(mine, theirs), (theirs, mine)] * 2
    threads = [threading.Thread(target=ask, args=pair) for pair in pairs]
    for thread in threads:
        thread.start()
    kills = 0
    while any(thread.is_alive() for thread in threads) and kills < 20:
        kills += _kill_one()
        threads[0].join(0.05)
    for thread in threads:
        thread.join()
    connection.close()
    assert wrong == []
    assert served[0] > rounds
    assert factories.provision("provider").id  # and the service goes on


@pytest.mark.parametrize("verb", ["get", "post"])
def test_request_on_a_connection_whose_server_was_killed_succeeds_on_another(verb, mine):
    if connections["default"].settings_dict["PASSWORD"]:
        pytest.skip("the database server is not on this machine")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        os.kill(cursor.fetchone()[0], signal.SIGTERM)
    time.sleep(0.2)
    body = worlds.product(factories.suffix()) if verb == "post" else None
    answer = getattr(mine.api, verb)("/v1/products", json=body, headers={"Idempotency-Key": factories.suffix()})
    assert answer.status_code == (201 if verb == "post" else 200), answer.content
