"""What is not taken back, not shipped, and not sold again: each refusal with its code, and nothing changed."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from core.clock import now, rfc3339
from core.db import tenant_context
from suppliers.catalog.models import Product
from suppliers.deliveries.models import DeliveryLine
from suppliers.inventory.models import Lot
from suppliers.returns.models import Return, ReturnLine
from tests import factories
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.notifications.test_messages import a_file
from tests.suppliers.returns.backs import PATH, Back, received


def faults(answer: Any, status: int, code: str) -> list[tuple[str, str]]:
    """Return the fields and codes of a refusal."""
    return [(one["field"], one["code"]) for one in refused(answer, status, code)["errors"]]


def test_a_request_names_what_the_buyer_has(back: Back) -> None:
    def asked(**changes: Any) -> Any:
        return back.api.post(PATH, json=back.body() | changes)

    line = back.body()["lines"][0]
    for changes, field, code in (
        ({"delivery_id": str(uuid4())}, "delivery_id", "unknown_delivery"),
        ({"purchase_order_id": str(uuid4())}, "purchase_order_id", "unknown_order"),
        ({"lines": [line | {"delivery_line_id": str(uuid4())}]}, "lines.0.delivery_line_id", "unknown_line"),
        ({"lines": [line, line]}, "lines.1.delivery_line_id", "duplicate"),
        ({"lines": [line | {"lot_number": "L9"}]}, "lines.0.lot_number", "unknown_lot"),
        ({"lines": [line | {"serial_numbers": ["A"]}]}, "lines.0.serial_numbers", "count_mismatch"),
        ({"file_ids": [str(uuid4())]}, "file_ids.0", "unknown_file"),
    ):
        assert (field, code) in faults(asked(**changes), 400, "validation_error")
    with tenant_context(back.dock.buyer.id):
        assert not Return.objects.filter(tenant_id=back.dock.buyer.id).exists()


def test_no_more_goes_back_than_was_received_over_all_returns(back: Back) -> None:
    assert faults(back.api.post(PATH, json=back.body(101)), 409, "return_exceeds_received") == [
        ("lines.0", "return_exceeds_received")
    ]
    back.request(60)
    refused(back.api.post(PATH, json=back.body(41)), 409, "return_exceeds_received")
    assert back.counted() == (60, 0)
    back.request(40)


def test_a_receipt_is_not_reversed_whose_goods_are_on_a_return(back: Back) -> None:
    back.request(10)
    receipt = back.dock.copies()[0]
    answer = back.dock.post(back.delivery, reverses=str(receipt.id))
    assert refused(answer, 409, "receipt_not_reversible")["reason"] == "returned"


def test_the_window_of_the_supplier_ends(back: Back) -> None:
    dock = back.dock
    dock.shelf.settle(return_window_days=10)
    old = rfc3339(now() - timedelta(days=11))
    delivery = dock.ship(dock.order(), {"units": 100, "lot": "L1"})
    dock.receive(delivery, {"accepted_quantity": 50}, received_at=old)
    answer = back.api.post(PATH, json=back.body(delivery=delivery))
    assert faults(answer, 409, "return_window_closed") == [("lines.0", "return_window_closed")]
    back.request(delivery=delivery, type="recall")
    dock.receive(delivery, {"accepted_quantity": 50})  # the last receipt of the line counts
    back.request(delivery=delivery)


def test_an_authorization_ends(back: Back) -> None:
    one = back.request()
    answer = back.act(one["id"], "authorize", valid_until="2020-01-01T00:00:00Z")
    assert faults(answer, 400, "validation_error") == [("valid_until", "in_past")]
    back.done(one["id"], "authorize", valid_until=rfc3339(now() + timedelta(days=1)))
    with tenant_context(back.dock.buyer.id):
        Return.objects.filter(tenant_id=back.dock.buyer.id, pk=one["id"]).update(valid_until=now() - timedelta(hours=1))
    refused(back.act(one["id"], "ship"), 409, "return_window_closed")


def test_goods_that_are_gone_are_not_shipped(back: Back) -> None:
    one = back.brought("authorized", 100)
    clerk = factories.as_member(back.dock.buyer.tenant, ["receiving_clerk"])
    with tenant_context(back.dock.buyer.id):
        lot = Lot.objects.get(tenant_id=back.dock.buyer.id)
    line = {
        "product_id": str(lot.product_id), "location_id": back.dock.place["location_id"], "lot_number": "L1",
        "mode": "delta", "quantity": -1, "reason_code": "damaged",
    }  # fmt: skip
    assert clerk.post("/v1/inventory/adjustments", json={"lines": [line]}).status_code == 201
    answer = back.act(one["id"], "ship")
    assert faults(answer, 409, "insufficient_stock") == [("lines.0.quantity", "insufficient_stock")]
    assert back.stored(one["id"])[0].status == "authorized"


def test_goods_are_set_apart_where_they_arrive(back: Back) -> None:
    one = back.brought("in_transit")
    hall = str(back.dock.shelf.places["hall"])
    for place, code in ((hall, "no_quarantine"), (str(uuid4()), "unknown_location")):
        answer = back.act(one["id"], "receive", location_id=place)
        assert faults(answer, 400, "validation_error") == [("location_id", code)]
    line = {"return_line_id": one["lines"][0]["id"], "quantity": 11, "unit": "base"}
    answer = back.act(one["id"], "receive", location_id=str(back.apart), lines=[line])
    assert faults(answer, 400, "validation_error") == [("lines.0.quantity", "more_than_sent")]
    later = rfc3339(now() + timedelta(hours=1))
    answer = back.act(one["id"], "receive", location_id=str(back.apart), received_at=later)
    assert faults(answer, 400, "validation_error") == [("received_at", "in_future")]
    assert back.stored(one["id"])[0].status == "in_transit"


def test_an_inspection_speaks_of_all_goods(back: Back) -> None:
    one = back.brought("received")
    hall = str(back.dock.shelf.places["hall"])
    for entries, code in (
        ([back.disposed(one, "quarantine", quantity=9)], "required"),
        ([back.disposed(one, "quarantine", quantity=11)], "more_than_returned"),
        ([back.disposed(one, "restock")], "required"),
        ([back.disposed(one, "restock", location_id=str(back.apart))], "not_for_sale"),
        ([back.disposed(one, "restock", location_id=str(uuid4()))], "unknown_location"),
        ([back.disposed(one, "quarantine", location_id=hall)], "invalid"),
        ([back.disposed(one, "destroy", witness=str(uuid4()))], "unknown_member"),
        ([back.disposed(one, "quarantine") | {"return_line_id": str(uuid4())}], "unknown_line"),
        ([back.disposed(one, "quarantine", file_ids=[str(uuid4())])], "unknown_file"),
    ):
        answer = back.act(one["id"], "inspect", lines=entries)
        assert code in [fault for _, fault in faults(answer, 400, "validation_error")]
    assert back.stored(one["id"])[0].status == "received"
    assert back.kept() == (90, 10)


@pytest.mark.parametrize("case", ["opened", "cold", "controlled", "recalled", "expired"])
def test_some_goods_are_not_sold_again(back: Back, case: str) -> None:
    shelf, hall = back.dock.shelf, str(back.dock.shelf.places["hall"])
    one = back.brought("received", condition="opened" if case == "opened" else "sealed")
    product = back.line().product_id
    with tenant_context(back.dock.buyer.id):
        mine = ReturnLine.objects.filter(tenant_id=back.dock.buyer.id, document_id=one["id"])
        mine.update(cold_chain=case == "cold")
    with tenant_context(shelf.id):
        if case == "controlled":
            Product.objects.filter(tenant_id=shelf.id, pk=product).update(controlled={"schedule": "II"})
        lots = Lot.objects.filter(tenant_id=shelf.id, product_id=product)
        if case == "recalled":
            for lot in lots:
                Lot.objects.filter(tenant_id=shelf.id, pk=lot.pk).update(status="recalled")
        if case == "expired":
            lots.update(expiry_date=now().date() - timedelta(days=2))
    answer = back.act(one["id"], "inspect", lines=[back.disposed(one, "restock", location_id=hall)])
    assert faults(answer, 409, "disposition_not_allowed") == [("lines.0.disposition", "disposition_not_allowed")]
    with tenant_context(back.dock.buyer.id):
        assert Return.objects.get(tenant_id=back.dock.buyer.id, pk=one["id"]).status == "received"
    assert back.kept() == (90, 10)


def test_controlled_goods_are_destroyed_before_a_witness(back: Back) -> None:
    one = back.brought("received")
    shelf, product = back.dock.shelf, back.line().product_id
    with tenant_context(shelf.id):
        Product.objects.filter(tenant_id=shelf.id, pk=product).update(controlled={"schedule": "II"})
    keeper, witness = (factories.member(shelf.tenant, ["supplier_admin"])[0] for _ in range(2))
    api = factories.Api(token=factories.bearer(keeper), tenant=shelf.tenant)
    for named in ({}, {"witness": str(keeper.id)}):
        answer = back.act(one["id"], "inspect", api=api, lines=[back.disposed(one, "destroy", **named)])
        assert faults(answer, 409, "witness_required") == [("lines.0.witness", "witness_required")]
    entries = [back.disposed(one, "destroy", witness=str(witness.id))]
    answer = back.act(one["id"], "inspect", api=api, lines=entries)
    assert answer.status_code == 200, answer.content
    assert str(witness.id) not in str(back.read(one["id"]))


def test_cold_goods_are_sold_again_with_the_record_of_their_logger(back: Back) -> None:
    delivery = received(back.dock, cold=True)
    with tenant_context(back.dock.buyer.id):
        assert DeliveryLine.objects.get(tenant_id=back.dock.buyer.id, delivery_id=delivery).cold_chain
    one = back.brought("received", delivery=delivery)
    entry = back.disposed(one, "restock", location_id=str(back.dock.shelf.places["hall"]))
    refused(back.act(one["id"], "inspect", lines=[entry]), 409, "disposition_not_allowed")

    record = a_file(back.dock.shelf.tenant, purpose="temperature_log")
    done = back.done(one["id"], "inspect", lines=[entry | {"file_ids": [record]}])

    assert (done["status"], done["lines"][0]["file_ids"]) == ("completed", [record])
    refused(back.supplier.delete(f"/v1/files/{record}"), 409, "file_bound")
    back.sound()
