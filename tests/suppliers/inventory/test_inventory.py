"""Stock over HTTP: places, adjustments, counts, transfers, levels and movements."""

from datetime import date, timedelta
from uuid import UUID

import pytest

from core.db import tenant_context
from ledger import public as ledger
from suppliers.catalog.models import Product
from suppliers.inventory.models import Lot, StockLevel, StockMovement
from tests import factories
from tests.suppliers import products
from tests.suppliers.inventory.shelf import broken, refused, reserve

LEVELS, MOVEMENTS = "/v1/inventory/levels", "/v1/inventory/movements"
ADJUST, MOVE, PLACES = "/v1/inventory/adjustments", "/v1/inventory/transfers", "/v1/inventory/locations"


def place(shelf, **changes):
    given = {"name": "Hall", "type": "warehouse", "code": f"C-{factories.suffix()}"} | changes
    answer = shelf.api.post(PLACES, json=given)
    assert answer.status_code == 201, answer.content
    return answer.json()["data"]


def line(product, where, quantity=10, **changes):
    return {
        "product_id": product["id"], "location_id": where["id"], "mode": "delta", "quantity": quantity,
        "reason_code": "receipt",
    } | changes  # fmt: skip


def adjust(shelf, *lines, **more):
    answer = shelf.api.post(ADJUST, json={"lines": lines, **more})
    assert answer.status_code == 201, answer.content
    assert "Location" not in answer.headers
    return answer.json()["data"]


def listed(shelf, path, query=""):
    answer = shelf.api.get(f"{path}?{query}")
    assert answer.status_code == 200, answer.content
    return answer.json()["data"]["items"]


def sums(shelf):
    """What is on hand by level, and what the movements sum up to."""
    with tenant_context(shelf.id):
        on_hand = {row.id: row.on_hand for row in StockLevel.objects.filter(tenant_id=shelf.id)}
        moved = dict.fromkeys(on_hand, 0)
        for row in StockMovement.objects.filter(tenant_id=shelf.id):
            moved[row.level_id] += row.quantity
    return on_hand, moved


# -- places ------------------------------------------------------------------------------------------------------------


def test_receipt_makes_lot_level_movement_and_facts(shelf):
    product, where = shelf.product(tracking="lot", expiry_required=True), place(shelf)
    done = adjust(shelf, line(product, where, 40, lot_number="L1", expiry_date="2031-01-31"), reference="GI-1")
    (level,) = listed(shelf, LEVELS)
    assert (level["on_hand"], level["reserved"], level["sellable"]) == (40, 0, 40)
    assert (level["lot_number"], level["lot_status"], level["expiry_date"]) == ("L1", "released", "2031-01-31")
    assert (level["supplier_sku"], level["location_name"]) == (product["supplier_sku"], "Hall")
    assert done["lines"] == [
        {
            "product_id": product["id"], "location_id": where["id"], "lot_number": "L1", "level_id": level["id"],
            "quantity": 40, "on_hand": 40, "reserved": 0,
        }
    ]  # fmt: skip
    (movement,) = listed(shelf, MOVEMENTS)
    assert (movement["type"], movement["quantity"], movement["balance_after"]) == ("receipt", 40, 40)
    assert movement["reference"] == {"type": "adjustment", "id": done["id"], "text": "GI-1"}
    with tenant_context(shelf.id):
        facts = list(ledger.Event.objects.filter(tenant_id=shelf.id, type__startswith="stock.").order_by("id"))
        assert Product.objects.get(tenant_id=shelf.id, pk=product["id"]).stock_moved_at is not None
    assert [fact.type for fact in facts] == ["stock.adjusted", "stock.level_changed", "stock.replenished"]
    assert facts[0].figures["cause"] == "receipt"
    assert "cause" not in facts[0].data
    assert shelf.api.get(f"{LEVELS}/{level['id']}").json()["data"] == level | {"holds": [], "reservations": []}


def test_product_is_named_by_sku_gtin_or_scan(shelf):
    gtin = products.gtin()
    product = shelf.product(tracking="lot", packagings=[products.packaging(gtin=gtin)])
    where = place(shelf)
    plain = line(product, where, 1)
    del plain["product_id"]
    adjust(
        shelf,
        plain | {"supplier_sku": product["supplier_sku"], "lot_number": "L1"},
        plain | {"gtin": gtin, "lot_number": "L1"},
        plain | {"scan": f"]d201{gtin:0>14}1730050010L1"},
    )
    (level,) = listed(shelf, LEVELS, "lot_number=L1")
    assert (level["on_hand"], level["expiry_date"]) == (3, "2030-05-31")


