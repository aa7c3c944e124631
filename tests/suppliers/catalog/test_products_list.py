"""GET /v1/products: envelope, filters, sorts, selections, totals, and what they cost."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core import pipeline
from core.db import tenant_context
from organizations.models import Tenant
from suppliers.catalog.models import Product
from suppliers.pricing.models import ListPrice, ListPriceTier
from tests.factories import Api, api_key, suffix
from tests.suppliers.products import create, gtin, listed, packaging, stock


def test_list_answers_the_page_envelope(api: Api) -> None:
    made = [create(api, supplier_sku=f"P-{number}") for number in range(3)]

    answer = api.get("/v1/products?limit=2&page=1")

    assert answer.json() == {
        "success": True,
        "data": {"items": [made[2], made[1]], "page": 1, "limit": 2, "total": 3},
    }
    assert 'rel="next"' in answer.headers["Link"]
    assert listed(api, "limit=2&page=2") == (["P-0"], 3)
    assert listed(api, "limit=2&page=9") == ([], 3)


def test_list_coerces_a_large_limit_and_refuses_a_small_one(api: Api) -> None:
    assert api.get("/v1/products?limit=500").json()["data"]["limit"] == 100
    for query in ("limit=0", "page=0", "limit=-1", "page=x"):
        answer = api.get(f"/v1/products?{query}")
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid_page")


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("categroy=gloves", "unknown_parameter"),
        ("status=gone", "validation_error"),
        ("availability=maybe", "validation_error"),
        ("updated_since=yesterday", "validation_error"),
        ("search=---", "validation_error"),
        ("sort=price", "unknown_sort"),
        ("include=offers", "unknown_include"),
        ("fields=id,price", "unknown_field"),
        ("status=active&status=draft", "duplicate_parameter"),
    ],
)
def test_list_refuses_what_it_does_not_know(api: Api, query: str, code: str) -> None:
    answer = api.get(f"/v1/products?{query}")

    assert (answer.status_code, answer.json()["code"]) == (400, code)


def test_list_by_category_holds_its_descendants(api: Api) -> None:
    create(api, supplier_sku="GLOVE", category="gloves")
    create(api, supplier_sku="DRESSING", category="dressings")
    create(api, supplier_sku="WOUND", category="wound-care")
    create(api, supplier_sku="PEN", category="antidiabetics")

    assert listed(api, "category=wound-care&sort=supplier_sku") == (["DRESSING", "WOUND"], 2)
    assert listed(api, "category=consumables&sort=supplier_sku") == (["DRESSING", "GLOVE", "WOUND"], 3)
    assert listed(api, "category=antidiabetics") == (["PEN"], 1)
    assert listed(api, "category=no-such") == ([], 0)


def test_list_by_status_and_availability(api: Api, supplier: Tenant) -> None:
    create(api, supplier_sku="DRAFT")
    active = create(api, supplier_sku="ACTIVE", status="active")
    gone = create(api, supplier_sku="GONE")
    api.delete(f"/v1/products/{gone['id']}")
    with tenant_context(supplier.id):
        Product._base_manager.filter(pk=active["id"]).update(availability="limited")

    assert listed(api, "sort=supplier_sku") == (["ACTIVE", "DRAFT"], 2)
    assert listed(api, "status=active") == (["ACTIVE"], 1)
    assert listed(api, "status=archived") == (["GONE"], 1)
    assert listed(api, "status=draft,archived&sort=supplier_sku") == (["DRAFT", "GONE"], 2)
    assert listed(api, "availability=limited") == (["ACTIVE"], 1)
    assert listed(api, "availability=limited,available,backorder") == (["ACTIVE"], 1)
    assert listed(api, "availability=limited&status=draft") == ([], 0)


def test_list_by_updated_since(api: Api) -> None:
    create(api, supplier_sku="OLD")
    time.sleep(0.005)
    new = create(api, supplier_sku="NEW")

    assert listed(api, f"updated_since={new['updated_at']}") == (["NEW"], 1)
    assert listed(api, "updated_since=2020-01-01T00:00:00Z")[1] == 2
    assert listed(api, "updated_since=2999-01-01T00:00:00Z") == ([], 0)


def test_search_finds_beginnings_of_all_words(api: Api) -> None:
    number = gtin()
    create(
        api,
        supplier_sku="GLV-001",
        name="Nitril-Handschuhe, größe M",
        brand="Säfe",
        packagings=[packaging(gtin=number)],
    )
    other = create(api, supplier_sku="GLV-002", name="Latex gloves")

    for question in (
        "nitril",
        "HANDSCH",
        "gro%C3%9Fe",
        "safe",
        "glv-001",
        "glv+nit",
        number,
        number.zfill(14),
        number[:9],
    ):
        assert listed(api, f"search={question}") == (["GLV-001"], 1), question
    assert listed(api, "search=glv&sort=supplier_sku") == (["GLV-001", "GLV-002"], 2)
    assert listed(api, "search=glv+cotton") == ([], 0)
    assert listed(api, "search=glv+m") == (["GLV-001"], 1)
    assert listed(api, "search=g") == ([], 0)
    assert listed(api, "search=andschuhe") == ([], 0)
    api.put(f"/v1/products/{other['id']}", json={**_writable(other), "name": "Vinyl gloves"})
    assert listed(api, "search=latex") == ([], 0)
    assert listed(api, "search=vinyl") == (["GLV-002"], 1)


def _writable(product: dict[str, object]) -> dict[str, object]:
    return {name: product[name] for name in ("supplier_sku", "category", "kind", "base_unit", "packagings")}


def test_list_sorts_in_both_directions(api: Api) -> None:
    for sku, name in (("B", "beta"), ("A", "Gamma"), ("C", "ALPHA")):
        create(api, supplier_sku=sku, name=name)
        time.sleep(0.002)

    assert listed(api, "sort=supplier_sku")[0] == ["A", "B", "C"]
    assert listed(api, "sort=-supplier_sku")[0] == ["C", "B", "A"]
    assert listed(api, "sort=name")[0] == ["C", "B", "A"]
    assert listed(api, "sort=-name")[0] == ["A", "B", "C"]
    assert listed(api, "sort=created_at")[0] == ["B", "A", "C"]
    assert listed(api, "sort=-updated_at")[0] == ["C", "A", "B"]
    assert listed(api)[0] == ["C", "A", "B"]


def test_fields_selects_and_always_answers_the_id(api: Api) -> None:
    product = create(api)

    answer = api.get("/v1/products?fields=name,%20supplier_sku").json()["data"]["items"]
    single = api.get(f"/v1/products/{product['id']}?fields=status")

    assert answer == [{name: product[name] for name in ("id", "supplier_sku", "name")}]
    assert single.json()["data"] == {"id": product["id"], "status": "draft"}
    assert single.headers["ETag"].startswith('"1;')


def test_include_answers_prices_and_stock(api: Api, supplier: Tenant) -> None:
    plain = create(api)
    product = create(api, packagings=[packaging(), packaging(level="case", units_per_pack=10)])
    stock(supplier, product["id"], on_hand=100, reserved=30)
    stock(supplier, product["id"], on_hand=5)
    case, today = product["packagings"][1]["id"], date.today()
    with tenant_context(supplier.id):
        for first, last in ((today - timedelta(9), today), (today, None)):
            price = ListPrice.objects.create(
                tenant_id=supplier.id, product_id=UUID(product["id"]), packaging_id=UUID(case), currency="EUR",
                valid_from=first, valid_to=last,
            )  # fmt: skip
            for quantity, amount in ((1, "12.5"), (100, "11.123456")):
                ListPriceTier.objects.create(
                    tenant_id=supplier.id, price=price, min_quantity=quantity, unit_price=amount
                )

    items = api.get("/v1/products?include=prices,stock&fields=name").json()["data"]["items"]

    assert [item["id"] for item in items] == [product["id"], plain["id"]]
    assert items[0]["stock"] == {"on_hand": 105, "reserved": 30, "sellable": 75}
    assert items[0]["prices"] == [
        {
            "packaging_id": case,
            "currency": "EUR",
            "tiers": [{"min_quantity": 1, "unit_price": "12.50"}, {"min_quantity": 100, "unit_price": "11.123456"}],
            "price_base_quantity": 1,
            "valid_from": today.isoformat(),
            "valid_to": None,
            "tax_included": False,
        }
    ]
    assert (items[1]["prices"], items[1]["stock"]) == ([], {"on_hand": 0, "reserved": 0, "sellable": 0})
    assert "prices" not in api.get(f"/v1/products/{product['id']}").json()["data"]
    assert api.get(f"/v1/products/{product['id']}?include=stock").json()["data"]["stock"]["sellable"] == 75


@pytest.mark.parametrize("sort", ["supplier_sku", "-name", "created_at", "-name,supplier_sku"])
def test_a_search_is_paged_as_the_list_is(api: Api, sort: str) -> None:
    word = f"w{suffix()}"
    for number in range(5):
        create(api, supplier_sku=f"P-{number}", name=f"Gauze {word} {number // 2}", brand=word)
    create(api, name="Other")
    every, total = listed(api, f"search={word}&sort={sort}")

    pages = [listed(api, f"search={word}&sort={sort}&page={page}&limit=2") for page in (1, 2, 3, 4)]

    assert (len(set(every)), total) == (5, 5)
    assert [sku for page, _ in pages for sku in page] == every
    assert [(len(page), count) for page, count in pages] == [(2, 5), (2, 5), (1, 5), (0, 5)]
    assert listed(api, f"search={word}&status=archived") == ([], 0)


def test_a_known_version_is_not_sent_again(api: Api) -> None:
    product = create(api)
    path = f"/v1/products/{product['id']}"

    answer = api.get(path, headers={"If-None-Match": '"1"'})

    assert (answer.status_code, answer.content, answer.headers["ETag"]) == (304, b"", '"1"')
    assert api.get(f"{path}?include=stock", headers={"If-None-Match": '"1"'}).status_code == 200


def test_total_stays_exact_while_products_come_and_go(supplier: Tenant, api: Api) -> None:
    text = api_key(supplier)
    doomed = [create(api, supplier_sku=f"D-{number}")["id"] for number in range(6)]

    def work(number: int) -> None:
        try:
            client = Api(key=text, tenant=supplier)
            for step in range(4):
                assert client.post("/v1/products", json=_new(number, step)).status_code == 201
            assert client.delete(f"/v1/products/{doomed[number]}").status_code == 204
            assert 5 <= client.get("/v1/products").json()["data"]["total"] <= 30
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))

    assert listed(api)[1] == 24
    assert listed(api, "status=active")[1] == 12
    with tenant_context(supplier.id), connection.cursor() as cursor:
        cursor.execute("SELECT draft, active, discontinued, archived FROM suppliers_productcounter")
        counted = cursor.fetchall()
        cursor.execute(
            "SELECT count(*) FILTER (WHERE status = 'draft'), count(*) FILTER (WHERE status = 'active'),"
            " count(*) FILTER (WHERE status = 'discontinued'), count(*) FILTER (WHERE status = 'archived') FROM suppliers_product"
        )
        assert counted == cursor.fetchall() == [(12, 12, 0, 6)]


def _new(number: int, step: int) -> dict[str, object]:
    status = "active" if step % 2 else "draft"
    return {
        "supplier_sku": f"N-{number}-{step}", "name": "New", "category": "gloves", "kind": "consumable", "base_unit": "EA",
        "status": status, "packagings": [packaging()],
    }  # fmt: skip


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the SQL that goes to PostgreSQL through pipelines; the ORM's is captured by Django."""
    found: list[str] = []
    original = pipeline._exchange

    def spy(connected: object, calls: list[pipeline.Call]) -> list[pipeline.Rows]:
        found.extend(call.statement.sql.decode() for call in calls)
        return original(connected, calls)  # type: ignore[arg-type]

    monkeypatch.setattr(pipeline, "_exchange", spy)
    return found


@pytest.mark.parametrize(
    "path", ["/v1/products", "/v1/products?include=prices,stock&search=gloves&category=consumables"]
)
def test_list_costs_the_same_at_one_and_at_three_rows(api: Api, sent: list[str], path: str) -> None:
    costs = []
    for more in (1, 2):
        for _ in range(more):
            create(api)
        sent.clear()
        with CaptureQueriesContext(connection) as queries:
            assert api.get(path).status_code == 200
        costs.append((len(queries), len(sent)))

    assert costs == [(0, 2)] * 2  # the membership's proof, the page with its total: one round trip


def test_get_is_one_round_trip_of_two_statements(api: Api, sent: list[str]) -> None:
    product = create(api)
    sent.clear()

    with CaptureQueriesContext(connection) as queries:
        api.get(f"/v1/products/{product['id']}")

    assert (len(queries), len(sent)) == (0, 2)
