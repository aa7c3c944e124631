"""What a payment is refused for, with nothing changed: bodies, invoices, balances, currencies, blocks, credentials."""

from typing import Any
from uuid import UUID

import pytest

from core.db import tenant_context
from core.ids import uuid7
from suppliers.orders.number_models import DocumentNumber
from tests import factories
from tests.procurement.purchasing.orders import ward
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.payments.tills import PATH, Till

NEVER = "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"


def fields(answer: Any) -> list[tuple[str, str]]:
    """Return what a refusal says of which member."""
    return sorted((one["field"], one["code"]) for one in answer.json()["errors"])


def numbers(till: Till) -> int:
    """Return how many numbers of payments the buyer has claimed."""
    with tenant_context(till.buyer.id):
        return DocumentNumber.objects.filter(tenant_id=till.buyer.id, kind="payment").count()


BODIES: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "no allocations": ({"allocations": []}, [("allocations", "min_length")]),
    "sum": ({"amount": "9.99"}, [("allocations", "sum_differs")]),
    "decimals": ({"currency": "JPY", "amount": "10.5"}, [("amount", "max_decimal_places")]),
    "nothing": ({"amount": "0"}, [("amount", "min_value")]),
    "less than nothing": ({"amount": "-1"}, [("amount", "min_value")]),
    "no number": ({"amount": "ten"}, [("amount", "invalid")]),
    "too large": ({"amount": "1" + "0" * 16}, [("amount", "max_whole_digits")]),
    "currency": ({"currency": "XYZ"}, [("currency", "invalid_choice")]),
    "method": ({"method": "barter"}, [("method", "invalid_choice")]),
    "no credit": ({"method": "offset"}, [("credit_sources", "required")]),
    "credit of no offset": (
        {"credit_sources": [{"invoice_id": NEVER, "amount": "10"}]}, [("credit_sources", "invalid")],
    ),
    "sum of credit": (
        {"method": "offset", "credit_sources": [{"invoice_id": NEVER, "amount": "9"}]}, [("credit_sources", "sum_differs")],
    ),
    "date": ({"value_date": "soon"}, [("value_date", "invalid")]),
    "reference": ({"provider_reference": "x" * 141}, [("provider_reference", "max_length")]),
}  # fmt: skip


@pytest.mark.parametrize("name", BODIES)
def test_a_body_that_cannot_be(till: Till, name: str) -> None:
    changes, wrong = BODIES[name]
    answer = till.payer.post(PATH, json=till.body((till.invoice("10"), "10")) | changes)

    refused(answer, 400, "validation_error")
    assert fields(answer) == wrong
    assert till.stored() == []


@pytest.mark.parametrize("name", ["note", "status", "payment_number", "failure"])
def test_members_that_nobody_sends(till: Till, name: str) -> None:
    answer = till.payer.post(PATH, json=till.body((till.invoice("10"), "10")) | {name: "x"})
    refused(answer, 400, "unknown_field")
    assert fields(answer) == [(name, "unknown_field")]


def test_an_invoice_stands_once_and_lists_have_an_end(till: Till) -> None:
    key = till.invoice("10")
    answer = till.post((key, "5"), (key, "5"))
    refused(answer, 400, "validation_error")
    assert fields(answer) == [("allocations.1.invoice_id", "duplicate")]
    many = [(str(uuid7()), "1")] * 101
    assert fields(till.post(*many))[0] == ("allocations", "max_length")


def test_invoices_that_are_not_there_are_unknown_all_in_one_answer(till: Till) -> None:
    foreign = till.invoice("10", supplier=factories.provision("supplier").id)
    own = till.invoice("10")
    answer = till.post((own, "1"), (NEVER, "1"), (foreign, "1"))

    refused(answer, 400, "validation_error")
    assert fields(answer) == [
        ("allocations.1.invoice_id", "unknown_invoice"), ("allocations.2.invoice_id", "unknown_invoice"),
    ]  # fmt: skip
    assert fields(till.post((own, "1"), supplier_id=NEVER)) == [("allocations.0.invoice_id", "unknown_invoice")]
    refused(till.post((own, "1"), supplier_id=str(till.buyer.id)), 400, "self_trade")
    other = factories.as_member(factories.provision("provider"), ["finance"])
    assert fields(till.post((own, "1"), api=other)) == [("allocations.0.invoice_id", "unknown_invoice")]
    assert (till.balance(own), till.stored(), numbers(till)) == (("approved", "0", "0", "10"), [], 0)


@pytest.mark.parametrize("status", ["issued", "matched", "mismatched", "rejected"])
def test_what_is_not_released_is_not_paid(till: Till, status: str) -> None:
    good, bad = till.invoice("10"), till.invoice("10", status=status)
    answer = till.post((good, "1"), (bad, "1"))

    refused(answer, 409, "invoice_not_approved")
    assert fields(answer) == [("allocations.1", "invoice_not_approved")]
    assert (till.balance(good)[1], till.stored()) == ("0", [])


