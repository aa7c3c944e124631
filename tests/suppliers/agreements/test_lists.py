"""Lists of agreements, pages of their lines, and what the parties' webhooks are told."""

import json
from typing import Any

import pytest

from bench.statements import recording
from core.db import tenant_context
from suppliers.catalog.models import Category, PlatformCategory
from tests.factories import as_member, provision
from tests.suppliers.agreements.world import BUYING, PATH, World, more_products
from tests.suppliers.products import field_errors
from webhooks.models import Event as Message

PERCENT = [{"min_quantity": 1, "discount_percent": "12.5"}]


def titles(api: Any, query: str) -> list[str]:
    """Return the titles of a list."""
    answer = api.get(f"{PATH}?{query}")
    assert answer.status_code == 200, answer.content
    return [one["title"] for one in answer.json()["data"]]


def test_filters_of_the_list_from_both_sides(world: World) -> None:
    category = {"category": "consumables", "tiers": PERCENT}
    world.active(title="Old", valid_from="2024-01-01", valid_to="2025-01-01")
    world.proposed("buyer", title="New", valid_from="2025-01-01", valid_to="2026-01-01", lines=[category])
    for by in ("buyer", "supplier"):
        world.drafted(by, title=f"Draft of {by}", valid_from="2027-01-01", valid_to="2028-01-01")
    rival = provision("provider", name="Sankt Älban Klinik")
    elsewhere = World(world.supplier, rival, world.seller, as_member(rival, BUYING), world.product)
    elsewhere.active(title="Elsewhere", valid_from="2031-01-01", valid_to="2032-01-01")

    for by, more in (("buyer", []), ("supplier", ["Elsewhere"])):
        api, draft = world.api(by), f"Draft of {by}"
        everything = ["Old", "New", draft, *more]
        cases = {
            "": everything,
            "status=active": ["Old", *more],
            "status=draft,proposed": ["New", draft],
            f"supplier_id={world.supplier.id}": everything,
            f"buyer_id={world.hospital.id}": ["Old", "New", draft],
            f"buyer_id={rival.id}": more,
            "category=consumables": ["New"],
            "category=none": [],
            "from=2025-01-01": ["New", draft, *more],
            "from=2024-12-31": everything,
            "to=2025-01-01": ["Old"],
            "to=2025-01-02": ["Old", "New"],
            "from=2025-01-01&to=2027-01-01": ["New"],
            "from=2024-12-31T23:00:00Z&to=2025-01-01T00:00:00%2B00:00": ["Old"],
            "search=pa-000001": ["Old", *more],
            f"search={world.supplier.name}": everything if by == "buyer" else [],
            "search=alban%20san": more,
            "search=lban": [],
            "updated_since=2100-01-01T00:00:00Z": [],
        }
        for query, wanted in cases.items():
            assert titles(api, f"sort=created_at&{query}") == wanted, (by, query)
        assert sorted(titles(api, "sort=-agreement_number")) == sorted(everything)
        assert all("lines" not in one for one in api.get(PATH).json()["data"])


@pytest.mark.parametrize(
    ("query", "field", "code"),
    [
        ("from=2026-02-30", "from", "invalid"),
        ("to=2026-01-01T00:00:00", "to", "invalid"),
        ("from=2026-02-01&to=2026-01-01", "to", "min_value"),
        ("status=open", "status", "invalid_choice"),
        ("supplier_id=x", "supplier_id", "invalid"),
    ],
)
def test_list_refuses_what_is_no_filter(world: World, query: str, field: str, code: str) -> None:
    assert field_errors(world.buyer.get(f"{PATH}?{query}")) == {(field, code)}


def test_superseded_versions_are_listed_where_asked_for(world: World) -> None:
    key = world.active(title="One")
    assert world.buyer.patch(f"{PATH}/{key}", json={"title": "Two"}).status_code == 200
    assert (titles(world.buyer, "sort=created_at"), titles(world.seller, "")) == (["One", "Two"], ["One"])
    assert world.act("buyer", key, "propose").status_code == 200
    assert world.act("supplier", key, "accept").status_code == 200
    for api in (world.buyer, world.seller):
        assert (titles(api, ""), titles(api, "status=superseded")) == (["Two"], ["One"])
        assert {one["id"] for one in api.get(PATH).json()["data"]} == {key}


