"""POST, PATCH and GET /v1/purchase-orders: what a draft holds, what is refused, who sees it."""

from typing import Any

import pytest

from bench.statements import recording
from core.clock import now
from core.db import tenant_context
from core.ids import uuid7
from organizations.models import Location
from suppliers.relationships.models import ItemAlias
from tests import factories
from tests.factories import Api, api_key
from tests.procurement.budgets.budgets import put as put_budget
from tests.procurement.purchasing.orders import PATH, Trade, approver, price, ward
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.products import field_errors, gtin, packaging
from tests.suppliers.quoting import worlds

_WORDS = {"description": "Bread rolls", "quantity": 40, "unit_price": "0.35"}
CREATED, UPDATED = "purchase_order.created", "purchase_order.updated"


def test_create_prices_the_lines_and_tells_the_buyer_alone(trade: Trade) -> None:
    lines = [(trade.gloves, 10), {"product_id": trade.masks["id"], "quantity": 7, "unit": "base"}]
    answer = trade.api.post(PATH, json=trade.body(*lines, notes_to_supplier="Ring twice", internal_note="Secret"))

    assert answer.status_code == 201, answer.content
    data = answer.json()["data"]
    assert (answer.headers["Location"], answer.headers["ETag"]) == (f"{PATH}/{data['id']}", '"1"')
    assert data == trade.read(data["id"])
    header = {
        "po_number": "PO-000001", "order_number": None, "status": "draft", "approval_for": None, "awaiting": None,
        "proposed_by": None, "fulfilment_status": "unfulfilled", "billing_status": "not_invoiced", "currency": "EUR",
        "supplier_id": str(trade.shelf.id), "supplier_name": trade.shelf.tenant.name, "revision": 1, "version": 1,
        "delivery_location_id": str(trade.ward), "priority": "routine", "substitution_policy": "ask",
        "delivery_address": {"name": "Ward 3", "address": {"country": "DE", "city": "Bonn"}}, "incoterm": None,
        "backorder_policy": "accept", "notes_to_supplier": "Ring twice", "internal_note": "Secret", "budget": None,
        "reservation_ids": [], "copy_of": None, "price_differs": False, "lines_total": 2, "lines_next": None,
        "sent_at": None, "accept_by": None, "totals": {"net": "51.33", "tax": None, "gross": "51.33", "taxes": []},
        "timeline_total": 1,
    }  # fmt: skip
    assert {name: data[name] for name in header} == header
    first, second = data["lines"]
    assert (first["line_no"], first["quantity"], first["base_quantity"], first["ordered"]) == (1, 10, 1000, 1000)
    assert (first["line_total"], first["snapshot"]["unit_price"], first["snapshot"]["price_source"]) == (
        "49.00", "4.90", "offer",
    )  # fmt: skip
    assert (second["unit"], second["base_quantity"], second["line_total"]) == ("base", 7, "2.33")
    assert second["snapshot"]["unit_price"] == "0.333333"
    assert [step["source_type"] for step in first["snapshot"]["trace"] if step["matched"]] == ["offer"]
    assert {first[name] for name in ("accepted", "backordered", "cancelled", "shipped", "received", "invoiced")} == {0}
    assert first["line_status"] == "open"
    (entry,) = data["timeline"]
    assert (entry["action"], entry["by"], entry["from"], entry["to"]) == ("created", "buyer", None, "draft")
    assert entry["actor_id"] == data["requester"]["id"]
    assert trade.stored() == [("draft", 1, 1, "51.33")]
    ((kind, version, payload),) = trade.facts()
    assert (kind, version, payload["po_number"], payload["status"]) == (CREATED, 1, "PO-000001", "draft")
    assert "51.33" not in str(payload)
    assert trade.facts(trade.shelf.tenant) == []
    assert trade.draft()["po_number"] == "PO-000002"


@pytest.mark.parametrize(
    ("currency", "unit", "net"),
    [("JPY", "4.5", "45"), ("KWD", "4.9005", "49.005"), ("CLF", "0.123456", "1.2346"), ("EUR", "0.0005", "0.01")],
)
def test_amounts_are_exact_in_all_exponents(trade: Trade, currency: str, unit: str, net: str) -> None:
    product = trade.shelf.product(name="Pads")
    trade.shelf.offer(product, currency=currency, tiers=price((1, unit)))

    data = trade.draft((product, 10), currency=currency)

    assert (data["lines"][0]["line_total"], data["totals"]["net"], data["totals"]["gross"]) == (net, net, net)