def test_lines_of_one_level_are_summed(shelf):
    product, where = shelf.product(), place(shelf)
    adjust(shelf, line(product, where, 5))
    adjust(shelf, line(product, where, -8, reason_code="lost"), line(product, where, 3, reason_code="found"))
    assert [one["on_hand"] for one in listed(shelf, LEVELS)] == [0]
    assert sorted(one["quantity"] for one in listed(shelf, MOVEMENTS)) == [-8, 3, 5]
    answer = shelf.api.post(ADJUST, json={"lines": [line(product, where, -1, reason_code="lost")]})
    (error,) = refused(answer, 409, "insufficient_stock")["errors"]
    assert (error["pointer"], error["message"]) == ("/lines/0/quantity", "0 is on hand.")


def test_count_says_what_it_expected(shelf):
    product, where = shelf.product(), place(shelf)
    adjust(shelf, line(product, where, 10))
    count = line(product, where, 7, mode="set", reason_code="count")
    (error,) = refused(
        shelf.api.post(ADJUST, json={"lines": [count | {"expected_quantity": 9}]}), 409, "stale_quantity"
    )["errors"]
    assert error["message"] == "10 is on hand."
    adjust(shelf, count | {"expected_quantity": 10})
    adjust(shelf, count | {"expected_quantity": 7, "low_stock_threshold": 8})
    (level,) = listed(shelf, LEVELS, "below_threshold=true")
    assert (level["on_hand"], level["low_stock_threshold"]) == (7, 8)
    assert level["last_counted_at"]
    assert [one["quantity"] for one in listed(shelf, MOVEMENTS, "type=count")] == [-3]
    assert listed(shelf, LEVELS, "below_threshold=false") == []
    both = [count | {"expected_quantity": 7}, line(product, where, 1)]
    assert ("lines.1", "duplicate") in products.field_errors(shelf.api.post(ADJUST, json={"lines": both}))


def test_reserved_stock_is_kept_unless_the_line_breaks_it(shelf, buyer, other):
    shelf.settle(reservation_cap_percent=100)
    product, where = shelf.product(), place(shelf)
    adjust(shelf, line(product, where, 10))
    shelf.offer(product)
    (first,) = reserve(buyer, shelf, (product, 4))
    (second,) = reserve(other, shelf, (product, 4))
    count = line(product, where, 5, mode="set", expected_quantity=10, reason_code="count")
    (error,) = refused(shelf.api.post(ADJUST, json={"lines": [count]}), 409, "stock_reserved")["errors"]
    assert error["message"] == "8 of 10 is reserved."
    adjust(shelf, count | {"on_reserved": "break"})
    (level,) = listed(shelf, LEVELS)
    assert (level["on_hand"], level["reserved"]) == (5, 4)
    assert [row.status for row in shelf.reservations()] == ["active", "broken"]
    (seen,) = other.api.get("/v1/stock/reservations").json()["data"]
    assert (seen["id"], seen["status"], seen["reason"]) == (second["id"], "broken", "count")
    with tenant_context(other.id):
        told = ledger.Event.objects.filter(tenant_id=other.id, type="reservation.broken")
        assert [fact.data["by"] for fact in told] == ["supplier"]
    assert buyer.api.get("/v1/stock/reservations").json()["data"][0]["id"] == first["id"]
    assert broken(shelf, buyer, other) == []


