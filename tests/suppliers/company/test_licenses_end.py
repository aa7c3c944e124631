"""Suppliers are told of licences that end: once for each threshold, by the date at the supplier, in two workers too."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from core.db import tenant_context
from organizations.models import Tenant
from suppliers.company.models import SupplierLicense
from suppliers.company.sweeping import tell_licenses
from suppliers.tasks import tell_licenses as task
from tests.factories import as_member, provision
from tests.races import race
from tests.suppliers.company.profiles import license_body, patched, told

END = date(2031, 6, 1)


def noon(days: int) -> datetime:
    """The middle of the day so many days before the end."""
    return datetime(END.year, END.month, END.day, 12, tzinfo=UTC) - timedelta(days=days)


@pytest.fixture
def tenant() -> Tenant:
    found = provision("supplier")
    patched(
        as_member(found, ["supplier_admin"]),
        licenses=[license_body(valid_to=str(END)), license_body(number="2", valid_to=None)],
    )
    return found


def heard(tenant: Tenant) -> list[str]:
    return [fact.type for fact in told(tenant) if "license" in fact.type]


def test_each_threshold_is_told_once(tenant: Tenant) -> None:
    found = []
    for days in (91, 90, 90, 60, 30, 29, 7, 1, 0, 0, -5):
        tell_licenses(at=noon(days))
        found.append((days, len(heard(tenant))))

    assert found == [
        (91, 0), (90, 1), (90, 1), (60, 1), (30, 2), (29, 2), (7, 3), (1, 3), (0, 4), (0, 4), (-5, 4),
    ]  # fmt: skip
    assert heard(tenant) == ["supplier.license_expiring"] * 3 + ["supplier.license_expired"]
    fact = told(tenant)[-1]
    with tenant_context(tenant.id):
        row = SupplierLicense.objects.get(tenant_id=tenant.id, number="WDA-1")
    assert fact.data == {"license_id": str(row.id), "license_type": "wholesale", "valid_to": "2031-06-01"}
    assert (fact.resource_id, row.told_days) == (tenant.id, 0)


def test_end_that_is_near_already_is_told_once_by_the_nearest(tenant: Tenant) -> None:
    tell_licenses(at=noon(5))
    tell_licenses(at=noon(4))

    assert heard(tenant) == ["supplier.license_expiring"]


def test_another_end_is_told_anew(tenant: Tenant) -> None:
    tell_licenses(at=noon(0))
    patched(as_member(tenant, ["supplier_admin"]), licenses=[license_body(valid_to=str(END + timedelta(days=60)))])

    tell_licenses(at=noon(0))

    assert heard(tenant) == ["supplier.license_expired", "supplier.license_expiring"]


@pytest.mark.parametrize(("zone", "hour", "events"), [("Pacific/Kiritimati", 11, 1), ("Pacific/Pago_Pago", 10, 0)])
def test_day_begins_at_the_supplier(tenant: Tenant, zone: str, hour: int, events: int) -> None:
    Tenant.objects.filter(pk=tenant.pk).update(time_zone=zone)
    day = noon(91) if events else noon(90)

    tell_licenses(at=day.replace(hour=hour))

    assert len(heard(tenant)) == events


def test_two_workers_tell_once(tenant: Tenant) -> None:
    results: list[Any] = race(*[lambda: tell_licenses(at=noon(90))] * 3)

    assert not [one for one in results if isinstance(one, Exception)]
    assert heard(tenant) == ["supplier.license_expiring"]


def test_task_runs_twice(tenant: Tenant) -> None:
    ended = date.today() - timedelta(days=3)
    patched(as_member(tenant, ["supplier_admin"]), licenses=[license_body(valid_from=None, valid_to=str(ended))])

    task()
    task()

    assert heard(tenant) == ["supplier.license_expired"]
