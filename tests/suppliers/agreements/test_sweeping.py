"""What becomes of agreements by themselves: told of 30 days before, expired, ended by notice; twice, in two workers, in zones."""

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import override_settings

from core import clock
from core.db import tenant_context
from core.invariants import breaches
from ledger.public import Event
from organizations.models import Tenant
from suppliers.agreements.models import AgreementAudience, PriceAgreement, PriceAgreementLine, ReceivedAgreement
from suppliers.agreements.sweeping import expire_agreements
from suppliers.tasks import expire_agreements as task
from tests.factories import Api, as_member
from tests.races import race
from tests.suppliers.agreements.test_life import notice, patch
from tests.suppliers.agreements.world import BUYING, PATH, World, events
from tests.suppliers.agreements.world import world as another

END = date(2030, 1, 1)
DAY = timedelta(1)
SIDES = ("supplier", "buyer")


def noon(day: date) -> datetime:
    """Return the middle of a day."""
    return datetime.combine(day, time(12), UTC)


def heard(tenant: Tenant, *kinds: str) -> list[tuple[str, dict[str, Any]]]:
    """Return what a tenant was told by itself, with what each fact says."""
    with tenant_context(tenant.id):
        found = Event.objects.filter(tenant_id=tenant.id, type__in=[f"price_agreement.{kind}" for kind in kinds])
        return [(one.type.rpartition(".")[2], one.data) for one in found.order_by("occurred_at", "id")]


def statuses(world: World, key: str) -> list[str]:
    """Return the status that each side reads."""
    return [world.api(side).get(f"{PATH}/{key}").json()["data"]["status"] for side in SIDES]


def sound(world: World) -> bool:
    """Tell whether every rule holds in both tenants."""
    return not [one for tenant in (world.supplier, world.hospital) for one in breaches(tenant.id)]


def test_an_agreement_is_told_of_and_expires_once(world: World) -> None:
    key = world.active()
    before = world.buyer.get(f"{PATH}/{key}").json()["data"]["version"]
    found = []
    for days in (31, 30, 30, 12, 1, 0, 0, -5):
        expire_agreements(at=noon(END - days * DAY))
        told = heard(world.hospital, "expiring", "expired")
        assert told == heard(world.supplier, "expiring", "expired")
        found.append((days, [kind for kind, _ in told]))

    soon, over = ["expiring"], ["expiring", "expired"]
    assert found == [(31, []), (30, soon), (30, soon), (12, soon), (1, soon), (0, over), (0, over), (-5, over)]
    (_, first), (_, last) = heard(world.hospital, "expiring", "expired")
    assert (first["valid_to"], first["status"], first["by"]) == ("2030-01-01", "active", "system")
    assert (last["status"], last["by"]) == ("expired", "system")
    assert statuses(world, key) == ["expired", "expired"]
    assert world.buyer.get(f"{PATH}/{key}").json()["data"]["version"] == before + 1
    with tenant_context(world.supplier.id):
        mine = {"tenant_id": world.supplier.id}
        assert not ReceivedAgreement.objects.get(**mine).in_force
        assert not AgreementAudience.objects.filter(**mine).exists()
    with tenant_context(world.hospital.id):
        assert not PriceAgreementLine.objects.filter(tenant_id=world.hospital.id, in_force=True).exists()
    assert sound(world)


def test_a_suspended_one_expires_too(world: World) -> None:
    key = world.active()
    assert patch(world, "buyer", key, status="suspended").status_code == 200

    expire_agreements(at=noon(END))

    assert statuses(world, key) == ["expired", "expired"]
    assert [kind for kind, _ in heard(world.supplier, "expiring", "expired")] == ["expired"]
    assert sound(world)


def test_drafts_and_proposals_are_left_alone(world: World) -> None:
    world.drafted()
    world.proposed("buyer")
    before = world.stored()

    expire_agreements(at=noon(END))

    assert world.stored() == before


@pytest.mark.parametrize("suspended", [False, True])
def test_a_notice_ends_an_agreement_on_its_day_without_another_fact(world: World, suspended: bool) -> None:
    key, day = world.active(), date.today() + 20 * DAY
    assert notice(world, "buyer", key, day).status_code == 200
    if suspended:
        assert patch(world, "supplier", key, status="suspended").status_code == 200
    told = [events(world.supplier), events(world.hospital)]

    expire_agreements(at=noon(day - DAY))
    waiting = statuses(world, key)
    expire_agreements(at=noon(day))
    expire_agreements(at=noon(day))

    assert waiting == ["suspended" if suspended else "active"] * 2
    assert statuses(world, key) == ["terminated", "terminated"]
    assert [events(world.supplier), events(world.hospital)] == told
    with tenant_context(world.supplier.id):
        assert not AgreementAudience.objects.filter(tenant_id=world.supplier.id).exists()
    assert sound(world)


