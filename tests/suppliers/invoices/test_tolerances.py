"""What a match admits: the policies of the buyer, the agreement's own tolerances, the tax, and amounts in other currencies."""

from typing import Any

import pytest

from core.invariants import breaches
from tests import factories
from tests.suppliers.agreements.world import PATH as AGREEMENTS
from tests.suppliers.deliveries.receiving.test_managed import managed, received
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.invoices.bills import PATH, Desk
from tests.suppliers.snapshots import told

SECRETS = ("tolerance", "variance", "approved_by")


def result(desk: Desk, order: dict[str, Any], *lines: Any, **more: Any) -> str:
    """Issue an invoice; return the result of its first line, and withdraw it."""
    made = desk.issue(order, *lines, **more)
    found = desk.results(made)[0]
    desk.did(made, "cancel", reason="Once more")
    return found


@pytest.mark.parametrize(
    ("points", "units", "wanted"),
    [(0, 51, "quantity_over"), (200, 51, "ok"), (200, 52, "quantity_over"), (0, 50, "ok")],
)
def test_quantities(desk: Desk, points: int, units: int, wanted: str) -> None:
    desk.policies(match_quantity_tolerance_bp=points)
    order = desk.ordered()
    desk.receive(desk.ship(order, 60), 50)

    made = desk.issue(order, units)

    assert desk.results(made) == [wanted]
    assert desk.read(made)["match"]["lines"][0]["quantity_variance"] == units - 50
    seen = desk.read(made, api=desk.supplier)
    assert seen["match"]["lines"] == [{"line_no": 1, "result": wanted}]
    desk.stored()


@pytest.mark.parametrize(
    ("policies", "price", "wanted"),
    [
        ({}, "4.91", "price_over"),
        ({}, "4.89", "ok"),  # cheaper is right
        ({"match_price_tolerance_bp": 100}, "4.949", "ok"),
        ({"match_price_tolerance_bp": 100}, "4.9491", "price_over"),
        ({"match_price_tolerance_bp": 100, "match_price_tolerance_amount": "0.29"}, "4.94", "ok"),
        ({"match_price_tolerance_bp": 100, "match_price_tolerance_amount": "0.23"}, "4.94", "price_over"),
    ],
)
def test_prices(desk: Desk, policies: dict[str, Any], price: str, wanted: str) -> None:
    desk.policies(**policies)
    order = desk.arrived(60)

    made = desk.issue(order, desk.line(order, 1, 60, unit_price=price))

    assert desk.results(made) == [wanted]
    seen = str(desk.read(made, api=desk.supplier))
    assert not [word for word in SECRETS if f"'{word}" in seen.replace("'approved_by': None", "")]
    desk.stored()


def test_an_amount_in_another_currency_admits_no_difference(desk: Desk) -> None:
    desk.policies(match_price_tolerance_bp=10_000, match_price_tolerance_amount="1000")
    order = desk.arrived(60)
    dear = desk.line(order, 1, 60, unit_price="4.91")
    assert result(desk, order, dear) == "ok"

    answer = factories.as_member(desk.dock.buyer.tenant).patch(
        f"/v1/tenants/{desk.dock.buyer.id}", json={"currency": "USD"}
    )

    assert answer.status_code == 200, answer.content
    assert result(desk, order, dear) == "price_over"
    assert result(desk, order, 60) == "ok"


@pytest.mark.parametrize(
    ("ordered", "rate", "amount", "wanted"),
    [
        ("19", "19", "0.02", "ok"),
        ("19", "7", "0.02", "tax_differs"),
        ("19", "7", "8.99", "tax_differs"),
        ("19", "7", "9.00", "ok"),
        ("19", "19.02", "0.02", "ok"),  # 14.27 and not 14.25
        ("19", "19.05", "0.02", "tax_differs"),
        (None, "19", "0.02", "ok"),  # without a rate there is nothing to hold it against
    ],
)
def test_taxes(desk: Desk, ordered: str | None, rate: str, amount: str, wanted: str) -> None:
    desk.policies(match_tax_tolerance_amount=amount)
    order = managed(desk.dock, **({} if ordered is None else {"tax_rate": ordered}))
    assert received(desk.dock, order, {"accepted_quantity": 6}).status_code == 201
    body = desk.body(order, desk.line(order, 1, 6, tax_rate=rate), purchase_order_id=order["id"])

    made = desk.clerk.post(PATH, json=body)

    assert made.status_code == 201, made.content
    assert desk.results(made.json()["data"]) == [wanted]
    assert list(breaches(desk.dock.buyer.id)) == []


def agreed(desk: Desk, **tolerances: int) -> None:
    """Let both agree on the price of the vials, with tolerances."""
    api, vials = desk.clerk_of("buyer", "approver"), desk.dock.vials
    line = {
        "product_id": vials["id"], "packaging_id": vials["packagings"][0]["id"],
        "tiers": [{"min_quantity": 1, "unit_price": "4.10"}],
    }  # fmt: skip
    body = {
        "title": "Vials", "scope": "tenant", "currency": "EUR", "valid_from": "2026-01-01", "valid_to": "2030-01-01",
        "supplier_id": str(desk.dock.shelf.id), "lines": [line], **tolerances,
    }  # fmt: skip
    made = api.post(AGREEMENTS, json=body)
    assert made.status_code == 201, made.content
    key = made.json()["data"]["id"]
    assert api.post(f"{AGREEMENTS}/{key}/propose").status_code == 200
    assert desk.supplier.post(f"{AGREEMENTS}/{key}/accept").status_code == 200


