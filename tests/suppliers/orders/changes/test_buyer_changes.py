"""What the buyer proposes after an order was sent, and the supplier's answer to it."""

from datetime import date, timedelta
from decimal import Decimal

import pytest

from core.clock import now
from core.db import tenant_context
from organizations.models import Location
from suppliers.company.models import SupplierProfile
from suppliers.marketplace.models import Offer
from suppliers.orders.models import PurchaseOrder
from suppliers.relationships.models import Relationship
from tests.procurement.budgets.budgets import amounts
from tests.procurement.budgets.budgets import put as put_budget
from tests.procurement.purchasing.orders import PATH, Trade, approver, price, ward
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.orders.answers import accepted, answer, counters, held, moved, seen
from tests.suppliers.orders.changes.proposals import (
    changes,
    check_limits,
    confirm,
    counter,
    decide,
    done,
    items,
    propose,
    sent,
)
from tests.suppliers.products import field_errors


def test_the_buyer_orders_more_and_the_supplier_accepts(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 2_000)
    trade.shelf.stock(trade.masks, 50)
    put_budget(approver(trade), "wards", amount="1000")
    order = sent(trade, budget={"code": "wards"})
    place = ward(trade.buyer, "Ward 4")

    data = done(propose(
        trade, order["id"], lines=[{"line_no": 1, "quantity": 12, "requested_date": "2030-03-01"}],
        add_lines=[{"product_id": trade.masks["id"], "quantity": 3}], delivery_location_id=str(place),
        notes_to_supplier="Ring twice", requested_delivery_date="2030-02-01",
    ))  # fmt: skip

    assert (data["status"], data["proposed_by"], data["awaiting"], data["revision"]) == (
        "change_proposed", "buyer", "supplier", 2,
    )  # fmt: skip
    change = data["change"]
    assert change["totals"]["net"] == "59.80"
    assert (change["notes_to_supplier"], change["delivery_location_id"]) == ("Ring twice", str(place))
    first, second = change["lines"]
    assert (first["current"]["ordered"], first["proposed"]["ordered"]) == (1000, 1200)
    assert (second["current"], second["proposed"]["ordered"], second["line_no"]) == (None, 3, 2)
    assert seen(trade, order["id"])["change"] == change
    assert amounts(trade.buyer.tenant)["wards"][0] == Decimal("59.80")
    check_limits(trade, order["id"])

    data = done(decide(trade, order["id"], "accept"))

    assert (data["status"], data["change"], data["totals"]["net"], data["items_total"]) == (
        "accepted",
        None,
        "59.80",
        2,
    )
    assert (data["notes_to_supplier"], data["delivery_location_id"]) == ("Ring twice", str(place))
    assert data["items"][0]["requested_date"] == "2030-03-01"
    assert data["delivery_address"]["name"] == "Ward 4"
    assert counters(trade) == [(1200, 1200, 0, 0), (3, 3, 0, 0)]
    assert held(trade) == [(2_000, 1_200), (50, 3)]
    assert changes(trade) == [("buyer", "accepted")]
    assert [kind for kind, *_ in trade.facts()][-2:] == ["purchase_order.change_proposed", "purchase_order.accepted"]
    check_limits(trade, order["id"])


@pytest.mark.parametrize("is_accepted", [False, True])
@pytest.mark.parametrize("ending", ["decline", "withdraw"])
def test_declined_or_withdrawn_the_order_is_as_before(trade: Trade, ending: str, is_accepted: bool) -> None:
    trade.shelf.stock(trade.gloves, 2_000)
    put_budget(approver(trade), "wards", amount="1000")
    order = sent(trade, budget={"code": "wards"})
    if is_accepted:
        accepted(trade, order["id"])
    before = counters(trade)
    done(propose(trade, order["id"], lines=[{"line_no": 1, "quantity": 20}]))
    assert amounts(trade.buyer.tenant)["wards"][0] == Decimal(98)

    done(decide(trade, order["id"], "decline") if ending == "decline" else confirm(trade, order["id"], "withdraw"))

    data = trade.read(order["id"])
    assert (data["status"], data["change"], data["proposed_by"]) == ("accepted" if is_accepted else "sent", None, None)
    assert counters(trade) == before
    assert changes(trade) == [("buyer", "declined" if ending == "decline" else "withdrawn")]
    assert amounts(trade.buyer.tenant)["wards"][0] == Decimal(49)
    assert [kind for kind, *_ in trade.facts(trade.shelf.tenant)][-1] == "order.change_declined"
    check_limits(trade, order["id"])


