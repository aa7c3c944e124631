"""Offers end on the day that they name, by the date at their supplier."""

from datetime import date, timedelta

import pytest

from core import clock
from core.db import tenant_context
from ledger import public as ledger
from organizations.models import Tenant
from suppliers.marketplace.models import Offer
from suppliers.marketplace.sweeping import expire_offers
from tests import races
from tests.suppliers.inventory.shelf import PATH, body, refused
from tests.suppliers.inventory.test_offers import OFFERS, draft

DAY = timedelta(1)


def published(shelf, last: date | None, *, paused: bool = False) -> str:
    """Return the id of a public offer that is valid until a day; the table is written, because PUT may refuse the past."""
    offer = draft(shelf, shelf.product())
    assert shelf.api.post(f"{OFFERS}/{offer['id']}/publish").status_code == 200
    if paused:
        assert shelf.api.post(f"{OFFERS}/{offer['id']}/unpublish").status_code == 200
    with tenant_context(shelf.id):
        Offer.objects.filter(tenant_id=shelf.id, pk=offer["id"]).update(valid_to=last)
    return str(offer["id"])


def status(shelf, offer_id: str) -> str:
    """Return the status of an offer."""
    return str(shelf.api.get(f"{OFFERS}/{offer_id}").json()["data"]["status"])


def ends(shelf, offer_id: str) -> list[tuple[str, int]]:
    """Return the facts of an offer's end, with their versions."""
    with tenant_context(shelf.id):
        found = ledger.Event.objects.filter(tenant_id=shelf.id, resource_id=offer_id, type="offer.expired")
        return [(fact.data["status"], fact.resource_version) for fact in found]


@pytest.mark.parametrize("paused", [False, True])
def test_an_offer_ends_on_its_day_and_is_told_of_once(shelf, paused):
    ended = published(shelf, date.today() - DAY, paused=paused)
    lasting, open_ended = published(shelf, date.today() + 2 * DAY), published(shelf, None)
    before = shelf.api.get(f"{OFFERS}/{ended}").json()["data"]["version"]

    assert expire_offers(at=clock.now()) >= 1
    expire_offers(at=clock.now())

    assert [status(shelf, one) for one in (ended, lasting, open_ended)] == ["expired", "published", "published"]
    assert (ends(shelf, ended), ends(shelf, lasting)) == ([("expired", before + 1)], [])


def test_an_ended_offer_is_published_again_only_with_a_later_day(shelf, buyer):
    offer_id = published(shelf, date.today() - DAY)
    expire_offers(at=clock.now())
    shown = shelf.api.get(f"{OFFERS}/{offer_id}").json()["data"]

    incomplete = refused(shelf.api.post(f"{OFFERS}/{offer_id}/publish"), 409, "offer_incomplete")
    assert incomplete["checks"] == ["still_valid"]
    wanted = {name: shown[name] for name in ("product_id", "packaging_id", "currency", "tiers")}
    later = {**wanted, "valid_to": str(date.today() + 9 * DAY)}
    assert shelf.api.put(f"{OFFERS}/{offer_id}", json=later).status_code == 200
    assert shelf.api.post(f"{OFFERS}/{offer_id}/publish").json()["data"]["status"] == "published"


def test_the_day_is_that_of_the_supplier(shelf):
    """At 11:00 UTC it is tomorrow in Kiritimati (UTC+14) and still today in Niue (UTC-11)."""
    at = clock.now().replace(hour=11, minute=0)
    offer_id = published(shelf, at.date() + DAY)
    for zone, expected in (("Pacific/Niue", "published"), ("Pacific/Kiritimati", "expired")):
        with tenant_context(shelf.id):
            Tenant.objects.filter(pk=shelf.id).update(time_zone=zone)
        expire_offers(at=at)
        assert status(shelf, offer_id) == expected


def test_sweeps_at_once_end_each_offer_once(shelf):
    offers = [published(shelf, date.today() - DAY) for _ in range(6)]

    races.race(*[lambda: expire_offers(at=clock.now()) for _ in range(8)])

    assert [len(ends(shelf, one)) for one in offers] == [1] * 6


def test_nobody_reserves_by_an_ended_offer(shelf, buyer):
    product = shelf.product()
    shelf.stock(product, 10)
    offer = draft(shelf, product)
    shelf.api.post(f"{OFFERS}/{offer['id']}/publish")
    shelf.api.put(f"{OFFERS}/{offer['id']}/visibility", json={"mode": "public"})
    with tenant_context(shelf.id):
        Offer.objects.filter(tenant_id=shelf.id, pk=offer["id"]).update(valid_to=date.today() - DAY)

    for _ in range(2):  # before the sweep as after it
        refused(buyer.api.post(PATH, json=body(shelf, (product, 1))), 409, "offer_not_available")
        expire_offers(at=clock.now())
