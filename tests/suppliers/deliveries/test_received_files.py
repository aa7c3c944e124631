"""Files that documents hand over: their contents are read by the other party from then on, and by nobody else."""

from typing import Any
from uuid import uuid4

import pytest

from core.db import tenant_context
from suppliers.files.models import FileBinding, ReceivedFile
from tests.factories import Api
from tests.procurement.purchasing.orders import PATH as ORDERS
from tests.procurement.purchasing.orders import Trade, act, submitted
from tests.suppliers.deliveries.receiving import arrivals
from tests.suppliers.deliveries.receiving.arrivals import PATH, Dock
from tests.suppliers.deliveries.receiving.test_managed import managed, received
from tests.suppliers.deliveries.test_files import hall
from tests.suppliers.files.conftest import folder  # noqa: F401  # the store of the tests
from tests.suppliers.files.samples import png, ready
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.notifications.test_messages import a_file
from tests.suppliers.orders.answers import seen
from tests.suppliers.returns import backs

FILES = "/v1/files"


@pytest.fixture
def quay() -> Dock:
    """A dock whose supplier ships by its own requests."""
    return arrivals.dock()


def sees(api: Api, key: str) -> bool:
    """Tell whether a tenant may read a file; what it may not see is not there."""
    answer = api.get(f"{FILES}/{key}")
    if answer.status_code == 200:
        return True
    refused(answer, 404, "not_found")
    return False


def content(url: str) -> Any:
    """Read what a link shows; None where it shows nothing any more."""
    answer = Api().client.get(url)
    if answer.status_code != 200:
        return None
    whole = b"".join(answer.streaming_content)
    answer.close()
    return whole


def shipment(quay: Dock, order: dict[str, Any], **more: Any) -> Any:
    """Ask for a shipment of ten units."""
    line = {"order_line_id": quay.trade.read(order["id"])["lines"][0]["id"], "unit": "base", "quantity": 10}
    body = {"from_location_id": hall(quay), "lines": [line]} | more
    return quay.shelf.api.post(f"/v1/orders/{order['id']}/shipments", json=body)


def test_a_shipment_s_file_is_read_once_it_has_left(quay: Dock) -> None:
    note, whole, stranger = uuid4(), png(), shelves.buyer()
    note = ready(quay.shelf.api, whole, visibility="counterparty", title="Delivery note")["id"]
    order = quay.order()
    draft = shipment(quay, order, file_ids=[note]).json()["data"]
    assert seen(quay.trade, order["id"])["shipments"][0]["file_ids"] == [note]
    assert not sees(quay.buyer.api, note)

    path = f"/v1/orders/{order['id']}/shipments/{draft['id']}"
    left = quay.shelf.api.patch(path, json={"status": "in_transit"})
    assert (left.status_code, left.json()["data"]["file_ids"]) == (200, [note]), left.content

    answer = quay.buyer.api.get(f"{FILES}/{note}")
    shown = answer.json()["data"]
    own = quay.shelf.api.get(f"{FILES}/{note}").json()["data"]
    kept = ("id", "name", "purpose", "content_type", "size", "sha256", "title", "visibility", "status", "expires_on")
    assert {name: shown[name] for name in kept} == {name: own[name] for name in kept}
    assert (shown["bindings"], shown["rejection_reason"]) == ([], None)
    assert content(shown["content_url"]) == whole
    assert quay.buyer.api.get(f"{FILES}/{note}", headers={"If-None-Match": answer.headers["ETag"]}).status_code == 304
    assert quay.buyer.api.get(f"{FILES}/{note}?fields=name").json()["data"] == {"id": note, "name": shown["name"]}
    assert not sees(stranger.api, note)
    assert [one["id"] for one in quay.buyer.api.get(FILES).json()["data"]["items"]] == []
    for asked in (
        quay.buyer.api.patch(f"{FILES}/{note}", json={"title": "Ours"}),
        quay.buyer.api.delete(f"{FILES}/{note}"),
    ):
        refused(asked, 404, "not_found")
    refused(quay.shelf.api.patch(f"{FILES}/{note}", json={"visibility": "private"}), 409, "file_bound")


def test_files_of_receipts_and_of_both_sides_exceptions(quay: Dock) -> None:
    order = quay.order()
    delivery = quay.send(order, hall(quay), quantity=100)
    photo, report, excuse, later = (
        a_file(side.tenant) for side in (quay.buyer, quay.buyer, quay.shelf, quay.shelf)
    )  # fmt: skip
    assert not any(sees(quay.shelf.api, one) for one in (photo, report))

    quay.receive(delivery, {"accepted_quantity": 50, "file_ids": [photo]})
    told = quay.clerk.post(f"{PATH}/{delivery}/exceptions", json={"type": "damaged", "file_ids": [report]})
    path = f"/v1/orders/{order['id']}/shipments/{delivery}"
    said = quay.shelf.api.patch(path, json={"exception": {"type": "delayed", "file_ids": [excuse]}})
    more = quay.shelf.api.patch(path, json={"file_ids": [later]})

    assert (told.status_code, said.status_code, more.status_code) == (201, 200, 200)
    assert all(sees(quay.shelf.api, one) for one in (photo, report))
    assert all(sees(quay.buyer.api, one) for one in (excuse, later))
    quay.receive(delivery, {"accepted_quantity": 1, "file_ids": [photo]})  # once more: it is there already
    with tenant_context(quay.shelf.id):
        rows = ReceivedFile.objects.filter(tenant_id=quay.shelf.id)
        assert {(str(one.file_id), one.owner_tenant_id) for one in rows} == {
            (photo, quay.buyer.id), (report, quay.buyer.id),
        }  # fmt: skip


