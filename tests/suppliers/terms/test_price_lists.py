"""GET and PUT /v1/price-lists: what is kept, what is refused, what is recorded, and who wins a race."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from bench.statements import recording
from core.db import tenant_context
from core.invariants import breaches
from ledger.public import Event
from organizations.models import Tenant
from suppliers.marketplace.models import AudienceMember
from suppliers.terms.models import PriceList, PriceListEntry
from tests import races
from tests.factories import Api, api_key, provision
from tests.suppliers.products import create, field_errors, packaging

PATH = "/v1/price-lists"
TIERS = [{"min_quantity": 1, "unit_price": "4.4"}, {"min_quantity": 50, "unit_price": "4.123456"}]


@pytest.fixture
def product(api: Api) -> dict[str, Any]:
    """Return a product of one packaging."""
    return create(api)


def entry(product: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return the smallest entry of a product."""
    return {"product_id": product["id"], "tiers": [{"min_quantity": 1, "unit_price": "4.40"}]} | changes


def body(*entries: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return the smallest list with some entries."""
    return {"name": "Hospitals", "currency": "EUR", "entries": [*entries]} | changes


def put(api: Api, code: str, *entries: dict[str, Any], headers: dict[str, str] | None = None, **changes: Any) -> Any:
    """Put a list."""
    return api.put(f"{PATH}/{code}", json=body(*entries, **changes), headers=headers or {})


def stored(tenant: Tenant) -> tuple[list[tuple[str, int, int]], int, list[str]]:
    """Return code, version and entry count of each list, the number of entries, and the events."""
    with tenant_context(tenant.id):
        mine = {"tenant_id": tenant.id}
        lists = list(PriceList.objects.filter(**mine).order_by("code").values_list("code", "version", "entry_count"))
        facts = Event.objects.filter(**mine, type__startswith="price_list.").order_by("occurred_at", "id")
        return lists, PriceListEntry.objects.filter(**mine).count(), [one.type for one in facts]


def test_put_creates_and_then_replaces(api: Api, supplier: Tenant, product: dict[str, Any]) -> None:
    made = put(api, "h-2026", entry(product, tiers=TIERS), valid_from="2026-01-01", priority=7)

    assert made.status_code == 201, made.content
    assert made.headers["Location"] == f"{PATH}/h-2026"
    assert made.headers["ETag"].startswith('"1')
    data = made.json()["data"]
    assert data == {
        "id": data["id"],
        "code": "h-2026",
        "name": "Hospitals",
        "currency": "EUR",
        "status": "draft",
        "valid_from": "2026-01-01",
        "valid_to": None,
        "priority": 7,
        "assignment": {"scope": "public", "ids": [], "codes": []},
        "entry_count": 1,
        "entries": {
            "items": [
                {
                    "product_id": product["id"],
                    "supplier_sku": product["supplier_sku"],
                    "packaging_id": product["packagings"][0]["id"],
                    "price_base_quantity": 1,
                    "tiers": [
                        {"min_quantity": 1, "unit_price": "4.40"},
                        {"min_quantity": 50, "unit_price": "4.123456"},
                    ],
                }
            ],
            "page": 1,
            "limit": 20,
            "total": 1,
        },
        "created_at": data["created_at"],
        "updated_at": data["updated_at"],
        "version": 1,
    }
    assert api.get(f"{PATH}/h-2026").json()["data"] == data

    again = put(api, "h-2026", entry(product), name="All", status="active")
    assert (again.status_code, again.json()["data"]["version"]) == (200, 2)
    shown = again.json()["data"]
    assert (shown["name"], shown["status"], shown["priority"], shown["valid_from"]) == ("All", "active", 0, None)
    assert stored(supplier) == ([("h-2026", 2, 1)], 1, ["price_list.created", "price_list.updated"])


def test_what_does_not_differ_is_not_written(api: Api, supplier: Tenant, product: dict[str, Any]) -> None:
    put(api, "a", entry(product, tiers=TIERS))

    again = put(api, "a", entry(product, tiers=[{**TIERS[0], "unit_price": "4.400"}, TIERS[1]]))

    assert (again.status_code, again.json()["data"]["version"]) == (200, 1)
    assert stored(supplier) == ([("a", 1, 1)], 1, ["price_list.created"])


def test_merge_changes_only_what_it_names(api: Api, supplier: Tenant) -> None:
    one, two, three = (create(api, supplier_sku=f"SKU-{number}-{uuid4()}") for number in (1, 2, 3))
    put(api, "a", entry(one), entry(two))
    by_sku = {"supplier_sku": three["supplier_sku"], "tiers": TIERS}

    merged = put(api, "a", by_sku, {"product_id": one["id"], "remove": True}, entries_mode="merge")

    items = merged.json()["data"]["entries"]["items"]
    assert [item["product_id"] for item in items] == [two["id"], three["id"]]
    assert stored(supplier)[:2] == ([("a", 2, 2)], 2)
    switched = put(api, "a", {"product_id": one["id"], "remove": True}, entries_mode="merge", status="active")
    assert (switched.json()["data"]["entry_count"], switched.json()["data"]["status"]) == (2, "active")
    header = api.put(f"{PATH}/a", json={"name": "N", "currency": "EUR", "entries_mode": "merge"})
    assert (header.status_code, header.json()["data"]["entry_count"]) == (200, 2)
    replaced = put(api, "a", entry(one))
    assert [item["product_id"] for item in replaced.json()["data"]["entries"]["items"]] == [one["id"]]
    assert stored(supplier)[:2] == ([("a", 5, 1)], 1)


def test_entries_are_paged_and_the_list_is_filtered(api: Api) -> None:
    products = sorted((create(api) for _ in range(3)), key=lambda one: str(one["packagings"][0]["id"]))
    put(api, "a", *map(entry, products), status="active")
    put(api, "b", currency="JPY")

    page = api.get(f"{PATH}/a?page=2&limit=2").json()["data"]["entries"]
    assert ([one["product_id"] for one in page["items"]], page["total"]) == ([products[2]["id"]], 3)
    assert (page["page"], page["limit"]) == (2, 2)
    past = api.get(f"{PATH}/a?page=9").json()["data"]["entries"]
    assert (past["items"], past["total"]) == ([], 3)
    assert "entries" not in api.get(f"{PATH}/a?fields=code").json()["data"]
    for query, codes in {"": ["a", "b"], "status=active": ["a"], "currency=JPY": ["b"], "scope=groups": []}.items():
        found = api.get(f"{PATH}?sort=code&{query}").json()["data"]
        assert ([one["code"] for one in found["items"]], found["total"]) == (codes, len(codes))
        assert all("entries" not in one for one in found["items"])
    assert api.get(f"{PATH}/a?page=0").json()["code"] == "invalid_page"
    assert api.get(f"{PATH}/a?pages=1").json()["code"] == "unknown_parameter"


@pytest.mark.parametrize(
    ("changes", "field", "code"),
    [
        ({"currency": "XXX"}, "currency", "invalid_choice"),
        ({"name": ""}, "name", "blank"),
        ({"status": "on"}, "status", "invalid_choice"),
        ({"priority": 1001}, "priority", "max_value"),
        ({"valid_from": "2026-03-01", "valid_to": "2026-03-01"}, "valid_to", "min_value"),
        ({"assignment": {"scope": "tenants"}}, "assignment.ids", "required"),
        ({"assignment": {"scope": "public", "codes": ["a"]}}, "assignment.codes", "invalid"),
        ({"assignment": {"scope": "groups", "codes": ["none"]}}, "assignment.codes.0", "unknown_group"),
        ({"assignment": {"scope": "tenants", "ids": [str(uuid4())]}}, "assignment.ids.0", "unknown_tenant"),
        ({"assignment": {"scope": "organizations", "ids": [str(uuid4())]}}, "assignment.ids.0", "unknown_organization"),
        ({"entries": None}, "entries", "required"),
        ({"entries": [{"tiers": TIERS}]}, "entries.0.product_id", "required"),
        ({"entries": [{"product_id": str(uuid4()), "tiers": TIERS}]}, "entries.0", "unknown_product"),
        ({"entries": [{"supplier_sku": "none", "tiers": TIERS}]}, "entries.0", "unknown_product"),
        ({"entry": 1}, "entry", "unknown_field"),
    ],
)
def test_put_refuses_with_the_path_and_changes_nothing(
    api: Api, supplier: Tenant, product: dict[str, Any], changes: dict[str, Any], field: str, code: str
) -> None:
    put(api, "a", entry(product))

    known, new = put(api, "a", entry(product), **changes), put(api, "b", **changes)

    assert field_errors(known) == field_errors(new) == {(field, code)}
    assert stored(supplier) == ([("a", 1, 1)], 1, ["price_list.created"])


@pytest.mark.parametrize(
    ("changes", "field", "code"),
    [
        ({"tiers": []}, "tiers", "required"),
        ({"tiers": [{"min_quantity": 1, "unit_price": "1.1234567"}]}, "tiers.0.unit_price", "max_decimal_places"),
        ({"tiers": [{"min_quantity": 1, "unit_price": "-1"}]}, "tiers.0.unit_price", "min_value"),
        ({"tiers": [TIERS[1], TIERS[0]]}, "tiers", "invalid"),
        ({"price_base_quantity": 0}, "price_base_quantity", "min_value"),
        ({"packaging_id": str(uuid4())}, "packaging_id", "unknown_packaging"),
        ({"supplier_sku": "both"}, "product_id", "required"),
        ({"tiers": [], "remove": True}, "remove", "invalid"),
        ({}, "", "duplicate"),
    ],
)
def test_put_names_the_entry_that_it_refuses(
    api: Api, supplier: Tenant, product: dict[str, Any], changes: dict[str, Any], field: str, code: str
) -> None:
    put(api, "a", entry(product))

    answer = put(api, "a", entry(product), entry(product, **changes))

    assert field_errors(answer) == {(f"entries.1.{field}".rstrip("."), code)}
    assert stored(supplier) == ([("a", 1, 1)], 1, ["price_list.created"])


def test_a_product_of_several_packagings_needs_one_named(api: Api, supplier: Tenant) -> None:
    product = create(api, packagings=[packaging(), packaging(level="case", units_per_pack=10)])

    assert field_errors(put(api, "a", entry(product))) == {("entries.0.packaging_id", "required")}
    named = [entry(product, packaging_id=one["id"]) for one in product["packagings"]]
    assert put(api, "a", *named).status_code == 201
    assert stored(supplier)[1] == 2


def test_an_entry_of_an_archived_product_can_be_taken_out(api: Api, supplier: Tenant, product: dict[str, Any]) -> None:
    put(api, "a", entry(product))
    assert api.delete(f"/v1/products/{product['id']}").status_code == 204

    assert field_errors(put(api, "a", entry(product))) == {("entries.0", "unknown_product")}
    named = {"product_id": product["id"], "packaging_id": product["packagings"][0]["id"], "remove": True}
    assert put(api, "a", named, entries_mode="merge").status_code == 200
    assert stored(supplier)[:2] == ([("a", 2, 0)], 0)


def test_preconditions_of_a_put_under_a_code(api: Api, supplier: Tenant, product: dict[str, Any]) -> None:
    absent = put(api, "a", headers={"If-Match": '"1"'})
    assert (absent.status_code, absent.json()["code"], absent.json()["current_version"]) == (
        409,
        "version_conflict",
        None,
    )
    assert put(api, "a", entry(product), headers={"If-None-Match": "*"}).status_code == 201
    taken = put(api, "a", headers={"If-None-Match": "*"})
    assert (taken.status_code, taken.json()["code"]) == (409, "duplicate")
    stale = put(api, "a", headers={"If-Match": '"9"'})
    assert (stale.status_code, stale.json()["code"], stale.json()["current_version"]) == (409, "version_conflict", 1)
    assert stored(supplier) == ([("a", 1, 1)], 1, ["price_list.created"])
    tag = api.get(f"{PATH}/a").headers["ETag"]
    assert api.get(f"{PATH}/a", headers={"If-None-Match": tag}).status_code == 304
    assert put(api, "a", headers={"If-Match": tag}).status_code == 200


@pytest.mark.parametrize("code", ["a b", "ä", "x" * 65, "a:b", "%0A"])
def test_a_code_has_its_form(api: Api, supplier: Tenant, code: str) -> None:
    assert field_errors(put(api, code)) == {("code", "invalid")}
    assert api.get(f"{PATH}/{code}").status_code == 404
    assert stored(supplier) == ([], 0, [])


def test_archived_ends_a_list_and_a_currency_stays_with_its_entries(
    api: Api, supplier: Tenant, product: dict[str, Any]
) -> None:
    put(api, "a", entry(product))
    locked = put(api, "a", entries_mode="merge", currency="USD")
    assert (locked.status_code, locked.json()["code"], locked.json()["fields"]) == (409, "field_locked", ["currency"])
    assert put(api, "a", entry(product), currency="USD").json()["data"]["currency"] == "USD"
    assert put(api, "a", entry(product), currency="USD", status="archived").status_code == 200
    ended = put(api, "a", entry(product), currency="USD", status="active")
    assert (ended.status_code, ended.json()["code"]) == (409, "invalid_transition")
    assert stored(supplier)[0] == [("a", 3, 1)]


def test_each_scope_has_its_audience(api: Api, supplier: Tenant) -> None:
    buyer = provision("provider")
    group = {"code": "g", "name": "G", "buyer_ids": [str(buyer.id)]}
    answer = api.patch("/v1/suppliers/me", json={"buyer_groups": [group]})
    assert answer.status_code == 200, answer.content
    assignments = [
        {"scope": "tenants", "ids": [str(buyer.id)], "codes": []},
        {"scope": "organizations", "ids": [str(buyer.organization_id)], "codes": []},
        {"scope": "groups", "ids": [], "codes": ["g"]},
    ]
    for number, assignment in enumerate(assignments):
        made = put(api, f"a{number}", assignment=assignment)
        assert made.status_code == 201, made.content
        assert made.json()["data"]["assignment"] == assignment
        with tenant_context(supplier.id):
            row = PriceList.objects.get(tenant_id=supplier.id, code=f"a{number}")
            members = AudienceMember.objects.filter(tenant_id=supplier.id, audience_id=row.audience_id)
            assert buyer.id in members.values_list("member_tenant_id", flat=True)


def test_lists_of_others_do_not_exist(api: Api, supplier: Tenant, product: dict[str, Any]) -> None:
    put(api, "a", entry(product))
    stranger = provision("supplier")
    foreign = Api(key=api_key(stranger), tenant=stranger)

    assert foreign.get(f"{PATH}/a").status_code == 404
    assert foreign.get(PATH).json()["data"]["total"] == 0
    assert field_errors(put(foreign, "b", entry(product))) == {("entries.0", "unknown_product")}
    sku = {"supplier_sku": product["supplier_sku"], "tiers": TIERS}
    assert field_errors(put(foreign, "b", sku)) == {("entries.0", "unknown_product")}
    own = create(foreign)
    mixed = entry(own, packaging_id=product["packagings"][0]["id"])
    assert field_errors(put(foreign, "b", mixed)) == {("entries.0.packaging_id", "unknown_packaging")}
    assert put(foreign, "a", entry(own)).status_code == 201
    assert stored(supplier) == ([("a", 1, 1)], 1, ["price_list.created"])


def test_rights(api: Api, supplier: Tenant) -> None:
    reader = Api(key=api_key(supplier, scopes=["pricing:read"]), tenant=supplier)
    other = Api(key=api_key(supplier, scopes=["catalog:read", "catalog:write"]), tenant=supplier)

    assert reader.get(PATH).status_code == 200
    assert put(reader, "a").json()["code"] == "insufficient_scope"
    assert other.get(PATH).json()["code"] == "insufficient_scope"
    hospital = provision("provider")
    assert Api(key=api_key(hospital), tenant=hospital).get(PATH).json()["code"] in (
        "not_a_supplier",
        "insufficient_scope",
    )
    assert stored(supplier) == ([], 0, [])


def test_of_first_puts_at_once_one_creates(api: Api, supplier: Tenant, product: dict[str, Any]) -> None:
    text = api_key(supplier)

    def work(number: int) -> int:
        mine = Api(key=text, tenant=supplier)
        amount = [{"min_quantity": 1, "unit_price": str(number)}]
        return int(put(mine, "a", entry(product, tiers=amount), name=f"N{number}").status_code)

    answers = races.race(*[lambda number=number: work(number) for number in range(1, 7)])

    assert answers.count(201) == 1
    assert set(answers) <= {200, 201, 409}
    lists, entries, facts = stored(supplier)
    assert (len(lists), lists[0][1], entries) == (1, len(facts), 1)
    assert facts.count("price_list.created") == 1
    with tenant_context(supplier.id):
        row = PriceList.objects.get(tenant_id=supplier.id)
        kept = PriceListEntry.objects.get(tenant_id=supplier.id)
        assert row.name == f"N{int(float(kept.tiers[0]['unit_price']))}"


def test_the_same_key_repeats_the_answer(api: Api, supplier: Tenant, product: dict[str, Any]) -> None:
    headers = {"Idempotency-Key": str(uuid4())}
    first, second = (put(api, "a", entry(product), headers=headers) for _ in range(2))

    assert (first.status_code, second.status_code) == (201, 201)
    assert second.headers["Idempotency-Replayed"] == "true"
    assert stored(supplier)[2] == ["price_list.created"]
    with tenant_context(supplier.id):
        assert UUID(first.json()["data"]["id"]) == PriceList.objects.get(tenant_id=supplier.id).id


def test_many_entries_take_as_many_statements_as_one(api: Api, supplier: Tenant) -> None:
    products = [create(api) for _ in range(12)]
    put(api, "warm", entry(products[0]))
    with recording() as few:
        assert put(api, "a", entry(products[0])).status_code == 201
    with recording() as many:
        assert put(api, "b", *map(entry, products)).status_code == 201

    assert len(many) == len(few)
    assert stored(supplier)[1] == 14
    refused = api.put(f"{PATH}/c", json=body(*[entry(products[0])] * 10_001))
    assert field_errors(refused) == {("entries", "max_length")}


def test_a_wrong_count_is_proved(api: Api, supplier: Tenant, product: dict[str, Any]) -> None:
    put(api, "a", entry(product))
    assert not [one for one in breaches(supplier.id) if one.table == "suppliers_pricelist"]
    with tenant_context(supplier.id):
        PriceListEntry.objects.filter(tenant_id=supplier.id).delete()

    (found,) = [one for one in breaches(supplier.id) if one.table == "suppliers_pricelist"]

    assert (found.rule, found.what) == ("price_lists", "entry_count is 1")
