"""Submit and cancel: limits taken and given back, what each refuses, and what the supplier reads."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest

from core.clock import now
from core.db import tenant_context
from core.ids import uuid7
from suppliers.agreements.models import PriceAgreementLine, ReceivedAgreementLine
from suppliers.company.models import SupplierProfile
from suppliers.inventory.models import StockPlace
from suppliers.marketplace.models import Offer
from suppliers.relationships.models import BlockedProduct, Relationship
from suppliers.terms.promotions.models import Promotion
from tests.factories import Api, api_key, as_member
from tests.procurement.budgets.budgets import amounts
from tests.procurement.budgets.budgets import put as put_budget
from tests.procurement.purchasing.orders import PATH, Trade, act, approver, price, submitted
from tests.suppliers.agreements.world import PATH as AGREEMENTS
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.inventory.shelf import copies, refused, reserve
from tests.suppliers.products import field_errors
from tests.suppliers.terms.test_promotions import put as put_promotion

SUBMITTED, SENT, PLACED = "purchase_order.submitted", "purchase_order.sent", "order.placed"
ORDERS = "/v1/orders"


def is_untouched(trade: Trade, answer: Any, status: int, code: str) -> dict[str, Any]:
    """Require a refusal that has changed nothing of the one draft, and told nobody anything."""
    body = refused(answer, status, code)
    assert [one[:3] for one in trade.stored()] == [("draft", 1, 1)]
    assert [kind for kind, *_ in trade.facts()] == ["purchase_order.created"]
    assert trade.facts(trade.shelf.tenant) == []
    return body


def relate(trade: Trade, **values: Any) -> None:
    """Write the buyer's relationship to the supplier."""
    with tenant_context(trade.buyer.id):
        Relationship.objects.create(tenant_id=trade.buyer.id, supplier_id=trade.shelf.id, **values)


def test_submit_sends_where_nobody_has_to_approve(trade: Trade) -> None:
    lines = [(trade.gloves, 10), {"product_id": trade.masks["id"], "quantity": 7, "unit": "base"}]
    draft = trade.draft(*lines, notes_to_supplier="Ring", internal_note="Secret", external_reference="R-7")

    answer = act(trade, draft["id"], "submit")

    assert answer.status_code == 200, answer.content
    data = answer.json()["data"]
    assert data == trade.read(draft["id"])
    assert (data["status"], data["awaiting"], data["order_number"]) == ("sent", "supplier", "SO-000001")
    assert (data["version"], data["revision"], answer.headers["ETag"]) == (2, 1, '"2"')
    assert data["accept_by"] > data["sent_at"]
    assert [(kind, version) for kind, version, _ in trade.facts()] == [
        ("purchase_order.created", 1), (SUBMITTED, 2), (SENT, 2),
    ]  # fmt: skip
    ((kind, version, payload),) = trade.facts(trade.shelf.tenant)
    assert (kind, version, payload["status"], payload["was"], payload["by"]) == (PLACED, 1, "sent", None, "buyer")
    order = trade.shelf.api.get(f"{ORDERS}/{draft['id']}")
    assert (order.status_code, order.headers["ETag"].partition(";")[0].strip('"')) == (200, "1")
    seen = order.json()["data"]
    assert (seen["order_number"], seen["po_number"], seen["status"], seen["awaiting"]) == (
        "SO-000001", "PO-000001", "sent", "supplier",
    )  # fmt: skip
    assert (seen["buyer_id"], seen["buyer_name"]) == (str(trade.buyer.id), trade.buyer.tenant.name)
    assert (seen["notes_to_supplier"], seen["external_reference"]) == ("Ring", "R-7")
    assert "Secret" not in order.content.decode()
    assert not {"internal_note", "budget", "requester", "approval_for", "reservation_ids"} & seen.keys()
    assert seen["totals"] == data["totals"]
    assert [one["base_quantity"] for one in seen["items"]] == [1000, 7]
    assert [one["source_type"] for one in seen["items"][0]["trace"] if one["matched"]] == ["offer"]
    (entry,) = seen["timeline"]
    assert (entry["action"], entry["by"], entry["actor_id"], entry["credential"]) == ("placed", "buyer", None, None)
    assert [one[0] for one in trade.stored()] == ["sent"]
    again = refused(act(trade, draft["id"], "submit"), 409, "invalid_transition")
    assert (again["from"], again["action"], again["allowed"]) == ("sent", "submit", ["cancel", "propose-changes"])
    patched = refused(trade.api.patch(f"{PATH}/{draft['id']}", json={"priority": "urgent"}), 409, "invalid_transition")
    assert (patched["from"], patched["action"]) == ("sent", "update")