def test_lines_name_products_by_own_code_and_gtin(trade: Trade) -> None:
    code = gtin()
    boxed = trade.shelf.product(
        name="Box", packagings=[packaging(), packaging(level="case", units_per_pack=12, gtin=code)]
    )
    trade.shelf.offer(boxed, packaging_id=boxed["packagings"][1]["id"], currency="EUR", tiers=price((1, "9")))
    with tenant_context(trade.buyer.id):
        ItemAlias.objects.create(
            tenant_id=trade.buyer.id, supplier_id=trade.shelf.id, product_id=trade.gloves["id"], own_code="GLV"
        )

    own, coded = trade.draft({"own_code": "GLV", "quantity": 1}, {"gtin": code, "quantity": 2})["lines"]

    assert (own["product_id"], own["own_code"]) == (trade.gloves["id"], "GLV")
    assert (coded["packaging_id"], coded["base_quantity"]) == (boxed["packagings"][1]["id"], 24)
    assert coded["snapshot"]["gtin"].endswith(code)
    answer = trade.api.post(PATH, json=trade.body({"own_code": "X", "quantity": 1}, {"gtin": gtin(), "quantity": 1}))
    assert field_errors(answer) == {("lines.0.own_code", "unknown_product"), ("lines.1.gtin", "unknown_product")}


def test_goods_in_words_at_a_managed_supplier(trade: Trade) -> None:
    made = trade.api.post("/v1/suppliers", json={"legal_name": f"Local {factories.suffix()}", "country": "DE"})
    supplier = made.json()["data"]["id"]
    line = {"description": "Bread rolls", "quantity": 40, "unit_price": "0.35", "tax_rate": "7", "gtin": gtin()}

    data = trade.draft(line, supplier_id=supplier)

    (found,) = data["lines"]
    assert (found["snapshot"]["name"], found["snapshot"]["price_source"], found["product_id"]) == (
        "Bread rolls",
        "manual",
        None,
    )
    assert data["totals"] == {
        "net": "14.00", "tax": "0.98", "gross": "14.98",
        "taxes": [{"tax_category": "", "tax_rate": "7", "net": "14.00", "tax": "0.98"}],
    }  # fmt: skip
    assert found["price_check"]["result"] == "ok"
    answer = trade.api.post(PATH, json=trade.body(supplier_id=supplier))
    assert field_errors(answer) == {("lines.0", "unknown_product")}
    answer = trade.api.post(PATH, json=trade.body(line))
    assert field_errors(answer) == {("lines.0", "unknown_product")}
    again = trade.api.patch(f"{PATH}/{data['id']}", json={"internal_note": "x"}).json()["data"]
    assert (again["lines"][0]["snapshot"]["unit_price"], again["totals"]["gross"]) == ("0.35", "14.98")


@pytest.mark.parametrize(
    ("changes", "field", "code"),
    [
        ({"supplier_id": None}, "supplier_id", "null"),
        ({"supplier_id": str(uuid7())}, "supplier_id", "unknown_supplier"),
        ({"currency": "XXX"}, "currency", "invalid_choice"),
        ({"delivery_location_id": str(uuid7())}, "delivery_location_id", "unknown_location"),
        ({"budget": {"code": "none"}}, "budget.code", "unknown_budget"),
        ({"price_agreement_id": str(uuid7())}, "price_agreement_id", "unknown_agreement"),
        ({"incoterm": "ABC"}, "incoterm", "invalid_choice"),
        ({"priority": "soon"}, "priority", "invalid_choice"),
        ({"lines": []}, "lines", "min_length"),
        ({"lines": [{"quantity": 1}]}, "lines.0.product_id", "required"),
        ({"lines": [{"product_id": str(uuid7()), "quantity": 1}]}, "lines.0", "unknown_product"),
        ({"lines": [{"product_id": str(uuid7()), "quantity": 0}]}, "lines.0.quantity", "min_value"),
        ({"lines": [{"product_id": str(uuid7()), "own_code": "a", "quantity": 1}]}, "lines.0.product_id", "required"),
        ({"lines": [{"product_id": str(uuid7()), "unit_price": "1", "quantity": 1}]}, "lines.0.unit_price", "invalid"),
        ({"lines": [_WORDS | {"base_unit": "???"}]}, "lines.0.base_unit", "invalid_format"),
        ({"lines": [_WORDS | {"base_unit": "\u202e"}]}, "lines.0.base_unit", "invalid_format"),
        ({"lines": [_WORDS | {"base_unit": "XQX"}]}, "lines.0.base_unit", "invalid_choice"),
        ({"status": "sent"}, "status", "unknown_field"),
    ],
)
def test_create_refuses_with_the_path_and_writes_nothing(
    trade: Trade, changes: dict[str, Any], field: str, code: str
) -> None:
    answer = trade.api.post(PATH, json=trade.body(**changes))

    assert field_errors(answer) == {(field, code)}
    assert (trade.stored(), trade.facts()) == ([], [])


