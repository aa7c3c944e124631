"""A hospital's own stock: received, counted, moved, held back, and recalled by the supplier whose lot it came from."""

from uuid import UUID

import pytest

from core.db import tenant_context
from suppliers.inventory.items.models import StockItem
from suppliers.inventory.models import Lot, StockLevel, StockMovement
from tests import factories
from tests.factories import Api
from tests.suppliers import products
from tests.suppliers.inventory import recalls as recalling
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.inventory.recalls import facts, recall, walk
from tests.suppliers.inventory.shelf import broken, refused, reserve
from tests.suppliers.inventory.test_inventory import (
    ADJUST,
    LEVELS,
    MOVE,
    MOVEMENTS,
    PLACES,
    adjust,
    line,
    listed,
    place,
)

AVAILABILITY, LOTS, RESERVATIONS = "/v1/inventory/availability", "/v1/inventory/lots", "/v1/inventory/reservations"


@pytest.fixture
def ward():
    """A hospital with a member who keeps its stock."""
    tenant = factories.provision("provider")
    return shelves.Buyer(tenant, factories.as_member(tenant, ["receiving_clerk", "buyer"]))


def offered(shelf, *to, **changes):
    """A product with lots that is offered to some buyers."""
    product = shelf.product(**{"tracking": "lot", "expiry_required": True} | changes)
    shelf.offer(product, to=list(to))
    return product


def received(ward, product, where, quantity=10, lot="L1", expiry="2031-01-31", **more):
    return adjust(ward, line(product, where, quantity, lot_number=lot, expiry_date=expiry), **more)


def items(side):
    with tenant_context(side.id):
        return list(StockItem.objects.filter(tenant_id=side.id).order_by("id"))


def lot_of(side, number="L1"):
    with tenant_context(side.id):
        return Lot.objects.get(tenant_id=side.id, lot_number=number)


def nothing(side):
    """Nothing of stock stands in a tenant."""
    with tenant_context(side.id):
        for kind in (StockItem, Lot, StockLevel, StockMovement):
            assert not kind.objects.filter(tenant_id=side.id).exists(), kind


def test_first_receipt_makes_item_lot_level_and_facts(shelf, ward):
    product = offered(shelf, ward)
    shelf.stock(product, 50, lot="L1")
    where = place(ward)
    done = received(ward, product, where, 40, reference="GI-7")
    (level,) = listed(ward, LEVELS)
    assert (level["product_id"], level["supplier_id"]) == (product["id"], str(shelf.id))
    assert (level["supplier_sku"], level["lot_number"], level["on_hand"]) == (product["supplier_sku"], "L1", 40)
    assert (level["sellable"], level["expiry_date"]) == (40, "2031-01-31")
    assert ward.api.get(f"{LEVELS}/{level['id']}").json()["data"] == level | {"holds": [], "reservations": []}
    (movement,) = listed(ward, MOVEMENTS, f"product_id={product['id']}")
    assert (movement["type"], movement["quantity"], movement["reference"]["id"]) == ("receipt", 40, done["id"])
    (item,) = items(ward)
    assert (item.id, item.product_tenant_id, item.own_product_id) == (UUID(product["id"]), shelf.id, None)
    assert (item.supplier_sku, item.name, item.tracking) == (product["supplier_sku"], product["name"], "lot")
    assert [one["id"] for one in item.packagings] == [one["id"] for one in product["packagings"]]
    lot, origin = lot_of(ward), lot_of(shelf)
    assert (lot.origin_tenant_id, lot.origin_lot_id) == (shelf.id, origin.id)
    assert [(one.type, one.data["by"]) for one in facts(ward, "stock.")] == [
        ("stock.adjusted", "buyer"), ("stock.level_changed", "buyer"), ("stock.replenished", "buyer"),
    ]  # fmt: skip
    assert facts(ward, "stock.")[0].figures["category"] == product["category"]
    (available,) = listed(ward, AVAILABILITY)
    assert (available["supplier_sku"], available["base_unit"], available["sellable"]) == (
        product["supplier_sku"], product["base_unit"], 40,
    )  # fmt: skip
    assert listed(ward, RESERVATIONS) == []
    assert shelf.level(_level_of(shelf)).on_hand == 50
    assert broken(shelf, ward) == []