def test_another_price_is_refused_with_both_unless_it_is_accepted(trade: Trade) -> None:
    draft = trade.draft((trade.gloves, 10), (trade.masks, 1))
    with tenant_context(trade.shelf.id):
        rows = Offer.objects.filter(tenant_id=trade.shelf.id, product_id=trade.gloves["id"])
        rows.update_versions(tiers=price((1, "5.10")), at=now())

    body = is_untouched(trade, act(trade, draft["id"], "submit"), 409, "price_changed")
    (error,) = body["errors"]
    assert (error["pointer"], error["old"]["unit_price"], error["new"]["unit_price"]) == ("/lines/0", "4.90", "5.10")

    data = act(trade, draft["id"], "submit", accept_price_changes=True).json()["data"]
    assert (data["status"], data["lines"][0]["snapshot"]["unit_price"], data["totals"]["net"]) == (
        "sent",
        "5.10",
        "51.33",
    )
    assert trade.shelf.api.get(f"{ORDERS}/{draft['id']}").json()["data"]["totals"]["net"] == "51.33"
    assert trade.stored()[0][0] == "sent"


def test_what_is_not_on_offer_any_more_or_not_in_such_quantities(trade: Trade) -> None:
    draft = trade.draft((trade.masks, 1), (trade.gloves, 10))
    with tenant_context(trade.shelf.id):
        rows = Offer.objects.filter(tenant_id=trade.shelf.id, product_id=trade.gloves["id"])
        rows.update_versions(min_order_quantity=20, at=now())
    body = is_untouched(trade, act(trade, draft["id"], "submit"), 409, "order_quantity_invalid")
    assert [(one["field"], one["corrections"]) for one in body["errors"]] == [("lines.1.quantity", {"quantity": 20})]

    with tenant_context(trade.shelf.id):
        offer = Offer.objects.get(tenant_id=trade.shelf.id, product_id=trade.gloves["id"])
    trade.shelf.exclude(offer.id, trade.buyer)
    body = is_untouched(trade, act(trade, draft["id"], "submit"), 409, "offer_not_available")
    assert [one["field"] for one in body["errors"]] == ["lines.1"]


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"blocks": ["orders"]}, "relationship_blocked"),
        ({"approved_categories": ["syringes"]}, "not_on_formulary"),
        ({"spend_limit": {"amount": "48.99", "currency": "EUR", "period": "month"}}, "spend_limit_exceeded"),
    ],
)
def test_the_relationship_refuses(trade: Trade, values: dict[str, Any], code: str) -> None:
    draft = trade.draft()
    relate(trade, **values)

    is_untouched(trade, act(trade, draft["id"], "submit"), 409, code)


def test_the_limit_of_spending_counts_what_was_ordered_in_the_period(trade: Trade) -> None:
    relate(trade, spend_limit={"amount": "60.00", "currency": "EUR", "period": "year"})
    first, second = submitted(trade, (trade.gloves, 10)), trade.draft((trade.gloves, 10))

    body = refused(act(trade, second["id"], "submit"), 409, "spend_limit_exceeded")
    assert body["available"] == {"amount": "11.00", "currency": "EUR"}
    assert [one[0] for one in trade.stored()] == ["sent", "draft"]
    assert act(trade, first["id"], "cancel").status_code == 200
    assert act(trade, second["id"], "submit").status_code == 200


def test_a_blocked_product_and_a_category_above(trade: Trade) -> None:
    relate(trade, approved_categories=[trade.gloves["category"]])
    with tenant_context(trade.buyer.id):
        BlockedProduct.objects.create(
            tenant_id=trade.buyer.id, supplier_id=trade.shelf.id, product_id=trade.masks["id"]
        )
    draft = trade.draft((trade.gloves, 10), (trade.masks, 1))

    body = is_untouched(trade, act(trade, draft["id"], "submit"), 409, "not_on_formulary")
    assert [one["field"] for one in body["errors"]] == ["lines.1"]


def test_an_unqualified_supplier_takes_no_orders(trade: Trade) -> None:
    draft = trade.draft()
    with tenant_context(trade.shelf.id):
        row = SupplierProfile.objects.get(tenant_id=trade.shelf.id)
        row.suspend()
        row.save_version("qualification_status", at=now())

    is_untouched(trade, act(trade, draft["id"], "submit"), 409, "supplier_not_qualified")


def test_a_controlled_product_needs_a_place_with_its_licence(trade: Trade) -> None:
    drug = trade.shelf.product(name="Morphine", controlled={"schedule": "II", "license_type": "btm"})
    trade.shelf.offer(drug, currency="EUR", tiers=price((1, "9")))
    draft = trade.draft((trade.masks, 1), (drug, 1))
    body = is_untouched(trade, act(trade, draft["id"], "submit"), 409, "license_missing")
    assert [one["field"] for one in body["errors"]] == ["lines.1"]
    with tenant_context(trade.buyer.id):
        place = StockPlace.objects.create(
            tenant_id=trade.buyer.id, location_id=trade.ward, code="W3", license_types=["btm"],
            license_valid_to=date.today() - timedelta(days=2),
        )  # fmt: skip
    is_untouched(trade, act(trade, draft["id"], "submit"), 409, "license_missing")
    with tenant_context(trade.buyer.id):
        place.license_valid_to = date.today() + timedelta(days=2)
        place.save_version("license_valid_to", at=now())
    assert act(trade, draft["id"], "submit").status_code == 200


