"""What a hospital receives: counters, its stock, the supplier's copies, and what is refused."""

from tests.suppliers.deliveries.receiving.arrivals import PATH, Dock
from tests.suppliers.inventory.shelf import refused


def test_a_receipt_counts_fills_the_shelf_and_tells_both(dock: Dock) -> None:
    order = dock.order()
    delivery = dock.ship(order, {"units": 100, "lot": "L1"})
    made = dock.receive(delivery, {"accepted_quantity": 60, "rejected_quantity": 10, "rejection_reason": "damaged"})
    assert made["lines"][0] | {"accepted": 60, "rejected": 10, "short": 0, "lot_number": "L1"} == made["lines"][0]
    assert dock.counted(delivery) == [(60, 10, 0)]
    assert dock.ordered() == [(100, 60, 10, 0)]
    assert (dock.delivery(delivery).status, dock.on_hand()) == ("partially_received", [("L1", 60)])
    dock.receive(delivery, {"accepted_quantity": 20, "short_quantity": 10})
    assert dock.counted(delivery) == [(80, 10, 10)]
    row = dock.delivery(delivery)
    assert (row.status, row.completed_at is not None, dock.on_hand()) == ("completed", True, [("L1", 80)])
    for side in (dock.buyer, dock.shelf):
        assert [one.type for one in dock.facts(side)] == [
            "delivery.received",
            "delivery.received",
            "delivery.completed",
        ]
        assert {one.data["by"] for one in dock.facts(side)} == {"buyer"}
    (first, _) = dock.copies()
    assert first.representation["lines"][0]["accepted"] == 60
    assert {"putaway", "received_by", "location_id"} & {*first.representation} == set()
    assert dock.copy(delivery).status == "completed"
    for api, alone in ((dock.clerk, True), (dock.shelf.api, False)):
        read = api.get(f"{PATH}/{delivery}")
        assert read.status_code == 200, read.content
        shown = read.json()["data"]["receipts"]
        assert [one["lines"][0]["accepted"] for one in shown] == [60, 20]
        assert {"putaway", "received_by", "location_id"} & {*shown[0]} == (
            {"putaway", "received_by", "location_id"} if alone else set()
        )
    refused(dock.post(delivery, {"accepted_quantity": 1}), 409, "delivery_completed")
    assert dock.trade.read(order["id"])["fulfilment_status"] == "partially_received"


def test_reversing_takes_counters_stock_and_state_back(dock: Dock) -> None:
    order = dock.order()
    delivery = dock.ship(order, {"units": 100, "lot": "L1"})
    first = dock.receive(delivery, {"accepted_quantity": 60, "rejected_quantity": 10, "rejection_reason": "damaged"})
    second = dock.receive(delivery, {"accepted_quantity": 30})
    assert dock.delivery(delivery).status == "completed"
    back = dock.receive(delivery, reverses=first["id"])
    assert (back["reverses"], back["lines"][0]["accepted"], back["lines"][0]["rejected"]) == (first["id"], 60, 10)
    assert (dock.counted(delivery), dock.ordered()) == ([(30, 0, 0)], [(100, 30, 0, 0)])
    row = dock.delivery(delivery)
    assert (row.status, row.completed_at, dock.on_hand()) == ("partially_received", None, [("L1", 30)])
    for wrong, reason in ((first, "already_reversed"), (back, "is_reversing")):
        body = refused(dock.post(delivery, reverses=wrong["id"]), 409, "receipt_not_reversible")
        assert body["reason"] == reason
    told = dock.facts(dock.shelf)[-1].data
    assert (told["reverses"], told["lines"][0]["accepted"], told["status"]) == (first["id"], -60, "partially_received")
    dock.receive(delivery, {"accepted_quantity": 70})
    assert (dock.counted(delivery), dock.on_hand()) == ([(100, 0, 0)], [("L1", 100)])
    dock.receive(delivery, reverses=second["id"])
    assert [one.status for one in dock.copies()] == ["recorded", "recorded", "reversing", "recorded", "reversing"]


def test_what_accepted_orders_still_bring_is_incoming(dock: Dock) -> None:
    def incoming() -> list[tuple[int, int]]:
        found = dock.clerk.get(f"/v1/inventory/availability?product_id={dock.vials['id']}")
        assert found.status_code == 200, found.content
        return [(one["on_hand"], one["incoming"]) for one in found.json()["data"]["items"]]

    ward = str(dock.trade.ward)
    keeping = {"location_id": ward, "code": "WARD", "tracks_stock": True}
    assert dock.clerk.post("/v1/inventory/locations", json=keeping).status_code == 201
    order = dock.order()
    delivery = dock.ship(order, {"units": 100, "lot": "L1"})
    given = {"accepted_quantity": 60, "rejected_quantity": 10, "rejection_reason": "damaged"}
    dock.receive(delivery, given, location_id=ward)
    assert incoming() == [(60, 40)]  # what was rejected is sent again
    second = dock.order()
    assert incoming() == [(60, 140)]
    dock.receive(delivery, {"accepted_quantity": 30}, location_id=ward)
    assert incoming() == [(90, 110)]
    cancelled = dock.buyer.api.post(f"/v1/purchase-orders/{second['id']}/cancel", json={"reason": "Enough"})
    assert cancelled.status_code == 200, cancelled.content
    assert incoming() == [(90, 10)]
