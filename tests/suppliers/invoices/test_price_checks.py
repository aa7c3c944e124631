"""An invoice at another price than the ordered one: told, listed, and shown to the buyer until no invoice asks for it."""

from typing import Any

from core.db import tenant_context
from ledger.public import Event
from tests.procurement.purchasing.orders import PATH as ORDERS
from tests.suppliers.analytics.test_insights import found
from tests.suppliers.invoices.bills import Desk

DIFFERS = "purchase_order.price_differs"


def listed(desk: Desk) -> list[str]:
    """Return the orders that have a line at another price."""
    return [one["id"] for one in desk.dock.trade.api.get(f"{ORDERS}?price_differs=true").json()["data"]]


def told(desk: Desk, side: Any) -> list[tuple[int, str]]:
    """Return what a side was told of another price: version and who acted."""
    with tenant_context(side.id):
        rows = Event.objects.filter(tenant_id=side.id, type=DIFFERS).order_by("occurred_at", "id")
        return [(one.resource_version, one.data["by"]) for one in rows]


def read(desk: Desk, order: dict[str, Any]) -> tuple[bool, list[Any]]:
    """Return whether a price of an order differs, and by line what its check says."""
    found = desk.dock.trade.read(order["id"])
    checks = [one["price_check"] for one in found["lines"]]
    return found["price_differs"], [one and (one["result"], one["contract_unit_price"]) for one in checks]


def test_a_dear_invoice_is_a_price_that_differs_until_it_is_withdrawn(desk: Desk) -> None:
    order = desk.arrived(60, (desk.dock.vials, 10), (desk.dock.vials, 10))
    assert read(desk, order) == (False, [None, None])

    made = desk.issue(order, desk.line(order, 1, 30, unit_price="4.95"))

    assert desk.results(made) == ["price_over"]
    assert read(desk, order) == (True, [("differs", "4.90"), None])
    check, snapshot = (desk.dock.trade.read(order["id"])["lines"][0][name] for name in ("price_check", "snapshot"))
    assert (check["source_id"], check["trace"]) == (snapshot["price_source_id"], snapshot["trace"])
    assert listed(desk) == [order["id"]]
    assert [by for _, by in told(desk, desk.dock.buyer)] == ["system"]
    assert told(desk, desk.dock.shelf) == []
    again = desk.issue(order, desk.line(order, 1, 10, unit_price="5"))
    assert len(told(desk, desk.dock.buyer)) == 1  # it is known already
    desk.did(again, "cancel", reason="Too dear")
    assert listed(desk) == [order["id"]]
    desk.did(made, "cancel", reason="Too dear")
    assert read(desk, order) == (False, [("ok", "4.90"), None])
    assert listed(desk) == []
    desk.stored()


def test_the_supplier_has_an_insight_while_the_buyer_queries_the_price(desk: Desk) -> None:
    trade = desk.dock.trade
    order = desk.arrived(60, (desk.dock.vials, 10), (desk.dock.vials, 10))
    desk.issue(order, desk.line(order, 1, 30))
    made = desk.issue(order, desk.line(order, 1, 30, unit_price="9.80"))

    (one,) = found(trade, "price_outlier")

    assert (one["severity"], one["subject"]) == (
        "high", {"type": "order", "id": order["id"], "name": order["order_number"]},
    )  # fmt: skip
    assert one["evidence"] == {
        "line_no": 1, "product_id": desk.dock.vials["id"], "invoice_id": made["id"], "unit_price": "9.80",
        "contract_unit_price": "4.90", "currency": "EUR",
    }  # fmt: skip
    desk.did(made, "cancel", reason="Too dear")
    assert found(trade, "price_outlier") == []


def test_a_credit_of_the_price_makes_it_right(desk: Desk) -> None:
    order = desk.arrived(60)
    made = desk.issue(order, desk.line(order, 1, 60, unit_price="9"))
    assert read(desk, order) == (True, [("differs", "4.90")])

    desk.credit(order, made, desk.line(order, 1, 60, unit_price="4.10"))

    assert read(desk, order) == (False, [("ok", "4.90")])
    assert len(told(desk, desk.dock.buyer)) == 1
    desk.stored()


def test_an_invoice_at_the_ordered_price_differs_in_nothing(desk: Desk) -> None:
    order = desk.arrived(60)
    desk.issue(order, 30)

    assert (read(desk, order)[0], listed(desk), told(desk, desk.dock.buyer)) == (False, [], [])
