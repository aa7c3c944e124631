"""What was tampered with is out of the way of the jobs that other tests run over all tenants."""

import pytest
from django.db import connections

_TABLE = "prescriptions_prescription"


@pytest.fixture(scope="module", autouse=True)
def out_of_the_sweep(django_db_blocker):
    """Take every prescription that could be swept for expired, once the tests of a file have ended."""
    yield
    with django_db_blocker.unblock(), connections["owner"].cursor() as cursor:
        cursor.execute(f"ALTER TABLE {_TABLE} DISABLE TRIGGER USER, NO FORCE ROW LEVEL SECURITY")
        cursor.execute(
            f"UPDATE {_TABLE} SET expired_at = coalesce(expires_at, now()) WHERE status IN ('signed', 'routed')"
        )
        cursor.execute(f"ALTER TABLE {_TABLE} ENABLE TRIGGER USER, FORCE ROW LEVEL SECURITY")
    connections["owner"].close()
