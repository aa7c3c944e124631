"""Suspect goods and goods that were not kept cold: their lots are held back, whoever reports them and whenever they come."""

from typing import Any
from uuid import UUID

import pytest

from core.db import tenant_context
from ledger.public import Event
from suppliers.deliveries.models import DeliveryException
from suppliers.inventory.models import Lot, StockLevel
from suppliers.notifications.models import OpenAlert
from tests.suppliers.deliveries.receiving.arrivals import PATH, Dock
from tests.suppliers.notifications.inbox import relay


def lots(dock: Dock) -> dict[str, str]:
    """Return the states of the buyer's lots, by number."""
    with tenant_context(dock.buyer.id):
        return dict(Lot.objects.filter(tenant_id=dock.buyer.id).values_list("lot_number", "status"))


def held_back(dock: Dock) -> list[tuple[str, str, int]]:
    """Return what the buyer was told of lots that are held back: number, who, version."""
    with tenant_context(dock.buyer.id):
        found = Event.objects.filter(tenant_id=dock.buyer.id, type="lot.quarantined").order_by("occurred_at", "id")
        versions = dict(Lot.objects.filter(tenant_id=dock.buyer.id).values_list("id", "version"))
        return [(one.data["lot_number"], one.data["by"], versions[one.resource_id]) for one in found]


def untold(dock: Dock) -> list[bool]:
    """Return whether levels of the buyer wait to be told of."""
    with tenant_context(dock.buyer.id):
        return [*StockLevel.objects.filter(tenant_id=dock.buyer.id).values_list("is_untold", flat=True)]


def report(dock: Dock, order: dict[str, Any], delivery: UUID, by: str, **more: Any) -> Any:
    """Report suspect goods."""
    said = {"type": "suspect", "note": "Odd seal"} | more
    if by == "buyer":
        return dock.clerk.post(f"{PATH}/{delivery}/exceptions", json=said)
    return dock.shelf.api.patch(f"/v1/orders/{order['id']}/shipments/{delivery}", json={"exception": said})


def sent(dock: Dock, quantity: int = 100) -> tuple[dict[str, Any], UUID]:
    """Let an order leave by the supplier's own request."""
    order = dock.order()
    with tenant_context(dock.shelf.id):
        where = StockLevel.objects.filter(tenant_id=dock.shelf.id).values_list("location_id", flat=True)[0]
    return order, dock.send(order, str(where), quantity=quantity, lot_number="L1")


@pytest.mark.parametrize("by", ["buyer", "supplier"])
def test_lots_of_suspect_goods_are_held_back_whoever_reports_them(dock: Dock, by: str) -> None:
    order, delivery = sent(dock)
    dock.receive(delivery, {"accepted_quantity": 60})
    assert lots(dock) == {"L1": "released"}

    answer = report(dock, order, delivery, by)

    assert answer.status_code in (200, 201), answer.content
    assert (lots(dock), untold(dock)) == ({"L1": "quarantined"}, [True])
    assert held_back(dock) == [("L1", by, 2)]
    for side in (dock.buyer, dock.shelf):
        relay(side.tenant)
        with tenant_context(side.id):
            (alert,) = OpenAlert.objects.filter(tenant_id=side.id, type="suspect_goods")
        assert alert.resource_id == str(delivery)
    dock.lines(delivery)


def test_a_lot_that_the_buyer_has_confirmed_in_place_of_the_shipped_one_is_held_back_too(dock: Dock) -> None:
    order, delivery = sent(dock)
    dock.receive(delivery, {"accepted_quantity": 60, "lot_number": "L9"}, confirm_difference=True)

    assert report(dock, order, delivery, "supplier").status_code == 200

    assert (lots(dock), held_back(dock)) == ({"L9": "quarantined"}, [("L9", "supplier", 2)])


@pytest.mark.parametrize("by", ["buyer", "supplier"])
def test_suspect_goods_that_come_later_are_held_back_when_they_come(dock: Dock, by: str) -> None:
    order, delivery = sent(dock)
    assert report(dock, order, delivery, by).status_code in (200, 201)
    assert (lots(dock), held_back(dock)) == ({}, [])

    made = dock.receive(delivery, {"accepted_quantity": 60})

    assert made["lines"][0]["is_quarantined"] is True
    assert (lots(dock), held_back(dock)) == ({"L1": "quarantined"}, [("L1", "buyer", 2)])
    assert "is_quarantined" not in dock.copies()[0].representation["lines"][0]
    dock.lines(delivery)


def test_a_report_of_other_lines_holds_nothing_of_this_one(dock: Dock) -> None:
    order = dock.order()
    delivery = dock.ship(order, {"units": 60, "lot": "L1"}, {"units": 40, "lot": "L2"})
    answer = report(dock, order, delivery, "buyer", line_nos=[2])
    assert answer.status_code == 201, answer.content

    dock.receive(delivery, {"accepted_quantity": 60}, {"line": 1, "accepted_quantity": 40})

    assert lots(dock) == {"L1": "released", "L2": "quarantined"}


def test_a_supplier_s_report_tells_of_the_lines_that_it_concerns(dock: Dock) -> None:
    order = dock.order()
    delivery = dock.ship(order, {"units": 60, "lot": "L1"}, {"units": 40, "lot": "L1"})
    path = f"/v1/procurement/deliveries/{delivery}/exceptions"
    assert dock.clerk.post(path, json={"type": "damaged", "line_nos": [2]}).status_code == 201

    (told,) = [one for one in dock.facts(dock.shelf) if one.type == "delivery.exception_reported"]
    assert [one["line_no"] for one in told.data["lines"]] == [2]


def test_goods_that_were_too_warm_and_all_rejected_are_reported(dock: Dock) -> None:
    delivery = dock.ship(dock.order(), {"units": 100, "lot": "L1", "cold": True}, cold_chain=True)

    made = dock.receive(
        delivery, {"rejected_quantity": 100, "rejection_reason": "temperature_excursion"}, temperature_ok=False
    )

    assert made["lines"][0]["is_quarantined"] is False
    with tenant_context(dock.buyer.id):
        (found,) = DeliveryException.objects.filter(tenant_id=dock.buyer.id, delivery_id=delivery)
    assert (found.type, found.line_nos, lots(dock)) == ("temperature_excursion", [1], {})
    for side in (dock.buyer, dock.shelf):
        relay(side.tenant)
        with tenant_context(side.id):
            assert OpenAlert.objects.filter(tenant_id=side.id, type="temperature_excursion").count() == 1


def test_spoiled_goods_without_a_place_apart_are_told_of_as_held_back(dock: Dock) -> None:
    delivery = dock.ship(dock.order(), {"units": 100, "lot": "L1", "cold": True}, cold_chain=True)

    dock.receive(delivery, {"accepted_quantity": 30}, temperature_ok=False)

    assert (lots(dock), held_back(dock), untold(dock)) == ({"L1": "quarantined"}, [("L1", "buyer", 2)], [True])
