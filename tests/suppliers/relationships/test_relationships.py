"""The relationship of a buyer to a supplier: what PUT replaces, what it refuses, who sees it, and what it costs."""

import time

import pytest

from bench.statements import recording
from core.db import tenant_context
from core.ids import uuid7
from ledger.models import Event
from organizations.models import Tenant
from suppliers.catalog.models import PlatformCategory
from suppliers.relationships.models import ApprovedSubstitute, BlockedProduct, ItemAlias, Relationship
from tests import factories
from tests.races import race
from tests.suppliers import products
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.inventory.shelf import shelf as new_shelf

TABLES = (Relationship, ItemAlias, BlockedProduct, ApprovedSubstitute)
DEFAULTS = {
    "status": "active", "blocks": [], "customer_number": None, "payment_terms": None, "spend_limit": None,
    "approved_categories": [], "blocked_products": [], "approved_substitutes": [], "item_aliases": [],
    "created_at": None, "updated_at": None, "version": 1,
}  # fmt: skip


def path(shelf):
    return f"/v1/suppliers/{shelf.id}/relationship"


def put(one, shelf, **body):
    answer = one.api.put(path(shelf), json=body)
    assert answer.status_code == 200, answer.content
    return answer.json()["data"]


def shown(one, shelf):
    answer = one.api.get(f"/v1/suppliers/{shelf.id}")
    assert answer.status_code == 200, answer.content
    return answer.json()["data"]["relationship"]


def stored(one):
    """The numbers of rows of the buyer's relationships."""
    with tenant_context(one.id):
        return [table.objects.filter(tenant_id=one.id).count() for table in TABLES]


def told(one):
    with tenant_context(one.id):
        found = Event.objects.filter(tenant_id=one.id, resource_type="relationship").order_by("id")
        return [(event.type, str(event.resource_id), event.data) for event in found]


def offered(shelf, number=1, **changes):
    made = [shelf.product(**changes) for _ in range(number)]
    for product in made:
        shelf.offer(product)
    return made


def test_none_yet_reads_as_active_with_defaults(shelf, buyer):
    assert shown(buyer, shelf) == {"supplier_id": str(shelf.id), **DEFAULTS}


def test_put_replaces_all_members(shelf, buyer, other):
    first, second, third = (one["id"] for one in offered(shelf, 3))
    given = {
        "status": "active", "blocks": ["payments", "orders"], "customer_number": "K-1042",
        "payment_terms": {"net_days": 60, "discount_percent": "2", "discount_days": 10, "note": "As agreed."},
        "spend_limit": {"amount": "50000", "currency": "EUR", "period": "quarter"},
        "approved_categories": ["gloves", "antidiabetics"], "blocked_products": [third],
        "approved_substitutes": [{"product_id": first, "substitute_product_id": second}],
        "item_aliases": [{"product_id": first, "own_code": "B"}, {"product_id": second, "own_code": "A"}],
    }  # fmt: skip
    made = put(buyer, shelf, **given)
    expected = given | {
        "supplier_id": str(shelf.id), "blocks": ["orders", "payments"], "version": 2,
        "spend_limit": {"amount": "50000.00", "currency": "EUR", "period": "quarter"},
        "approved_categories": ["antidiabetics", "gloves"],
        "item_aliases": [given["item_aliases"][1], given["item_aliases"][0]],
    }  # fmt: skip
    assert {name: made[name] for name in expected} == expected
    assert shown(buyer, shelf) == made
    assert shown(other, shelf)["version"] == 1
    (listed,) = buyer.api.get(f"/v1/suppliers?search={shelf.tenant.name}").json()["data"]
    assert listed["relationship"] == {
        "status": "active", "blocks": ["orders", "payments"], "customer_number": "K-1042", "version": 2,
    }  # fmt: skip
    ((kind, resource, payload),) = told(buyer)
    assert (kind, resource) == ("relationship.updated", str(shelf.id))
    assert payload == {
        "status": "active",
        "blocks": ["orders", "payments"],
        "changed": sorted(given.keys() - {"status"}),
    }
    after = put(buyer, shelf)
    assert {name: value for name, value in after.items() if not name.endswith("_at")} == {
        "supplier_id": str(shelf.id), **{name: one for name, one in DEFAULTS.items() if not name.endswith("_at")},
        "version": 3,
    }  # fmt: skip
    assert stored(buyer) == [1, 0, 0, 0]
    assert (told(other), told(shelf)) == ([], [])


def test_blocked_blocks_everything(shelf, buyer):
    made = put(buyer, shelf, status="blocked", blocks=["orders"])
    assert (made["status"], made["blocks"]) == ("blocked", ["orders", "invoices", "payments"])


def test_the_same_again_writes_nothing(shelf, buyer):
    (product,) = offered(shelf)
    given = {"item_aliases": [{"product_id": product["id"], "own_code": "4711"}], "blocked_products": [product["id"]]}
    first = put(buyer, shelf, **given)
    assert put(buyer, shelf, **given) == first
    assert len(told(buyer)) == 1