@pytest.mark.parametrize(
    ("zone", "hour", "minute", "ended"),
    [
        ("Asia/Kathmandu", 18, 10, False),  # 23:55 there
        ("Asia/Kathmandu", 18, 20, True),  # 00:05 there
        ("Pacific/Kiritimati", 9, 55, False),
        ("Pacific/Kiritimati", 10, 5, True),
    ],
)
@pytest.mark.parametrize("by_notice", [False, True])
def test_the_day_is_that_of_the_supplier(
    world: World, zone: str, hour: int, minute: int, ended: bool, by_notice: bool
) -> None:
    key = world.active()
    day = END
    if by_notice:
        day = date.today() + 15 * DAY
        assert notice(world, "buyer", key, day).status_code == 200
    for tenant, place in ((world.supplier, zone), (world.hospital, "Pacific/Pago_Pago")):
        Tenant.objects.filter(pk=tenant.id).update(time_zone=place)

    expire_agreements(at=noon(day - DAY).replace(hour=hour, minute=minute))

    over = "terminated" if by_notice else "expired"
    assert statuses(world, key) == [over if ended else "active"] * 2
    assert sound(world)


@pytest.mark.parametrize("lanes", [1, 4])
def test_workers_at_once_do_each_once(lanes: int) -> None:
    worlds = [another() for _ in range(3)]
    keys = [one.active() for one in worlds]
    with override_settings(LANES=lanes):
        for at in (noon(END - 30 * DAY), noon(END)):
            work: Callable[[], int] = lambda at=at: expire_agreements(at=at)  # noqa: E731
            results: list[Any] = race(*[work] * 6)
            assert not [one for one in results if isinstance(one, Exception)]

    for one, key in zip(worlds, keys, strict=True):
        for tenant in (one.supplier, one.hospital):
            assert [kind for kind, _ in heard(tenant, "expiring", "expired")] == ["expiring", "expired"]
        assert statuses(one, key) == ["expired", "expired"]
        assert sound(one)


def test_sweep_and_parties_at_once_end_it_once(world: World) -> None:
    key = world.active(valid_from="2026-01-01", valid_to=str(date.today() + 5 * DAY))
    clients = [as_member(world.hospital, BUYING) for _ in range(4)]

    def give(api: Api) -> Any:
        return api.post(f"{PATH}/{key}/terminate", json={"notice_date": str(date.today()), "reason": "x"})

    def sweep() -> Any:
        return expire_agreements(at=noon(date.today() + 5 * DAY))

    race(*[lambda api=api: give(api) for api in clients], *[sweep] * 4)

    ended = [
        kind for kind in events(world.supplier) if kind in ("price_agreement.expired", "price_agreement.terminated")
    ]
    assert len(ended) == 1
    assert statuses(world, key) == [ended[0].rpartition(".")[2]] * 2
    assert sound(world)


def test_more_than_one_batch_of_a_buyer_is_worked_on(world: World) -> None:
    for number in range(23):
        world.active(scope="tenant", currency=("EUR", "USD", "GBP")[number % 3], **_period(number // 3))

    assert expire_agreements(at=noon(END)) >= 23

    with tenant_context(world.hospital.id):
        rows = PriceAgreement.objects.filter(tenant_id=world.hospital.id)
        assert set(rows.values_list("status", flat=True)) == {"expired"}
    assert len(heard(world.supplier, "expired")) == 23
    assert sound(world)


def _period(number: int) -> dict[str, str]:
    return {"valid_from": str(date(2027, number + 1, 1)), "valid_to": str(date(2027, number + 2, 1))}


def test_an_agreement_of_a_closed_supplier_ends_for_its_buyer(world: World) -> None:
    key = world.active()
    gone = {"tenant": str(world.supplier.id), "confirm": world.supplier.slug, "retention_days": 0}
    call_command("close_tenant", **gone, stdout=StringIO())

    expire_agreements(at=noon(END))

    assert world.buyer.get(f"{PATH}/{key}").json()["data"]["status"] == "expired"
    assert [kind for kind, _ in heard(world.hospital, "expired")] == ["expired"]


def test_task_and_command_do_it_twice(world: World) -> None:
    key = world.active(valid_to=str(date.today() + 9 * DAY))
    out = StringIO()

    task()
    task()
    call_command("expire_agreements", stdout=out)

    assert [kind for kind, _ in heard(world.hospital, "expiring")] == ["expiring"]
    assert out.getvalue().endswith("agreements ended or told of.\n")
    assert statuses(world, key) == ["active", "active"]


def test_the_next_version_is_told_of_again(world: World) -> None:
    key = world.active(valid_to=str(date.today() + 9 * DAY))
    expire_agreements(at=clock.now())
    later = str(date.today() + 100 * DAY)
    assert patch(world, "buyer", key, valid_to=later).status_code == 200
    assert world.act("buyer", key, "propose").status_code == 200
    assert world.act("supplier", key, "accept").status_code == 200

    expire_agreements(at=noon(date.today() + 60 * DAY))
    between = len(heard(world.supplier, "expiring"))
    expire_agreements(at=noon(date.today() + 75 * DAY))

    assert (between, [data["valid_to"] for _, data in heard(world.supplier, "expiring")][1:]) == (1, [later])
    assert statuses(world, key) == ["active", "active"]
