"""Alerts: what opens and closes them, one for each subject, and what members do with them."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import IntegrityError

from core import clock
from core.db import tenant_context
from ledger import public as ledger
from suppliers.company.models import SupplierLicense
from suppliers.inventory.models import StockLevel
from suppliers.notifications.alerts import settle
from suppliers.notifications.following import follow
from suppliers.notifications.models import OpenAlert
from suppliers.notifications.sources import low_stock
from suppliers.notifications.upkeep import review_alerts
from tests import factories
from tests.races import race
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.inventory.recalls import change, recall, walk
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.inventory.test_expiring import TODAY
from tests.suppliers.notifications.inbox import (
    ALERTS,
    PATH,
    PREFERENCES,
    counted,
    data,
    facts,
    raised,
    relay,
    rows,
    sound,
    state,
)


def adjust(shelf, product, place, quantity, **more):
    line = {
        "product_id": product["id"],
        "location_id": str(place),
        "mode": "set",
        "quantity": quantity,
        "reason_code": "count",
    }
    answer = shelf.api.post("/v1/inventory/adjustments", json={"lines": [line | more]})
    assert answer.status_code == 201, answer.content


@pytest.fixture
def goods(shelf):
    """Untracked goods, 20 of them, with a threshold of 10."""
    product, place = shelf.product(), shelf.place()
    level = shelf.stock(product, 20, place=place, threshold=10)
    return product, place, level


# -- stock -----------------------------------------------------------------------------------------------------------


def test_low_stock_opens_one_alert_that_follows_the_quantity_and_closes(shelf, goods):
    product, place, level = goods
    adjust(shelf, product, place, 4, expected_quantity=20)
    relay(shelf)
    (alert,) = data(shelf.api.get(ALERTS))["items"]
    assert (alert["type"], alert["severity"], alert["resource"]) == (
        "low_stock",
        "warning",
        {"type": "stock_level", "id": str(level)},
    )
    assert "4 base units" in alert["body"]
    assert alert["location_id"] == str(place)
    adjust(shelf, product, place, 0, expected_quantity=4)
    relay(shelf)
    (alert,) = data(shelf.api.get(ALERTS))["items"]
    assert (alert["severity"], alert["version"]) == ("critical", 2)
    assert len(facts(shelf, "alert.raised")) == 1
    adjust(shelf, product, place, 30, expected_quantity=0)
    relay(shelf)
    assert data(shelf.api.get(ALERTS))["items"] == []
    (row,) = rows(shelf)
    assert (row.closed_at is not None, row.archived_at, rows(shelf, OpenAlert)) == (True, None, [])
    assert data(shelf.api.get(PATH))["total"] == counted(shelf)["current"] == 1
    sound(shelf)


def test_fact_of_the_alert_is_thin(shelf, goods):
    product, place, level = goods
    adjust(shelf, product, place, 4, expected_quantity=20)
    relay(shelf)
    (row,) = rows(shelf)
    payload = {
        "alert_type": "low_stock", "severity": "warning", "about_type": "stock_level", "about_id": str(level), "webhook": True,
    }  # fmt: skip
    assert facts(shelf) == [("alert.raised", row.id, payload)]


def test_facts_in_any_order_and_twice_leave_the_truth(shelf, goods):
    product, place, _ = goods
    adjust(shelf, product, place, 4, expected_quantity=20)
    adjust(shelf, product, place, 30, expected_quantity=4)
    with tenant_context(shelf.id):
        found = list(ledger.Event.objects.filter(tenant_id=shelf.id, type__in=["stock.low", "stock.replenished"]))
    assert len(found) == 2
    for event in [*found, *reversed(found)]:
        follow(event)
    assert rows(shelf, OpenAlert) == []
    assert rows(shelf) == []


def test_causes_at_once_open_one_alert(shelf, goods):
    _product, _place, level = goods
    with tenant_context(shelf.id):
        StockLevel.objects.filter(tenant_id=shelf.id, pk=level).update(on_hand=3)

    def cause():
        with tenant_context(shelf.id):
            return settle(shelf.id, "low_stock", [str(level)], low_stock, clock.now())

    assert sorted(race(*[cause] * 8)) == [0] * 7 + [1]
    assert (len(rows(shelf)), len(rows(shelf, OpenAlert)), len(facts(shelf, "alert.raised"))) == (1, 1, 1)


def test_second_open_alert_is_refused_by_the_database(shelf):
    row = raised(shelf)
    with pytest.raises(IntegrityError), tenant_context(shelf.id):
        OpenAlert.objects.create(
            tenant_id=shelf.id,
            type="low_stock",
            resource_id="s1",
            notification_id=uuid4(),
            severity="info",
            created_at=row.created_at,
        )


def test_lot_that_is_used_up_is_no_news_beside_another(shelf):
    product, place = shelf.product(tracking="lot"), shelf.place()
    for lot in ("L1", "L2"):
        shelf.stock(product, 5, lot=lot, expiry=TODAY + timedelta(days=900), place=place)
    adjust(shelf, product, place, 0, expected_quantity=5, lot_number="L1")
    relay(shelf)
    assert rows(shelf) == []
    adjust(shelf, product, place, 0, expected_quantity=5, lot_number="L2")
    relay(shelf)
    assert {row.type for row in rows(shelf)} == {"low_stock"}


def test_default_threshold_holds_for_levels_without_one(shelf):
    admin = factories.as_member(shelf.tenant, ["supplier_admin"])
    data(admin.put(PREFERENCES, json={"low_stock_default": 15}))
    product, place = shelf.product(), shelf.place()
    shelf.stock(product, 20, place=place)
    adjust(shelf, product, place, 12, expected_quantity=20)
    relay(shelf)
    (row,) = rows(shelf)
    assert "12 base units" in row.body
    assert "threshold is 15" in row.body
    (level,) = data(shelf.api.get("/v1/inventory/levels"))["items"]
    assert level["low_stock_threshold"] is None


def test_alert_threshold_of_the_tenant_holds_back_what_is_above(shelf, goods):
    product, place, _ = goods
    admin = factories.as_member(shelf.tenant, ["supplier_admin"])
    data(admin.put(PREFERENCES, json={"types": {"low_stock": {"threshold": 3}}}))
    adjust(shelf, product, place, 4, expected_quantity=20)
    relay(shelf)
    assert rows(shelf) == []
    adjust(shelf, product, place, 0, expected_quantity=4)
    relay(shelf)
    assert len(rows(shelf)) == 1


# -- lots and licences -----------------------------------------------------------------------------------------------


def test_expiring_lot_is_told_by_the_days_of_the_tenant(shelf):
    from suppliers.inventory.expiring import tell_batch

    admin = factories.as_member(shelf.tenant, ["supplier_admin"])
    data(admin.put(PREFERENCES, json={"expiry_days": [200, 60]}))
    today = clock.now().date()
    product, place = shelf.product(tracking="lot"), shelf.place()
    for lot, days in (("L1", 150), ("L2", 220)):
        shelf.stock(product, 5, lot=lot, expiry=today + timedelta(days=days), place=place)
    tell_batch(shelf.id, clock.now())
    relay(shelf)
    (row,) = rows(shelf)
    assert (row.type, row.severity) == ("expiring_lot", "info")
    assert "L1" in row.title


def test_alert_of_a_lot_that_has_left_is_closed_by_the_review(shelf):
    from suppliers.inventory.expiring import tell_batch

    today = clock.now().date()
    product, place = shelf.product(tracking="lot"), shelf.place()
    level = shelf.stock(product, 5, lot="L1", expiry=today + timedelta(days=5), place=place)
    tell_batch(shelf.id, clock.now())
    relay(shelf)
    assert [row.severity for row in rows(shelf)] == ["warning"]
    review_alerts(at=clock.now())
    assert len(rows(shelf, OpenAlert)) == 1
    with tenant_context(shelf.id):
        StockLevel.objects.filter(tenant_id=shelf.id, pk=level).update(on_hand=0)
    for _ in range(2):
        review_alerts(at=clock.now())
    assert rows(shelf, OpenAlert) == []
    assert rows(shelf)[0].closed_at is not None


def test_licence_that_ends_is_told_and_closed_by_its_renewal(shelf):
    from suppliers.company.sweeping import tell_licenses

    today = clock.now().date()
    licences = [{"type": "wholesale", "number": "W-1", "valid_to": (today + timedelta(days=20)).isoformat()}]
    data(shelf.api.patch("/v1/suppliers/me", json={"licenses": licences}))
    tell_licenses(at=clock.now())
    relay(shelf)
    (row,) = rows(shelf)
    assert (row.type, row.severity, row.resource_type) == ("license_expiring", "info", "license")
    licences[0]["valid_to"] = (today + timedelta(days=900)).isoformat()
    data(shelf.api.patch("/v1/suppliers/me", json={"licenses": licences}))
    relay(shelf)
    assert rows(shelf)[0].closed_at is not None
    assert rows(shelf, OpenAlert) == []
    with tenant_context(shelf.id):
        assert SupplierLicense.objects.filter(tenant_id=shelf.id).count() == 1


# -- recalls ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def recalled(shelf, buyer):
    """A lot that a buyer has reserved some of is recalled, and both sides are told."""
    product = shelf.product(tracking="lot")
    shelf.stock(product, 10, lot="L1", expiry=TODAY + timedelta(days=900))
    shelf.offer(product, to=[buyer])
    shelves.reserve(buyer, shelf, (product, 2))
    recall(shelf)
    walk(shelf)
    relay(shelf)
    relay(buyer)
    return rows(buyer)[0]


def test_recall_alerts_the_supplier_and_the_buyer(shelf, buyer, recalled):
    (own,) = rows(shelf)
    assert (own.type, own.severity, own.resource_type) == ("recall", "critical", "recall")
    assert (recalled.type, recalled.severity, recalled.resource_type) == ("recall", "critical", "recall_notice")
    assert "Set aside." in recalled.body
    assert shelf.tenant.name in recalled.body
    (shown,) = data(buyer.api.get(ALERTS))["items"]
    assert shown["recall_response"]["closed"] is False


def test_answer_to_a_recall_reaches_the_supplier_and_closes_both_alerts(shelf, buyer, recalled):
    path = f"{PATH}/{recalled.id}"
    seen = data(buyer.api.patch(path, json={"recall_response": {"quantity_found": 2, "note": "In the ward"}}))
    assert (seen["recall_response"]["quantity_found"], seen["closed_at"]) == (2, None)
    assert seen["acknowledged_at"] is not None
    assert [kind for kind, _, _ in facts(buyer)] == ["alert.raised", "alert.acknowledged"]
    ended = data(
        buyer.api.patch(path, json={"recall_response": {"quantity_disposed": 2, "closed": True}, "read": True})
    )
    assert ended["closed_at"] is not None
    assert ended["read_at"] is not None
    answers = facts(shelf, "lot.recall_answered")
    assert [one["quantity_found"] for _, _, one in answers] == [2, 2]
    assert answers[1][2]["closed"] is True
    relay(shelf)
    assert rows(shelf, OpenAlert) == rows(buyer, OpenAlert) == []
    assert [kind for kind, _, _ in facts(buyer)] == ["alert.raised", "alert.acknowledged"]
    sound(shelf, buyer)


def test_refused_answer_changes_nothing(shelf, buyer, recalled):
    path, before = f"{PATH}/{recalled.id}", state(shelf, buyer)
    answer = buyer.api.patch(
        path, json={"recall_response": {"quantity_found": 1, "quantity_disposed": 2}, "acknowledged": True}
    )
    assert answer.status_code == 400
    assert [one["field"] for one in answer.json()["errors"]] == ["recall_response.quantity_disposed"]
    answer = buyer.api.patch(path, json={"recall_response": {"closed": True}})
    assert [one["field"] for one in answer.json()["errors"]] == ["recall_response.quantity_found"]
    answer = buyer.api.patch(path, json={"recall_response": {}})
    assert [(one["field"], one["code"]) for one in answer.json()["errors"]] == [("recall_response", "required")]
    (own,) = rows(shelf)
    answer = shelf.api.patch(f"{PATH}/{own.id}", json={"recall_response": {"quantity_found": 1}})
    assert [(one["field"], one["code"]) for one in answer.json()["errors"]] == [("recall_response", "not_a_recall")]
    assert state(shelf, buyer) == before


def test_finished_answer_is_corrected_and_not_taken_back(shelf, buyer, recalled):
    path = f"{PATH}/{recalled.id}"
    data(buyer.api.patch(path, json={"recall_response": {"quantity_found": 2, "closed": True}}))
    before = state(shelf, buyer)
    answer = buyer.api.patch(path, json={"recall_response": {"closed": False}})
    assert [(one["field"], one["code"]) for one in answer.json()["errors"]] == [("recall_response.closed", "invalid")]
    assert state(shelf, buyer) == before
    seen = data(buyer.api.patch(path, json={"recall_response": {"quantity_found": 3}}))
    assert (seen["recall_response"]["quantity_found"], seen["recall_response"]["closed"]) == (3, True)
    sound(shelf, buyer)


def test_withdrawn_recall_closes_the_alerts_and_takes_no_answer(shelf, buyer, recalled):
    assert change(shelf, status="quarantined").status_code == 200
    walk(shelf)
    relay(shelf)
    relay(buyer)
    assert rows(shelf, OpenAlert) == rows(buyer, OpenAlert) == []
    assert len(rows(shelf)) == len(rows(buyer)) == 1
    before = state(shelf, buyer)
    refused(
        buyer.api.patch(f"{PATH}/{recalled.id}", json={"recall_response": {"quantity_found": 1}}),
        409,
        "invalid_transition",
    )
    assert state(shelf, buyer) == before