def test_codes_change_places(shelf, buyer):
    one, two = (product["id"] for product in offered(shelf, 2))
    put(buyer, shelf, item_aliases=[{"product_id": one, "own_code": "A"}, {"product_id": two, "own_code": "B"}])
    made = put(buyer, shelf, item_aliases=[{"product_id": one, "own_code": "B"}, {"product_id": two, "own_code": "A"}])
    assert [(item["own_code"], item["product_id"]) for item in made["item_aliases"]] == [("A", two), ("B", one)]
    assert told(buyer)[-1][2]["changed"] == ["item_aliases"]


def test_what_is_offered_no_more_may_stay_and_come_no_more(shelf, buyer):
    product = shelf.product()
    offer = shelf.offer(product)
    alias = {"product_id": product["id"], "own_code": "4711"}
    put(buyer, shelf, item_aliases=[alias])
    shelf.api.post(f"/v1/marketplace/offers/{offer}/unpublish")
    put(buyer, shelf, item_aliases=[alias], customer_number="1")
    put(buyer, shelf)
    assert ("item_aliases.0.product_id", "unknown_product") in products.field_errors(
        buyer.api.put(path(shelf), json={"item_aliases": [alias]})
    )


def test_versions(shelf, buyer):
    refused(buyer.api.put(path(shelf), json={}, headers={"If-Match": '"2"'}), 409, "version_conflict")
    answer = buyer.api.put(path(shelf), json={}, headers={"If-Match": '"1"'})
    assert (answer.status_code, answer.headers["ETag"]) == (200, '"2"')
    refused(buyer.api.put(path(shelf), json={"version": 1, "customer_number": "x"}), 409, "version_conflict")
    assert put(buyer, shelf, version=2, customer_number="x")["version"] == 3
    assert shown(buyer, shelf)["customer_number"] == "x"


def test_repeat_with_one_key(shelf, buyer):
    answers = [
        buyer.api.put(path(shelf), json={"customer_number": "1"}, headers={"Idempotency-Key": "relationship-1"})
        for _ in range(2)
    ]
    assert answers[0].json() == answers[1].json()
    assert answers[1].headers["Idempotency-Replayed"] == "true"
    assert len(told(buyer)) == 1


@pytest.mark.parametrize(
    ("body", "field", "code"),
    [
        ({"status": "invited"}, "status", "invalid_choice"),
        ({"blocks": ["returns"]}, "blocks.0", "invalid_choice"),
        ({"customer_number": "x" * 65}, "customer_number", "max_length"),
        ({"payment_terms": {"net_days": 400}}, "payment_terms.net_days", "max_value"),
        ({"spend_limit": {"amount": "1", "currency": "XXX", "period": "month"}}, "spend_limit.currency", "invalid_choice"),
        ({"spend_limit": {"amount": "1.001", "currency": "EUR", "period": "month"}}, "spend_limit.amount", "max_decimal_places"),
        ({"spend_limit": {"amount": "-1", "currency": "EUR", "period": "month"}}, "spend_limit.amount", "min_value"),
        ({"spend_limit": {"amount": "1", "currency": "EUR"}}, "spend_limit.period", "required"),
        ({"approved_categories": ["nothing"]}, "approved_categories.0", "unknown_category"),
        ({"blocked_products": ["x"]}, "blocked_products.0", "invalid"),
        ({"item_aliases": [{"product_id": str(uuid7())}]}, "item_aliases.0.own_code", "required"),
        ({"item_aliases": [{"product_id": str(uuid7()), "own_code": "x" * 65}]}, "item_aliases.0.own_code", "max_length"),
        ({"item_aliases": [{"product_id": str(uuid7()), "own_code": "x"}] * 5001}, "item_aliases", "max_length"),
        ({"id": str(uuid7())}, "id", "unknown_field"),
        ({"tenant_id": str(uuid7())}, "tenant_id", "unknown_field"),
        ({"supplier_id": str(uuid7())}, "supplier_id", "unknown_field"),
        ({"created_at": "2026-01-01T00:00:00Z"}, "created_at", "unknown_field"),
    ],
)  # fmt: skip
def test_bad_bodies_change_nothing(shelf, buyer, body, field, code):
    assert (field, code) in products.field_errors(buyer.api.put(path(shelf), json=body))
    assert (stored(buyer), told(buyer)) == ([0, 0, 0, 0], [])


def test_twins_are_refused(shelf, buyer):
    one, two = (product["id"] for product in offered(shelf, 2))
    for body, field in (
        ({"item_aliases": [{"product_id": one, "own_code": "A"}, {"product_id": two, "own_code": "A"}]}, "item_aliases.1.own_code"),
        ({"item_aliases": [{"product_id": one, "own_code": "A"}, {"product_id": one, "own_code": "B"}]}, "item_aliases.1.product_id"),
        ({"approved_substitutes": [{"product_id": one, "substitute_product_id": two}] * 2}, "approved_substitutes.1.substitute_product_id"),
    ):  # fmt: skip
        assert (field, "duplicate") in products.field_errors(buyer.api.put(path(shelf), json=body))
    itself = {"approved_substitutes": [{"product_id": one, "substitute_product_id": one}]}
    assert products.field_errors(buyer.api.put(path(shelf), json=itself)) == {
        ("approved_substitutes.0.substitute_product_id", "invalid")
    }
    assert stored(buyer) == [0, 0, 0, 0]


