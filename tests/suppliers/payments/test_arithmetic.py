"""The amounts of invoices through payments, credit, offsets and reversals, exact in currencies of 0, 2, 3 and 4 decimals."""

from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from core.db import tenant_context
from ledger.public import Event
from suppliers.invoices.models import Invoice
from tests.procurement.purchasing.orders import submitted
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.orders.answers import accepted
from tests.suppliers.payments.tills import Till, plain, read

# By currency: the least amount, and one with all decimals.
CURRENCIES = {
    "JPY": ("1", "101"),
    "EUR": ("0.01", "100.07"),
    "KWD": ("0.001", "100.007"),
    "CLF": ("0.0001", "100.0007"),
}


def columns(till: Till, key: str) -> tuple[str, ...]:
    """Return of an invoice: status, credited, held, paid, offset, balance due, credit available."""
    with tenant_context(till.buyer.id):
        row = Invoice.objects.get(tenant_id=till.buyer.id, pk=key)
    amounts = (
        row.credited_total, row.held_total, row.paid_total, row.offset_total, row.balance_due, row.credit_available,
    )  # fmt: skip
    return (str(row.status), *map(plain, amounts))


@pytest.mark.parametrize("currency", CURRENCIES)
def test_every_unit_is_paid_once(till: Till, currency: str) -> None:
    least, gross = CURRENCIES[currency]
    rest = plain(Decimal(gross) - Decimal(least))
    key = till.invoice(gross, currency=currency)

    first = till.pay((key, least), currency=currency)
    assert (first["amount"], first["allocations"][0]["amount"]) == (least, least)
    assert columns(till, key) == ("approved", "0", least, "0", "0", gross, "0")
    refused(till.post((key, gross), currency=currency), 409, "exceeds_balance")
    till.settled(first["id"], "succeeded")
    assert columns(till, key) == ("partially_paid", "0", "0", least, "0", rest, "0")
    second = till.paid((key, rest), currency=currency)
    assert columns(till, key) == ("paid", "0", "0", gross, "0", "0", "0")
    refused(till.post((key, least), currency=currency), 409, "exceeds_balance")
    till.settled(second["id"], "reversed")
    assert columns(till, key) == ("partially_paid", "0", "0", least, "0", rest, "0")
    assert read(till.shelf.api, second["id"])["amount"] == rest
    till.stored()


@pytest.mark.parametrize("currency", CURRENCIES)
def test_credit_is_used_once_to_the_last_unit(till: Till, currency: str) -> None:
    least, gross = CURRENCIES[currency]
    rest = plain(Decimal(gross) - Decimal(least))
    source, target = till.invoice(gross, currency=currency), till.invoice(gross, currency=currency)
    till.paid((source, gross), currency=currency)
    till.credit(source, gross)
    assert columns(till, source) == ("paid", gross, "0", gross, "0", plain(-Decimal(gross)), gross)

    one = till.pay((target, least), sources=[(source, least)], currency=currency)

    assert (one["status"], one["method"], one["credit_sources"][0]["amount"]) == ("succeeded", "offset", least)
    assert columns(till, source) == ("paid", gross, "0", gross, least, plain(-Decimal(rest)), rest)
    assert columns(till, target) == ("partially_paid", "0", "0", least, "0", rest, "0")
    other = till.invoice(gross, currency=currency)
    refused(till.post((other, gross), sources=[(source, gross)], currency=currency), 409, "exceeds_balance")
    till.pay((target, rest), sources=[(source, rest)], currency=currency)
    assert columns(till, source) == ("paid", gross, "0", gross, gross, "0", "0")
    assert columns(till, target) == ("paid", "0", "0", gross, "0", "0", "0")
    refused(till.post((other, least), sources=[(source, least)], currency=currency), 409, "exceeds_balance")
    till.settled(one["id"], "reversed")
    assert columns(till, source) == ("paid", gross, "0", gross, rest, plain(-Decimal(least)), least)
    assert columns(till, target) == ("partially_paid", "0", "0", rest, "0", least, "0")
    till.stored()


