"""POST /v1/orders/{id}/reject: all that the order had taken is given back, and both are told why."""

from decimal import Decimal
from typing import Any

from core.db import tenant_context
from suppliers.agreements.models import PriceAgreementLine, ReceivedAgreementLine
from suppliers.terms.promotions.models import Promotion
from tests import races
from tests.factories import Api, api_key, as_member
from tests.procurement.budgets.budgets import amounts
from tests.procurement.budgets.budgets import put as put_budget
from tests.procurement.purchasing.orders import Trade, act, approver, submitted
from tests.suppliers.agreements.world import PATH as AGREEMENTS
from tests.suppliers.inventory.shelf import copies, refused, reserve
from tests.suppliers.orders.answers import ORDERS, accepted, answer, counters, held, seen
from tests.suppliers.products import field_errors
from tests.suppliers.terms.test_promotions import put as put_promotion


def agree(trade: Trade, most: int, **more: Any) -> None:
    """Let both agree on a price of gloves for so many base units."""
    line: dict[str, Any] = {
        "product_id": trade.gloves["id"], "packaging_id": trade.gloves["packagings"][0]["id"], "max_quantity": most,
        "tiers": [{"min_quantity": 1, "unit_price": "4.10"}],
    }  # fmt: skip
    api = as_member(trade.buyer.tenant, ["buyer", "approver"])
    body = {
        "title": "Gloves", "scope": "tenant", "currency": "EUR", "valid_from": "2026-01-01", "valid_to": "2030-01-01",
        "supplier_id": str(trade.shelf.id), "lines": [line], **more,
    }  # fmt: skip
    path = f"{AGREEMENTS}/{api.post(AGREEMENTS, json=body).json()['data']['id']}"
    assert api.post(f"{path}/propose").status_code == 200
    assert trade.shelf.api.post(f"{path}/accept").status_code == 200


def consumed(trade: Trade) -> tuple[list[int], list[int]]:
    """Return what was taken of agreements, in the buyer's lines and in the supplier's copies."""
    with tenant_context(trade.buyer.id):
        mine = [one.consumed for one in PriceAgreementLine.objects.filter(tenant_id=trade.buyer.id)]
    with tenant_context(trade.shelf.id):
        return mine, [one.consumed for one in ReceivedAgreementLine.objects.filter(tenant_id=trade.shelf.id)]


def test_reject_gives_everything_back(trade: Trade) -> None:
    trade.shelf.stock(trade.masks, 10)
    put_budget(approver(trade), "wards", amount="60")
    agree(trade, 1500)
    (mine,) = reserve(trade.buyer, trade.shelf, (trade.masks, 4))
    order = submitted(
        trade, (trade.gloves, 10), (trade.masks, 4), budget={"code": "wards"}, reservation_ids=[mine["id"]]
    )
    assert consumed(trade) == ([1000], [1000])
    assert amounts(trade.buyer.tenant)["wards"] == (Decimal("42.33"), 0)

    found = answer(trade, order["id"], "reject", reason_code="out_of_stock", note="Not before spring")

    assert found.status_code == 200, found.content
    data = found.json()["data"]
    assert data == seen(trade, order["id"])
    assert (data["status"], data["awaiting"], data["version"]) == ("rejected", None, 2)
    assert [one["line_status"] for one in data["items"]] == ["cancelled", "cancelled"]
    assert (data["timeline"][0]["action"], data["timeline"][0]["reason"]) == (
        "rejected", "out_of_stock: Not before spring",
    )  # fmt: skip
    back = trade.read(order["id"])
    assert (back["status"], back["version"], back["timeline"][0]["by"]) == ("rejected", 3, "supplier")
    assert back["timeline"][0]["reason"] == "out_of_stock: Not before spring"
    assert counters(trade) == [(1000, 0, 0, 1000), (4, 0, 0, 4)]
    assert amounts(trade.buyer.tenant)["wards"] == (0, 0)
    assert consumed(trade) == ([0], [0])
    assert held(trade) == [(10, 0)]
    assert [one.status for one in copies(trade.buyer)] == ["released"]
    assert trade.facts()[-1][0] == "purchase_order.rejected"
    assert trade.facts(trade.shelf.tenant)[-1][0] == "order.rejected"
    again = refused(answer(trade, order["id"], "reject", reason_code="late"), 409, "invalid_transition")
    assert (again["from"], again["action"], again["allowed"]) == ("rejected", "reject", [])