def test_less_is_given_back_when_the_supplier_accepts(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 2_000)
    put_budget(approver(trade), "wards", amount="1000")
    order = sent(trade, (trade.gloves, 10), (trade.masks, 3), budget={"code": "wards"})
    trade.shelf.stock(trade.masks, 50)
    accepted(trade, order["id"])
    done(propose(trade, order["id"], lines=[{"line_no": 1, "quantity": 6}, {"line_no": 2, "cancel_quantity": 3}]))
    assert amounts(trade.buyer.tenant)["wards"][0] == Decimal(50)

    data = done(decide(trade, order["id"], "accept"))

    assert amounts(trade.buyer.tenant)["wards"][0] == Decimal("29.40")
    assert counters(trade) == [(600, 600, 0, 0), (3, 0, 0, 3)]
    assert data["items"][1]["line_status"] == "cancelled"
    assert held(trade)[1] == (50, 0)
    check_limits(trade, order["id"])


def test_a_counter_proposal_goes_back_to_the_supplier_s(trade: Trade) -> None:
    order = sent(trade)
    (first,) = items(trade, order["id"])
    done(counter(trade, order["id"], {"item_id": first, "accepted_quantity": 6}))
    done(propose(trade, order["id"], lines=[{"line_no": 1, "quantity": 8}]))
    assert changes(trade) == [("supplier", "open"), ("buyer", "open")]
    assert seen(trade, order["id"])["change"]["proposed_by"] == "buyer"

    data = done(confirm(trade, order["id"], "withdraw"))

    assert (data["status"], data["proposed_by"], data["change"]["proposed_by"]) == (
        "change_proposed",
        "supplier",
        "supplier",
    )
    done(propose(trade, order["id"], lines=[{"line_no": 1, "quantity": 7}]))
    trade.shelf.stock(trade.gloves, 700)
    done(decide(trade, order["id"], "accept"))
    assert counters(trade) == [(700, 700, 0, 0)]
    assert changes(trade) == [("supplier", "declined"), ("buyer", "withdrawn"), ("buyer", "accepted")]
    check_limits(trade, order["id"])


def test_what_a_change_is_refused_for(trade: Trade) -> None:
    put_budget(approver(trade), "wards", amount="60")
    order = sent(trade, budget={"code": "wards"})
    key = order["id"]

    assert refused(propose(trade, key, revision=7, notes_to_supplier="x"), 409, "revision_changed")["revision"] == 1
    assert field_errors(propose(trade, key)) == {("lines", "required")}
    assert field_errors(propose(trade, key, lines=[{"line_no": 1}])) == {("lines.0.quantity", "required")}
    assert field_errors(propose(trade, key, lines=[{"line_no": 3, "quantity": 1}])) == {
        ("lines.0.line_no", "unknown_line")
    }
    too_much = propose(trade, key, lines=[{"line_no": 1, "cancel_quantity": 11}])
    assert field_errors(too_much) == {("lines.0.cancel_quantity", "max_value")}
    assert field_errors(propose(trade, key, lines=[{"line_no": 1, "cancel_quantity": 10}])) == {
        ("lines", "nothing_left")
    }
    assert refused(propose(trade, key, lines=[{"line_no": 1, "quantity": 20}]), 409, "budget_exceeded")
    unknown = propose(trade, key, add_lines=[{"product_id": str(key), "quantity": 1}])
    assert refused(unknown, 409, "offer_not_available")["errors"][0]["pointer"] == "/add_lines/0"
    elsewhere = propose(trade, key, delivery_location_id=str(ward(shelves.buyer())))
    assert field_errors(elsewhere) == {("delivery_location_id", "unknown_location")}
    with tenant_context(trade.shelf.id):
        SupplierProfile.objects.filter(tenant_id=trade.shelf.id).update(qualification_status="suspended")
    assert refused(propose(trade, key, lines=[{"line_no": 1, "quantity": 11}]), 409, "supplier_not_qualified")
    assert (changes(trade), counters(trade)) == ([], [(1000, 0, 0, 0)])
    done(propose(trade, key, lines=[{"line_no": 1, "quantity": 9}]))  # less needs no qualified supplier
    check_limits(trade, key)


def test_the_limit_of_spending_counts_what_is_more(trade: Trade) -> None:
    with tenant_context(trade.buyer.id):
        Relationship.objects.create(
            tenant_id=trade.buyer.id, supplier_id=trade.shelf.id,
            spend_limit={"amount": "100", "currency": "EUR", "period": "year"},
        )  # fmt: skip
    order = sent(trade)

    found = refused(propose(trade, order["id"], lines=[{"line_no": 1, "quantity": 21}]), 409, "spend_limit_exceeded")
    assert found["available"] == {"amount": "51.00", "currency": "EUR"}
    done(propose(trade, order["id"], lines=[{"line_no": 1, "quantity": 20}]))
    other = trade.draft((trade.gloves, 1))
    assert refused(trade.api.post(f"{PATH}/{other['id']}/submit", json={}), 409, "spend_limit_exceeded")


