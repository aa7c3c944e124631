"""What is due of an invoice, and what credit it has: the arithmetic of totals, credit notes and payments over HTTP."""

from decimal import Decimal
from typing import Any

from tests.suppliers.inventory.shelf import refused
from tests.suppliers.invoices.bills import Desk
from tests.suppliers.payments.tills import Till

AMOUNTS = (
    "gross_total",
    "credited_total",
    "held_total",
    "paid_total",
    "offset_total",
    "balance_due",
    "credit_available",
)


def amounts(desk: Desk, made: dict[str, Any]) -> tuple[str, ...]:
    """Return the amounts of an invoice, which both sides read alike."""
    found = [tuple(desk.read(made, api=api)[name] for name in AMOUNTS) for api in (desk.clerk, desk.supplier)]
    assert found[0] == found[1]
    return found[0]


def released(desk: Desk, order: dict[str, Any], *lines: Any, **more: Any) -> dict[str, Any]:
    """Issue an invoice and release it."""
    made = desk.issue(order, *lines, **more)
    desk.did(made, "approve", **({"override_reason": "Agreed"} if made["status"] == "mismatched" else {}))
    return made


def test_credit_after_payment_is_as_good_as_one_before(desk: Desk) -> None:
    order = desk.arrived(100)
    made, other = released(desk, order, 50), released(desk, order, 50)
    till = Till(desk.dock.trade, order["id"], desk.clerk)
    till.paid((made["id"], "24.50"))
    assert amounts(desk, made) == ("24.50", "0.00", "0.00", "24.50", "0.00", "0.00", "0.00")

    desk.credit(order, made, 10)

    assert amounts(desk, made) == ("24.50", "4.90", "0.00", "24.50", "0.00", "-4.90", "4.90")
    assert desk.read(made)["status"] == "paid"
    used = till.pay((other["id"], "4.90"), sources=[(made["id"], "4.90")])
    assert used["status"] == "succeeded"
    assert amounts(desk, made) == ("24.50", "4.90", "0.00", "24.50", "4.90", "0.00", "0.00")
    assert amounts(desk, other)[3:6] == ("4.90", "0.00", "19.60")
    again = till.post((other["id"], "0.01"), sources=[(made["id"], "0.01")])
    refused(again, 409, "exceeds_balance")  # it is used once
    till.settled(used["id"], "reversed")
    assert amounts(desk, made)[4:] == ("0.00", "-4.90", "4.90")
    desk.stored()


def test_a_credit_while_an_amount_is_held_leaves_credit_behind(desk: Desk) -> None:
    order = desk.arrived(50)
    made = released(desk, order, 50)
    till = Till(desk.dock.trade, order["id"], desk.clerk)
    held = till.pay((made["id"], "24.50"))

    desk.credit(order, made, 50)

    assert (amounts(desk, made), desk.read(made)["status"]) == (
        ("24.50", "24.50", "24.50", "0.00", "0.00", "0.00", "0.00"), "paid",
    )  # fmt: skip
    till.settled(held["id"], "succeeded")
    assert amounts(desk, made) == ("24.50", "24.50", "0.00", "24.50", "0.00", "-24.50", "24.50")
    desk.stored()


def test_charges_allowances_and_taxes_are_in_the_totals(desk: Desk) -> None:
    order = desk.arrived(60)
    entry = {"tax_category": "S", "tax_rate": "19"}
    lines = desk.line(order, 1, 60, allowance="0.40", **entry)
    charges = [
        {"amount": "5.00", "reason": "Freight", **entry},
        {"amount": "2.00", "reason": "Packaging", "tax_rate": "7"},
    ]
    stated = {"net": "35.01", "tax": "6.42", "gross": "41.43"}

    made = desk.issue(
        order, lines, charges=charges, allowances=[{"amount": "1.00", "reason": "Bonus", **entry}], stated_totals=stated,
        discount={"percent": "2", "days": 10},
    )  # fmt: skip

    assert (made["net_total"], made["tax_total"], made["gross_total"]) == ("35.00", "6.41", "41.41")
    assert [(one["tax_rate"], one["net"], one["tax"]) for one in made["taxes"]] == [
        ("7", "2.00", "0.14"), ("19", "33.00", "6.27"),
    ]  # fmt: skip
    assert made["discount"] == {"percent": "2", "days": 10}
    assert [one["amount"] for one in (*made["charges"], *made["allowances"])] == ["5.00", "2.00", "1.00"]
    assert made["lines"][0]["line_total"] == "29.00"
    desk.stored()


