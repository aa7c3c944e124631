"""The time in which a row counts: the condition of queries, the SQL and the row in hand say the same."""

from datetime import timedelta
from itertools import product

from django.db import connection, transaction

from core.clock import now
from core.validity import Validity
from organizations.models import Membership
from tests import factories

SPAN = timedelta(hours=1)


def test_query_sql_and_row_agree_on_every_span():
    at = now()
    tenant = factories.provision()
    spans = [
        (begin, end)
        for begin, end in product((None, at - SPAN, at + SPAN), (None, at - SPAN / 2, at + 2 * SPAN))
        if begin is None or end is None or begin < end
    ]
    rows = [factories.member(tenant, valid_from=begin, valid_until=end)[1] for begin, end in spans]
    mine = Membership.objects.filter(id__in=[row.id for row in rows])
    rule = Membership.VALIDITY

    by_row = {row.id for row in rows if rule.of(row, at)}
    by_query = set(mine.filter(rule.holds_at(at)).values_list("id", flat=True))
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            f"SELECT m.id FROM organizations_membership m WHERE m.id = ANY(%s) AND {rule.holds_now('m')}",
            [[row.id for row in rows]],
        )
        by_sql = {key for (key,) in cursor.fetchall()}

    assert by_row == by_query == by_sql
    assert len(by_row) == 4
    assert set(mine.filter(~rule.holds_at(at)).values_list("id", flat=True)) == {row.id for row in rows} - by_row


def test_moment_of_the_begin_counts_and_that_of_the_end_does_not():
    at = now()

    assert Validity(begins=("valid_from",), ends=()).of(Membership(valid_from=at), at)
    assert not Validity(ends=("valid_until",)).of(Membership(valid_until=at), at)