def test_the_agreement_s_own_tolerances_win(desk: Desk) -> None:
    desk.policies(match_quantity_tolerance_bp=0, match_price_tolerance_bp=0)
    agreed(desk, price_tolerance_bp=200, qty_tolerance_bp=500)
    order = desk.ordered()
    assert order["lines"][0]["snapshot"]["unit_price"] == "4.10"
    desk.receive(desk.ship(order, 60), 40)

    assert result(desk, order, desk.line(order, 1, 40, unit_price="4.182")) == "ok"
    assert result(desk, order, desk.line(order, 1, 40, unit_price="4.1821")) == "price_over"
    assert result(desk, order, 42) == "ok"
    assert result(desk, order, 43) == "quantity_over"


def test_an_agreement_may_be_stricter_than_the_policy(desk: Desk) -> None:
    desk.policies(match_quantity_tolerance_bp=5_000, match_price_tolerance_bp=5_000)
    agreed(desk, price_tolerance_bp=0, qty_tolerance_bp=0)
    order = desk.ordered()
    desk.receive(desk.ship(order, 60), 40)

    assert result(desk, order, desk.line(order, 1, 40, unit_price="4.11")) == "price_over"
    assert result(desk, order, 41) == "quantity_over"


@pytest.mark.parametrize(
    ("limit", "status"), [("29.40", "approved"), ("29.39", "matched"), ("0", "matched"), ("1000", "approved")]
)
def test_small_invoices_are_released_up_to_the_limit(desk: Desk, limit: str, status: str) -> None:
    desk.policies(invoice_auto_approve_limit=limit)
    order = desk.arrived(60)

    made = desk.issue(order, 60)

    assert (made["gross_total"], made["status"]) == ("29.40", status)
    assert desk.read(made)["approved_by"] is None
    assert ("invoice.approved" in told(desk.dock.shelf, "invoice")) == (status == "approved")
    desk.stored()


def test_what_does_not_match_is_not_released_by_itself_until_it_does(desk: Desk) -> None:
    desk.policies(invoice_auto_approve_limit="1000")
    order = desk.ordered()
    delivery = desk.ship(order, 60)
    made = desk.issue(order, 60)
    assert made["status"] == "mismatched"

    desk.receive(delivery, 60)

    assert desk.read(made)["status"] == "approved"
    assert desk.facts(desk.dock.buyer, made)[-2:] == [
        ("invoice.matched", "mismatched", "matched", "system"), ("invoice.approved", "matched", "approved", "system"),
    ]  # fmt: skip
    desk.stored()


def test_the_limit_is_in_the_currency_of_the_tenant(desk: Desk) -> None:
    desk.policies(invoice_auto_approve_limit="1000")
    admin = factories.as_member(desk.dock.buyer.tenant)
    assert admin.patch(f"/v1/tenants/{desk.dock.buyer.id}", json={"currency": "USD"}).status_code == 200

    assert desk.issue(desk.arrived(60), 60)["status"] == "matched"


def test_matching_again_looks_with_the_policies_of_now(desk: Desk) -> None:
    order = desk.arrived(60)
    made = desk.issue(order, desk.line(order, 1, 60, unit_price="4.95"))
    assert made["status"] == "mismatched"
    checked = desk.read(made)["match"]["checked_at"]
    assert desk.did(made, "match")["status"] == "mismatched"  # nothing has changed, and nobody is told
    assert desk.facts(desk.dock.buyer, made)[1:] == [("invoice.mismatched", "issued", "mismatched", "system")]
    assert desk.read(made)["match"]["checked_at"] > checked

    desk.policies(match_price_tolerance_bp=200)

    assert desk.did(made, "match")["status"] == "matched"
    assert desk.facts(desk.dock.shelf, made)[-1] == ("invoice.matched", "mismatched", "matched", "system")
    desk.did(made, "approve")
    refused(desk.act(made, "match"), 409, "invalid_transition")
    desk.stored()


def test_a_line_returned_before_it_was_invoiced_is_billable_by_so_much_less(desk: Desk) -> None:
    order = desk.ordered()
    delivery = desk.ship(order, 60)
    desk.receive(delivery, 60)
    back = desk.dock.trade.api.post(
        "/v1/procurement/returns",
        json={
            "delivery_id": str(delivery),
            "lines": [{
                "delivery_line_id": str(desk.dock.lines(delivery)[0].id), "quantity": 20, "unit": "base",
                "reason_code": "quality",
            }],
        },
    ).json()["data"]  # fmt: skip
    apart = desk.dock.shelf.place("Quarantine", sellable=False)
    path = f"/v1/procurement/returns/{back['id']}"
    made = desk.issue(order, 50)
    assert made["status"] == "matched"
    for api, action, body in (
        (desk.supplier, "authorize", {}), (desk.dock.trade.api, "ship", {}),
        (desk.supplier, "receive", {"location_id": str(apart)}),
    ):  # fmt: skip
        assert api.post(f"{path}/{action}", json=body).status_code == 200
    lines = [{"return_line_id": back["lines"][0]["id"], "disposition": "quarantine"}]

    answer = desk.supplier.post(f"{path}/inspect", json={"lines": lines, "credit_note_number": "CN-1"})

    assert answer.status_code == 200, answer.content
    assert desk.billing(order)[2] == [30]
    assert desk.read(made)["status"] == "matched"
    desk.issue(order, 10)
    assert desk.results(desk.issue(order, 1)) == ["quantity_over"]
    desk.stored()