def test_a_budget_is_committed_and_given_back(trade: Trade) -> None:
    staff = approver(trade)
    put_budget(staff, "wards", amount="60")
    first = submitted(trade, (trade.gloves, 10), budget={"code": "wards"})
    assert amounts(trade.buyer.tenant)["wards"] == (Decimal(49), 0)
    second = trade.draft((trade.gloves, 10), budget={"code": "wards"})

    body = refused(act(trade, second["id"], "submit"), 409, "budget_exceeded")
    assert body["available"] == {"amount": "11.00", "currency": "EUR"}
    put_budget(staff, "wards", amount="60", active=False)
    assert field_errors(act(trade, second["id"], "submit")) == {("budget.code", "unknown_budget")}
    assert [one[0] for one in trade.stored()] == ["sent", "draft"]
    assert act(trade, first["id"], "cancel").status_code == 200
    assert amounts(trade.buyer.tenant)["wards"] == (0, 0)


def test_an_agreement_counts_what_is_ordered_at_it(trade: Trade) -> None:
    line = {
        "product_id": trade.gloves["id"], "packaging_id": trade.gloves["packagings"][0]["id"], "max_quantity": 1500,
        "tiers": [{"min_quantity": 1, "unit_price": "4.10"}],
    }  # fmt: skip
    api = as_member(trade.buyer.tenant, ["buyer", "approver"])
    made = api.post(
        AGREEMENTS,
        json={
            "title": "Gloves", "scope": "tenant", "currency": "EUR", "valid_from": "2026-01-01", "valid_to": "2030-01-01",
            "supplier_id": str(trade.shelf.id), "lines": [line],
        },
    )  # fmt: skip
    assert made.status_code == 201, made.content
    key = made.json()["data"]["id"]
    assert api.post(f"{AGREEMENTS}/{key}/propose").status_code == 200
    assert trade.shelf.api.post(f"{AGREEMENTS}/{key}/accept").status_code == 200

    def consumed() -> list[int]:
        found = []
        for tenant, model in ((trade.buyer, PriceAgreementLine), (trade.shelf, ReceivedAgreementLine)):
            with tenant_context(tenant.id):
                found += sorted(model.objects.filter(tenant_id=tenant.id).values_list("consumed", flat=True))
        return found

    wider = api.patch(f"{AGREEMENTS}/{key}", json={"lines": [{**line, "max_quantity": 1600}]})
    assert wider.status_code == 200, wider.content
    assert api.post(f"{AGREEMENTS}/{key}/propose").status_code == 200
    assert trade.shelf.api.post(f"{AGREEMENTS}/{key}/accept").status_code == 200
    late = trade.draft((trade.gloves, 10), price_agreement_id=key)
    first = submitted(trade, (trade.gloves, 10))
    assert (first["lines"][0]["snapshot"]["price_source"], first["totals"]["net"]) == ("contract", "41.00")
    assert consumed() == [0, 1000, 0, 1000]
    assert refused(act(trade, late["id"], "submit"), 409, "agreement_exhausted")
    assert consumed() == [0, 1000, 0, 1000]
    assert act(trade, first["id"], "cancel").status_code == 200
    assert consumed() == [0, 0, 0, 0]
    assert act(trade, late["id"], "submit").status_code == 200
    assert trade.stored()[0][0] == "sent"


def test_a_promotion_is_redeemed_and_given_back(trade: Trade) -> None:
    key = Api(key=api_key(trade.shelf.tenant), tenant=trade.shelf.tenant)
    made = put_promotion(key, "five", status="active", max_redemptions=1)
    assert made.status_code == 201, made.content

    def redemptions() -> list[int]:
        with tenant_context(trade.shelf.id):
            return list(Promotion.objects.filter(tenant_id=trade.shelf.id).values_list("redemptions", flat=True))

    late, first = trade.draft((trade.gloves, 10)), submitted(trade, (trade.gloves, 10))
    assert (first["totals"]["net"], redemptions()) == ("46.55", [1])
    refused(act(trade, late["id"], "submit"), 409, "price_changed")
    assert redemptions() == [1]
    assert act(trade, first["id"], "cancel").status_code == 200
    assert redemptions() == [0]
    assert act(trade, late["id"], "submit").json()["data"]["totals"]["net"] == "46.55"


