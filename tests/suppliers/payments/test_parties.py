"""Payments to suppliers that the buyer manages, and to tenants that are suspended or closed."""

from typing import Any
from uuid import UUID

import pytest

from core.db import tenant_context
from organizations.models import Tenant
from suppliers.payments.models import ReceivedPayment
from tests.procurement.purchasing.orders import PATH as ORDERS
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.payments.tills import Till, read


def managed(till: Till) -> tuple[UUID, UUID]:
    """Return a supplier that the buyer manages, and an order to it."""
    given = {"legal_name": "Corner shop", "country": "DE", "currencies": ["EUR"]}
    made = till.buyer.api.post("/v1/suppliers", json=given)
    assert made.status_code == 201, made.content
    supplier = made.json()["data"]["id"]
    line = {"description": "Curtains", "quantity": 10, "unit_price": "12.50"}
    order = till.trade.draft(line, supplier_id=supplier)["id"]
    sent = till.buyer.api.post(f"{ORDERS}/{order}/submit", json={})
    assert sent.status_code == 200, sent.content
    return UUID(supplier), UUID(order)


def test_a_managed_supplier_is_paid_and_told_nothing(till: Till) -> None:
    supplier, order = managed(till)
    key = till.invoice("10", supplier=supplier, order=order)

    made = till.paid((key, "10"), supplier_id=str(supplier))

    assert (read(till.payer, made["id"])["status"], till.balance(key)[0]) == ("succeeded", "paid")
    till.settled(made["id"], "reversed")
    with tenant_context(supplier):
        assert not ReceivedPayment.objects.filter(tenant_id=supplier).exists()
    assert till.facts(Tenant.objects.get(pk=supplier)) == []
    assert [name for name, _ in till.facts(till.buyer, "payment")] == [
        "payment.created", "payment.succeeded", "payment.reversed",
    ]  # fmt: skip


@pytest.mark.parametrize(("status", "refusal"), [("suspended", ""), ("offboarding", ""), ("closed", "party_closed")])
def test_a_supplier_that_has_gone(till: Till, status: str, refusal: str) -> None:
    key = till.invoice("10")
    made = till.pay((key, "4"))
    for step in {"closed": ("offboarding", "closed")}.get(status, (status,)):
        Tenant.objects.filter(pk=till.shelf.id).update(status=step)

    answers: list[Any] = [till.post((key, "4")), till.confirm(made["id"], "succeeded")]

    if refusal:
        for one in answers:
            refused(one, 409, refusal)
        assert till.balance(key) == ("approved", "4", "0", "10")
        assert read(till.payer, made["id"])["status"] == "pending"
    else:
        assert [one.status_code for one in answers] == [201, 200], [one.content for one in answers]
        assert till.balance(key) == ("partially_paid", "4", "4", "6")


def test_a_buyer_that_is_suspended_pays_nothing(till: Till) -> None:
    key = till.invoice("10")
    made = till.pay((key, "4"))
    Tenant.objects.filter(pk=till.buyer.id).update(status="suspended")
    refused(till.post((key, "4")), 403, "tenant_suspended")
    refused(till.confirm(made["id"], "succeeded"), 403, "tenant_suspended")
    assert till.balance(key) == ("approved", "4", "0", "10")