def _level_of(side):
    with tenant_context(side.id):
        return StockLevel.objects.get(tenant_id=side.id).id


def test_lot_that_the_supplier_has_not_is_traced_once_it_has(shelf, ward):
    product, where = offered(shelf, ward), place(ward)
    received(ward, product, where)
    assert lot_of(ward).origin_lot_id is None
    shelf.stock(product, 5, lot="L1")
    received(ward, product, where, 1)
    assert lot_of(ward).origin_lot_id == lot_of(shelf).id


def test_new_lot_takes_its_dates_from_the_origin(shelf, ward):
    product, hall = offered(shelf, ward), place(shelf)
    adjust(shelf, line(product, hall, 9, lot_number="L1", expiry_date="2032-02-29", manufacture_date="2030-01-01"))
    received(ward, product, place(ward), expiry=None)
    lot = lot_of(ward)
    assert (str(lot.expiry_date), str(lot.manufacture_date)) == ("2032-02-29", "2030-01-01")


def test_snapshot_is_renewed_at_each_receipt_and_keeps_the_unit(shelf, ward):
    product, where = offered(shelf, ward), place(ward)
    received(ward, product, where)
    changed = shelf.api.get(f"/v1/products/{product['id']}").json()["data"]
    body = {name: value for name, value in changed.items() if name in products.body()} | {
        "name": "Another name", "tracking": "lot_and_serial", "status": "active", "kind": product["kind"],
        "packagings": changed["packagings"],
    }  # fmt: skip
    answer = shelf.api.put(f"/v1/products/{product['id']}", json=body)
    assert answer.status_code == 200, answer.content
    assert items(ward)[0].name == product["name"]
    received(ward, product, where, 1)
    (item,) = items(ward)
    assert (item.name, item.tracking, item.version) == ("Another name", "lot", 2)
    received(ward, product, where, 1)
    assert items(ward)[0].version == 2


def test_product_that_is_held_is_received_also_when_it_is_seen_no_more(shelf, ward):
    product = shelf.product(tracking="lot")
    offer, where = shelf.offer(product, to=[ward]), place(ward)
    received(ward, product, where)
    shelf.exclude(offer, ward)
    received(ward, product, where, 5)
    assert [one["on_hand"] for one in listed(ward, LEVELS)] == [15]


def test_buyer_names_products_by_gtin_and_scan(shelf, ward):
    gtin = products.gtin()
    packs = [products.packaging(gtin=gtin)]
    product, where = offered(shelf, ward, packagings=packs), place(ward)
    named = line(product, where, lot_number="L1", expiry_date="2031-01-31") | {"product_id": None}
    adjust(ward, named | {"gtin": gtin, "supplier_id": str(shelf.id)})
    scan = f"01{gtin.zfill(14)}1731013110L1"
    adjust(ward, line(product, where, 5) | {"product_id": None, "scan": scan})
    assert [one["on_hand"] for one in listed(ward, LEVELS)] == [15]
    second = shelves.shelf()
    other = offered(second, ward, packagings=packs)
    adjust(ward, named | {"gtin": gtin, "supplier_id": str(second.id)})
    assert {one["product_id"] for one in listed(ward, LEVELS)} == {product["id"], other["id"]}
    answer = ward.api.post(ADJUST, json={"lines": [named | {"gtin": gtin}]})
    assert ("lines.0.gtin", "ambiguous_product") in products.field_errors(answer)
    move = {"from_location_id": where["id"], "to_location_id": place(ward)["id"]}
    lines = [{"gtin": gtin, "supplier_id": str(second.id), "lot_number": "L1", "quantity": 1}]
    assert ward.api.post(MOVE, json=move | {"lines": lines}).status_code == 201


