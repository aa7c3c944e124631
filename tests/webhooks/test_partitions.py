"""The three histories are ranges, keyed by time, and every wall stands on them."""

import pytest
from django.db import connection


@pytest.mark.parametrize("table", ["webhooks_event", "webhooks_delivery", "webhooks_attempt"])
def test_history_is_cut_by_time_and_walled(table):
    with connection.cursor() as cursor:
        cursor.execute("SELECT relkind, relrowsecurity, relforcerowsecurity FROM pg_class WHERE relname = %s", [table])
        assert cursor.fetchone() == ("p", True, True)
        cursor.execute("SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = %s", [f"{table}_pkey"])
        assert cursor.fetchone() == ("PRIMARY KEY (created_at, id, tenant_id)",)
        cursor.execute(
            "SELECT bool_or(has_table_privilege(role, part, 'SELECT')) FROM unnest(ARRAY['hp_app', 'hp_dispatcher',"
            " 'hp_runtime', 'hp_platform']) role, (SELECT inhrelid AS part FROM pg_inherits WHERE inhparent = %s::regclass) p",
            [table],
        )
        assert cursor.fetchone() == (False,), "a partition is reached through its parent only"
