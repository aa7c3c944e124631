"""Round trips inside a transaction: what stands before a fault, and the trip that ends with the COMMIT."""

from contextlib import contextmanager, nullcontext

import pytest
from django.db import IntegrityError, connection, transaction
from psycopg.pq import TransactionStatus

from core import pipeline
from core.db import bind_tenant, tenant_context
from core.pipeline import Call, Statement
from suppliers.catalog.models import ProductCounter
from tests import factories

ONE = Call(Statement.of("SELECT 1"))
_INSERT = Statement.of("INSERT INTO suppliers_productcounter VALUES ($1, 0, 0, 0, 0) RETURNING tenant_id")


class Counters:
    """One row of a table with a key, in a tenant of its own."""

    def __init__(self) -> None:
        self.tenant = factories.provision("supplier")
        self.made = Call(_INSERT, [str(self.tenant.id)])

    @contextmanager
    def bound(self):
        with transaction.atomic():
            bind_tenant(self.tenant.id)
            yield

    def count(self) -> int:
        with tenant_context(self.tenant.id):
            return ProductCounter.objects.filter(pk=self.tenant.id).count()


@pytest.fixture
def table():
    return Counters()


def test_answers_before_the_failed_statement_are_kept_and_nothing_else(table):
    with pytest.raises(IntegrityError) as refused, table.bound():
        pipeline.run([ONE, table.made, table.made, ONE])

    assert [answer.value() for answer in pipeline.answers_before(refused.value)] == [
        b"1",
        str(table.tenant.id).encode(),
    ]
    assert table.count() == 0


def test_error_of_another_origin_has_no_answers():
    assert pipeline.answers_before(IntegrityError()) == []


def test_last_trip_commits_and_tells_the_hooks(table):
    heard = []
    with table.bound():
        transaction.on_commit(lambda: heard.append(connection.in_atomic_block))
        found = pipeline.run_last([table.made])
        assert connection.connection.pgconn.transaction_status == TransactionStatus.IDLE

    assert [answer.value() for answer in found] == [str(table.tenant.id).encode()]
    assert heard == [False]
    assert table.count() == 1


def test_last_trip_that_fails_keeps_nothing(table):
    with pytest.raises(IntegrityError), table.bound():
        pipeline.run_last([table.made, table.made])

    assert table.count() == 0
    assert not connection.in_atomic_block


@pytest.mark.parametrize("spoil", ["outer", "rollback"])
def test_last_trip_of_an_inner_or_spoiled_block_does_not_commit(table, spoil):
    with pytest.raises(ZeroDivisionError), table.bound():
        with transaction.atomic() if spoil == "outer" else nullcontext():
            if spoil == "rollback":
                transaction.set_rollback(True)
            pipeline.run_last([table.made])
        raise ZeroDivisionError

    assert table.count() == 0


@pytest.mark.timeout(60)
def test_answers_that_fill_the_socket_before_all_is_sent_are_taken_in():
    talkative = Call(Statement.of("SELECT repeat('x', 4000)"))
    found = pipeline.run([talkative] * 12_000)
    assert len(found) == 12_000
    assert {len(rows.value() or b"") for rows in found} == {4_000}
