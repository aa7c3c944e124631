"""What orders show of their invoices on both sides, and how far their bills are, through credits, cancellations and ends."""

from typing import Any

from tests.procurement.purchasing.orders import PATH as ORDERS
from tests.procurement.purchasing.orders import act
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.invoices.bills import Desk
from tests.suppliers.payments.tills import Till

SHARED = (
    "id", "invoice_number", "type", "status", "issue_date", "due_date", "original_invoice_id", "currency", "gross_total",
    "balance_due",
)  # fmt: skip


def shown(desk: Desk, order: dict[str, Any], query: str = "") -> list[dict[str, Any]]:
    """Return the order as its buyer and as its supplier read it."""
    own = desk.dock.trade.read(order["id"], query)
    answer = desk.supplier.get(f"/v1/orders/{order['id']}{query}")
    assert answer.status_code == 200, answer.content
    return [own, answer.json()["data"]]


def test_both_sides_read_the_invoices_of_an_order(desk: Desk) -> None:
    order = desk.arrived(100)
    assert [(one["invoices"], one["invoices_total"]) for one in shown(desk, order)] == [([], 0)] * 2
    first = desk.issue(order, 60, due_date="2026-12-24")
    desk.did(first, "approve")
    second = desk.issue(order, desk.line(order, 1, 40, unit_price="9"))
    note = desk.credit(order, first, 10)
    till = Till(desk.dock.trade, order["id"], desk.clerk)
    till.paid((first["id"], "4.50"))

    for one, api in zip(shown(desk, order), (desk.clerk, desk.supplier), strict=True):
        assert one["invoices_total"] == 3
        assert [each["id"] for each in one["invoices"]] == [made["id"] for made in (note, second, first)]
        for each in one["invoices"]:
            whole = desk.read(each, api=api)
            assert each == {name: whole[name] for name in SHARED}
    newest, differing, paid = shown(desk, order)[1]["invoices"]
    assert (newest["type"], newest["original_invoice_id"], newest["balance_due"]) == (
        "credit_note",
        first["id"],
        "0.00",
    )
    assert (differing["status"], differing["due_date"]) == ("mismatched", None)
    assert (paid["status"], paid["due_date"], paid["gross_total"], paid["balance_due"]) == (
        "partially_paid", "2026-12-24", "29.40", "20.00",
    )  # fmt: skip
    desk.stored()


def test_the_tag_of_an_order_moves_with_its_invoices(desk: Desk) -> None:
    order = desk.arrived(60)
    made = desk.issue(order, 60)
    addresses = ((desk.dock.trade.api, f"{ORDERS}/{order['id']}"), (desk.supplier, f"/v1/orders/{order['id']}"))
    tags = [api.get(address).headers["ETag"] for api, address in addresses]
    for (api, address), tag in zip(addresses, tags, strict=True):
        assert api.get(address, headers={"If-None-Match": tag}).status_code == 304

    desk.did(made, "dispute", reason_code="terms")  # which moves nothing of the order itself

    for (api, address), tag in zip(addresses, tags, strict=True):
        answer = api.get(address, headers={"If-None-Match": tag})
        assert answer.status_code == 200
        assert answer.json()["data"]["invoices"][0]["status"] == "disputed"
        assert answer.headers["ETag"] != tag
    few = desk.supplier.get(f"/v1/orders/{order['id']}?fields=invoices_total").json()["data"]
    assert few == {"id": order["id"], "invoices_total": 1}


def test_a_closed_order_stays_closed_when_it_is_credited_and_invoiced_anew(desk: Desk) -> None:
    order = desk.arrived(100)
    made = desk.issue(order, 100)
    assert desk.billing(order) == ("closed", "invoiced", [100])

    desk.credit(order, made, 30)

    assert desk.billing(order) == ("closed", "partially_invoiced", [70])
    again = desk.issue(order, 30)
    assert (again["status"], desk.billing(order)) == ("matched", ("closed", "invoiced", [100]))
    desk.did(again, "cancel", reason="Wrong date")
    assert desk.billing(order) == ("closed", "partially_invoiced", [70])
    for one in shown(desk, order):
        assert (one["status"], one["billing_status"]) == ("closed", "partially_invoiced")
    desk.stored()


