"""What buyers are told of suppliers' stock: through the display, of their offers alone, with their own reservations."""

from datetime import timedelta

import pytest

from bench.statements import recording
from core.clock import now
from core.db import tenant_context
from organizations.models import Location, Tenant
from suppliers.company.models import BuyerGroup, BuyerGroupMember
from tests import factories
from tests.suppliers import products
from tests.suppliers.inventory.shelf import body, refused, reserve
from tests.suppliers.inventory.shelf import buyer as new_buyer
from tests.suppliers.inventory.shelf import shelf as new_shelf

PATH = "/v1/stock/availability"
TODAY = now().date()


def asked(one, query):
    answer = one.api.get(f"{PATH}?{query}")
    assert answer.status_code == 200, answer.content
    return answer.json()["data"]


def of(one, product, query=""):
    (item,) = asked(one, f"product_id={product['id']}{query}")
    return item


def test_item_tells_what_the_offer_displays(shelf, buyer):
    product = shelf.product(units=10, lead_time_days=3)
    shelf.stock(product, 254, lot="A", expiry=TODAY + timedelta(days=90))
    shelf.stock(product, 31, lot="B", expiry=TODAY + timedelta(days=400))
    shelf.stock(product, 500, lot="C", expiry=TODAY - timedelta(days=1))
    shelf.stock(product, 500, lot="D", expiry=TODAY + timedelta(days=90), status="quarantined")
    shelf.stock(product, 500, lot="E", expiry=TODAY + timedelta(days=90), place=shelf.place(sellable=False))
    offer = shelf.offer(product)
    item = of(buyer, product)
    assert item | {"as_of": ""} == {
        "product_id": product["id"], "supplier_id": str(shelf.id), "offer_id": str(offer), "status": "available",
        "quantity": 28, "band": None, "orderable_quantity": None,
        "earliest_expiry": str(TODAY + timedelta(days=90)), "latest_expiry": str(TODAY + timedelta(days=400)), "incoming": [],
        "lead_time_days": 3, "allocation": None, "as_of": "", "reservations": [],
    }  # fmt: skip
    later = of(buyer, product, f"&needed_date={TODAY + timedelta(days=100)}")
    assert (later["quantity"], later["earliest_expiry"]) == (3, str(TODAY + timedelta(days=400)))


@pytest.mark.parametrize(
    ("display", "quantity", "band"),
    [({"stock_display": "exact"}, 42, None), ({"stock_display": "capped", "cap": 7}, 7, None),
     ({"stock_display": "band"}, None, "10-99"), ({"stock_display": "hidden"}, None, None)],
)  # fmt: skip
def test_number_goes_through_the_display(shelf, buyer, display, quantity, band):
    product = shelf.product()
    shelf.stock(product, 42)
    shelf.offer(product, **display)
    item = of(buyer, product, "&quantity=10")
    assert (item["quantity"], item["band"], item["status"], item["orderable_quantity"]) == (
        quantity,
        band,
        "available",
        True,
    )


@pytest.mark.parametrize(
    ("stock", "threshold", "changes", "status"),
    [
        (10, None, {}, "available"), (10, 10, {}, "limited"), (0, None, {}, "unavailable"), (4, None, {"units": 5}, "unavailable"),
        (0, None, {"stock_policy": "made_to_order"}, "backorder"), (0, None, {"stock_policy": "fixed", "fixed_quantity": 3}, "available"),
        (10, None, {"min_remaining_shelf_life_days": 5}, "available"),
    ],
)  # fmt: skip
def test_status_is_told(shelf, buyer, stock, threshold, changes, status):
    given = dict(changes)
    product = shelf.product(units=given.pop("units", 1))
    if stock:
        shelf.stock(product, stock, threshold=threshold)
    shelf.offer(product, **given)
    assert of(buyer, product)["status"] == status
    for query, found in ((status, 1), ("limited,unavailable" if status == "available" else "available", 0)):
        assert len(asked(buyer, f"product_id={product['id']}&availability={query}")) == found


def test_own_reservations_are_shown_and_others_only_lessen_the_number(shelf, buyer, other):
    product = shelf.product()
    shelf.stock(product, 100)
    shelf.offer(product)
    (mine,) = reserve(buyer, shelf, (product, 30))
    (theirs,) = reserve(other, shelf, (product, 20))
    item = of(buyer, product)
    assert [one["id"] for one in item["reservations"]] == [mine["id"]]
    assert item["quantity"] == 50
    content = buyer.api.get(f"{PATH}?product_id={product['id']}").content.decode()
    assert theirs["id"] not in content
    assert str(other.id) not in content
    assert buyer.api.delete(f"/v1/stock/reservations/{mine['id']}").status_code == 204
    item = of(buyer, product)
    assert (item["quantity"], item["reservations"]) == (80, [])


