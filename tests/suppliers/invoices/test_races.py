"""Two writes of the bills of one order at the same moment, over real connections."""

from tests.races import race
from tests.suppliers.invoices.bills import Desk


def test_two_invoices_at_once_bill_no_more_than_was_shipped(desk: Desk) -> None:
    order = desk.arrived(60)

    answers = race(lambda: desk.post(order, 40), lambda: desk.post(order, 40))

    assert sorted(one.status_code for one in answers) == [201, 409]
    assert {one.json().get("code") for one in answers} == {None, "over_invoiced"}
    assert desk.billing(order)[2] == [40]
    assert desk.stored() == [("invoice", "matched")]


def test_an_invoice_is_released_once(desk: Desk) -> None:
    order = desk.arrived(60)
    made = desk.issue(order, 60)

    answers = race(lambda: desk.act(made, "approve"), lambda: desk.act(made, "approve", api=desk.clerk))

    assert sorted(one.status_code for one in answers) == [200, 409]
    facts = desk.facts(desk.dock.shelf, made)
    assert [one[0] for one in facts].count("invoice.approved") == 1
    assert desk.stored() == [("invoice", "approved")]


def test_an_invoice_and_the_receipt_of_its_goods_at_once_match(desk: Desk) -> None:
    order = desk.ordered()
    delivery = desk.ship(order, 40)
    body = desk.dock.body(delivery, {"accepted_quantity": 40})

    issued, received = race(
        lambda: desk.post(order, 40),
        lambda: desk.dock.clerk.post(f"/v1/procurement/deliveries/{delivery}/receipts", json=body),
    )

    assert (issued.status_code, received.status_code) == (201, 201)
    assert desk.results(issued.json()["data"]) == ["ok"]
    assert desk.stored() == [("invoice", "matched")]
