"""Files that shipments, receipts and exceptions hand over: the author's own, ready and not private; they stay as evidence."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from core.db import tenant_context
from suppliers.files.models import FileBinding
from suppliers.inventory.models import StockLevel
from tests import factories
from tests.suppliers.deliveries.receiving import arrivals
from tests.suppliers.deliveries.receiving.arrivals import PATH, Dock
from tests.suppliers.deliveries.receiving.test_managed import managed, received
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.notifications.test_messages import a_file

WRONG = [
    ({"visibility": "private"}, "file_private"),
    ({"status": "scanning"}, "file_not_ready"),
    (None, "unknown_file"),
]


@pytest.fixture
def quay() -> Dock:
    """A dock whose supplier ships by its own requests."""
    return arrivals.dock()


def bound(side: Any) -> set[tuple[str, str, UUID]]:
    """Return what the files of a side are bound to."""
    with tenant_context(side.id):
        found = FileBinding.objects.filter(tenant_id=side.id)
        return {(str(one.file_id), one.resource_type, one.resource_id) for one in found}


def hall(dock: Dock) -> str:
    """Return where the supplier's vials lie."""
    with tenant_context(dock.shelf.id):
        return str(StockLevel.objects.filter(tenant_id=dock.shelf.id).values_list("location_id", flat=True)[0])


def shown(dock: Dock, delivery: UUID, side: str) -> dict[str, Any]:
    """Return a delivery as a side reads it."""
    api = dock.clerk if side == "buyer" else dock.shelf.api
    found: dict[str, Any] = api.get(f"{PATH}/{delivery}").json()["data"]
    return found


def test_files_of_receipts_are_shown_to_both_sides_and_stay(quay: Dock) -> None:
    photo, again = a_file(quay.buyer.tenant), a_file(quay.buyer.tenant)
    delivery = quay.ship(quay.order(), {"units": 60, "lot": "L1"}, {"units": 40, "lot": "L1"})

    made = quay.receive(
        delivery,
        {"accepted_quantity": 50, "rejected_quantity": 10, "rejection_reason": "damaged", "file_ids": [photo, again]},
        {"line": 1, "accepted_quantity": 10, "file_ids": [photo]},
    )

    assert [one["file_ids"] for one in made["lines"]] == [[photo, again], [photo]]
    for side in ("buyer", "supplier"):
        (receipt,) = shown(quay, delivery, side)["receipts"]
        assert [one["file_ids"] for one in receipt["lines"]] == [[photo, again], [photo]]
    assert bound(quay.buyer) == {(photo, "delivery", delivery), (again, "delivery", delivery)}
    owner = factories.as_member(quay.buyer.tenant, ["buyer"])
    refused(owner.delete(f"/v1/files/{photo}"), 409, "file_bound")


def test_files_of_exceptions_of_both_sides(quay: Dock) -> None:
    order = quay.order()
    delivery = quay.send(order, hall(quay), quantity=100)
    ours, theirs = a_file(quay.buyer.tenant), a_file(quay.shelf.tenant)

    told = quay.clerk.post(f"{PATH}/{delivery}/exceptions", json={"type": "damaged", "file_ids": [ours]})
    said = {"exception": {"type": "delayed", "file_ids": [theirs]}}
    answer = quay.shelf.api.patch(f"/v1/orders/{order['id']}/shipments/{delivery}", json=said)

    assert (told.status_code, answer.status_code) == (201, 200), (told.content, answer.content)
    for side in ("buyer", "supplier"):
        assert [one["file_ids"] for one in shown(quay, delivery, side)["exceptions"]] == [[ours], [theirs]]
    assert bound(quay.buyer) == {(ours, "delivery", delivery)}
    assert bound(quay.shelf) == {(theirs, "delivery", delivery)}
    quay.lines(delivery)