def test_orderable_is_what_a_reservation_would_grant(shelf, buyer):
    product = shelf.product()
    shelf.stock(product, 100)
    shelf.offer(product, min_order_quantity=5, max_order_quantity=60)
    answers = {n: of(buyer, product, f"&quantity={n}")["orderable_quantity"] for n in (4, 5, 50, 51, 61)}
    assert answers == {4: False, 5: True, 50: True, 51: False, 61: False}  # half of it is the buyer's share
    reserve(buyer, shelf, (product, 40))
    assert of(buyer, product, "&quantity=10")["orderable_quantity"] is True
    assert of(buyer, product, "&quantity=11")["orderable_quantity"] is False


@pytest.mark.parametrize(
    ("groups", "most"),
    [
        ([{"code": "a", "buyers": True, "percent": 80}], 80), ([{"code": "a", "buyers": True}], 50),
        ([{"code": "a", "organizations": True, "percent": 70}, {"code": "b", "buyers": True, "percent": 20}], 70),
        ([{"code": "a", "percent": 90}], 50),
    ],
)  # fmt: skip
def test_what_is_orderable_is_the_share_that_a_reservation_grants(shelf, buyer, other, groups, most):
    """The greatest share of the buyer's groups, else the supplier's; one pack more is neither promised nor reserved."""
    with tenant_context(shelf.id):
        for given in groups:
            one = BuyerGroup.objects.create(
                tenant_id=shelf.id, code=given["code"], reservation_cap_percent=given.get("percent")
            )
            members = {
                "buyer": [buyer.id] * ("buyers" in given) or [other.id],
                "organization": [buyer.tenant.organization_id] * ("organizations" in given),
            }
            for kind, ids in members.items():
                for key in ids:
                    BuyerGroupMember.objects.create(tenant_id=shelf.id, member_id=key, group_id=one.id, kind=kind)
    product = shelf.product()
    shelf.stock(product, 100)
    shelf.offer(product)
    orderable = {n: of(buyer, product, f"&quantity={n}")["orderable_quantity"] for n in (most, most + 1)}
    assert orderable == {most: True, most + 1: False}
    refused(buyer.api.post("/v1/stock/reservations", json=body(shelf, (product, most + 1))), 409, "reservation_limit")
    reserve(buyer, shelf, (product, most))
    assert of(buyer, product, "&quantity=1")["orderable_quantity"] is False
    refused(buyer.api.post("/v1/stock/reservations", json=body(shelf, (product, 1))), 409, "reservation_limit")


def test_limit_in_a_shortage_is_shown_while_it_holds(shelf, buyer):
    product, past = shelf.product(), shelf.product()
    for one, until in ((product, TODAY + timedelta(days=9)), (past, TODAY - timedelta(days=3))):
        shelf.stock(one, 100)
        shelf.offer(one, limit_quantity=5, limit_period_days=30, limit_until=until)
    limit = {"quantity": 5, "remaining": 5, "until": str(TODAY + timedelta(days=9))}
    answers = {n: of(buyer, product, f"&quantity={n}") for n in (5, 6)}
    assert {n: (one["orderable_quantity"], one["allocation"]) for n, one in answers.items()} == {
        5: (True, limit),
        6: (False, limit),
    }
    ended = of(buyer, past, "&quantity=6")
    assert (ended["orderable_quantity"], ended["allocation"]) == (True, None)


def test_questions_have_a_limit_of_their_own(buyer, settings):
    settings.RATE_LIMITS_ENABLED = True
    settings.RATE_LIMIT_OVERRIDES = {}
    assert buyer.api.get(PATH)["RateLimit-Policy"] == "300;w=60"
    assert buyer.api.get("/v1/stock/reservations")["RateLimit-Policy"] == "100;w=60"


def test_other_buyers_see_nothing(shelf, buyer, other):
    product = shelf.product(packagings=[products.packaging(gtin=products.gtin())])
    shelf.stock(product, 10)
    offer = shelf.offer(product, to=[buyer])
    for query in (f"product_id={product['id']}", f"gtin={product['packagings'][0]['gtin']}", f"supplier_id={shelf.id}"):
        assert str(offer) not in {one["offer_id"] for one in asked(other, query)}
        assert str(offer) in {one["offer_id"] for one in asked(buyer, query)}
    shelf.exclude(offer, buyer)
    assert asked(buyer, f"product_id={product['id']}") == []


def test_offers_of_a_suspended_supplier_hide(shelf, buyer):
    product = shelf.product()
    shelf.offer(product)
    assert len(asked(buyer, f"product_id={product['id']}")) == 1
    Tenant.objects.filter(pk=shelf.id).update(status="suspended")
    assert asked(buyer, f"product_id={product['id']}") == []