def test_a_price_that_is_credited_leaves_the_order_invoiced(desk: Desk) -> None:
    order = desk.arrived(100)
    made = desk.issue(order, 100)

    desk.credit(order, made, desk.line(order, 1, 100, unit_price="0.90"))

    assert desk.billing(order) == ("closed", "invoiced", [100])
    assert desk.read(made)["balance_due"] == "40.00"
    desk.stored()


def test_an_order_is_paid_by_money_and_credit(desk: Desk) -> None:
    order = desk.arrived(100)
    one, two = desk.issue(order, 60), desk.issue(order, 40)
    till = Till(desk.dock.trade, order["id"], desk.clerk)
    for made in (one, two):
        desk.did(made, "approve")
    paid = till.paid((one["id"], one["gross_total"]))
    assert desk.billing(order)[:2] == ("closed", "invoiced")

    desk.credit(order, two, desk.line(order, 1, 40, unit_price=order["lines"][0]["snapshot"]["unit_price"]))

    found = desk.read(two)
    assert (found["status"], found["balance_due"], found["paid_total"]) == ("paid", "0.00", "0.00")
    assert desk.billing(order) == ("closed", "partially_invoiced", [60])
    desk.issue(order, 40)
    till.settled(paid["id"], "reversed")
    assert desk.billing(order)[1] == "invoiced"
    desk.stored()


def test_a_cancelled_rest_is_not_to_be_invoiced(desk: Desk) -> None:
    order = desk.arrived(60)
    made = desk.issue(order, 60)
    desk.did(made, "approve")
    Till(desk.dock.trade, order["id"], desk.clerk).paid((made["id"], made["gross_total"]))
    assert desk.billing(order) == ("accepted", "partially_invoiced", [60])

    answer = act(desk.dock.trade, order["id"], "cancel", remainder=True)

    assert answer.status_code == 200, answer.content
    assert desk.billing(order) == ("closed", "paid", [60])
    for one in shown(desk, order):
        assert (one["status"], one["billing_status"]) == ("closed", "paid")
    desk.stored()


def test_a_rest_that_its_supplier_cancels_is_not_to_be_invoiced(desk: Desk) -> None:
    order = desk.arrived(60)
    desk.issue(order, 60)
    item = order["lines"][0]["id"]

    answer = desk.supplier.patch(
        f"/v1/orders/{order['id']}/items/{item}", json={"cancel_quantity": 4, "reason_code": "out_of_stock"}
    )

    assert answer.status_code == 200, answer.content
    assert desk.billing(order) == ("closed", "invoiced", [60])
    desk.stored()


def test_an_order_is_not_closed_while_something_is_to_be_invoiced(desk: Desk) -> None:
    order = desk.arrived(60)
    made = desk.issue(order, 50)
    errors = refused(act(desk.dock.trade, order["id"], "close"), 409, "open_invoice")["errors"]
    assert [one["pointer"] for one in errors] == ["/lines/0"]

    desk.issue(order, 10)

    assert act(desk.dock.trade, order["id"], "close").status_code == 200
    assert desk.billing(order) == ("closed", "invoiced", [60])
    desk.did(made, "reject", reason="Another entity")
    assert desk.billing(order) == ("closed", "partially_invoiced", [10])
    desk.stored()


def test_a_change_of_what_was_paid_before_moves_the_bills(desk: Desk) -> None:
    order = desk.ordered()
    desk.issue(order, 100, type="prepayment")
    assert desk.billing(order)[1] == "invoiced"
    body = {"revision": order["revision"], "reason": "More beds", "lines": [{"line_no": 1, "quantity": 12}]}
    asked = act(desk.dock.trade, order["id"], "propose-changes", **body)
    assert asked.status_code == 200, asked.content
    revision = asked.json()["data"]["revision"]

    answer = desk.supplier.post(f"/v1/orders/{order['id']}/accept", json={"decision": "accept", "revision": revision})

    assert answer.status_code == 200, answer.content
    assert desk.billing(order) == ("accepted", "partially_invoiced", [100])
    assert [one["billing_status"] for one in shown(desk, order)] == ["partially_invoiced"] * 2
    desk.stored()