def test_what_a_reject_asks_for(trade: Trade) -> None:
    order = submitted(trade, (trade.masks, 1))
    assert field_errors(answer(trade, order["id"], "reject")) == {("reason_code", "required")}
    assert field_errors(answer(trade, order["id"], "reject", reason_code="No stock!")) == {("reason_code", "invalid")}
    assert field_errors(answer(trade, order["id"], "reject", reason_code="late", why="?")) == {("why", "unknown_field")}
    path = f"{ORDERS}/{order['id']}/reject"
    stale = trade.shelf.api.post(path, json={"reason_code": "late"}, headers={"If-Match": '"9"'})
    assert refused(stale, 409, "version_conflict")["current_version"] == 1
    assert refused(trade.api.post(path, json={"reason_code": "late"}), 403, "insufficient_scope")
    assert [one[0] for one in trade.stored()] == ["sent"]


def test_an_accepted_order_is_not_rejected(trade: Trade) -> None:
    trade.shelf.stock(trade.masks, 5)
    order = submitted(trade, (trade.masks, 5))
    accepted(trade, order["id"])

    body = refused(answer(trade, order["id"], "reject", reason_code="late"), 409, "invalid_transition")

    assert (body["from"], body["allowed"]) == ("accepted", ["items"])
    assert counters(trade) == [(5, 5, 0, 0)]


def client(trade: Trade) -> Api:
    """Return a further client of the supplier, for a thread of its own."""
    api = Api()
    api.headers = trade.shelf.api.headers
    return api


def test_of_accept_reject_and_cancel_at_once_one_wins(trade: Trade) -> None:
    trade.shelf.stock(trade.masks, 1000)
    put_budget(approver(trade), "wards", amount="60")
    for _ in range(4):
        order = submitted(trade, (trade.masks, 5), budget={"code": "wards"})
        key, clients, buyer = order["id"], [client(trade) for _ in range(3)], trade.buyer.client()
        before = amounts(trade.buyer.tenant)["wards"][0]

        found = races.race(
            lambda one=clients[0], key=key: answer(trade, key, "accept", api=one),
            lambda one=clients[1], key=key: answer(trade, key, "reject", api=one, reason_code="late"),
            lambda one=clients[2], key=key: answer(trade, key, "accept", api=one),
            lambda one=buyer, key=key: one.post(f"/v1/purchase-orders/{key}/cancel", json={}),
        )

        assert {one.status_code for one in found} == {200, 409}, [one.content for one in found]
        codes = {one.json().get("code") for one in found if one.status_code == 409}
        assert codes <= {"invalid_transition", "concurrent_update"}
        state = trade.read(key)["status"]
        # An accepted order may be cancelled still.
        assert (found[0].status_code, found[2].status_code).count(200) <= 1
        assert state in ("accepted", "rejected", "cancelled")
        is_kept = state == "accepted"
        assert amounts(trade.buyer.tenant)["wards"][0] == (before if is_kept else before - Decimal("1.67"))
        trade.stored()
        if is_kept:
            assert act(trade, key, "cancel").status_code == 200
        assert held(trade) == [(1000, 0)]


def test_the_last_units_go_to_one_order_each(trade: Trade) -> None:
    trade.shelf.stock(trade.masks, 30, lot="A")
    trade.shelf.stock(trade.masks, 10, lot="B")
    keys = [submitted(trade, (trade.masks, 4))["id"] for _ in range(16)]
    clients = [client(trade) for _ in keys]

    found = races.race(
        *[
            lambda one=one, key=key: answer(trade, key, "accept", api=one)
            for one, key in zip(clients, keys, strict=True)
        ]
    )

    assert sorted(one.status_code for one in found) == [200] * 10 + [409] * 6
    assert {one.json()["code"] for one in found if one.status_code == 409} == {"insufficient_stock"}
    assert held(trade) == [(30, 30), (10, 10)]
    assert sum(one[1] for one in counters(trade)) == 40


def test_promotions_are_given_back(trade: Trade) -> None:
    key = Api(key=api_key(trade.shelf.tenant, ["supplier_admin"]), tenant=trade.shelf.tenant)
    assert put_promotion(key, "five", status="active", max_redemptions=1).status_code in (200, 201)
    order = submitted(trade, (trade.gloves, 10))
    with tenant_context(trade.shelf.id):
        assert [one.redemptions for one in Promotion.objects.filter(tenant_id=trade.shelf.id)] == [1]

    assert answer(trade, order["id"], "reject", reason_code="late").status_code == 200

    trade.stored()
    with tenant_context(trade.shelf.id):
        assert [one.redemptions for one in Promotion.objects.filter(tenant_id=trade.shelf.id)] == [0]