def test_refused_lines_change_nothing(shelf):
    product, where = shelf.product(tracking="lot", expiry_required=True), place(shelf)
    plain = shelf.product()
    good = line(plain, where)
    nobody = "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"
    for bad, field, code in (
        (line(product, where), "lines.1.lot_number", "required"),
        (line(product, where, lot_number="X"), "lines.1.expiry_date", "required"),
        (line(plain, where, lot_number="X"), "lines.1.lot_number", "invalid"),
        (line(plain, {"id": nobody}), "lines.1.location_id", "unknown_location"),
        (line({"id": nobody}, where), "lines.1.product_id", "unknown_product"),
        (line(plain, where, 0), "lines.1.quantity", "invalid"),
        (line(plain, where, 1, mode="set"), "lines.1.expected_quantity", "required"),
        (line(plain, where, supplier_sku="x"), "lines.1.supplier_sku", "required"),
        (line(plain, where, reason_code="why"), "lines.1.reason_code", "invalid_choice"),
        (line(plain, where) | {"product_id": None, "scan": "9912"}, "lines.1.scan", "invalid_scan"),
        (line(plain, where) | {"product_id": None, "gtin": "123"}, "lines.1.gtin", "invalid_gtin"),
    ):
        assert (field, code) in products.field_errors(shelf.api.post(ADJUST, json={"lines": [good, bad]}))
    with tenant_context(shelf.id):
        for kind in (StockLevel, StockMovement, Lot):
            assert not kind.objects.filter(tenant_id=shelf.id).exists()


def test_lot_has_one_expiry_date(shelf):
    product, where = shelf.product(tracking="lot"), place(shelf)
    adjust(shelf, line(product, where, lot_number="L1", expiry_date="2031-01-31"))
    answer = shelf.api.post(ADJUST, json={"lines": [line(product, where, lot_number="L1", expiry_date="2031-02-28")]})
    assert refused(answer, 409, "lot_conflict")["errors"][0]["message"] == "The lot expires on 2031-01-31."


def test_cold_goods_go_to_cold_places(shelf):
    product = shelf.product(storage={"min_c": 2, "max_c": 8})
    warm, cold = place(shelf), place(shelf, temperature={"min_c": 3, "max_c": 7})
    refused(shelf.api.post(ADJUST, json={"lines": [line(product, warm)]}), 409, "storage_mismatch")
    adjust(shelf, line(product, cold))
    body = {
        "from_location_id": cold["id"],
        "to_location_id": warm["id"],
        "lines": [{"product_id": product["id"], "quantity": 1}],
    }
    refused(shelf.api.post(MOVE, json=body), 409, "storage_mismatch")


@pytest.mark.parametrize(
    ("storage", "temperature", "suits"),
    [
        ({"min_c": 2, "max_c": 8}, {"max_c": -15}, False), ({"min_c": 2, "max_c": 8}, {"min_c": 9}, False),
        ({"min_c": 15}, {"max_c": -15}, False), ({"max_c": -15}, {"min_c": 2}, False),
        ({"min_c": 2, "max_c": 8}, {"max_c": 8}, True), ({"min_c": 2, "max_c": 8}, {"min_c": 2}, True),
        ({"min_c": 15}, {"max_c": 25}, True),
    ],
)  # fmt: skip
def test_one_known_temperature_of_a_place_counts(shelf, storage, temperature, suits):
    product, where = shelf.product(storage=storage), place(shelf, temperature=temperature)
    answer = shelf.api.post(ADJUST, json={"lines": [line(product, where)]})
    if suits:
        assert answer.status_code == 201, answer.content
    else:
        refused(answer, 409, "storage_mismatch")
        assert listed(shelf, LEVELS) == []


def test_goods_in_a_place_that_became_too_warm_can_be_written_off(shelf):
    product = shelf.product(storage={"min_c": 2, "max_c": 8})
    cold = place(shelf, temperature={"min_c": 3, "max_c": 7})
    adjust(shelf, line(product, cold, 10))
    warm = {"location_id": cold["id"], "code": cold["code"], "temperature": {"min_c": 15, "max_c": 25}}
    assert shelf.api.post(PLACES, json=warm).status_code == 200
    adjust(shelf, line(product, cold, -4, reason_code="destroyed"))
    adjust(shelf, line(product, cold, 1, mode="set", expected_quantity=6, reason_code="count"))
    refused(shelf.api.post(ADJUST, json={"lines": [line(product, cold, 1)]}), 409, "storage_mismatch")


def test_new_lot_takes_its_expiry_from_whichever_line_says_it(shelf):
    product, here, there = shelf.product(tracking="lot", expiry_required=True), place(shelf), place(shelf)
    said = line(product, here, 1, lot_number="L1", expiry_date="2031-01-31")
    adjust(shelf, said, line(product, there, 1, lot_number="L1"))
    assert {one["expiry_date"] for one in listed(shelf, LEVELS)} == {"2031-01-31"}