def test_nothing_is_handed_over_by_what_is_refused_or_to_a_supplier_that_reads_nothing(quay: Dock) -> None:
    delivery = quay.ship(quay.order(), {"units": 10, "lot": "L1"})
    photo = a_file(quay.buyer.tenant)
    assert quay.post(delivery, {"accepted_quantity": 11, "file_ids": [photo]}).status_code == 409
    assert not sees(quay.shelf.api, photo)

    order = managed(quay)
    assert received(quay, order, {"accepted_quantity": 1, "file_ids": [photo]}).status_code == 201
    with tenant_context(order["supplier_id"]):
        assert not ReceivedFile.objects.filter(tenant_id=order["supplier_id"]).exists()


def test_what_became_unfit_in_a_prepared_shipment_does_not_leave(quay: Dock) -> None:
    note = a_file(quay.shelf.tenant)
    order = quay.order()
    draft = shipment(quay, order, file_ids=[note]).json()["data"]
    refused(quay.shelf.api.patch(f"{FILES}/{note}", json={"visibility": "private"}), 409, "file_bound")
    with tenant_context(quay.shelf.id):
        FileBinding.objects.filter(tenant_id=quay.shelf.id).delete()
    assert quay.shelf.api.patch(f"{FILES}/{note}", json={"visibility": "private"}).status_code == 200

    path = f"/v1/orders/{order['id']}/shipments/{draft['id']}"
    body = refused(quay.shelf.api.patch(path, json={"status": "in_transit"}), 400, "validation_error")
    assert [(one["pointer"], one["code"]) for one in body["errors"]] == [("/file_ids/0", "file_private")]
    assert not sees(quay.buyer.api, note)
    assert quay.shelf.api.patch(path, json={"status": "in_transit", "file_ids": []}).status_code == 200


def test_an_order_s_files_are_read_once_it_is_sent(quay: Dock) -> None:
    trade = quay.trade
    plan, photo, other = (a_file(quay.buyer.tenant, name=f"{number}.png") for number in range(3))
    draft = trade.draft((trade.gloves, 10), file_ids=[plan, photo])
    assert [one["id"] for one in draft["files"]] == [plan, photo]

    changed = trade.api.patch(f"{ORDERS}/{draft['id']}", json={"file_ids": [plan, other]})
    assert changed.status_code == 200, changed.content
    data = changed.json()["data"]
    assert ([one["name"] for one in data["files"]], data["revision"]) == (["0.png", "2.png"], 2)
    refused(trade.api.delete(f"{FILES}/{other}"), 409, "file_bound")
    assert trade.api.delete(f"{FILES}/{photo}").status_code == 204  # the draft names it no more
    refused(trade.api.patch(f"{FILES}/{plan}", json={"visibility": "private"}), 409, "file_bound")
    refused(trade.api.patch(f"{FILES}/{plan}", json={"bindings": []}), 409, "file_bound")
    assert not sees(trade.shelf.api, plan)

    assert act(trade, draft["id"], "submit").status_code == 200

    assert seen(trade, draft["id"])["files"] == trade.read(draft["id"])["files"] == data["files"]
    assert all(sees(trade.shelf.api, one) for one in (plan, other))
    assert not sees(shelves.shelf().api, plan)
    trade.stored()


def test_files_that_an_order_cannot_hand_over(quay: Dock) -> None:
    trade = quay.trade
    for made, code in (
        (a_file(quay.buyer.tenant, visibility="private"), "file_private"),
        (a_file(quay.buyer.tenant, status="scanning"), "file_not_ready"),
        (a_file(quay.shelf.tenant), "unknown_file"),
    ):
        body = refused(trade.api.post(ORDERS, json=trade.body(file_ids=[made])), 400, "validation_error")
        assert [(one["pointer"], one["code"]) for one in body["errors"]] == [("/file_ids/0", code)]
    again = submitted(trade, file_ids=[])
    copy = trade.draft(copy_of=again["id"])
    assert (again["files"], copy["files"]) == ([], [])


def test_a_message_s_files_are_read_by_its_receiver(quay: Dock) -> None:
    trade: Trade = quay.trade
    order, photo = submitted(trade), a_file(quay.buyer.tenant)
    body = {"resource": {"type": "order", "id": order["id"]}, "body": "See the photo", "file_ids": [photo]}
    assert trade.api.post("/v1/notifications", json=body).status_code == 201
    assert sees(trade.shelf.api, photo)
    assert not sees(shelves.shelf().api, photo)


def test_files_of_a_return_s_request_and_inspection() -> None:
    back = backs.back()
    buyer, supplier = back.dock.buyer, back.dock.shelf
    photo, proof = a_file(buyer.tenant), a_file(supplier.tenant)
    one = back.request(10, file_ids=[photo])
    assert sees(supplier.api, photo)

    for action, body in (("authorize", {}), ("ship", {}), ("receive", {"location_id": str(back.apart)})):
        back.done(one["id"], action, **body)
    assert not sees(buyer.api, proof)
    back.done(one["id"], "inspect", lines=[back.disposed(one, "quarantine", file_ids=[proof])])

    assert sees(buyer.api, proof)
    assert not any(sees(shelves.shelf().api, key) for key in (photo, proof))
    back.sound()
