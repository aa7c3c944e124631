"""A managed supplier is merged: the supplier on the platform reads and goes on with what the buyer has bought of the other."""

from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from core.clock import now, rfc3339
from core.db import tenant_context
from core.row_security import security_of, tenant_models
from ledger.public import Event
from organizations.models import Tenant
from suppliers.analytics.models import RollUp
from suppliers.files.models import ReceivedFile
from suppliers.orders.models import PriceTrace, PurchaseOrder, ReceivedOrder
from suppliers.orders.number_models import DocumentNumber
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.invoices.bills import PATH as INVOICES
from tests.suppliers.invoices.bills import Desk
from tests.suppliers.merging.village import ORDERS, Village, found, village
from tests.suppliers.orders.proof.parties import asked
from tests.suppliers.payments.tills import PATH as PAYMENTS
from tests.suppliers.returns.backs import PATH as RETURNS

DELIVERIES = "/v1/procurement/deliveries"


@pytest.fixture
def shop(desk: Desk) -> Village:
    made = village(desk)
    made.live()
    return made


def ids(answer: Any) -> set[str]:
    assert answer.status_code == 200, answer.content
    data = answer.json()["data"]
    return {one["id"] for one in (data["items"] if isinstance(data, dict) else data)}


def test_the_supplier_reads_all_that_was_handed_over(shop: Village) -> None:
    counted = shop.merge()

    assert counted.counts == {
        "orders": 4, "deliveries": 1, "receipts": 1, "invoices and credit notes": 1, "payments": 1, "returns": 1,
        "ended price agreements": 0, "drafts of price agreements": 0,
    }  # fmt: skip
    shop.sound()
    api, made = shop.real.api, shop.made
    sent = {made[name]["id"] for name in ("open", "fresh", "cancelled")}
    assert ids(api.get("/v1/orders")) >= sent
    assert made["draft"]["id"] not in ids(api.get("/v1/orders"))
    for name in ("open", "fresh", "cancelled"):
        read = found(api.get(f"/v1/orders/{made[name]['id']}"), 200)
        assert (read["po_number"], read["buyer_id"]) == (made[name]["po_number"], str(shop.buyer.id))
    assert api.get(f"/v1/orders/{made['draft']['id']}").status_code == 404
    for path, key in (
        (DELIVERIES, made["receipt"]["delivery_id"]), (INVOICES, made["invoice"]["id"]),
        (PAYMENTS, made["payment"]["id"]), (RETURNS, made["return"]["id"]),
    ):  # fmt: skip
        assert key in ids(api.get(path)), path
        assert found(api.get(f"{path}/{key}"), 200)["id"] == key


def test_the_buyer_reads_the_supplier_in_its_documents(shop: Village) -> None:
    before = {name: shop.desk.dock.trade.read(shop.made[name]["id"]) for name in ("open", "draft")}
    shop.merge()

    real = str(shop.real.id)
    for old in before.values():
        read = shop.desk.dock.trade.read(old["id"])
        assert (read["id"], read["po_number"], read["supplier_id"]) == (old["id"], old["po_number"], real)
        assert read["supplier_name"] == Tenant.objects.get(pk=real).name
        assert read["version"] > old["version"]
    assert shop.desk.read(shop.made["invoice"])["supplier_id"] == real
    api = shop.buyer.api
    assert ids(api.get(f"{ORDERS}?supplier_id={real}")) >= {shop.made[name]["id"] for name in before}
    assert ids(api.get(f"{ORDERS}?supplier_id={shop.id}")) == set()
    word = shop.made["open"]["po_number"]
    assert ids(api.get(f"{ORDERS}?search={word}&supplier_id={real}")) == {shop.made["open"]["id"]}


def test_only_the_past_names_the_managed_supplier(shop: Village) -> None:
    shop.merge()

    naming = set()
    for tenant_id in (shop.buyer.id, shop.real.id):
        with tenant_context(tenant_id), connection.cursor() as cursor:
            for model in tenant_models():
                table, column = model._meta.db_table, security_of(model).tenant_column
                asked = f'SELECT count(*) FROM "{table}" t WHERE t."{column}" = %s AND t::text LIKE %s'
                cursor.execute(asked, [tenant_id, f"%{shop.id}%"])
                if cursor.fetchone()[0]:
                    naming.add(table)
    assert naming == {
        "ledger_event", "webhooks_event", "webhooks_event_new", "webhooks_resource_sequence", "suppliers_managedsupplier",
    }  # fmt: skip