def test_products_that_the_buyer_is_not_offered_are_unknown(shelf, buyer, other):
    hidden, private = shelf.product(), shelf.product()
    shelf.offer(private, to=[other], visibility_mode="selected")
    (elsewhere,) = offered(new_shelf())
    for product in (hidden["id"], private["id"], elsewhere["id"], str(uuid7())):
        for body, field in (
            ({"blocked_products": [product]}, "blocked_products.0"),
            ({"item_aliases": [{"product_id": product, "own_code": "1"}]}, "item_aliases.0.product_id"),
            ({"approved_substitutes": [{"product_id": product, "substitute_product_id": str(uuid7())}]}, "approved_substitutes.0.product_id"),
        ):  # fmt: skip
            assert (field, "unknown_product") in products.field_errors(buyer.api.put(path(shelf), json=body))
    assert stored(buyer) == [0, 0, 0, 0]
    put(other, shelf, blocked_products=[private["id"]])


def test_category_of_the_supplier_itself_is_known(shelf, buyer):
    parent = PlatformCategory.objects.get(code="gloves")
    own = {"code": f"own-{factories.suffix()}".lower(), "name": "Own", "parent_id": str(parent.id)}
    answer = shelf.api.post("/v1/categories", json=own)
    assert answer.status_code == 201, answer.content
    assert put(buyer, shelf, approved_categories=[own["code"]])["approved_categories"] == [own["code"]]
    body = {"approved_categories": [own["code"]]}
    assert products.field_errors(buyer.api.put(path(new_shelf()), json=body)) == {
        ("approved_categories.0", "unknown_category")
    }


def test_who_may_and_which_supplier(shelf, buyer, other):
    silent = factories.provision("supplier", qualified=False)
    closed = new_shelf()
    Tenant.objects.filter(pk=closed.id).update(status="offboarding")
    Tenant.objects.filter(pk=closed.id).update(status="closed")
    for key in (silent.id, closed.id, other.id, buyer.id, uuid7()):
        refused(buyer.api.put(f"/v1/suppliers/{key}/relationship", json={}), 404, "not_found")
    reader = factories.as_member(buyer.tenant, ["approver"])
    refused(reader.put(path(shelf), json={}), 403, "insufficient_scope")
    refused(factories.as_member(shelf.tenant, ["buyer"]).put(path(shelf), json={}), 403, "not_a_buyer")
    both = factories.provision("pharmacy", also=("supplier",))
    refused(
        factories.as_member(both, ["buyer"]).put(f"/v1/suppliers/{both.id}/relationship", json={}), 404, "not_found"
    )
    assert stored(buyer) == [0, 0, 0, 0]


def test_of_two_first_ones_both_count(shelf, buyer):
    def first(number):
        return lambda: buyer.client().put(path(shelf), json={"customer_number": f"{number}"}).status_code

    assert race(first(1), first(2)) == [200, 200]
    assert shown(buyer, shelf)["version"] == 3


def test_rows_are_the_buyers_alone(shelf, buyer, other):
    (product,) = offered(shelf)
    put(buyer, shelf, blocked_products=[product["id"]], item_aliases=[{"product_id": product["id"], "own_code": "1"}])
    assert stored(buyer) == [1, 1, 1, 0]
    for stranger in (other, shelf):
        with tenant_context(stranger.id):
            assert [table.objects.filter(tenant_id=buyer.id).count() for table in TABLES] == [0, 0, 0, 0]


@pytest.mark.parametrize("number", [1, 3])
def test_statements_do_not_grow(shelf, buyer, number):
    made = offered(shelf, number)
    buyer.api.get(f"/v1/suppliers/{shelf.id}")
    with recording() as found:
        put(buyer, shelf, item_aliases=[{"product_id": one["id"], "own_code": one["id"]} for one in made])
    written = len(found.trips)
    with recording() as found:
        shown(buyer, shelf)
    assert [len(trip.calls) for trip in found.trips] == [3]  # the proof, the role, the supplier
    assert written == 10


def test_five_thousand_codes_take_no_more_trips(shelf, buyer):
    (product,) = offered(shelf)
    given = [{"product_id": product["id"], "own_code": "0"}]
    put(buyer, shelf, item_aliases=given)
    with tenant_context(buyer.id):  # products that were offered once
        more = [
            ItemAlias(tenant_id=buyer.id, supplier_id=shelf.id, product_id=uuid7(), own_code=f"A{n}")
            for n in range(4999)
        ]
        ItemAlias.objects.bulk_create(more)
    wanted = given + [{"product_id": str(one.product_id), "own_code": f"B{one.own_code}"} for one in more]
    with recording() as found:
        begun = time.perf_counter()
        assert len(put(buyer, shelf, item_aliases=wanted)["item_aliases"]) == 5000
        took = time.perf_counter() - begun
    assert len(found.trips) <= 10
    assert took < 4
