"""What the supplier proposes of lines, and the buyer's answer to it."""

from typing import Any

import pytest

from tests.procurement.purchasing.orders import Trade
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.orders.answers import ORDERS, counters, held, seen
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


def test_the_supplier_accepts_with_changes_and_the_buyer_confirms(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 2_000)
    order = sent(trade, (trade.gloves, 10), {"product_id": trade.masks["id"], "quantity": 4})
    first, _ = items(trade, order["id"])
    trade.shelf.stock(trade.masks, 50)

    data = done(counter(trade, order["id"], {"item_id": first, "accepted_quantity": 6, "backorder_quantity": 3}))

    assert (data["status"], data["proposed_by"], data["awaiting"], data["revision"]) == (
        "change_proposed", "supplier", "buyer", 2,
    )  # fmt: skip
    (line,) = data["change"]["lines"]
    assert (line["line_no"], line["current"]["accepted"], line["current"]["ordered"]) == (1, 0, 1000)
    assert (line["proposed"]["accepted"], line["proposed"]["backordered"], line["proposed"]["cancelled"]) == (
        600,
        300,
        100,
    )
    assert data["totals"]["net"] == "50.33"
    assert data["change"]["totals"]["net"] == "45.43"
    assert trade.read(order["id"])["change"] == data["change"]
    assert counters(trade) == [(1000, 0, 0, 0), (4, 0, 0, 0)]

    data = done(confirm(trade, order["id"], "accept"))

    assert (data["status"], data["change"], data["proposed_by"]) == ("accepted", None, None)
    assert [one["line_status"] for one in data["lines"]] == ["backordered", "accepted"]
    assert counters(trade) == [(1000, 600, 300, 100), (4, 4, 0, 0)]
    assert held(trade) == [(2_000, 600), (50, 4)]
    assert changes(trade) == [("supplier", "accepted")]
    buyer = [kind for kind, *_ in trade.facts()]
    assert buyer[-2:] == ["purchase_order.change_proposed", "purchase_order.accepted"]
    assert [kind for kind, *_ in trade.facts(trade.shelf.tenant)][-2:] == ["order.change_proposed", "order.accepted"]
    check_limits(trade, order["id"])


def test_lines_that_change_nothing_accept_the_order(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 2_000)
    trade.shelf.stock(trade.masks, 50)
    masks = {"product_id": trade.masks["id"], "quantity": 4, "requested_date": "2090-01-03"}
    order = sent(trade, (trade.gloves, 10), masks, requested_delivery_date="2090-01-02")
    first, second = items(trade, order["id"])
    answers = (
        {"item_id": second, "accepted_quantity": 4, "promised_date": "2090-01-03", "backorder_quantity": 0},
        {"item_id": first, "accepted_quantity": 1_000, "unit": "base"},
    )

    data = done(counter(trade, order["id"], *answers))

    assert (data["status"], data["change"], data["revision"]) == ("accepted", None, 1)
    assert [one["promised_date"] for one in data["items"]] == ["2090-01-02", "2090-01-03"]
    assert counters(trade) == [(1000, 1000, 0, 0), (4, 4, 0, 0)]
    assert held(trade) == [(2_000, 1_000), (50, 4)]


@pytest.mark.parametrize(
    "said",
    [
        {"accepted_quantity": 9},
        {"promised_date": "2090-01-03"},
        {"accepted_quantity": 10, "note": "By boat"},
        {"accepted_quantity": 10, "reason_code": "other"},
        {"cancel_quantity": 1},
    ],
)
def test_one_word_more_than_was_ordered_is_a_proposal(trade: Trade, said: dict[str, Any]) -> None:
    order = sent(trade, requested_delivery_date="2090-01-02")
    (first,) = items(trade, order["id"])

    assert done(counter(trade, order["id"], {"item_id": first} | said))["status"] == "change_proposed"

    again = done(counter(trade, order["id"], {"item_id": first, "accepted_quantity": 10}))
    assert again["status"] == "change_proposed"  # what was proposed is the buyer's to confirm


def test_lines_that_change_nothing_name_lines_of_the_order_once(trade: Trade) -> None:
    order = sent(trade)
    (first,) = items(trade, order["id"])
    one = {"item_id": first, "accepted_quantity": 10}

    assert field_errors(counter(trade, order["id"], one, one)) == {("lines.1.item_id", "duplicate")}
    unknown = {"item_id": order["id"], "accepted_quantity": 10}
    assert field_errors(counter(trade, order["id"], one, unknown)) == {("lines.1.item_id", "unknown_item")}