def test_gtin_alone_finds_what_the_market_offers(shelf, ward):
    gtin = products.gtin()
    offered(shelf, ward, packagings=[products.packaging(gtin=gtin)])
    where = place(ward)
    named = {"gtin": gtin, "location_id": where["id"], "mode": "delta", "quantity": 1, "reason_code": "receipt"}
    named |= {"lot_number": "L1", "expiry_date": "2031-01-31"}
    adjust(ward, named)
    nobody = shelves.shelf()
    fresh = shelves.Buyer(
        tenant := factories.provision("pharmacy"), factories.as_member(tenant, ["pharmacy_technician"])
    )
    there = place(fresh)
    offered(nobody, fresh, packagings=[products.packaging(gtin=gtin)])
    assert fresh.api.post(ADJUST, json={"lines": [named | {"location_id": there["id"]}]}).status_code == 201
    assert [one.product_tenant_id for one in items(fresh)] == [nobody.id]


def test_gtin_of_two_suppliers_on_the_market_is_ambiguous(shelf, ward):
    gtin, second = products.gtin(), shelves.shelf()
    for one in (shelf, second):
        offered(one, ward, packagings=[products.packaging(gtin=gtin)])
    where = place(ward)
    named = {"gtin": gtin, "location_id": where["id"], "mode": "delta", "quantity": 1, "reason_code": "receipt"}
    answer = ward.api.post(ADJUST, json={"lines": [named | {"lot_number": "L1"}]})
    assert ("lines.0.gtin", "ambiguous_product") in products.field_errors(answer)
    nothing(ward)


def test_what_the_buyer_does_not_see_is_unknown_and_nothing_changes(shelf, ward):
    stranger = shelves.buyer()
    hidden, seen, where = offered(shelf, stranger), offered(shelf, ward), place(ward)
    draft = shelf.product(tracking="lot")
    gtin = products.gtin()
    offered(shelf, stranger, packagings=[products.packaging(gtin=gtin)])
    named = line(hidden, where, lot_number="L1", expiry_date="2031-01-31")
    nameless = named | {"product_id": None}
    for bad in (
        named, named | {"supplier_id": str(shelf.id)}, line(draft, where, lot_number="L1"),
        named | {"product_id": str(UUID(int=7))}, named | {"product_id": seen["id"], "supplier_id": str(stranger.id)},
        nameless | {"gtin": gtin}, nameless | {"gtin": gtin, "supplier_id": str(shelf.id)},
        nameless | {"supplier_sku": seen["supplier_sku"]},
    ):  # fmt: skip
        answer = ward.api.post(
            ADJUST, json={"lines": [line(seen, where, lot_number="L1", expiry_date="2031-01-31"), bad]}
        )
        assert "unknown_product" in {code for _, code in products.field_errors(answer)}, bad
    move = {"from_location_id": where["id"], "to_location_id": place(ward)["id"]}
    answer = ward.api.post(MOVE, json=move | {"lines": [{"product_id": seen["id"], "lot_number": "L1", "quantity": 1}]})
    assert ("lines.0.product_id", "unknown_product") in products.field_errors(answer)
    nothing(ward)


def test_receipt_is_refused_line_by_line_like_a_suppliers(shelf, ward):
    cold = offered(shelf, ward, storage={"min_c": 2, "max_c": 8})
    where = place(ward)
    answer = ward.api.post(ADJUST, json={"lines": [line(cold, where, lot_number="L1", expiry_date="2031-01-31")]})
    refused(answer, 409, "storage_mismatch")
    plain = offered(shelf, ward)
    for change, field, code in (
        ({"lot_number": "", "expiry_date": "2031-01-31"}, "lines.0.lot_number", "required"),
        ({"lot_number": "L1"}, "lines.0.expiry_date", "required"),
        ({"lot_number": "L1", "location_id": str(UUID(int=3))}, "lines.0.location_id", "unknown_location"),
    ):
        answer = ward.api.post(ADJUST, json={"lines": [line(plain, where) | change]})
        assert (field, code) in products.field_errors(answer)
    nothing(ward)
    received(ward, plain, where)
    refused(
        ward.api.post(ADJUST, json={"lines": [line(plain, where, -11, lot_number="L1")]}), 409, "insufficient_stock"
    )
    other = line(plain, where, lot_number="L1", expiry_date="2031-02-28")
    refused(ward.api.post(ADJUST, json={"lines": [other]}), 409, "lot_conflict")