def test_list_is_paged_by_cursors(world: World) -> None:
    for number in range(3):
        world.drafted(title=str(number))
    first = world.seller.get(f"{PATH}?sort=created_at&limit=2").json()
    assert ([one["title"] for one in first["data"]], first["has_more"]) == (["0", "1"], True)
    rest = world.seller.get(f"{PATH}?sort=created_at&limit=2&cursor={first['next_cursor']}").json()
    assert ([one["title"] for one in rest["data"]], rest["has_more"]) == (["2"], False)
    other = world.seller.get(f"{PATH}?sort=created_at&status=draft&cursor={first['next_cursor']}")
    assert other.json()["code"] == "invalid_cursor"


def test_lines_are_paged(world: World) -> None:
    products = more_products(world.seller, 3)
    lines = [world.line(product_id=one["id"], packaging_id=one["packagings"][0]["id"]) for one in products]
    key = world.active(lines=lines)
    world.drafted(title="Draft", lines=lines)
    draft = next(one["id"] for one in world.seller.get(f"{PATH}?status=draft").json()["data"])
    for api, named in ((world.buyer, key), (world.seller, key), (world.seller, draft)):
        page = api.get(f"{PATH}/{named}?page=2&limit=2").json()["data"]
        assert [(one["line_no"], one["product_id"]) for one in page["lines"]] == [(3, products[2]["id"])]
        assert (page["lines_total"], page["lines_next"]) == (3, None)
        first = api.get(f"{PATH}/{named}?limit=2").json()["data"]
        assert len(first["lines"]) == 2
        following = api.get(first["lines_next"]).json()["data"]
        assert following["lines"] == page["lines"]
        assert api.get(f"{PATH}/{named}?page=0").json()["code"] == "invalid_page"
        assert api.get(f"{PATH}/{named}?fields=title").json()["data"].keys() == {"id", "title"}
    for query in ("revision=0", "revision=x", "revision=99999999999"):
        assert field_errors(world.buyer.get(f"{PATH}/{key}?{query}")) == {("revision", "invalid")}
    assert world.buyer.get(f"{PATH}/{key}?revision=2").status_code == 404
    assert world.buyer.get(f"{PATH}/{key}?revision=draft").status_code == 404


def test_lines_are_merged_by_what_they_name(world: World) -> None:
    one, two, three = more_products(world.seller, 3)

    def line(product: dict[str, Any], **changes: Any) -> dict[str, Any]:
        return world.line(product_id=product["id"], packaging_id=product["packagings"][0]["id"], **changes)

    key = world.drafted(lines=[line(one), line(two)])
    out = {name: line(one)[name] for name in ("product_id", "packaging_id")} | {"remove": True}
    body = {"lines_mode": "merge", "lines": [out, line(two, max_quantity=500), line(three)]}
    merged = world.seller.patch(f"{PATH}/{key}", json=body)
    assert merged.status_code == 200, merged.content
    found = merged.json()["data"]
    assert [(each["product_id"], each["max_quantity"]) for each in found["lines"]] == [
        (two["id"], 500), (three["id"], None),
    ]  # fmt: skip
    assert (found["lines_total"], found["version"]) == (2, 2)
    gone = [{**out, "product_id": each["id"], "packaging_id": each["packagings"][0]["id"]} for each in (two, three)]
    empty = world.seller.patch(f"{PATH}/{key}", json={"lines_mode": "merge", "lines": gone})
    assert field_errors(empty) == {("lines", "required")}
    misplaced = world.seller.patch(f"{PATH}/{key}", json={"lines": [out]})
    assert field_errors(misplaced) == {("lines.0.remove", "invalid")}
    assert world.seller.get(f"{PATH}/{key}").json()["data"]["version"] == 2