def test_create_refuses_what_has_no_price_and_what_the_buyer_does_not_see(trade: Trade) -> None:
    hidden = trade.shelf.product(name="Hidden")
    trade.shelf.offer(hidden, to=[], currency="EUR", tiers=price((1, "1")))
    unpriced = trade.shelf.product(name="Unpriced")
    trade.shelf.offer(unpriced)

    answer = trade.api.post(PATH, json=trade.body((trade.gloves, 1), (unpriced, 1)))
    body = refused(answer, 422, "price_not_available")
    assert [one["field"] for one in body["errors"]] == ["lines.1"]
    refused(trade.api.post(PATH, json=trade.body(currency="USD")), 422, "price_not_available")
    answer = trade.api.post(PATH, json=trade.body((hidden, 1)))
    assert field_errors(answer) == {("lines.0", "unknown_product")}
    refused(trade.api.post(PATH, json=trade.body(supplier_id=str(trade.buyer.id))), 400, "self_trade")
    dear = trade.shelf.product(name="Dear")
    trade.shelf.offer(dear, currency="EUR", tiers=price((1, "1000000000")))
    huge = trade.api.post(PATH, json=trade.body((trade.gloves, 1), (dear, 1_000_000)))
    assert field_errors(huge) == {("lines.1.quantity", "max_value")}
    assert trade.stored() == []


def test_prices_are_kept_up_to_the_highest_and_refused_by_name_above(trade: Trade) -> None:
    dear, listed = (trade.shelf.product(name=name) for name in ("Dear", "Listed"))
    trade.shelf.offer(dear)
    trade.shelf.offer(listed)
    worlds.list_price(trade.shelf, dear, (1, "9999999999999.999999"))
    worlds.rule(trade.shelf, "markup", "1000", when={"product_ids": [dear["id"]]})
    worlds.list_price(trade.shelf, listed, (1, "100000000.00"))
    worlds.price_list(trade.shelf, listed, (1, "5.00"), per=1_000_000)

    data = trade.draft((dear, 1))
    assert data["lines"][0]["snapshot"]["unit_price"] == "9999999999999.999999"
    answer = trade.api.post(PATH, json=trade.body((trade.gloves, 1), (listed, 1)))

    assert field_errors(answer) == {("lines.1", "max_value")}


def test_a_budget_is_named_and_not_yet_taken(trade: Trade) -> None:
    staff = approver(trade)
    put_budget(staff, "wards", cost_centers=["4711"])
    put_budget(staff, "dollars", currency="USD")

    data = trade.draft(budget={"code": "wards", "cost_center": "4711"})

    assert data["budget"] == {"code": "wards", "cost_center": "4711"}
    assert staff.get("/v1/procurement/budgets").json()["data"][-1]["committed"] == "0.00"
    answer = trade.api.post(PATH, json=trade.body(budget={"code": "wards", "cost_center": "1"}))
    assert field_errors(answer) == {("budget.cost_center", "unknown_budget")}
    refused(trade.api.post(PATH, json=trade.body(budget={"code": "dollars"})), 422, "currency_mismatch")