def test_key_is_kept_although_the_market_was_asked(shelf, ward):
    product, where = offered(shelf, ward), place(ward)
    body = {"lines": [line(product, where, lot_number="L1", expiry_date="2031-01-31")]}
    key = {"Idempotency-Key": factories.suffix()}
    first = ward.api.post(ADJUST, json=body, headers=key)
    second = ward.api.post(ADJUST, json=body, headers=key)
    assert (first.status_code, second.status_code, first.json()) == (201, 201, second.json())
    assert second.headers["Idempotency-Replayed"] == "true"
    assert [one["on_hand"] for one in listed(ward, LEVELS)] == [10]


def test_units_with_serial_numbers_are_received_and_moved(shelf, ward):
    pump = shelf.product(tracking="serial")
    shelf.offer(pump, to=[ward])
    here, there = place(ward), place(ward)
    adjust(ward, line(pump, here, 2, serial_numbers=["A", "B"]))
    move = {"from_location_id": here["id"], "to_location_id": there["id"]}
    body = move | {"lines": [{"product_id": pump["id"], "quantity": 1, "serial_numbers": ["A"]}]}
    assert ward.api.post(MOVE, json=body).status_code == 201
    refused(ward.api.post(MOVE, json=body), 409, "wrong_serial")
    assert broken(ward) == []


def test_membership_of_one_place_keeps_to_it(shelf, ward):
    product, here, there = offered(shelf, ward), place(ward), place(ward)
    received(ward, product, here)
    received(ward, product, there, 5, lot="L2")
    person, _ = factories.member(ward.tenant, ["receiving_clerk"], location_ids=[UUID(here["id"])])
    clerk = shelves.Buyer(ward.tenant, Api(token=factories.bearer(person), tenant=ward.tenant))
    assert [one["location_id"] for one in listed(clerk, LEVELS)] == [here["id"]]
    assert [one["location_id"] for one in listed(clerk, MOVEMENTS)] == [here["id"]]
    assert [one["location_id"] for one in listed(clerk, AVAILABILITY)] == [here["id"]]
    assert [one["id"] for one in listed(clerk, PLACES)] == [here["id"]]
    answer = clerk.api.post(ADJUST, json={"lines": [line(product, there, lot_number="L2")]})
    assert ("lines.0.location_id", "unknown_location") in products.field_errors(answer)
    hold = {"status": "quarantined", "reason": "Seal"}
    refused(clerk.api.patch(f"{LOTS}/{lot_of(ward, 'L2').id}", json=hold), 404, "not_found")
    assert clerk.api.patch(f"{LOTS}/{lot_of(ward).id}", json=hold).status_code == 200


def test_foreign_ids_find_nothing(shelf, ward):
    product, where = offered(shelf, ward), place(ward)
    received(ward, product, where)
    (level,) = listed(ward, LEVELS)
    stranger = shelves.Buyer(
        tenant := factories.provision("provider"), factories.as_member(tenant, ["receiving_clerk"])
    )
    for side in (stranger, shelf):
        assert listed(side, LEVELS, f"product_id={product['id']}") == []
        assert listed(side, MOVEMENTS, f"location_id={where['id']}") == []
        refused(side.api.get(f"{LEVELS}/{level['id']}"), 404, "not_found")
        answer = side.api.patch(f"{LOTS}/{level['lot_id']}", json={"status": "quarantined", "reason": "x"})
        refused(answer, 404, "not_found")
        bad = side.api.post(ADJUST, json={"lines": [line(product, where, lot_number="L1")]})
        assert ("lines.0.location_id", "unknown_location") in products.field_errors(bad)
    assert lot_of(ward).status == "released"
    assert listed(ward, LEVELS) == [level]


def test_tenant_of_both_kinds_keeps_both(shelf):
    tenant = factories.provision("pharmacy", also=("supplier",))
    api = factories.as_member(tenant, ["supplier_admin", "buyer"])
    both = shelves.Shelf(tenant, api)
    mine, theirs = both.product(tracking="lot"), offered(shelf, shelves.Buyer(tenant, api))
    where = place(both)
    lines = [line(one, where, lot_number="L1", expiry_date="2031-01-31") for one in (mine, theirs)]
    adjust(both, *lines)
    found = {one["product_id"]: one["supplier_id"] for one in listed(both, LEVELS)}
    assert found == {mine["id"]: str(tenant.id), theirs["id"]: str(shelf.id)}
    assert [one.own_product_id is None for one in items(both)].count(True) == 1
    lots = {str(one["product_id"]): one["lot_id"] for one in listed(both, LEVELS)}
    said = {"status": "recalled", "reason": "x", "recall": recalling.SAID}
    refused(both.api.patch(f"{LOTS}/{lots[theirs['id']]}", json=said), 403, "counterparty_only")
    assert both.api.patch(f"{LOTS}/{lots[mine['id']]}", json=said).status_code == 200
    assert broken(both, shelf) == []