def test_files_of_a_shipment_are_those_of_the_delivery(quay: Dock) -> None:
    note, log = a_file(quay.shelf.tenant), a_file(quay.shelf.tenant)
    order = quay.order()
    path = f"/v1/orders/{order['id']}/shipments"
    line = {"order_line_id": quay.trade.read(order["id"])["lines"][0]["id"], "unit": "base", "quantity": 10}
    body = {"from_location_id": hall(quay), "lines": [line], "file_ids": [note]}

    draft = quay.shelf.api.post(path, json=body)
    assert (draft.status_code, draft.json()["data"]["file_ids"]) == (201, [note]), draft.content
    key = UUID(draft.json()["data"]["id"])
    assert bound(quay.shelf) == {(note, "delivery", key)}
    gone = quay.shelf.api.patch(f"{path}/{key}", json={"status": "in_transit"})
    assert (gone.status_code, gone.json()["data"]["file_ids"]) == (200, [note]), gone.content
    later = quay.shelf.api.patch(f"{path}/{key}", json={"file_ids": [note, log]})
    assert (later.status_code, later.json()["data"]["file_ids"]) == (200, [note, log]), later.content
    for side in ("buyer", "supplier"):
        assert shown(quay, key, side)["file_ids"] == [note, log]
    assert bound(quay.shelf) == {(note, "delivery", key), (log, "delivery", key)}
    quay.lines(key)


def test_a_receipt_of_a_managed_supplier_names_files(quay: Dock) -> None:
    order = managed(quay)
    photo, other = a_file(quay.buyer.tenant), a_file(quay.shelf.tenant)
    body = refused(received(quay, order, {"accepted_quantity": 1, "file_ids": [other]}), 400, "validation_error")
    assert body["errors"][0]["code"] == "unknown_file"
    answer = received(quay, order, {"accepted_quantity": 1, "file_ids": [photo]})
    assert (answer.status_code, answer.json()["data"]["lines"][0]["file_ids"]) == (201, [photo]), answer.content
    assert bound(quay.buyer) == {(photo, "delivery", UUID(answer.json()["data"]["delivery_id"]))}


@pytest.mark.parametrize(("made", "code"), WRONG)
def test_a_file_that_cannot_be_handed_over_is_refused(quay: Dock, made: dict | None, code: str) -> None:
    def key(side: Any) -> str:
        return str(uuid4()) if made is None else a_file(side.tenant, **made)

    order = quay.order()
    delivery = quay.send(order, hall(quay), quantity=50)
    path = f"/v1/orders/{order['id']}/shipments"
    line = {"order_line_id": quay.trade.read(order["id"])["lines"][0]["id"], "unit": "base", "quantity": 10}
    ours, theirs = key(quay.buyer), key(quay.shelf)
    before = (quay.counted(delivery), len(quay.facts(quay.buyer)), len(quay.facts(quay.shelf)))
    asked = {
        "lines.0.file_ids.0": quay.post(delivery, {"accepted_quantity": 5, "file_ids": [ours]}),
        "file_ids.0": quay.clerk.post(f"{PATH}/{delivery}/exceptions", json={"type": "damaged", "file_ids": [ours]}),
        "exception.file_ids.0": quay.shelf.api.patch(
            f"{path}/{delivery}", json={"exception": {"type": "delayed", "file_ids": [theirs]}}
        ),
    }
    for member, answer in asked.items():
        (error,) = refused(answer, 400, "validation_error")["errors"]
        assert (error["pointer"].strip("/").replace("/", "."), error["code"]) == (member, code)
    for body in ({"file_ids": [theirs]}, {"file_ids": [theirs], "dispatched_at": None}):
        answer = quay.shelf.api.post(path, json={"from_location_id": hall(quay), "lines": [line]} | body)
        assert refused(answer, 400, "validation_error")["errors"][0]["code"] == code
    assert (quay.counted(delivery), len(quay.facts(quay.buyer)), len(quay.facts(quay.shelf))) == before
    assert (bound(quay.buyer), bound(quay.shelf)) == (set(), set())


def test_a_file_of_the_other_side_or_one_twice_is_refused(quay: Dock) -> None:
    theirs, ours = a_file(quay.shelf.tenant), a_file(quay.buyer.tenant)
    delivery = quay.ship(quay.order(), {"units": 100, "lot": "L1"})
    for ids, code in (([theirs], "unknown_file"), ([ours, ours], "duplicate")):
        body = refused(quay.post(delivery, {"accepted_quantity": 5, "file_ids": ids}), 400, "validation_error")
        assert body["errors"][0]["code"] == code