def test_threshold_that_comes_with_a_change_counts(shelf):
    product, where = shelf.product(), place(shelf)
    adjust(shelf, line(product, where, 100))
    adjust(shelf, line(product, where, -50, reason_code="damaged", low_stock_threshold=80))
    adjust(shelf, line(product, where, 20, low_stock_threshold=60), line(product, where, -5, reason_code="damaged"))
    with tenant_context(shelf.id):
        found = ledger.Event.objects.filter(tenant_id=shelf.id, type__in=["stock.low", "stock.replenished"])
        told = [(one.type, one.data["on_hand"]) for one in found.order_by("id")]
    assert told == [("stock.replenished", 100), ("stock.low", 50), ("stock.replenished", 65)]


# -- transfers ---------------------------------------------------------------------------------------------------------


def test_transfer_moves_lot_by_lot(shelf):
    product, here, there = shelf.product(tracking="lot"), place(shelf), place(shelf)
    adjust(shelf, line(product, here, 10, lot_number="L1", expiry_date="2031-01-31"))
    body = {
        "from_location_id": here["id"], "to_location_id": there["id"],
        "lines": [{"product_id": product["id"], "lot_number": "L1", "quantity": 4}],
    }  # fmt: skip
    answer = shelf.api.post(MOVE, json=body)
    assert answer.status_code == 201, answer.content
    done = answer.json()["data"]
    assert [(one["location_id"], one["quantity"], one["on_hand"]) for one in done["lines"]] == [
        (here["id"], -4, 6), (there["id"], 4, 4),
    ]  # fmt: skip
    found = listed(shelf, MOVEMENTS, f"reference={done['id']}")
    assert sorted((one["type"], one["quantity"]) for one in found) == [("transfer_in", 4), ("transfer_out", -4)]
    assert {one["expiry_date"] for one in listed(shelf, LEVELS)} == {"2031-01-31"}
    body["lines"][0]["quantity"] = 7
    refused(shelf.api.post(MOVE, json=body), 409, "insufficient_stock")
    body["to_location_id"] = here["id"]
    assert ("to_location_id", "invalid") in products.field_errors(shelf.api.post(MOVE, json=body))
    assert sums(shelf)[0] == sums(shelf)[1]


def test_reserved_goods_stay_where_they_are(shelf, buyer):
    product, here, there = shelf.product(), place(shelf), place(shelf)
    adjust(shelf, line(product, here, 10))
    shelf.offer(product)
    reserve(buyer, shelf, (product, 4))
    body = {
        "from_location_id": here["id"],
        "to_location_id": there["id"],
        "lines": [{"product_id": product["id"], "quantity": 7}],
    }
    refused(shelf.api.post(MOVE, json=body), 409, "stock_reserved")
    assert broken(shelf, buyer) == []


# -- reading -----------------------------------------------------------------------------------------------------------


def test_tag_of_a_level_changes_with_what_it_shows(shelf):
    product, where = shelf.product(), place(shelf)
    adjust(shelf, line(product, where))
    (level,) = listed(shelf, LEVELS)
    seen = {shelf.api.get(f"{LEVELS}/{level['id']}").headers["ETag"]}
    manager = factories.as_member(shelf.tenant, ["tenant_admin"])
    assert manager.patch(f"/v1/locations/{where['id']}", json={"name": "Hall 2"}).status_code == 200
    given = {name: value for name, value in product.items() if name in products.body()}
    given |= {"supplier_sku": f"S-{factories.suffix()}", "status": "active", "packagings": product["packagings"]}
    for member, value, change in (
        ("location_name", "Hall 2", None),
        ("supplier_sku", given["supplier_sku"], f"/v1/products/{product['id']}"),
    ):
        if change:
            assert shelf.api.put(change, json=given).status_code == 200
        answer = shelf.api.get(f"{LEVELS}/{level['id']}", headers={"If-None-Match": ", ".join(seen)})
        assert (answer.status_code, answer.json()["data"][member]) == (200, value)
        seen.add(answer.headers["ETag"])
    assert len(seen) == 3
    unchanged = shelf.api.get(f"{LEVELS}/{level['id']}", headers={"If-None-Match": ", ".join(seen)})
    assert unchanged.status_code == 304