def test_country_and_location_of_delivery_choose_the_offers(shelf, buyer):
    product = shelf.product()
    shelf.offer(product, countries=["NO"])
    with tenant_context(buyer.id):
        ward = Location.objects.create(tenant_id=buyer.id, name="Ward", type="ward", address={"country": "SE"})
    given = f"product_id={product['id']}"
    assert len(asked(buyer, given)) == 1  # nothing is known of where the tenant is
    assert len(asked(buyer, f"{given}&country=NO")) == 1
    assert asked(buyer, f"{given}&country=SE") == []
    assert asked(buyer, f"{given}&location={ward.id}") == []
    foreign = new_buyer()
    with tenant_context(foreign.id):
        place = Location.objects.create(tenant_id=foreign.id, name="Ward", type="ward")
    assert ("location", "unknown_location") in products.field_errors(
        buyer.api.get(f"{PATH}?{given}&location={place.id}")
    )


def test_category_finds_what_stands_below_it(shelf, buyer):
    tree = shelf.api.get("/v1/categories?limit=100").json()["data"]["items"]
    product = shelf.product()
    shelf.offer(product, to=[buyer])
    mine = next(one for one in tree if one["code"] == product["category"])
    above = next(one for one in tree if one["id"] == mine["parent_id"])
    beside = next(one for one in tree if one["depth"] == above["depth"] and one["id"] != above["id"])
    for code, found in ((mine["code"], 1), (above["code"], 1), (beside["code"], 0), ("nothing", 0)):
        assert len(asked(buyer, f"category={code}&supplier_id={shelf.id}")) == found


def test_list_is_paged_by_cursor(shelf, buyer):
    offers = set()
    for _ in range(5):
        offers.add(str(shelf.offer(shelf.product(), to=[buyer])))
    found, path = [], f"{PATH}?limit=2&supplier_id={shelf.id}"
    while path:
        body = buyer.api.get(path).json()
        found += [one["offer_id"] for one in body["data"]]
        token = body["next_cursor"]
        path = f"{PATH}?limit=2&supplier_id={shelf.id}&cursor={token}" if token else ""
    assert len(found) == 5
    assert set(found) == offers
    token = buyer.api.get(f"{PATH}?limit=2&supplier_id={shelf.id}").json()["next_cursor"]
    refused(buyer.api.get(f"{PATH}?limit=2&category=x&cursor={token}"), 400, "invalid_cursor")


@pytest.mark.parametrize(
    ("query", "field", "code"),
    [
        ("quantity=1", "quantity", "required"), ("product_id=&quantity=5", "quantity", "required"),
        ("gtin=%20&needed_date=2026-01-01", "needed_date", "required"), ("needed_date=2026-01-01", "needed_date", "required"),
        ("gtin=123", "gtin", "invalid_gtin"), ("product_id=abc", "product_id", "invalid"), ("product_id=,", "product_id", "invalid"),
        ("availability=lots", "availability", "invalid_choice"), ("country=ZZ", "country", "invalid_choice"),
        ("gtin=" + ",".join(["04012345678901"] * 51), "gtin", "invalid"),
        ("product_id=0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f&quantity=0", "quantity", "invalid"),
        ("product_id=0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f&quantity=x", "quantity", "invalid"),
        ("product_id=0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f&needed_date=x", "needed_date", "invalid"),
    ],
)  # fmt: skip
def test_bad_questions(buyer, query, field, code):
    assert (field, code) in products.field_errors(buyer.api.get(f"{PATH}?{query}"))


def test_blank_location_says_nothing(shelf, buyer):
    product = shelf.product()
    offer = shelf.offer(product)
    for query in (f"location=&supplier_id={shelf.id}", f"location=&product_id={product['id']}"):
        assert [one["offer_id"] for one in asked(buyer, query)] == [str(offer)]


def test_unknown_parameter_and_wrong_callers_are_refused(shelf, buyer):
    refused(buyer.api.get(f"{PATH}?sort=name"), 400, "unknown_parameter")
    refused(shelf.api.get(PATH), 403, "insufficient_scope")
    refused(factories.as_member(shelf.tenant, ["buyer"]).get(PATH), 403, "not_a_buyer")
    assert buyer.api.get(PATH, headers={"X-Tenant-Id": str(shelf.id)}).status_code == 403
    refused(factories.Api().get(PATH), 401, "not_authenticated")


@pytest.mark.parametrize("suppliers", [1, 3])
def test_statements_do_not_grow(buyer, suppliers):
    rows = []
    for _ in range(suppliers):
        one = new_shelf()
        product = one.product()
        one.stock(product, 10, lot="A", expiry=TODAY + timedelta(days=9))
        one.stock(product, 10, lot="B", expiry=TODAY + timedelta(days=9))
        one.offer(product)
        rows.append(product["id"])
    path = f"{PATH}?product_id={','.join(rows)}"
    buyer.api.get(path)
    with recording() as found:
        assert len(buyer.api.get(path).json()["data"]) == suppliers
    assert [len(trip.calls) for trip in found.trips] == [3]  # the proof, the role, the offers
