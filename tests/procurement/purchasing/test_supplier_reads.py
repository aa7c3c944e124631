"""What suppliers read of orders: those that were sent to them, and nothing before."""

from core.ids import uuid7
from tests.factories import Api, api_key
from tests.procurement.purchasing.orders import Trade, act, submitted
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.inventory.shelf import refused

ORDERS = "/v1/orders"


def test_the_supplier_s_lists(trade: Trade) -> None:
    first, second = submitted(trade, (trade.gloves, 1)), submitted(trade, *[(trade.masks, 2)] * 25)
    trade.draft()
    api = trade.shelf.api

    def numbers(query: str) -> list[str]:
        answer = api.get(f"{ORDERS}?{query}")
        assert answer.status_code == 200, answer.content
        return [one["order_number"] for one in answer.json()["data"]["items"]]

    both = ["SO-000002", "SO-000001"]
    assert numbers("") == both
    assert numbers(f"buyer_id={trade.buyer.id}&status=sent&fulfilment_status=unfulfilled") == both
    assert numbers(f"product_id={trade.masks['id']}") == ["SO-000002"]
    assert numbers(f"product_id={uuid7()}") == numbers("status=accepted") == numbers(f"buyer_id={uuid7()}") == []
    assert numbers("from=2020-01-01&to=2999-01-01&sort=order_number") == both[::-1]
    assert numbers(f"search={first['po_number']}") == ["SO-000001"]
    assert numbers(f"search={trade.buyer.tenant.name[:12]}") == both
    assert numbers(f"updated_since={second['sent_at']}") == ["SO-000002"]
    assert "items" not in api.get(ORDERS).json()["data"]["items"][0]
    for query in ("status=draft", "status=pending_approval", "supplier_id=1", "side=buyer"):
        assert api.get(f"{ORDERS}?{query}").status_code == 400, query
    page = api.get(f"{ORDERS}/{second['id']}/items?page=2&limit=20").json()["data"]
    assert (page["total"], [one["line_no"] for one in page["items"]]) == (25, [21, 22, 23, 24, 25])
    assert page["items"][0]["allocated"] == 0
    assert api.get(f"{ORDERS}/{second['id']}/items?page=3").json()["data"]["items"] == []
    key = Api(key=api_key(trade.shelf.tenant), tenant=trade.shelf.tenant)
    assert key.get(f"{ORDERS}/{first['id']}").status_code == 200
    stranger = shelves.shelf()
    for path in (f"{ORDERS}/{first['id']}", f"{ORDERS}/{first['id']}/items"):
        assert refused(stranger.api.get(path), 404, "not_found")
    assert stranger.api.get(ORDERS).json()["data"]["total"] == 0


def test_the_supplier_never_sees_a_draft_or_what_was_cancelled_as_one(trade: Trade) -> None:
    draft = trade.draft()
    gone = act(trade, draft["id"], "cancel", reason="Ordered twice")

    assert gone.status_code == 200, gone.content
    data = gone.json()["data"]
    assert (data["status"], data["lines"][0]["cancelled"], data["lines"][0]["line_status"]) == (
        "cancelled", 1000, "cancelled",
    )  # fmt: skip
    assert data["timeline"][0]["reason"] == "Ordered twice"
    assert [kind for kind, *_ in trade.facts()] == ["purchase_order.created", "purchase_order.cancelled"]
    assert "Ordered twice" not in str(trade.facts())
    assert trade.facts(trade.shelf.tenant) == []
    assert refused(trade.shelf.api.get(f"{ORDERS}/{draft['id']}"), 404, "not_found")
    ended = refused(act(trade, draft["id"], "cancel"), 409, "invalid_transition")
    assert (ended["from"], ended["allowed"]) == ("cancelled", [])
    assert [one[0] for one in trade.stored()] == ["cancelled"]