def test_levels_are_filtered(shelf):
    product, second, here, there = shelf.product(tracking="lot"), shelf.product(), place(shelf), place(shelf)
    soon = (date.today() + timedelta(days=5)).isoformat()
    adjust(shelf, line(product, here, 1, lot_number="A", expiry_date=soon), line(second, there, 2))
    for query, count in (
        (f"product_id={product['id']}", 1), (f"location_id={there['id']}", 1), ("status=released", 1),
        ("status=recalled", 0), (f"expiring_before={soon}", 0), ("expiring_before=2999-01-01", 1), ("sort=updated_at", 2),
    ):  # fmt: skip
        assert len(listed(shelf, LEVELS, query)) == count, query
    refused(shelf.api.get(f"{LEVELS}?status=lost"), 400, "validation_error")
    refused(shelf.api.get(f"{LEVELS}?lot=A"), 400, "unknown_parameter")
    assert len(listed(shelf, MOVEMENTS, "from=2020-01-01T00:00:00Z&to=2999-01-01T00:00:00Z")) == 2
    assert listed(shelf, MOVEMENTS, "to=2020-01-01T00:00:00Z") == []


def test_movements_and_places_are_sorted(shelf):
    product, first, second = shelf.product(), place(shelf, code="B"), place(shelf, code="A")
    adjust(shelf, line(product, first, 1))
    adjust(shelf, line(product, second, 2))
    assert [one["code"] for one in listed(shelf, PLACES, "sort=code")] == ["A", "B"]
    for name in ("at", "created_at"):
        assert [one["quantity"] for one in listed(shelf, MOVEMENTS, f"sort={name}")] == [1, 2]
        assert [one["quantity"] for one in listed(shelf, MOVEMENTS, f"sort=-{name}")] == [2, 1]


def test_membership_of_one_place_sees_and_moves_its_own(shelf):
    product, here, there = shelf.product(), place(shelf), place(shelf)
    adjust(shelf, line(product, here, 1), line(product, there, 2))
    person, _ = factories.member(shelf.tenant, ["supplier_admin"], location_ids=[UUID(here["id"])])
    clerk = factories.Api(token=factories.bearer(person), tenant=shelf.tenant)
    assert [one["on_hand"] for one in clerk.get(LEVELS).json()["data"]["items"]] == [1]
    assert [one["quantity"] for one in clerk.get(MOVEMENTS).json()["data"]["items"]] == [1]
    assert [one["id"] for one in clerk.get(PLACES).json()["data"]["items"]] == [here["id"]]
    (level,) = listed(shelf, LEVELS, f"location_id={there['id']}")
    assert clerk.get(f"{LEVELS}/{level['id']}").status_code == 404
    answer = clerk.post(ADJUST, json={"lines": [line(product, there)]})
    assert ("lines.0.location_id", "unknown_location") in products.field_errors(answer)
    assert clerk.post(ADJUST, json={"lines": [line(product, here)]}).status_code == 201


def test_strangers_and_readers(shelf):
    product, where = shelf.product(), place(shelf)
    adjust(shelf, line(product, where))
    (level,) = listed(shelf, LEVELS)
    stranger = factories.as_member(factories.provision("supplier"), ["supplier_admin"])
    assert stranger.get(f"{LEVELS}/{level['id']}").status_code == 404
    assert stranger.get(LEVELS).json()["data"]["total"] == 0
    errors = products.field_errors(stranger.post(ADJUST, json={"lines": [line(product, where)]}))
    assert errors == {("lines.0.location_id", "unknown_location"), ("lines.0.product_id", "unknown_product")}
    key = factories.api_key(shelf.tenant, ["supplier_user"], scopes=["inventory:read"])
    reader = factories.Api(key=key, tenant=shelf.tenant)
    assert reader.get(LEVELS).status_code == 200
    refused(reader.post(ADJUST, json={"lines": [line(product, where)]}), 403, "insufficient_scope")


def test_movements_never_change(shelf):
    from django.db import IntegrityError, connections

    product, where = shelf.product(), place(shelf)
    adjust(shelf, line(product, where))
    with pytest.raises(IntegrityError, match="never changed"), connections["owner"].cursor() as cursor:
        cursor.execute("UPDATE suppliers_stockmovement SET quantity = 5 WHERE tenant_id = %s", [shelf.id])