# Of an invoice of 100: what is done, one after the other, and what it shows then. `hold` and `pay` make a payment, `credit`
# is a credit note; `reverse`, `fail`, `cancel` are of the payment before.
TABLE: list[tuple[list[tuple[str, str]], tuple[str, ...]]] = [
    ([("hold", "100")], ("approved", "0", "100", "0", "0", "100", "0")),
    ([("hold", "60"), ("hold", "40")], ("approved", "0", "100", "0", "0", "100", "0")),
    ([("hold", "60"), ("fail", "")], ("approved", "0", "0", "0", "0", "100", "0")),
    ([("hold", "60"), ("cancel", "")], ("approved", "0", "0", "0", "0", "100", "0")),
    ([("pay", "60")], ("partially_paid", "0", "0", "60", "0", "40", "0")),
    ([("pay", "60"), ("hold", "40")], ("partially_paid", "0", "40", "60", "0", "40", "0")),
    ([("pay", "60"), ("pay", "40")], ("paid", "0", "0", "100", "0", "0", "0")),
    ([("pay", "100"), ("reverse", "")], ("approved", "0", "0", "0", "0", "100", "0")),
    ([("pay", "60"), ("pay", "40"), ("reverse", "")], ("partially_paid", "0", "0", "60", "0", "40", "0")),
    ([("credit", "30"), ("pay", "70")], ("paid", "30", "0", "70", "0", "0", "0")),
    ([("pay", "70"), ("credit", "30")], ("paid", "30", "0", "70", "0", "0", "0")),
    ([("pay", "100"), ("credit", "30")], ("paid", "30", "0", "100", "0", "-30", "30")),
    ([("hold", "100"), ("credit", "30")], ("approved", "30", "100", "0", "0", "70", "0")),
    ([("hold", "100"), ("credit", "30"), ("succeed", "")], ("paid", "30", "0", "100", "0", "-30", "30")),
    ([("hold", "100"), ("credit", "30"), ("fail", "")], ("approved", "30", "0", "0", "0", "70", "0")),
    ([("pay", "100"), ("credit", "30"), ("reverse", "")], ("approved", "30", "0", "0", "0", "70", "0")),
    ([("pay", "100"), ("credit", "100"), ("reverse", "")], ("paid", "100", "0", "0", "0", "0", "0")),
    ([("pay", "100"), ("credit", "30"), ("use", "20")], ("paid", "30", "0", "100", "20", "-10", "10")),
    ([("pay", "100"), ("credit", "30"), ("use", "30")], ("paid", "30", "0", "100", "30", "0", "0")),
    ([("pay", "100"), ("credit", "30"), ("use", "30"), ("reverse", "")], ("paid", "30", "0", "100", "0", "-30", "30")),
    (
        [("pay", "100"), ("credit", "30"), ("use", "30"), ("reverse first", "")],
        ("approved", "30", "0", "0", "30", "100", "0"),
    ),
    (
        [("pay", "100"), ("credit", "30"), ("use", "30"), ("reverse first", ""), ("reverse", "")],
        ("approved", "30", "0", "0", "0", "70", "0"),
    ),
    (
        [("pay", "60"), ("pay", "40"), ("credit", "50"), ("use", "50"), ("reverse first", "")],
        ("partially_paid", "50", "0", "40", "50", "60", "0"),
    ),
    (
        [("pay", "50"), ("pay", "50"), ("credit", "50"), ("use", "50"), ("reverse first", ""), ("reverse", "")],
        ("paid", "50", "0", "50", "0", "0", "0"),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("steps", "wanted"), TABLE, ids=lambda one: "-".join(map(str, one))[:60])
def test_what_an_invoice_shows(till: Till, steps: list[tuple[str, str]], wanted: tuple[str, ...]) -> None:
    key, made = till.invoice("100"), list[dict[str, Any]]()
    for step, amount in steps:
        if step == "credit":
            till.credit(key, amount)
        elif step == "use":
            made.append(till.pay((till.invoice("1000"), amount), sources=[(key, amount)]))
        elif step in ("hold", "pay"):
            made.append(till.pay((key, amount)))
            till.settled(made[-1]["id"], *["succeeded"] * (step == "pay"))
        else:
            of = made[0] if step.endswith("first") else made[-1]
            words = {"succeed": "succeeded", "fail": "failed", "cancel": "cancel"}
            till.settled(of["id"], words.get(step, "reversed"))

    assert columns(till, key) == wanted
    till.stored()


def test_an_offset_pays_several_with_the_credit_of_several(till: Till) -> None:
    sources, targets = [till.invoice("50") for _ in range(3)], [till.invoice("40") for _ in range(2)]
    for one in sources:
        till.paid((one, "50"))
        till.credit(one, "25")
    before = len(till.facts(till.shelf))

    till.pay(
        (targets[0], "40"), (targets[1], "20"), sources=[(sources[0], "25"), (sources[1], "25"), (sources[2], "10")]
    )

    assert [columns(till, one)[-1] for one in sources] == ["0", "0", "15"]
    assert [till.balance(one) for one in targets] == [("paid", "0", "40", "0"), ("partially_paid", "0", "20", "20")]
    assert till.facts(till.shelf)[before:] == [
        ("payment.created", "succeeded"), ("payment.succeeded", "succeeded"), ("invoice.paid", "paid"),
    ]  # fmt: skip
    till.stored()


def test_figures_of_a_payment_tell_amounts_and_days(till: Till) -> None:
    late, early, never = (till.invoice("10", due=due) for due in (date(2026, 1, 31), date(2026, 3, 1), None))
    made = till.pay((late, "10"), (early, "4.50"), (never, "1"), value_date="2026-02-10")
    till.settled(made["id"], "succeeded")

    for tenant in (till.buyer, till.shelf):
        with tenant_context(tenant.id):
            fact = Event.objects.get(tenant_id=tenant.id, resource_id=made["id"], type="payment.succeeded")
        assert fact.figures == {
            "currency": "EUR", "amount": "15.50", "reason": "", "allocations": [
                {"invoice_id": late, "amount": "10.00", "days_from_due": 10},
                {"invoice_id": early, "amount": "4.50", "days_from_due": -19},
                {"invoice_id": never, "amount": "1.00", "days_from_due": None},
            ],
        }  # fmt: skip
        assert fact.data["invoice_ids"] == [late, early, never]
        assert not {"amount", "currency", "allocations", "reason"} & fact.data.keys()


def test_an_order_is_paid_when_all_its_invoices_are(till: Till) -> None:
    order = UUID(submitted(till.trade, (till.trade.masks, 2))["id"])
    accepted(till.trade, str(order))
    one, two = till.invoice("10", order=order), till.invoice("20", order=order)
    till.paid((one, "10"))
    assert till.billing(order) == "invoiced"
    made = till.paid((two, "20"))
    assert till.billing(order) == "paid"
    seen = till.shelf.api.get(f"/v1/orders/{order}").json()["data"]
    assert seen["billing_status"] == "paid"
    till.settled(made["id"], "reversed")
    assert till.billing(order) == "invoiced"
    till.stored()