def test_more_than_is_left_is_refused_with_each_invoice(till: Till) -> None:
    one, two, three = till.invoice("10"), till.invoice("10"), till.invoice("10")
    till.pay((one, "4"))
    till.credit(two, "3")
    till.paid((three, "10"))

    answer = till.post((one, "6.01"), (two, "7.01"), (three, "0.01"))

    found = refused(answer, 409, "exceeds_balance")
    assert [(item["pointer"], item["left"]) for item in found["errors"]] == [
        ("/allocations/0", "6.00"), ("/allocations/1", "7.00"), ("/allocations/2", "0.00"),
    ]  # fmt: skip
    till.pay((one, "6"), (two, "7"))
    assert [till.balance(key)[1] for key in (one, two, three)] == ["10", "7", "0"]
    till.stored()


def test_currencies_are_never_mixed(till: Till) -> None:
    one, two = till.invoice("10"), till.invoice("10", currency="USD")

    answer = till.post((one, "1"), (two, "1"))

    refused(answer, 422, "currency_mismatch")
    assert fields(answer) == [("allocations.1", "currency_mismatch")]
    assert till.stored() == []


@pytest.mark.parametrize("given", [{"blocks": ["payments"]}, {"status": "blocked"}, {"blocks": ["orders", "invoices"]}])
def test_a_relationship_stops_payments(till: Till, given: dict[str, Any]) -> None:
    key = till.invoice("10")
    before = till.pay((key, "1"))
    path = f"/v1/suppliers/{till.shelf.id}/relationship"
    answer = till.buyer.api.put(path, json={"status": "active"} | given)
    assert answer.status_code in (200, 201), answer.content

    found = till.post((key, "1"))

    if given == {"blocks": ["orders", "invoices"]}:
        assert found.status_code == 201, found.content
        return
    refused(found, 409, "supplier_payment_blocked")
    till.settled(before["id"], "succeeded")  # what was under way goes on
    assert till.balance(key) == ("partially_paid", "0", "1", "9")


def test_who_may_not_pay(till: Till) -> None:
    key = till.invoice("10")
    made = till.pay((key, "1"))
    for role in ("buyer", "approver", "receiving_clerk"):
        api = factories.as_member(till.buyer.tenant, [role])
        refused(till.post((key, "1"), api=api), 403, "insufficient_scope")
        refused(till.confirm(made["id"], "succeeded", api=api), 403, "insufficient_scope")
        refused(till.confirm(made["id"], "cancel", api=api), 403, "insufficient_scope")
    keyed = factories.Api(key=factories.api_key(till.shelf.tenant), tenant=till.shelf.tenant)
    refused(till.post((key, "1"), api=keyed), 403, "credential_not_accepted")
    assert till.stored() == [("pending", 1)]


def test_a_member_with_places_pays_what_goes_there(till: Till) -> None:
    elsewhere = ward(till.buyer, "Ward 9")
    here, there = till.invoice("10"), till.invoice("10", place=elsewhere)
    person, _ = factories.member(till.buyer.tenant, ["finance"], location_ids=[till.trade.ward])
    api = factories.Api(token=factories.bearer(person), tenant=till.buyer.tenant)

    assert fields(till.post((here, "1"), (there, "1"), api=api)) == [("allocations.1.invoice_id", "unknown_invoice")]
    both, mine = till.pay((here, "1"), (there, "1")), till.pay((here, "1"), api=api)
    assert [one["id"] for one in api.get(PATH).json()["data"]] == [mine["id"]]
    assert api.get(f"{PATH}/{both['id']}").status_code == 404
    refused(till.confirm(both["id"], "cancel", api=api), 404, "not_found")
    till.confirm(mine["id"], "succeeded", api=api)
    assert sorted(till.stored()) == [("pending", 1), ("succeeded", 2)]


CONFIRMATIONS: dict[str, dict[str, Any]] = {
    "status": {"status": "pending"}, "cancelled": {"status": "cancelled"}, "nothing": {},
    "failure": {"status": "succeeded", "failure": {"code": "AC04"}}, "no code": {"status": "failed", "failure": {}},
    "value_date": {"status": "failed", "value_date": "2026-01-01"},
}  # fmt: skip


@pytest.mark.parametrize("name", CONFIRMATIONS)
def test_a_confirmation_that_cannot_be(till: Till, name: str) -> None:
    made = till.pay((till.invoice("10"), "10"))
    refused(till.payer.post(f"{PATH}/{made['id']}/confirm", json=CONFIRMATIONS[name]), 400, "validation_error")
    assert till.stored() == [("pending", 1)]


def test_versions_are_compared(till: Till) -> None:
    made = till.pay((till.invoice("10"), "10"))
    path = f"{PATH}/{made['id']}/confirm"
    stale = till.payer.post(path, json={"status": "processing"}, headers={"If-Match": '"7"'})
    assert refused(stale, 409, "version_conflict")["current_version"] == 1
    fresh = till.payer.post(path, json={"status": "processing"}, headers={"If-Match": '"1"'})
    assert (fresh.status_code, fresh.headers["ETag"]) == (200, '"2"')


def test_strangers_find_nothing(till: Till) -> None:
    made = till.pay((till.invoice("10"), "10"))
    for kind, role in (("provider", "finance"), ("supplier", "supplier_admin")):
        api = factories.as_member(factories.provision(kind), [role])
        assert api.get(f"{PATH}/{made['id']}").status_code == 404
        assert api.get(PATH).json()["data"] == []
        assert till.confirm(made["id"], "succeeded", api=api).status_code in (403, 404)
    assert till.payer.get(f"{PATH}/{UUID(int=7)}").status_code == 404
    assert till.stored() == [("pending", 1)]