def test_nothing_changes_once_something_is_shipped(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 1_000)
    order = sent(trade)
    accepted(trade, order["id"])
    moved(trade, order["id"], shipped=100)

    assert refused(propose(trade, order["id"], notes_to_supplier="x"), 409, "already_shipped")
    with tenant_context(trade.buyer.id):
        assert PurchaseOrder.objects.get(tenant_id=trade.buyer.id, pk=order["id"]).created_at < now()


def test_ending_an_order_gives_back_what_its_change_held(trade: Trade) -> None:
    put_budget(approver(trade), "wards", amount="1000")
    for end in ("cancel", "reject"):
        order = sent(trade, budget={"code": "wards"})
        done(propose(trade, order["id"], lines=[{"line_no": 1, "quantity": 20}]))
        if end == "cancel":
            done(trade.api.post(f"{PATH}/{order['id']}/cancel", json={}))
        else:
            done(answer(trade, order["id"], "reject", reason_code="price_error"))
        assert amounts(trade.buyer.tenant)["wards"][0] == 0
    assert changes(trade) == [("buyer", "declined"), ("buyer", "declined")]
    trade.stored()


def test_each_line_beyond_a_share_is_named(trade: Trade) -> None:
    order = sent(trade, (trade.gloves, 3), (trade.masks, 1), (trade.gloves, 3))
    with tenant_context(trade.shelf.id):
        Offer.objects.filter(tenant_id=trade.shelf.id, product_id=trade.gloves["id"]).update_versions(
            limit_quantity=15, limit_period_days=7, limit_until=date.today() + timedelta(days=9), at=now()
        )

    more = [{"line_no": 1, "quantity": 9}, {"line_no": 3, "quantity": 9}]
    body = refused(propose(trade, order["id"], lines=more), 409, "allocation_exceeded")

    assert [(one["pointer"], one["remaining"]) for one in body["errors"]] == [("/lines/0", 9), ("/lines/2", 9)]
    done(propose(trade, order["id"], lines=[{"line_no": 1, "quantity": 9}]))


def test_the_supplier_reads_where_the_goods_would_go(trade: Trade) -> None:
    order = sent(trade)
    place = ward(trade.buyer, "Ward 4")

    done(propose(trade, order["id"], delivery_location_id=str(place)))

    change = seen(trade, order["id"])["change"]
    assert (change["delivery_location_id"], change["delivery_address"]["name"]) == (str(place), "Ward 4")
    assert seen(trade, order["id"])["delivery_address"]["name"] != "Ward 4"


def test_what_comes_later_is_cut_first(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 600)
    order = sent(trade)
    accepted(trade, order["id"], allow_partial=True)
    assert counters(trade) == [(1000, 600, 400, 0)]

    done(propose(trade, order["id"], lines=[{"line_no": 1, "cancel_quantity": 3}]))

    (line,) = seen(trade, order["id"])["change"]["lines"]
    assert (line["proposed"]["accepted"], line["proposed"]["backordered"]) == (600, 100)
    done(decide(trade, order["id"], "accept"))
    assert counters(trade) == [(1000, 600, 100, 300)]


def test_lines_are_taxed_as_at_the_place_that_a_change_names(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 2_000)
    taxed = trade.shelf.product(name="Taxed", tax_category="S")
    trade.shelf.offer(taxed, currency="EUR", tiers=price((1, "10.00")))
    trade.shelf.stock(taxed, 20)
    rates = [
        {"tax_category": "S", "country": country, "rate": rate, "valid_from": "2026-01-01"}
        for country, rate in (("DE", "19"), ("FR", "20"))
    ]
    with tenant_context(trade.shelf.id):
        SupplierProfile.objects.filter(tenant_id=trade.shelf.id).update_versions(tax_rates=rates, at=now())
    order = sent(trade, (taxed, 1), (taxed, 2))
    assert order["totals"]["tax"] == "5.70"
    near, far = ward(trade.buyer, "Ward 4"), ward(trade.buyer, "Ward 5")
    with tenant_context(trade.buyer.id):
        Location.objects.filter(tenant_id=trade.buyer.id, pk=far).update(address={"country": "FR"})

    done(propose(trade, order["id"], delivery_location_id=str(near)))
    assert (trade.read(order["id"])["change"]["totals"]["tax"], trade.read(order["id"])["change"]["lines"]) == (
        "5.70",
        [],
    )
    done(confirm(trade, order["id"], "withdraw"))
    further = [{"product_id": taxed["id"], "quantity": 3}]
    done(propose(trade, order["id"], delivery_location_id=str(far), add_lines=further))
    assert trade.read(order["id"])["change"]["totals"]["tax"] == "12.00"
    data = done(decide(trade, order["id"], "accept"))

    assert data["totals"]["tax"] == "12.00"
    assert [one["snapshot"]["tax_rate"] for one in data["items"]] == ["20", "20", "20"]
    assert [one["snapshot"]["tax_rate"] for one in trade.read(order["id"])["lines"]] == ["20", "20", "20"]
    assert trade.stored()[0][3] == "6E+1"