def test_reservations_become_the_order_s_and_end_with_it(trade: Trade) -> None:
    level = trade.shelf.stock(trade.gloves, 5000)
    (held,) = reserve(trade.buyer, trade.shelf, (trade.gloves, 4))
    draft = trade.draft((trade.gloves, 10), reservation_ids=[held["id"]])

    data = act(trade, draft["id"], "submit").json()["data"]

    (row,) = trade.shelf.reservations()
    assert (row.kind, row.status, row.expires_at) == ("hard", "active", None)
    assert str(row.purchase_order_line_id) == data["lines"][0]["id"]
    assert [one.kind for one in trade.shelf.allocations()] == ["hard"]
    (copy,) = copies(trade.buyer)
    assert (copy.representation["kind"], copy.expires_at) == ("hard", None)
    item = trade.shelf.api.get(f"{ORDERS}/{draft['id']}").json()["data"]["items"][0]
    assert item["allocated"] == 400
    assert act(trade, draft["id"], "cancel").status_code == 200
    (row,) = trade.shelf.reservations()
    assert (row.status, trade.shelf.level(level).reserved) == ("released", 0)
    assert copies(trade.buyer)[0].status == "released"
    assert trade.stored()[0][0] == "cancelled"


def test_reservations_that_cannot_be_used(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 5000)
    trade.shelf.stock(trade.masks, 50)
    gone, mask = reserve(trade.buyer, trade.shelf, (trade.gloves, 4), (trade.masks, 5))
    assert trade.api.delete(f"/v1/stock/reservations/{gone['id']}").status_code in (200, 204)
    draft = trade.draft((trade.gloves, 10), reservation_ids=[gone["id"]])
    assert is_untouched(trade, act(trade, draft["id"], "submit"), 409, "reservation_not_active")["state"] == "released"
    path = f"{PATH}/{draft['id']}"
    trade.api.patch(path, json={"reservation_ids": [str(uuid7())]})
    refused(act(trade, draft["id"], "submit"), 409, "reservation_not_active")
    trade.api.patch(path, json={"reservation_ids": [mask["id"]]})
    assert field_errors(act(trade, draft["id"], "submit")) == {("reservation_ids.0", "more_than_ordered")}
    assert [one.kind for one in trade.shelf.reservations() if one.status == "active"] == ["soft"]


def test_an_order_to_a_managed_supplier_is_accepted_at_once(trade: Trade) -> None:
    made = trade.api.post("/v1/suppliers", json={"legal_name": f"Bakery {uuid7()}", "country": "DE"})
    assert made.status_code == 201, made.content
    line = {"description": "Bread rolls", "quantity": 40, "unit_price": "0.35"}

    data = submitted(trade, line, supplier_id=made.json()["data"]["id"])

    assert (data["status"], data["order_number"], data["accept_by"]) == ("accepted", "SO-000001", None)
    assert (data["lines"][0]["accepted"], data["lines"][0]["line_status"]) == (40, "accepted")
    assert [kind for kind, *_ in trade.facts()] == [
        "purchase_order.created", SUBMITTED, SENT, "purchase_order.accepted",
    ]  # fmt: skip
    assert trade.stored()[0][0] == "accepted"


def test_a_step_of_approval_keeps_the_order_from_the_supplier(trade: Trade) -> None:
    path = f"/v1/tenants/{trade.buyer.id}/configuration"
    steps = [{"over_amount": "49.00", "approvals": 1}]
    answer = as_member(trade.buyer.tenant).patch(path, json={"policies": {"approval_steps": steps}})
    assert answer.status_code == 200, answer.content
    put_budget(approver(trade), "wards", amount="60")
    assert submitted(trade, (trade.gloves, 10))["status"] == "sent"

    data = submitted(trade, (trade.gloves, 11), budget={"code": "wards"})

    assert (data["status"], data["approval_for"], data["order_number"]) == ("pending_approval", "sending", None)
    assert amounts(trade.buyer.tenant)["wards"][0] == Decimal("53.9")
    assert refused(trade.shelf.api.get(f"{ORDERS}/{data['id']}"), 404, "not_found")
    assert act(trade, data["id"], "cancel").status_code == 200
    assert amounts(trade.buyer.tenant)["wards"][0] == 0
    assert len(trade.facts(trade.shelf.tenant)) == 1


def test_who_submits_and_cancels(trade: Trade) -> None:
    draft = trade.draft()
    for action in ("submit", "cancel"):
        path = f"{PATH}/{draft['id']}/{action}"
        assert refused(approver(trade).post(path, json={}), 403, "insufficient_scope")
        assert refused(shelves.buyer().api.post(path, json={}), 404, "not_found")
        stale = trade.api.post(path, json={}, headers={"If-Match": '"7"'})
        assert refused(stale, 409, "version_conflict")
    assert [one[:3] for one in trade.stored()] == [("draft", 1, 1)]