def test_the_last_credit_takes_the_last_of_the_gross(desk: Desk) -> None:
    order = desk.arrived(60)
    made = released(desk, order, desk.line(order, 1, 60, unit_price="0.333333", price_base_quantity=1, tax_rate="19"))
    notes = [
        desk.credit(order, made, desk.line(order, 1, 20, unit_price="0.333333", price_base_quantity=1, tax_rate="19"))
        for _ in range(3)
    ]

    found = desk.read(made)
    assert (found["credited_total"], found["balance_due"], found["status"]) == (found["gross_total"], "0.00", "paid")
    assert sum(Decimal(one["net_total"]) for one in notes) == Decimal(made["net_total"])
    refused(desk.post(order, 1, type="credit_note", original_invoice_id=made["id"]), 409, "credit_exceeds_invoice")
    desk.stored()


def test_a_credit_at_another_tax_rate_counts_as_it_is(desk: Desk) -> None:
    order = desk.arrived(60)
    made = released(desk, order, desk.line(order, 1, 60, tax_rate="19"))
    note = {"type": "credit_note", "original_invoice_id": made["id"]}
    assert (made["net_total"], made["gross_total"]) == ("29.40", "34.99")

    for rate in ("100", "20"):
        refused(desk.post(order, desk.line(order, 1, 60, tax_rate=rate), **note), 409, "credit_exceeds_invoice")
    desk.credit(order, made, desk.line(order, 1, 30, tax_rate="0"))
    assert amounts(desk, made)[1] == "14.70"
    desk.credit(order, made, desk.line(order, 1, 30, tax_rate="0"))

    assert amounts(desk, made)[1] == "29.40"
    assert (amounts(desk, made)[5], desk.read(made)["status"]) == ("5.59", "approved")
    desk.stored()


def test_terms_of_the_order_give_due_date_and_discount(desk: Desk) -> None:
    trade = desk.dock.trade
    terms = {"net_days": 30, "discount_percent": "2", "discount_days": 10}
    draft = trade.draft((desk.dock.vials, 10), payment_terms=terms)
    assert trade.api.post(f"/v1/purchase-orders/{draft['id']}/submit", json={}).status_code == 200
    assert desk.supplier.post(f"/v1/orders/{draft['id']}/accept", json={}).status_code == 200
    order = trade.read(draft["id"])
    desk.receive(desk.ship(order, 60), 60)

    made = desk.issue(order, 30)

    assert (made["issue_date"], made["due_date"]) == ("2026-11-02", "2026-12-02")
    assert made["discount"] == {"percent": "2", "days": 10}
    assert desk.issue(order, 30, due_date="2026-11-03")["due_date"] == "2026-11-03"
    assert desk.credit(order, made, 1)["due_date"] is None


def test_a_dispute_ends_by_a_credit_note_and_is_told_in_order(desk: Desk) -> None:
    order = desk.arrived(60)
    made = desk.issue(order, desk.line(order, 1, 60, unit_price="9"))
    desk.did(made, "dispute", reason_code="price", note="4.90 was agreed.")
    seen = desk.read(made, api=desk.supplier)
    assert (seen["peppol_status"], seen["dispute"]["reason_code"], seen["dispute"]["note"]) == (
        "UQ",
        "price",
        "4.90 was agreed.",
    )

    desk.credit(order, made, desk.line(order, 1, 60, unit_price="4.10"))

    for side in (desk.dock.buyer, desk.dock.shelf):
        assert desk.facts(side, made)[-2:] == [
            ("invoice.dispute_resolved", "disputed", "issued", "supplier"),
            ("invoice.matched", "issued", "matched", "system"),
        ]  # fmt: skip
    timeline = desk.read(made, api=desk.supplier)["timeline"]
    assert [one["action"] for one in timeline] == ["matched", "dispute_resolved", "disputed", "mismatched", "issued"]
    assert {one["actor_id"] is None for one in timeline if one["by"] == "buyer"} == {True}
    assert desk.read(made)["dispute"] is None
    desk.stored()
