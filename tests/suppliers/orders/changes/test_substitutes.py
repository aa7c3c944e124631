"""Which substitutes a supplier may propose, and the lines that they become."""

from decimal import Decimal
from typing import Any

import pytest

from core.db import tenant_context
from suppliers.catalog.models import Product
from suppliers.relationships.models import ApprovedSubstitute, BlockedProduct
from tests.procurement.purchasing.orders import Trade
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.orders.answers import counters, seen
from tests.suppliers.orders.changes.proposals import (
    changes,
    check_limits,
    confirm,
    counter,
    done,
    items,
    respond,
    sent,
)
from tests.suppliers.products import field_errors


def masks(trade: Trade, **more: Any) -> dict[str, Any]:
    """Return masks in the place of something else."""
    return {"product_id": trade.masks["id"], "quantity": 500, "unit_price": "0.08"} | more


def equivalent(trade: Trade) -> None:
    """Let the supplier call masks equivalent to gloves."""
    with tenant_context(trade.shelf.id):
        named = [{"product_id": trade.masks["id"], "type": "equivalent", "ratio": "1:1"}]
        Product.objects.filter(tenant_id=trade.shelf.id, pk=trade.gloves["id"]).update(substitutes=named)


def approved(trade: Trade) -> None:
    """Let the buyer approve masks in the place of gloves."""
    with tenant_context(trade.buyer.id):
        ApprovedSubstitute.objects.create(
            tenant_id=trade.buyer.id, supplier_id=trade.shelf.id, product_id=trade.gloves["id"],
            substitute_product_id=trade.masks["id"],
        )  # fmt: skip


def controlled(trade: Trade) -> None:
    """Let masks need a licence."""
    with tenant_context(trade.shelf.id):
        terms = {"schedule": "II", "license_type": "narcotics"}
        Product.objects.filter(tenant_id=trade.shelf.id, pk=trade.masks["id"]).update(controlled=terms)


def test_a_substitute_becomes_a_line_of_its_own(trade: Trade) -> None:
    order = sent(trade, notes_to_supplier="x")
    trade.shelf.stock(trade.gloves, 1_000)
    trade.shelf.stock(trade.masks, 1_000)
    (first,) = items(trade, order["id"])

    data = done(counter(trade, order["id"], {"item_id": first, "accepted_quantity": 4, "substitute": masks(trade)}))

    old, new = data["change"]["lines"]
    assert (old["proposed"]["accepted"], old["proposed"]["cancelled"]) == (400, 600)
    assert (new["current"], new["substitutes_line_id"], new["name"], new["line_no"]) == (None, first, "Masks", 2)
    assert (new["proposed"]["unit_price"], new["proposed"]["line_total"]) == ("0.08", "40.00")
    data = done(confirm(trade, order["id"], "accept"))
    assert data["lines"][1]["substitutes_line_id"] == first
    assert data["lines"][1]["snapshot"]["price_source"] == "proposed"
    assert counters(trade) == [(1000, 400, 0, 600), (500, 500, 0, 0)]
    check_limits(trade, order["id"])


def test_totals_are_those_of_the_lines_as_agreed(trade: Trade) -> None:
    order = sent(trade)
    trade.shelf.stock(trade.gloves, 1_000)
    trade.shelf.stock(trade.masks, 1_000)
    (first,) = items(trade, order["id"])
    done(counter(trade, order["id"], {"item_id": first, "accepted_quantity": 4, "substitute": masks(trade)}))

    data = done(confirm(trade, order["id"], "accept"))

    share = (Decimal(order["lines"][0]["line_total"]) * 400 / 1_000).quantize(Decimal("0.01"))
    assert [one["line_total"] for one in data["lines"]] == [str(share), "40.00"]
    for shown in (data, seen(trade, order["id"])):
        assert Decimal(shown["totals"]["net"]) == share + 40
    assert Decimal(data["totals"]["gross"]) == share + 40 + Decimal(data["totals"]["tax"] or 0)
    check_limits(trade, order["id"])


@pytest.mark.parametrize(
    ("policy", "given", "is_taken"),
    [
        ("none", [equivalent, approved], False),
        ("equivalent", [], False),
        ("equivalent", [equivalent], True),
        ("equivalent", [approved], True),
        ("equivalent", [approved, controlled], False),
        ("ask", [], True),
        ("ask", [controlled], True),
    ],
)
def test_what_the_policy_takes(trade: Trade, policy: str, given: list[Any], is_taken: bool) -> None:
    order = sent(trade, substitution_policy=policy)
    (first,) = items(trade, order["id"])
    for one in given:
        one(trade)

    found = respond(trade, order["id"], first, substitute=masks(trade))

    if is_taken:
        assert len(done(found)["change"]["lines"]) == 2
        return
    assert refused(found, 409, "substitution_not_allowed")["errors"][0]["pointer"] == "/substitute"
    assert changes(trade) == []


def test_a_later_answer_takes_the_substitute_away(trade: Trade) -> None:
    order = sent(trade)
    (first,) = items(trade, order["id"])
    done(respond(trade, order["id"], first, substitute=masks(trade)))

    data = done(respond(trade, order["id"], first, accepted_quantity=9))

    assert [one["line_no"] for one in data["change"]["lines"]] == [1]


def test_substitutes_that_are_none(trade: Trade) -> None:
    order = sent(trade)
    (first,) = items(trade, order["id"])

    for other in (trade.gloves["id"], order["id"]):
        found = respond(trade, order["id"], first, substitute=masks(trade, product_id=other))
        assert field_errors(found) == {("substitute.product_id", "unknown_product")}
    found = respond(trade, order["id"], first, accepted_quantity=10, substitute=masks(trade))
    assert field_errors(found) == {("substitute", "invalid")}


def test_the_buyer_takes_no_product_that_it_has_blocked(trade: Trade) -> None:
    order = sent(trade)
    (first,) = items(trade, order["id"])
    done(respond(trade, order["id"], first, substitute=masks(trade)))
    with tenant_context(trade.buyer.id):
        BlockedProduct.objects.create(
            tenant_id=trade.buyer.id, supplier_id=trade.shelf.id, product_id=trade.masks["id"]
        )

    assert refused(confirm(trade, order["id"], "accept"), 409, "not_on_formulary")["errors"][0]["pointer"] == "/lines/1"
    controlled(trade)
    assert changes(trade) == [("supplier", "open")]