def test_thousands_of_lines_take_as_many_statements_as_one(world: World) -> None:
    codes = [f"c{number}" for number in range(10_000)]
    with tenant_context(world.supplier.id):
        above = PlatformCategory.objects.get(code="consumables")
        own = [Category(tenant_id=world.supplier.id, parent_id=above.id, code=code, name=code) for code in codes]
        Category.objects.bulk_create(own, batch_size=2_000)
    lines = [{"category": code, "tiers": PERCENT} for code in codes]
    world.active(lines=lines[-1:])  # what a process reads once, and keeps, is read by now
    sent = []
    for wanted in (lines[:1], lines[1:1_500]):
        with recording() as statements:
            key = world.active(lines=wanted)
        sent.append(statements.texts())
        for api in (world.buyer, world.seller):
            data = api.get(f"{PATH}/{key}?page=15").json()["data"]
            assert data["lines_total"] == len(wanted)
            assert len(data["lines"]) == (99 if len(wanted) > 1 else 0)
    assert len(sent[0]) == len(sent[1]), sent
    draft = world.drafted(lines=lines)
    more = [{"product_id": world.product["id"], "tiers": PERCENT}]
    answer = world.seller.patch(f"{PATH}/{draft}", json={"lines_mode": "merge", "lines": more})
    assert field_errors(answer) == {("lines", "max_length")}
    page = world.seller.get(f"{PATH}/{draft}?page=100").json()["data"]
    assert (page["lines_total"], page["lines"][-1]["category"], page["lines_next"]) == (10_000, "c9999", None)


def test_webhooks_tell_each_party_and_nothing_secret(world: World) -> None:
    hooks = {"supplier": as_member(world.supplier), "buyer": as_member(world.hospital)}
    for api in hooks.values():
        made = api.post(
            "/v1/webhooks", json={"url": "https://receiver.example.com/hook", "events": ["price_agreement.*"]}
        )
        assert made.status_code == 201, made.content
    key = world.active("buyer", title="Secret title")
    sent = {}
    for tenant in (world.supplier, world.hospital):
        with tenant_context(tenant.id):
            rows = Message.objects.filter(tenant_id=tenant.id).order_by("id")
            sent[tenant.id] = [json.loads(bytes(one.body)) for one in rows if b"price_agreement." in bytes(one.body)]
    told = {tenant: [one["type"].split(".")[1] for one in found] for tenant, found in sent.items()}
    assert told == {
        world.supplier.id: ["proposed", "activated"],
        world.hospital.id: ["created", "proposed", "activated"],
    }
    for found in sent.values():
        last = found[-1]["data"]
        assert last["resource"]["id"] == key if "resource" in last else True
        text = json.dumps(found)
        assert "Secret title" not in text
        assert "4.10" not in text
        assert "PA-000001" in text
    theirs = json.dumps(sent[world.supplier.id])
    assert str(world.hospital.id) in theirs
    timeline = world.seller.get(f"{PATH}/{key}").json()["data"]["timeline"]
    assert [(one["by"], one["action"], one["actor_id"] is None) for one in timeline] == [
        ("supplier", "activated", False), ("buyer", "proposed", True),
    ]  # fmt: skip


def test_trips_do_not_grow_with_the_terms(world: World) -> None:
    found = []
    for more in ({}, {"scope": "organization", "valid_from": "2040-01-01", "valid_to": "2041-01-01"}):
        key = world.proposed(**more)
        with recording() as statements:
            assert world.act("buyer", key, "accept").status_code == 200
        found.append(len(statements))
    assert world.buyer.patch(f"{PATH}/{key}", json={"title": "Next"}).status_code == 200
    assert world.act("buyer", key, "propose").status_code == 200
    with recording() as statements:
        assert world.act("supplier", key, "accept").status_code == 200
    assert [*found, len(statements)] == [6, 7, 7]  # with COMMIT


def test_timeline_tells_states_and_reasons(world: World) -> None:
    administrator = as_member(world.hospital)
    hook = {"url": "https://receiver.example.com/hook", "events": ["*"]}
    assert administrator.post("/v1/webhooks", json=hook).status_code == 201
    key = world.proposed()
    assert world.act("buyer", key, "decline", json={"reason": "Too dear."}).status_code == 200
    told = [
        (one["action"], one["from"], one["to"], one["reason"], one["by"])
        for one in world.seller.get(f"{PATH}/{key}").json()["data"]["timeline"]
    ]
    assert told == [
        ("declined", "proposed", "declined", "Too dear.", "buyer"),
        ("proposed", "draft", "proposed", None, "supplier"),
        ("created", None, "draft", None, "supplier"),
    ]
    data = world.buyer.get(f"{PATH}/{key}").json()["data"]
    assert (data["reason"], data["timeline_total"], data["status"]) == ("Too dear.", 2, "declined")
    with tenant_context(world.hospital.id):
        rows = Message.objects.filter(tenant_id=world.hospital.id)
        sent = [bytes(one.body) for one in rows if b"price_agreement.declined" in bytes(one.body)]
    assert [(key.encode() in one, b"Too dear." in one) for one in sent] == [(True, False)]
