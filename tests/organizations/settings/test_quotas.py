"""Quotas: exactly the limit passes, whoever asks and however many at once."""

import threading
from collections import Counter
from datetime import UTC, datetime

import pytest
from django.db import IntegrityError, ProgrammingError, connection, transaction

from core.actor import system_actor
from core.clock import now
from core.db import tenant_context
from core.errors import QuotaExceeded
from ledger.models import Event
from organizations.actions.entitlements import PlanBelowUsage, Terms, end_expired, grant_plan
from organizations.models import Entitlement, Quota, Tenant
from organizations.public import consume_quota, release_quota
from tests.factories import as_member, provision

KEY = "storage_bytes"


def entitled(limit, key=KEY):
    tenant = provision()
    with transaction.atomic():
        grant_plan(tenant=tenant, plan="standard", at=now(), terms=Terms(limits={key: limit}))
    return tenant


def take(tenant, amount=1, key=KEY, at=None):
    with tenant_context(tenant.id):
        consume_quota(actor=system_actor(tenant.id), key=key, amount=amount, at=at or now())


def quota(tenant, key=KEY):
    with tenant_context(tenant.id):
        return Quota.objects.get(tenant_id=tenant.id, key=key)


def test_quota_taken_by_16_threads_passes_exactly_the_limit():
    tenant = entitled(101)
    take(tenant, 98)
    outcomes, gate = Counter(), threading.Barrier(16)

    def worker():
        gate.wait()
        try:
            take(tenant)
            outcomes["taken"] += 1
        except QuotaExceeded:
            outcomes["refused"] += 1
        finally:
            connection.close()

    threads = [threading.Thread(target=worker) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == {"taken": 3, "refused": 13}
    assert quota(tenant).used == 101


def test_quota_is_given_back_when_the_caller_fails():
    tenant = entitled(10)

    def fail_after_counting():
        with tenant_context(tenant.id):
            consume_quota(actor=system_actor(tenant.id), key=KEY, at=now())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_after_counting()
    assert quota(tenant).used == 0


def test_quota_refusal_names_limit_and_use():
    tenant = entitled(2)
    take(tenant, 2)
    with pytest.raises(QuotaExceeded) as refused:
        take(tenant)
    assert refused.value.extra == {"quota": KEY, "limit": 2, "used": 2, "resets_at": None}


def test_quota_of_a_day_starts_anew_in_the_same_statement():
    tenant = entitled(2, "exports_per_day")
    evening = datetime(2031, 3, 31, 23, 59, 59, tzinfo=UTC)
    midnight = datetime(2031, 4, 1, 0, 0, 0, tzinfo=UTC)
    take(tenant, 2, "exports_per_day", evening)
    with pytest.raises(QuotaExceeded) as refused:
        take(tenant, 1, "exports_per_day", evening)
    assert refused.value.extra["resets_at"] == "2031-04-01T00:00:00.000Z"
    take(tenant, 1, "exports_per_day", midnight)
    after = quota(tenant, "exports_per_day")
    assert (after.used, after.period_started) == (1, midnight)


def test_quota_counted_late_into_an_earlier_day_still_counts():
    tenant = entitled(2, "exports_per_day")
    take(tenant, 1, "exports_per_day", datetime(2031, 4, 1, tzinfo=UTC))
    take(tenant, 1, "exports_per_day", datetime(2031, 3, 31, 23, tzinfo=UTC))
    assert quota(tenant, "exports_per_day").used == 2


def test_release_never_goes_below_zero():
    tenant = entitled(5)
    take(tenant, 2)
    with tenant_context(tenant.id):
        release_quota(actor=system_actor(tenant.id), key=KEY, amount=9, at=now())
    assert quota(tenant).used == 0


@pytest.mark.parametrize(("key", "amount"), [("no_such_key", 1), (KEY, 0), (KEY, -1)])
def test_consume_refuses_what_cannot_be_counted(key, amount):
    tenant = entitled(5)
    with pytest.raises(ValueError, match="no such quota"):
        take(tenant, amount, key)
    assert quota(tenant).used == 0


def test_database_itself_keeps_a_hard_limit():
    tenant = entitled(5)
    with pytest.raises(IntegrityError), tenant_context(tenant.id):
        Quota.objects.filter(tenant_id=tenant.id, key=KEY).update(used=6)


def test_soft_quota_goes_on_and_tells_at_warning_and_limit():
    tenant = provision()
    key = "prescriptions_per_month"
    with transaction.atomic():
        grant_plan(tenant=tenant, plan="standard", at=now(), terms=Terms(limits={key: 10}))
    for _ in range(12):
        take(tenant, 1, key)
    with tenant_context(tenant.id):
        told = Event.objects.filter(tenant_id=tenant.id, type="quota.threshold_reached").order_by("id")
        assert [event.data["percent"] for event in told] == [80, 100]
    assert quota(tenant, key).used == 12


def test_quota_of_another_tenant_is_refused_by_the_database():
    tenant, other = entitled(5), entitled(5)
    with pytest.raises(ProgrammingError), tenant_context(other.id):
        consume_quota(actor=system_actor(tenant.id), key=KEY, at=now())
    assert (quota(tenant).used, quota(other).used) == (0, 0)


def test_missing_quota_row_is_made_from_the_plan():
    tenant = provision(plan="free")
    with tenant_context(tenant.id):
        Quota.objects.filter(tenant_id=tenant.id, key=KEY).delete()
    take(tenant)
    assert (quota(tenant).used, quota(tenant).limit) == (1, 1024**3)


def test_plan_below_usage_is_refused_and_changes_nothing():
    tenant = provision(plan="standard")
    take(tenant, 2 * 1024**3)
    with pytest.raises(PlanBelowUsage), transaction.atomic():
        grant_plan(tenant=tenant, plan="free", at=now())
    with tenant_context(tenant.id):
        assert Entitlement.objects.get(tenant_id=tenant.id).plan == "standard"


def test_granting_the_same_plan_again_changes_nothing():
    tenant = provision(plan="standard")
    with tenant_context(tenant.id):
        before = Entitlement.objects.get(tenant_id=tenant.id)
    with transaction.atomic():
        grant_plan(tenant=tenant, plan="standard", at=now())
    with tenant_context(tenant.id):
        assert Entitlement.objects.get(tenant_id=tenant.id).version == before.version
        assert Event.objects.filter(tenant_id=tenant.id, type="entitlement.changed").count() == 1


def test_grant_copies_features_and_rate_limits_to_the_tenant():
    tenant = provision(plan="free")
    with transaction.atomic():
        grant_plan(tenant=tenant, plan="free", at=now(), terms=Terms(rate_limits={"procurement": 7}))
    tenant = Tenant.objects.get(id=tenant.id)
    assert tenant.rate_limits == {"procurement": 7}
    assert tenant.features == ["appointments", "marketplace", "prescriptions", "procurement", "webhooks"]


def test_expired_entitlement_falls_back_and_keeps_what_is_used():
    tenant = provision(plan="standard")
    begun, ends = now(), datetime(2099, 1, 1, tzinfo=UTC)
    with transaction.atomic():
        grant_plan(tenant=tenant, plan="enterprise", at=begun, terms=Terms(valid_until=ends))
    take(tenant, 2 * 1024**3)
    assert end_expired(at=ends) >= 1
    assert end_expired(at=ends) == 0
    assert Tenant.objects.get(id=tenant.id).plan == "free"
    assert (quota(tenant).used, quota(tenant).limit) == (2 * 1024**3, 2 * 1024**3)
    with pytest.raises(QuotaExceeded):
        take(tenant)


def test_entitlements_show_use_and_reset():
    tenant = entitled(10)
    take(tenant, 4)
    answer = as_member(tenant).get(f"/v1/tenants/{tenant.id}/entitlements")
    assert answer.status_code == 200
    data = answer.json()["data"]
    assert data["plan"] == "standard"
    assert data["features"]["fhir"] is True
    shown = {one["key"]: one for one in data["quotas"]}
    assert shown[KEY] == {
        "key": KEY, "limit": 10, "used": 4, "remaining": 6, "period": "none", "resets_at": None,
        "enforcement": "hard", "warn_at": 0.8,
    }  # fmt: skip
    assert shown["exports_per_day"]["resets_at"].endswith("T00:00:00.000Z")


def test_entitlements_of_a_tenant_out_of_reach_are_not_found():
    tenant, other = provision(), provision()
    assert as_member(tenant).get(f"/v1/tenants/{other.id}/entitlements").status_code == 404
