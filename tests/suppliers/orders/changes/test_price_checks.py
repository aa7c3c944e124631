"""A substitute at another price than the one that holds for its buyer: told, listed, and shown to both sides."""

from typing import Any

from core.db import tenant_context
from suppliers.marketplace.models import Offer
from suppliers.orders.models import PriceTrace
from tests.procurement.purchasing.orders import PATH, Trade, act
from tests.suppliers.analytics.test_insights import found
from tests.suppliers.orders.answers import counters, seen
from tests.suppliers.orders.changes.proposals import changes, confirm, decide, done, items, propose, respond, sent

DIFFERS = "purchase_order.price_differs"


def substitute(trade: Trade, price: str, quantity: int = 500) -> dict[str, Any]:
    """Return masks, which cost 0.333333 apiece, in the place of all of a line."""
    return {"substitute": {"product_id": trade.masks["id"], "quantity": quantity, "unit_price": price}}


def listed(trade: Trade) -> list[str]:
    """Return the orders that have a line at another price."""
    found = trade.api.get(f"{PATH}?price_differs=true").json()["data"]
    return [one["id"] for one in found]


def told(trade: Trade, tenant: Any = None) -> int:
    """Return how often a side was told of another price."""
    return [kind for kind, *_ in trade.facts(tenant)].count(DIFFERS)


def test_another_price_is_told_and_listed_until_the_order_ends(trade: Trade) -> None:
    trade.shelf.stock(trade.masks, 500)
    order = sent(trade)
    (first,) = items(trade, order["id"])

    data = done(respond(trade, order["id"], first, **substitute(trade, "0.40")))

    check = {"result": "differs", "contract_unit_price": "0.333333"}
    assert [one["price_check"] for one in data["change"]["lines"]] == [None, check]
    assert (listed(trade), told(trade), told(trade, trade.shelf.tenant)) == ([order["id"]], 1, 0)
    data = done(confirm(trade, order["id"], "accept"))
    assert (data["price_differs"], counters(trade)) == (True, [(1000, 0, 0, 1000), (500, 500, 0, 0)])
    kept = data["lines"][1]["price_check"]
    assert (kept["result"], kept["contract_unit_price"]) == ("differs", "0.333333")
    (taken,) = [one for one in kept["trace"] if one["matched"]]
    assert (taken["source_type"], taken["source_id"]) == ("offer", kept["source_id"])
    with tenant_context(trade.shelf.id):
        traces = PriceTrace.objects.get(tenant_id=trade.shelf.id, pk=order["id"]).traces
    assert traces[data["lines"][1]["id"]] == kept["trace"]
    assert "price_check" not in seen(trade, order["id"])["items"][1]
    assert told(trade) == 1
    trade.stored()


def test_the_supplier_has_an_insight_while_another_price_is_proposed(trade: Trade) -> None:
    trade.shelf.stock(trade.masks, 500)
    order = sent(trade)
    (first,) = items(trade, order["id"])
    done(respond(trade, order["id"], first, **substitute(trade, "0.40")))

    (one,) = found(trade, "price_outlier")

    assert (one["severity"], one["subject"]["id"]) == ("medium", order["id"])
    assert one["evidence"] == {
        "line_no": 2, "product_id": trade.masks["id"], "invoice_id": None, "unit_price": "0.40",
        "contract_unit_price": "0.333333", "currency": "EUR",
    }  # fmt: skip
    done(confirm(trade, order["id"], "accept"))
    assert found(trade, "price_outlier") == []


def test_the_price_that_holds_and_what_has_none_differ_in_nothing(trade: Trade) -> None:
    order = sent(trade)
    (first,) = items(trade, order["id"])

    data = done(respond(trade, order["id"], first, **substitute(trade, "0.333333")))
    assert data["change"]["lines"][1]["price_check"] == {"result": "ok", "contract_unit_price": "0.333333"}
    with tenant_context(trade.shelf.id):
        Offer.objects.filter(tenant_id=trade.shelf.id, product_id=trade.masks["id"]).delete()
    data = done(respond(trade, order["id"], first, **substitute(trade, "0.9")))
    assert data["change"]["lines"][1]["price_check"] == {"result": "ok", "contract_unit_price": None}

    assert (listed(trade), told(trade)) == ([], 0)


def test_an_order_differs_no_more_once_its_buyer_declines(trade: Trade) -> None:
    order = sent(trade)
    (first,) = items(trade, order["id"])
    done(respond(trade, order["id"], first, **substitute(trade, "0.40")))
    assert listed(trade) == [order["id"]]

    data = done(confirm(trade, order["id"], "decline"))

    assert (data["status"], data["price_differs"], listed(trade)) == ("cancelled", False, [])
    trade.stored()


def test_an_order_differs_no_more_once_the_substitute_is_taken_away(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 1_000)
    order = sent(trade)
    (first,) = items(trade, order["id"])
    done(respond(trade, order["id"], first, **substitute(trade, "0.40")))
    done(respond(trade, order["id"], first, accepted_quantity=9))
    assert (listed(trade), told(trade)) == ([], 1)

    done(respond(trade, order["id"], first, **substitute(trade, "0.41")))
    assert (listed(trade), told(trade)) == ([order["id"]], 2)
    done(propose(trade, order["id"], lines=[{"line_no": 1, "quantity": 8}]))
    assert listed(trade) == [order["id"]]  # the supplier's change may come back
    done(decide(trade, order["id"], "accept"))

    assert changes(trade) == [("supplier", "declined"), ("buyer", "accepted")]
    assert listed(trade) == []
    assert act(trade, order["id"], "cancel").status_code == 200
    trade.stored()