def test_patch_prices_anew_and_makes_a_revision_only_where_something_differs(trade: Trade) -> None:
    data = trade.draft()
    path = f"{PATH}/{data['id']}"

    same = trade.api.patch(path, json={})
    changed = trade.api.patch(
        path, json={"priority": "urgent", "lines": [{"product_id": trade.gloves["id"], "quantity": 60}]}
    )

    assert same.json()["data"] == data
    found = changed.json()["data"]
    assert (found["revision"], found["version"], found["priority"]) == (2, 2, "urgent")
    assert (found["lines"][0]["snapshot"]["unit_price"], found["totals"]["net"]) == ("4.55", "273.00")
    assert (trade.stored(), trade.lines()) == ([("draft", 2, 2, "273")], [(1, 6000, "273")])
    assert [(kind, version) for kind, version, _ in trade.facts()] == [(CREATED, 1), (UPDATED, 2)]
    stale = trade.api.patch(path, json={"priority": "routine"}, headers={"If-Match": '"1"'})
    assert refused(stale, 409, "version_conflict")["current_version"] == 2
    bad = trade.api.patch(path, json={"lines": [{"product_id": str(uuid7()), "quantity": 1}]})
    assert field_errors(bad) == {("lines.0", "unknown_product")}
    assert field_errors(trade.api.patch(path, json={"lines": [{"quantity": 1}]})) == {
        ("lines.0.product_id", "required")
    }
    assert field_errors(trade.api.patch(path, json={"supplier_id": str(uuid7())})) == {("supplier_id", "unknown_field")}
    assert trade.stored() == [("draft", 2, 2, "273")]


def test_a_copy_takes_lines_and_terms_but_no_dates_or_numbers(trade: Trade) -> None:
    first = trade.draft(
        (trade.gloves, 3), priority="urgent", requested_delivery_date="2027-01-01", external_reference="R-1",
        internal_note="n",
    )  # fmt: skip

    copied = trade.api.post(PATH, json={"copy_of": first["id"], "internal_note": None})

    assert copied.status_code == 201, copied.content
    data = copied.json()["data"]
    assert (data["copy_of"], data["po_number"], data["priority"]) == (first["id"], "PO-000002", "urgent")
    assert (data["requested_delivery_date"], data["external_reference"], data["internal_note"]) == (None, None, None)
    assert [line["base_quantity"] for line in data["lines"]] == [300]
    other = shelves.buyer()
    refused(other.api.post(PATH, json={"copy_of": first["id"]}), 404, "not_found")
    refused(trade.api.post(PATH, json={"copy_of": str(uuid7())}), 404, "not_found")
    answer = trade.api.post(PATH, json={"copy_of": first["id"], "supplier_id": str(uuid7())})
    assert field_errors(answer) == {("supplier_id", "invalid")}
    assert len(trade.stored()) == 2


def test_filters_sort_and_pages(trade: Trade) -> None:
    one, two, three = trade.draft(), trade.draft(priority="urgent"), trade.draft((trade.masks, 1))

    def numbers(query: str) -> list[str]:
        answer = trade.api.get(f"{PATH}?{query}")
        assert answer.status_code == 200, answer.content
        return [row["po_number"] for row in answer.json()["data"]]

    everything = [three["po_number"], two["po_number"], one["po_number"]]
    assert numbers("") == everything
    assert numbers(f"supplier_id={trade.shelf.id}&status=draft,sent&fulfilment_status=unfulfilled") == everything
    assert numbers(f"supplier_id={uuid7()}") == numbers("status=sent") == numbers("price_differs=true") == []
    assert numbers("price_differs=false") == everything
    assert numbers("search=po%20000002") == ["PO-000002"]
    assert numbers(f"search={trade.shelf.tenant.name[:12]}") == everything
    assert numbers("from=2020-01-01&to=2999-01-01T00:00:00Z&sort=po_number") == everything[::-1]
    assert numbers("to=2020-01-01") == []
    assert numbers(f"updated_since={three['updated_at']}") == ["PO-000003"]
    page = trade.api.get(f"{PATH}?limit=2").json()
    assert page["has_more"]
    rest = trade.api.get(f"{PATH}?limit=2&cursor={page['next_cursor']}").json()
    assert [row["po_number"] for row in [*page["data"], *rest["data"]]] == everything
    assert "lines" not in page["data"][0]
    reversed_day = "from=2026-02-01T12:00:00Z&to=2026-02-01T10:00:00Z"
    for query in (
        "status=gone",
        "from=yesterday",
        "from=2026-02-01&to=2026-01-01",
        reversed_day,
        "search=%21",
        "buyer_id=1",
    ):
        assert trade.api.get(f"{PATH}?{query}").status_code == 400, query