# -- lots --------------------------------------------------------------------------------------------------------------


def change(ward, number="L1", **body):
    return ward.api.patch(f"{LOTS}/{lot_of(ward, number).id}", json={"reason": "Seal broken"} | body)


def test_buyer_holds_back_and_releases_its_own_lot(shelf, ward):
    product = offered(shelf, ward)
    shelf.stock(product, 50, lot="L1")
    received(ward, product, place(ward))
    held = change(ward, status="quarantined")
    assert (held.status_code, held.json()["data"]["status"]) == (200, "quarantined")
    assert held.json()["data"]["origin_lot_id"] == str(lot_of(shelf).id)
    assert listed(ward, LEVELS)[0]["sellable"] == 0
    assert change(ward, status="released").status_code == 200
    assert [(one.type, one.data["by"]) for one in facts(ward)] == [
        ("lot.quarantined", "buyer"),
        ("lot.released", "buyer"),
    ]
    assert lot_of(shelf).status == "released"


def test_only_the_supplier_recalls(shelf, ward):
    product = offered(shelf, ward)
    received(ward, product, place(ward))
    answer = change(ward, status="recalled", recall=recalling.SAID)
    refused(answer, 403, "counterparty_only")
    assert (lot_of(ward).status, facts(ward)) == ("released", [])


def test_recall_reaches_who_holds_goods(shelf, ward):
    product = offered(shelf, ward)
    shelf.stock(product, 50, lot="L1")
    where = place(ward)
    received(ward, product, where, 12)
    adjust(ward, line(product, where, -5, reason_code="sample", lot_number="L1"))
    assert recall(shelf)["recall"]["progress"]["buyers_total"] == 1
    refused(change(ward, status="quarantined"), 409, "lot_recalled")  # before the walk has come there
    assert lot_of(ward).status == "released"
    walk(shelf)
    assert lot_of(ward).status == "recalled"
    (told,) = facts(ward)
    assert (told.type, told.data["received"], told.data["still_held"]) == ("lot.recalled", 12, 7)
    assert recalling.notices(shelf)[0].received == 0
    assert listed(ward, LEVELS)[0]["sellable"] == 0
    for status in ("released", "quarantined"):
        refused(change(ward, status=status), 409, "lot_recalled")
    answer = ward.api.post(ADJUST, json={"lines": [line(product, where, 1, lot_number="L1")]})
    refused(answer, 409, "lot_recalled")
    adjust(ward, line(product, where, -7, reason_code="destroyed", lot_number="L1"))
    assert broken(shelf, ward) == []
    assert recalling.change(shelf, status="quarantined").status_code == 200
    walk(shelf)
    assert lot_of(ward).status == "quarantined"
    assert change(ward, status="released").status_code == 200
    assert broken(shelf, ward) == []


def test_who_has_used_up_the_goods_is_told_too(shelf, ward):
    product = offered(shelf, ward)
    shelf.stock(product, 50, lot="L1")
    where = place(ward)
    received(ward, product, where, 3)
    adjust(ward, line(product, where, -3, reason_code="sample", lot_number="L1"))
    reserve(ward, shelf, (product, 2))
    recall(shelf)
    walk(shelf)
    assert [(one.data["received"], one.data["still_held"]) for one in facts(ward)] == [(3, 0)]


def test_nothing_is_received_of_a_recalled_origin(shelf, ward):
    product = offered(shelf, ward)
    shelf.stock(product, 50, lot="L1")
    recall(shelf)
    answer = ward.api.post(
        ADJUST, json={"lines": [line(product, place(ward), lot_number="L1", expiry_date="2031-01-31")]}
    )
    refused(answer, 409, "lot_recalled")
    nothing(ward)