def test_orders_have_new_numbers_and_invoices_keep_theirs(shop: Village) -> None:
    own = shop.desk.ordered()

    shop.merge()

    with tenant_context(shop.real.id):
        held = DocumentNumber.objects.filter(tenant_id=shop.real.id).order_by("kind", "sequence")
        numbers = {(one.kind, str(one.document_id)): one.number for one in held}
    orders = [numbers["order", shop.made[name]["id"]] for name in ("open", "fresh", "cancelled")]
    assert orders == [f"SO-{number:06}" for number in (2, 3, 4)]
    assert numbers["order", own["id"]] == "SO-000001"
    assert numbers["invoice", shop.made["invoice"]["id"]] == "2026-1"
    with tenant_context(shop.id):
        assert not DocumentNumber.objects.filter(tenant_id=shop.id).exists()
    read = shop.desk.dock.trade.read(shop.made["open"]["id"])
    assert read["order_number"] == "SO-000002"
    assert shop.desk.read(shop.made["invoice"])["order_number"] == "SO-000002"
    assert shop.desk.ordered()["order_number"] == "SO-000005"


def test_copies_are_as_old_as_their_documents_and_nobody_is_told_of_them(shop: Village) -> None:
    with tenant_context(shop.real.id):
        before = set(Event.objects.filter(tenant_id=shop.real.id).values_list("id", flat=True))
    started = now()

    shop.merge()

    with tenant_context(shop.buyer.id):
        sent = dict(
            PurchaseOrder.objects.filter(tenant_id=shop.buyer.id, sent_at__isnull=False).values_list("id", "sent_at")
        )
    with tenant_context(shop.real.id):
        copies = ReceivedOrder.objects.filter(tenant_id=shop.real.id, id__in=sent)
        assert {one.id: one.received_at for one in copies} == sent
        assert all(one.updated_at >= started for one in copies)
        assert PriceTrace.objects.filter(tenant_id=shop.real.id, id__in=sent).count() == 3
        assert set(Event.objects.filter(tenant_id=shop.real.id).values_list("id", flat=True)) == before
        kinds = set(RollUp.objects.filter(tenant_id=shop.real.id, document_id__in=sent).values_list("kind", flat=True))
    assert "ordered" in kinds


def test_files_of_the_documents_are_handed_over(shop: Village) -> None:
    shop.merge()

    with tenant_context(shop.real.id):
        files = {
            str(one) for one in ReceivedFile.objects.filter(tenant_id=shop.real.id).values_list("file_id", flat=True)
        }
    named = {one["id"] for one in shop.desk.dock.trade.read(shop.made["open"]["id"])["files"]}
    assert named | set(shop.made["invoice"]["file_ids"]) <= files
    assert len(files) == 3
    for key in files:
        assert shop.real.api.get(f"/v1/files/{key}").status_code == 200


def test_the_supplier_goes_on_with_an_open_order(shop: Village) -> None:
    shop.merge()
    api, order = shop.real.api, shop.made["fresh"]
    line = order["lines"][0]["id"]

    given = {"order_line_id": line, "quantity": 15, "unit": "base", "lot_number": "C-7", "expiry_date": "2031-01-31"}
    body = {"from_location_id": str(shop.real.places["hall"]), "dispatched_at": rfc3339(now()), "lines": [given]}
    shipment = found(api.post(f"/v1/orders/{order['id']}/shipments", json=body), 201)

    (held,) = shop.desk.dock.lines(UUID(shipment["id"]))
    assert (held.base_quantity, held.lot_number, held.lot_id, held.product_id) == (15, "C-7", None, None)
    refused(shop.asked_receipt(order, 1), 403, "counterparty_only")
    shop.desk.dock.receive(UUID(shipment["id"]), {"accepted_quantity": 15})
    read = shop.desk.dock.trade.read(order["id"])
    bill = shop.desk.issue(read, 15)
    assert shop.desk.read(bill)["status"] == "matched"
    shop.desk.did(bill, "approve")
    paid = {
        "supplier_id": str(shop.real.id), "amount": bill["gross_total"], "currency": "EUR", "method": "check",
        "allocations": [{"invoice_id": bill["id"], "amount": bill["gross_total"]}],
    }  # fmt: skip
    found(shop.desk.clerk.post(PAYMENTS, json=paid), 201)
    shop.sound()


def test_a_shipment_of_goods_in_words_is_prepared_and_leaves(shop: Village) -> None:
    shop.merge()
    api, order = shop.real.api, shop.made["fresh"]
    path, line = f"/v1/orders/{order['id']}/shipments", order["lines"][0]["id"]
    body = {"from_location_id": str(shop.real.places["hall"]), "lines": [{"order_line_id": line, "quantity": 5}]}

    wrong = {**body, "lines": [{"order_line_id": line, "quantity": 1, "serial_numbers": ["A"]}]}
    problem = refused(api.post(path, json=wrong), 400, "validation_error")
    assert [one["field"] for one in problem["errors"]] == ["lines.0.serial_numbers"]
    refused(api.post(path, json={**body, "lines": [{"order_line_id": line, "quantity": 21}]}), 409, "over_shipment")
    draft = found(api.post(path, json=body), 201)
    assert draft["status"] == "preparing"
    left = found(api.patch(f"{path}/{draft['id']}", json={"status": "in_transit"}), 200)
    assert left["status"] == "in_transit"
    delivered = found(api.patch(f"{path}/{draft['id']}", json={"status": "delivered"}), 200)
    assert delivered["status"] == "delivered"
    shop.sound()