def test_lines_are_read_in_pages(trade: Trade) -> None:
    data = trade.draft(*[(trade.masks, number) for number in range(1, 106)])

    assert (len(data["lines"]), data["lines_total"]) == (100, 105)
    path = data["lines_next"]
    rest = trade.api.get(path)
    assert [line["line_no"] for line in rest.json()["data"]["lines"]] == [101, 102, 103, 104, 105]
    assert rest.json()["data"]["lines_next"] is None
    small = trade.read(data["id"], "?lines_page=2&lines_limit=10")
    assert [line["line_no"] for line in small["lines"]] == [*range(11, 21)]
    assert small["lines_next"].endswith("lines_page=3&lines_limit=10")
    assert trade.api.get(path, headers={"If-None-Match": rest.headers["ETag"]}).status_code == 304
    assert trade.api.get(f"{PATH}/{data['id']}?lines_page=0").status_code == 400


def test_who_may(trade: Trade) -> None:
    data = trade.draft()
    path = f"{PATH}/{data['id']}"
    key = Api(key=api_key(trade.buyer.tenant, ["tenant_admin"]), tenant=trade.buyer.tenant)
    assert refused(key.get(PATH), 403, "credential_not_accepted")
    assert refused(approver(trade).post(PATH, json=trade.body()), 403, "insufficient_scope")
    assert approver(trade).get(path).status_code == 200
    assert refused(trade.shelf.api.get(path), 403, "insufficient_scope")
    other = shelves.buyer()
    assert other.api.get(path).status_code == 404
    assert refused(other.api.patch(path, json={}), 404, "not_found")
    assert other.api.get(PATH).json()["data"] == []
    assert trade.stored() == [("draft", 1, 1, "49")]


def test_a_member_with_locations_sees_orders_for_them_alone(trade: Trade) -> None:
    floor = ward(trade.buyer, "Floor")
    room = ward(trade.buyer, "Room", parent=floor)
    mine, foreign = trade.draft(delivery_location_id=str(room)), trade.draft()
    person, _ = factories.member(trade.buyer.tenant, ["buyer"], location_ids=[floor])
    api = Api(token=factories.bearer(person), tenant=trade.buyer.tenant)

    assert [one["id"] for one in api.get(PATH).json()["data"]] == [mine["id"]]
    assert api.get(f"{PATH}/{mine['id']}").status_code == 200
    assert api.patch(f"{PATH}/{mine['id']}", json={"priority": "urgent"}).status_code == 200
    for answer in (
        api.get(f"{PATH}/{foreign['id']}"), api.patch(f"{PATH}/{foreign['id']}", json={"priority": "urgent"}),
        api.post(PATH, json={"copy_of": foreign["id"]}),
    ):  # fmt: skip
        assert refused(answer, 404, "not_found")
    answer = api.post(PATH, json=trade.body())
    assert field_errors(answer) == {("delivery_location_id", "unknown_location")}
    moved = api.patch(f"{PATH}/{mine['id']}", json={"delivery_location_id": str(trade.ward)})
    assert field_errors(moved) == {("delivery_location_id", "unknown_location")}
    with tenant_context(trade.buyer.id):
        Location.objects.filter(tenant_id=trade.buyer.id, pk=room).update_versions(status="inactive", at=now())
    assert field_errors(trade.api.post(PATH, json=trade.body(delivery_location_id=str(room)))) == {
        ("delivery_location_id", "unknown_location")
    }


def test_a_repeat_with_one_key_creates_once(trade: Trade) -> None:
    first, again = (trade.api.post(PATH, json=trade.body(), headers={"Idempotency-Key": "k1"}) for _ in range(2))

    assert (first.json(), again.headers["Idempotency-Replayed"]) == (again.json(), "true")
    assert len(trade.stored()) == 1


def test_trips_do_not_grow_with_the_lines(trade: Trade) -> None:
    counts = []
    for lines in ([(trade.gloves, 1)], [(trade.gloves, 1), (trade.masks, 1)] * 20):
        trade.draft(*lines)
        with recording() as made:
            data = trade.draft(*lines)
        with recording() as changed:
            trade.api.patch(f"{PATH}/{data['id']}", json={"priority": "urgent"})
        with recording() as read:
            trade.read(data["id"])
        counts.append((len(made), len(changed), len(read)))

    assert counts[0] == counts[1]
    assert counts[0][0] <= 6
    assert counts[0][2] == 1
