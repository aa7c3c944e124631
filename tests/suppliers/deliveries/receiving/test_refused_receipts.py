"""What a receipt refuses: more than was shipped, other lots, units and places, and goods nobody has kept cold."""

from datetime import timedelta
from uuid import uuid4

import pytest

from core.clock import now, rfc3339
from core.db import tenant_context
from suppliers.deliveries.models import Delivery
from tests import factories
from tests.procurement.purchasing import orders
from tests.suppliers.deliveries.receiving import arrivals
from tests.suppliers.deliveries.receiving.arrivals import EXPIRY, PATH, Dock
from tests.suppliers.inventory.shelf import refused


def tolerate(dock: Dock, points: int) -> None:
    """Let the buyer receive more than was shipped."""
    admin = factories.as_member(dock.buyer.tenant)
    answer = admin.patch(
        f"/v1/tenants/{dock.buyer.id}/configuration", json={"policies": {"over_receipt_tolerance_bp": points}}
    )
    assert answer.status_code == 200, answer.content


def test_more_than_was_shipped_names_each_line(dock: Dock) -> None:
    delivery = dock.ship(dock.order(), {"units": 60, "lot": "L1"}, {"units": 40, "lot": "L1"})
    body = refused(
        dock.post(delivery, {"accepted_quantity": 50, "short_quantity": 11}, {"line": 1, "accepted_quantity": 40}),
        409, "over_receipt",
    )  # fmt: skip
    assert [one["code"] for one in body["errors"]] == ["over_receipt"]
    assert "/lines/0" in str(body["errors"])
    assert dock.counted(delivery) == [(0, 0, 0), (0, 0, 0)]
    assert dock.on_hand() == []


def test_the_policy_admits_some_more_and_the_order_counts_it(dock: Dock) -> None:
    tolerate(dock, 500)
    delivery = dock.ship(dock.order(), {"units": 100, "lot": "L1"})
    refused(dock.post(delivery, {"accepted_quantity": 106}), 409, "over_receipt")
    first = dock.receive(delivery, {"accepted_quantity": 2})
    dock.receive(delivery, {"accepted_quantity": 103})
    assert (dock.counted(delivery), dock.ordered()) == ([(105, 0, 0)], [(100, 105, 0, 0)])
    dock.receive(delivery, reverses=first["id"])
    assert (dock.counted(delivery), dock.delivery(delivery).status) == ([(103, 0, 0)], "completed")


def test_another_lot_or_date_needs_to_be_confirmed_and_stays_on_the_line(dock: Dock) -> None:
    delivery = dock.ship(dock.order(), {"units": 100, "lot": "L1"})
    for other in ({"lot_number": "L9"}, {"expiry_date": "2030-05-31"}):
        refused(dock.post(delivery, {"accepted_quantity": 10, **other}), 409, "lot_mismatch")
    same = dock.receive(delivery, {"accepted_quantity": 10, "lot_number": "L1", "expiry_date": EXPIRY.isoformat()})
    other = dock.receive(
        delivery, {"accepted_quantity": 10, "lot_number": "L9", "expiry_date": "2030-05-31"}, confirm_difference=True
    )
    assert [one["lines"][0]["differs"] for one in (same, other)] == [False, True]
    assert dock.on_hand() == [("L1", 10), ("L9", 10)]
    refused(
        dock.post(delivery, {"accepted_quantity": 1, "expiry_date": "2030-05-31"}, confirm_difference=True),
        409, "lot_conflict",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("line", "field", "code"),
    [
        ({"accepted_quantity": 0}, "accepted_quantity", "required"),
        ({"accepted_quantity": 1, "rejected_quantity": 1}, "rejection_reason", "required"),
        ({"accepted_quantity": 1, "rejection_reason": "damaged"}, "rejection_reason", "invalid"),
        ({"accepted_quantity": -1}, "accepted_quantity", "min_value"),
        ({"accepted_quantity": 1, "scan": "99X"}, "scan", "invalid_scan"),
        ({"accepted_quantity": 1, "delivery_line_id": str(uuid4())}, "delivery_line_id", "unknown_line"),
    ],
)
def test_bad_lines_are_refused(dock: Dock, line: dict, field: str, code: str) -> None:
    delivery = dock.ship(dock.order(), {"units": 100, "lot": "L1"})
    body = refused(dock.post(delivery, line), 400, "validation_error")
    assert field in str(body["errors"])
    assert [one["code"] for one in body["errors"]] == [code]


def test_bad_receipts_are_refused(dock: Dock) -> None:
    delivery = dock.ship(dock.order(), {"units": 100, "lot": "L1"})
    line = {"accepted_quantity": 1}
    for changes, code in (
        ({"location_id": str(uuid4())}, "unknown_location"),
        ({"received_at": rfc3339(now() + timedelta(hours=1))}, "in_future"),
        ({"received_at": None}, "required"),
    ):
        body = refused(dock.post(delivery, line, **changes), 400, "validation_error")
        assert [one["code"] for one in body["errors"]] == [code]
    body = refused(dock.post(delivery, line, line), 400, "validation_error")
    assert [one["code"] for one in body["errors"]] == ["duplicate"]
    refused(dock.post(delivery, reverses=str(uuid4())), 400, "validation_error")
    refused(dock.post(uuid4(), reverses=str(uuid4())), 404, "not_found")


def test_a_lost_delivery_is_received_no_more(dock: Dock) -> None:
    delivery = dock.ship(dock.order(), {"units": 100, "lot": "L1"})
    body = dock.body(delivery, {"accepted_quantity": 1})
    with tenant_context(dock.buyer.id):
        Delivery.objects.filter(tenant_id=dock.buyer.id, pk=delivery).update_versions(
            status="lost", lost_at=now(), at=now()
        )
    found = refused(dock.clerk.post(f"{PATH}/{delivery}/receipts", json=body), 409, "invalid_transition")
    assert (found["from"], found["action"]) == ("lost", "receipts")


def test_only_the_buyer_receives_with_the_scope_and_within_its_places(dock: Dock) -> None:
    delivery = dock.ship(dock.order(), {"units": 100, "lot": "L1"})
    other = orders.ward(dock.buyer, "Elsewhere")
    body = {"accepted_quantity": 1}
    person, _ = factories.member(dock.buyer.tenant, ["receiving_clerk"], location_ids=[other])
    apart = factories.Api(token=factories.bearer(person), tenant=dock.buyer.tenant)
    refused(dock.post(delivery, body, api=apart), 404, "not_found")
    reader = factories.as_member(dock.buyer.tenant, ["approver"])
    refused(dock.post(delivery, body, api=reader), 403, "insufficient_scope")
    refused(dock.post(delivery, body, api=dock.shelf.api), 403, "insufficient_scope")
    refused(dock.post(delivery, body, api=arrivals.shelves.buyer(roles=("receiving_clerk",)).api), 404, "not_found")
