"""Queries of the history look into the ranges that can hold their rows, and leave the others alone."""

from datetime import timedelta

import pytest
from django.db import connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext

from api.listing import cursor_call, read_query
from core.clock import now
from core.db import role_context, tenant_context
from core.history.partitions import ask, make_ahead
from core.history.ranges import missing
from core.ids import uuid7
from core.row_security import DISPATCHER
from tests.webhooks.history.past import attempt, delivery, event
from webhooks.admin.timelines import read_attempts
from webhooks.history.partitions import HISTORIES
from webhooks.views import EventViewSet

LIST_AGO = timedelta(days=70)


@pytest.fixture
def year(flat):
    """A year of ranges, as the job leaves them."""
    at = now()
    for history in HISTORIES:
        for one in missing([], at=at - timedelta(days=365), until=at - timedelta(days=40), step=history.step):
            ask("SELECT hp_history_make(%s, %s, %s)", history.table, one.lower, one.upper)
        make_ahead(history, at=at)


def looked_into(sql, parameters):
    """Name the partitions that a statement's plan reads when it runs."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_hashjoin = off")
        cursor.execute("SET LOCAL enable_mergejoin = off")
        cursor.execute(f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) {sql}", parameters)
        lines = [line for (line,) in cursor.fetchall() if "never executed" not in line]
    names = [line.split(" on ")[1].split()[0] for line in lines if "Scan" in line and " on webhooks_" in line]
    return sorted(
        {name for name in names if name.startswith(("webhooks_event_2", "webhooks_delivery_2", "webhooks_attempt_2"))}
    )


def inlined(call):
    """The statement with its parameters written in, as PostgreSQL plans it for them."""
    text = call.statement.sql.decode()
    for number in range(len(call.parameters), 0, -1):
        text = text.replace(f"${number}", f"'{call.parameters[number - 1]}'")
    return text.replace("%", "%%")


def test_next_page_of_the_feed_reads_no_earlier_range(year, world):
    position = now() - LIST_AGO
    query = read_query(EventViewSet.listing, QueryDict(""))
    call = cursor_call(query, world.tenant.id, after=(position.isoformat(), str(uuid7())), limit=50)

    with tenant_context(world.tenant.id):
        found = looked_into(inlined(call), [])

    assert found
    assert min(found) == f"webhooks_event_{position:%Y%m}01"


def test_claimed_delivery_finds_its_event_in_one_range(year, world):
    made = event(world, now() - LIST_AGO)
    sent = delivery(made, world.endpoint("https://example.org/hook")["id"])
    join = (
        "SELECT e.body FROM (VALUES (%s::timestamptz, %s::uuid)) d (created_at, event_id) CROSS JOIN LATERAL"
        " (SELECT body FROM webhooks_event e WHERE e.created_at = d.created_at AND e.id = d.event_id OFFSET 0) e"
    )
    update = (
        "UPDATE webhooks_delivery delivery SET attempts = 1 FROM (VALUES (%s::timestamptz, %s::uuid)) own (created_at, id)"
        " WHERE delivery.created_at = own.created_at AND delivery.id = own.id"
    )

    with role_context(DISPATCHER):
        assert looked_into(join, [made.created_at, made.id]) == [f"webhooks_event_{made.created_at:%Y%m}01"]
        assert looked_into(update, [sent.created_at, sent.id]) == [f"webhooks_delivery_{made.created_at:%Y%m}01"]


def test_attempts_of_an_ended_delivery_are_read_from_its_weeks(year, world):
    made = event(world, now() - LIST_AGO)
    sent = delivery(made, world.endpoint("https://example.org/hook")["id"])
    attempt(sent)
    sent.done_at = made.created_at + timedelta(minutes=1)

    with tenant_context(world.tenant.id):
        with CaptureQueriesContext(connection) as asked:
            assert len(read_attempts(sent)) == 1
        found = looked_into(asked[0]["sql"].replace("%", "%%"), [])

    monday = made.created_at - timedelta(days=made.created_at.weekday())
    assert found[0] == f"webhooks_attempt_{monday:%Y%m%d}"
    assert len(found) <= 2
