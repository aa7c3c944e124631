"""Payments from their creation to their end, as both sides read them."""

from datetime import date
from typing import Any

from tests.suppliers.payments.tills import Till, read


def test_a_payment_is_held_then_paid(till: Till) -> None:
    one, two = till.invoice("100", due=date(2026, 1, 31)), till.invoice("50.50")

    made = till.pay(
        (one, "100.00"), (two, "20.25"), bank_account="DE89370400440532013000", provider_reference="RUN-17",
        remittance_text="Invoices of January", value_date="2026-02-03",
    )  # fmt: skip

    assert (made["status"], made["amount"], made["currency"]) == ("pending", "120.25", "EUR")
    assert made["payment_number"].startswith("PM-")
    assert (till.balance(one), till.balance(two)) == (
        ("approved", "100", "0", "100"),
        ("approved", "20.25", "0", "50.5"),
    )
    till.settled(made["id"], "processing", "succeeded")
    assert (till.balance(one), till.balance(two)) == (
        ("paid", "0", "100", "0"),
        ("partially_paid", "0", "20.25", "30.25"),
    )
    assert till.stored() == [("succeeded", 3)]
    for tenant in (till.buyer, till.shelf):
        assert till.facts(tenant) == [
            ("payment.created", "pending"), ("payment.processing", "processing"), ("payment.succeeded", "succeeded"),
            ("invoice.paid", "paid"),
        ]  # fmt: skip
    mine: dict[str, Any] = read(till.buyer.api, made["id"])
    theirs = read(till.shelf.api, made["id"])
    assert (mine["bank_account"], mine["provider_reference"]) == ("DE89370400440532013000", "RUN-17")
    assert (theirs["bank_account"], theirs["provider_reference"]) == (None, None)
    print(mine, theirs)