def test_answers_to_items_extend_one_proposal(trade: Trade) -> None:
    order = sent(trade, (trade.gloves, 10), (trade.masks, 4))
    first, second = items(trade, order["id"])

    assert done(respond(trade, order["id"], first, accepted_quantity=6))["revision"] == 2
    assert done(respond(trade, order["id"], second, cancel_quantity=1))["revision"] == 3
    data = done(respond(trade, order["id"], first, accepted_quantity=8, note="Found two"))

    assert data["revision"] == data["change"]["revision"] == 4
    lines = data["change"]["lines"]
    assert [(one["line_no"], one["proposed"]["accepted"], one["note"]) for one in lines] == [
        (1, 800, "Found two"), (2, 3, None),
    ]  # fmt: skip
    assert changes(trade) == [("supplier", "open")]


def test_a_declined_change_cancels_the_order(trade: Trade) -> None:
    order = sent(trade)
    (first,) = items(trade, order["id"])
    done(respond(trade, order["id"], first, accepted_quantity=6))

    data = done(confirm(trade, order["id"], "decline", reason="Too little"))

    assert (data["status"], data["change"]) == ("cancelled", None)
    assert counters(trade) == [(1000, 0, 0, 1000)]
    assert changes(trade) == [("supplier", "declined")]
    assert seen(trade, order["id"])["status"] == "cancelled"
    check_limits(trade, order["id"])


def test_what_does_not_fit_the_lines(trade: Trade) -> None:
    order = sent(trade, backorder_policy="refuse")
    (first,) = items(trade, order["id"])

    found = counter(trade, order["id"], {"item_id": first, "accepted_quantity": 8, "cancel_quantity": 3})
    assert field_errors(found) == {("lines.0.accepted_quantity", "max_value")}
    found = counter(trade, order["id"], {"item_id": order["id"], "accepted_quantity": 1})
    assert field_errors(found) == {("lines.0.item_id", "unknown_item")}
    found = counter(trade, order["id"], {"item_id": first, "accepted_quantity": 0})
    assert field_errors(found) == {("lines", "nothing_left")}
    found = refused(respond(trade, order["id"], first, backorder_quantity=1), 409, "insufficient_stock")
    assert found["errors"][0]["pointer"] == "/backorder_quantity"
    assert field_errors(respond(trade, order["id"], first)) == {("accepted_quantity", "required")}
    body = {"accepted_quantity": 1}
    found = trade.shelf.api.patch(f"{ORDERS}/{order['id']}/items/{first}", json=body)
    assert field_errors(found) == {("reason_code", "required")}
    assert refused(respond(trade, order["id"], order["id"], accepted_quantity=1), 404, "not_found")
    assert (counters(trade), changes(trade)) == ([(1000, 0, 0, 0)], [])


def test_the_rest_of_an_accepted_order_moves_at_once(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 2_000)
    order = sent(trade)
    (first,) = items(trade, order["id"])
    done(counter_all(trade, order["id"]))
    assert held(trade) == [(2_000, 1_000)]

    data = done(respond(trade, order["id"], first, promised_date="2030-01-02", backorder_quantity=2, cancel_quantity=3))

    assert (data["status"], data["revision"], data["items"][0]["promised_date"]) == ("accepted", 2, "2030-01-02")
    assert counters(trade) == [(1000, 500, 200, 300)]
    assert held(trade) == [(2_000, 500)]  # what the line needs no more is free at once
    assert seen(trade, order["id"])["items"][0]["allocated"] == 500
    less = respond(trade, order["id"], first, backorder_quantity=1)  # it would be accepted without stock
    assert field_errors(less) == {("backorder_quantity", "min_value")}
    assert [kind for kind, *_ in trade.facts()][-1] == "purchase_order.accepted"
    found = refused(respond(trade, order["id"], first, cancel_quantity=8), 409, "already_shipped")
    assert found
    assert field_errors(respond(trade, order["id"], first, accepted_quantity=1)) == {("accepted_quantity", "invalid")}
    check_limits(trade, order["id"])


def counter_all(trade: Trade, key: str) -> object:
    """Accept the whole order."""
    return trade.shelf.api.post(f"{ORDERS}/{key}/accept", json={})


def test_a_buyer_who_confirms_never_reads_the_supplier_s_exact_stock(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 700)
    order = sent(trade, backorder_policy="refuse")
    (first,) = items(trade, order["id"])
    done(respond(trade, order["id"], first, promised_date="2030-01-02"))

    found = confirm(trade, order["id"], "accept")

    body = refused(found, 409, "insufficient_stock")
    assert [one["pointer"] for one in body["errors"]] == ["/lines/0"]
    assert "available" not in body["errors"][0]
    told = {name: value for name, value in body.items() if name not in ("instance", "request_id")}  # drawn by chance
    assert "700" not in str(told)