@pytest.mark.parametrize("name", ["open", "fresh", "cancelled"])
def test_no_address_of_a_merged_order_fails(shop: Village, name: str) -> None:
    shop.merge()
    order, delivery = shop.made[name], shop.made["receipt"]["delivery_id"]
    line = order["lines"][0]["id"]

    answers = [
        *asked(shop.real.api, "seller", order["id"], line, delivery),
        *asked(shop.desk.dock.trade.api, "buyer", order["id"], line, delivery),
    ]

    assert [(what, one.status_code) for what, one in answers if one.status_code >= 500] == []
    assert dict(answers)["GET /"].status_code == 200
    shop.sound()


def test_a_return_that_was_under_way_ends_at_the_supplier(shop: Village) -> None:
    shop.merge()
    key = shop.made["return"]["id"]

    def act(api: Any, action: str, **body: Any) -> dict[str, Any]:
        return found(api.post(f"{RETURNS}/{key}/{action}", json=body), 200)

    act(shop.buyer.api, "ship")
    back = act(shop.real.api, "receive", location_id=str(shop.real.place("Apart", sellable=False)))
    line = {"return_line_id": back["lines"][0]["id"], "disposition": "destroy", "unit": "base"}
    done = act(shop.real.api, "inspect", lines=[line], credit_note_number="CN-1")
    assert done["status"] == "completed"
    shop.sound()


def test_a_change_of_a_merged_order_is_answered_by_the_supplier(shop: Village) -> None:
    shop.merge()
    order = shop.desk.dock.trade.read(shop.made["fresh"]["id"])
    path = f"{ORDERS}/{order['id']}/propose-changes"

    more = {"revision": order["revision"], "reason": "More", "lines": [{"line_no": 1, "quantity": 30}]}
    refused(shop.desk.dock.trade.api.post(path, json=more), 409, "offer_not_available")
    less = {**more, "lines": [{"line_no": 1, "quantity": 12}]}
    proposed = found(shop.desk.dock.trade.api.post(path, json=less), 200)
    assert proposed["status"] == "change_proposed"
    found(
        shop.real.api.post(
            f"/v1/orders/{order['id']}/accept", json={"revision": proposed["revision"], "decision": "accept"}
        ),
        200,
    )
    read = shop.desk.dock.trade.read(order["id"])
    assert (read["status"], read["lines"][0]["quantity"]) == ("accepted", 12)
    shop.sound()


def test_a_merged_draft_waits_for_products(shop: Village) -> None:
    shop.merge()
    draft = shop.made["draft"]
    api = shop.desk.dock.trade.api
    refused(api.post(f"{ORDERS}/{draft['id']}/submit", json={}), 409, "offer_not_available")
    lines = [{"product_id": shop.desk.dock.vials["id"], "quantity": 1}]
    found(api.patch(f"{ORDERS}/{draft['id']}", json={"lines": lines}), 200)
    assert found(api.post(f"{ORDERS}/{draft['id']}/submit", json={}), 200)["status"] == "sent"


def test_what_the_buyer_reads_of_the_merged_supplier(shop: Village) -> None:
    assert found(shop.buyer.api.get(f"/v1/suppliers/{shop.id}"), 200)["merged_into"] is None
    shop.merge()

    read = found(shop.buyer.api.get(f"/v1/suppliers/{shop.id}"), 200)
    assert (read["id"], read["merged_into"]) == (str(shop.id), str(shop.real.id))
    for query in ("", "?status=managed", f"?search={read['legal_name'].split()[-1]}"):
        assert str(shop.id) not in ids(shop.buyer.api.get(f"/v1/suppliers{query}"))
    refused(shop.buyer.api.put(f"/v1/suppliers/{shop.id}/relationship", json={}), 404, "not_found")
    refused(shop.real.api.get(f"/v1/suppliers/{shop.id}"), 403, "insufficient_scope")
    body = shop.desk.dock.trade.body(
        {"description": "A", "quantity": 1, "unit_price": "1.00"}, supplier_id=str(shop.id)
    )
    problem = refused(shop.desk.dock.trade.api.post(ORDERS, json=body), 409, "party_closed")
    assert str(shop.real.id) in problem["detail"]
    tenant = Tenant.objects.get(pk=shop.id)
    assert (tenant.status, tenant.merged_into_id, tenant.managed_by_id) == ("closed", shop.real.id, shop.buyer.id)
