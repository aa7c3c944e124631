"""What random walks have found, each as short as it can be told. Source: decision 123."""

from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from tests import factories
from tests.suppliers.orders.proof.fair import INVOICES, RETURNS, asked, billing, fair
from tests.suppliers.orders.proof.market import buy
from tests.suppliers.orders.proof.meeting import told
from tests.suppliers.orders.proof.stages import GROSS, UNITS, Stage, done, stage, worth

ZERO = Decimal(0)


@pytest.fixture
def at() -> Stage:
    """Return parties that trade in euros."""
    return stage()


def credited(at: Stage, order: UUID, invoice: str, *lines: dict[str, Any]) -> Any:
    """Let the supplier issue a credit note."""
    return at.fair.bill(order, *lines, type="credit_note", original_invoice_id=invoice)


def test_tax_that_many_notes_round_up_never_keeps_the_last_units_from_their_credit() -> None:
    made = fair(houses=1, currencies=("JPY",))
    at = Stage(made, made.buyers[0])
    order = UUID(done(made.order(at.house, "JPY", 2))["id"])
    done(made.ship(at.house, order, 20))
    line = billing(at.house.lines(order)[0], 20, unit_price="60", tax_category="S", tax_rate="10")  # 5 for each unit
    invoice = done(made.bill(order, line))
    assert (invoice["net_total"], invoice["gross_total"]) == ("100", "110")

    notes = [done(credited(at, order, invoice["id"], line | {"quantity": 1})) for _ in range(20)]

    assert {(one["net_total"], one["tax_total"], one["gross_total"]) for one in notes} == {("5", "1", "6")}
    assert at.money(invoice["id"])[1:] == (110, ZERO, ZERO, ZERO)
    at.sound()


def test_a_note_at_a_higher_tax_never_credits_more_than_was_asked_for(at: Stage) -> None:
    order, _ = at.received()
    invoice = at.invoiced(order)

    refused = credited(at, order, invoice, at.line(order, 119) | {"tax_rate": "20"})

    assert told(refused) == "credit_exceeds_invoice"
    assert at.money(invoice)[1] == 0


def test_goods_of_an_invoice_with_an_allowance_come_back_and_are_credited_by_so_much_less(at: Stage) -> None:
    order, delivery = at.received()
    rate = {"reason": "Discount", "tax_category": "Z", "tax_rate": "0"}
    line = at.line(order)
    invoice: str = done(at.fair.bill(order, line, allowances=[{"amount": "9.05", **rate}]))["id"]
    first, second = at.back(delivery, 60), at.back(delivery, 60)

    done(asked(at.fair.shelf.api, RETURNS, first, "inspect", **at.inspected(first)))
    one = done(asked(at.fair.shelf.api, RETURNS, second, "inspect", **at.inspected(second)))

    note = done(at.house.finance.get(f"{INVOICES}/{one['credit_note_id']}"))
    assert [(it["amount"], it["tax_rate"]) for it in note["allowances"]] == [("9.05", "0")]
    assert Decimal(note["gross_total"]) == GROSS - worth(60) - Decimal("9.05")
    assert at.money(invoice)[1] == Decimal(40)
    at.sound()


def test_goods_are_credited_at_the_price_of_their_own_line(at: Stage) -> None:
    """The first line is of one delivery at a high price, the second of another: what came with that one goes back."""
    order = UUID(done(at.fair.order(at.house, "EUR", 20))["id"])
    parts = []
    for _ in range(2):
        done(at.fair.ship(at.house, order, 100))
        delivery = at.house.deliveries("in_transit")[-1].id
        parts.append((delivery, at.part(delivery)))
        at.take(delivery, 100)
    dear = at.line(order, 100) | {"unit_price": "9.81", "delivery_line_id": parts[0][1]}
    invoice = at.fair.bill(order, dear, at.line(order, 100))
    key = at.back(parts[1][0], 40)

    done(asked(at.fair.shelf.api, RETURNS, key, "inspect", **at.inspected(key)))

    lines = at.house.billed(done(invoice)["id"])
    assert [(one.credited, one.credited_net) for one in lines] == [(0, ZERO), (40, worth(40))]
    assert at.house.lines(order)[0].invoiced == 160
    at.sound()


def test_an_invoice_that_is_wholly_credited_is_paid_by_its_release(at: Stage) -> None:
    order, _ = at.received()
    invoice = at.invoiced(order)
    done(credited(at, order, invoice, at.line(order, UNITS)))
    assert at.money(invoice) == ("matched", GROSS, ZERO, ZERO, ZERO)

    done(asked(at.house.finance, INVOICES, invoice, "approve"))

    assert at.money(invoice) == ("paid", GROSS, ZERO, ZERO, ZERO)
    at.sound()


@pytest.mark.parametrize(("pays", "status"), [(False, "invoiced"), (True, "paid")])
def test_an_order_whose_rest_is_cancelled_is_billed_by_what_is_left(at: Stage, pays: bool, status: str) -> None:
    order, invoice = at.approved()
    if pays:
        at.paid((invoice, GROSS))
    assert at.house.orders()[-1].billing_status == "partially_invoiced"

    done(buy(at.house, order, "cancel", remainder=True))

    assert at.house.orders()[-1].billing_status == status
    copy = done(at.fair.shelf.api.get(f"/v1/orders/{order}"))
    assert copy["billing_status"] == status
    at.sound()


def test_what_lines_of_a_return_are_credited_has_the_decimals_of_their_currency() -> None:
    """Two deliveries go on one line of an invoice; each has its part of what the note gives for it."""
    made = fair(houses=1, currencies=("CLF",))
    at = Stage(made, made.buyers[0])
    order = UUID(done(made.order(at.house, "CLF", 2))["id"])
    lines = [
        {"order_line_id": str(at.house.lines(order)[0].id), "unit": "base", "quantity": units} for units in (7, 17)
    ]
    body = {"from_location_id": made.depot, "lines": lines, "dispatched_at": "2026-11-01T08:00:00Z"}
    done(made.seller(order, "shipments", **body))
    delivery = at.house.deliveries("in_transit")[-1].id
    at.take(delivery, 7, 17)
    line = billing(at.house.lines(order)[0], 24, unit_price="0.11115", tax_category="Z", tax_rate="0")
    done(made.bill(order, line))
    back = [
        {"delivery_line_id": str(one.id), "quantity": one.base_quantity, "unit": "base", "reason_code": "quality"}
        for one in at.house.goods(delivery)
    ]
    key = done(at.house.trade.api.post(RETURNS, json={"delivery_id": str(delivery), "lines": back}))["id"]
    for api, action, more in (
        (made.shelf.api, "authorize", {}), (at.house.trade.api, "ship", {}),
        (made.shelf.api, "receive", {"location_id": made.apart}),
    ):  # fmt: skip
        done(asked(api, RETURNS, key, action, **more))
    given = [{"return_line_id": str(one.id), "disposition": "destroy"} for one in at.house.returned(UUID(key))]

    found = done(
        asked(made.shelf.api, RETURNS, key, "inspect", lines=given, credit_note_number=f"C-{factories.suffix()}")
    )

    assert [one["credited_amount"] for one in found["lines"]] == ["0.0648", "0.1575"]
    at.sound()
