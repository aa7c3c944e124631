"""GET and PUT /v1/products/{id}/prices: what is kept, what is refused, what is recorded."""

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from bench.statements import recording
from core.db import tenant_context
from ledger.public import Event
from organizations.models import Tenant
from suppliers.pricing.models import ListPrice, ListPriceTier
from tests import races
from tests.factories import Api, api_key, provision
from tests.suppliers.products import create, field_errors, packaging

TODAY, DAY = date.today(), timedelta(1)  # of suppliers in UTC


@pytest.fixture
def product(api: Api) -> dict[str, Any]:
    """Return a product of two packagings."""
    return create(api, packagings=[packaging(), packaging(level="case", units_per_pack=10)])


def price(product: dict[str, Any], number: int = 0, **changes: Any) -> dict[str, Any]:
    """Return the smallest price of a packaging."""
    return {
        "packaging_id": product["packagings"][number]["id"],
        "currency": "EUR",
        "tiers": [{"min_quantity": 1, "unit_price": "4.90"}],
    } | changes


def put(api: Api, product: dict[str, Any], *prices: dict[str, Any], **options: Any) -> Any:
    """Replace the prices of a product."""
    return api.put(f"/v1/products/{product['id']}/prices", json={"prices": [*prices]}, **options)


def stored(tenant: Tenant) -> tuple[int, int]:
    """Return how many prices and tiers the tenant has."""
    with tenant_context(tenant.id):
        mine = {"tenant_id": tenant.id}
        return ListPrice.objects.filter(**mine).count(), ListPriceTier.objects.filter(**mine).count()


def facts(tenant: Tenant) -> list[tuple[Any, ...]]:
    """Return what was recorded about prices."""
    with tenant_context(tenant.id):
        found = Event.objects.filter(tenant_id=tenant.id, type="product.price_changed").order_by("occurred_at", "id")
        return [(one.resource_id, one.resource_version, one.data["currencies"]) for one in found]


def test_put_replaces_all_prices_at_once(api: Api, supplier: Tenant, product: dict[str, Any]) -> None:
    tiers = [{"min_quantity": 1, "unit_price": "12.5"}, {"min_quantity": 100, "unit_price": "11.123456"}]

    first = put(api, product, price(product), price(product, currency="USD"), price(product, 1, tiers=tiers))
    second = put(api, product, price(product, 1, tiers=tiers, price_base_quantity=10, valid_to=str(TODAY + 9 * DAY)))

    assert (first.status_code, second.status_code) == (200, 200), (first.content, second.content)
    assert len(first.json()["data"]["prices"]) == 3
    data = second.json()["data"]
    assert data == {
        "id": product["id"],
        "supplier_sku": product["supplier_sku"],
        "prices": [
            {
                "packaging_id": product["packagings"][1]["id"],
                "currency": "EUR",
                "tiers": [{"min_quantity": 1, "unit_price": "12.50"}, {"min_quantity": 100, "unit_price": "11.123456"}],
                "price_base_quantity": 10,
                "valid_from": TODAY.isoformat(),
                "valid_to": (TODAY + 9 * DAY).isoformat(),
                "tax_included": False,
            }
        ],
        "updated_at": data["updated_at"],
        "version": 3,
    }
    assert second.headers["ETag"] == '"3"'
    read = api.get(f"/v1/products/{product['id']}/prices")
    assert (read.status_code, read.json()["data"], read.headers["ETag"]) == (200, data, '"3"')
    assert api.get(f"/v1/products/{product['id']}?include=prices").json()["data"]["prices"] == data["prices"]
    assert stored(supplier) == (1, 2)
    key = UUID(product["id"])
    assert facts(supplier) == [(key, 2, ["EUR", "USD"]), (key, 3, ["EUR"])]


def test_the_same_prices_again_write_nothing(api: Api, supplier: Tenant, product: dict[str, Any]) -> None:
    amounts = ["0", "100", "1.50", "0.000001"]
    tiers = [{"min_quantity": 5 * step, "unit_price": amount} for step, amount in enumerate(amounts, start=1)]
    prices = [price(product), price(product, 1, tiers=tiers)]
    put(api, product, *prices)

    again = put(api, product, *reversed(prices))

    assert (again.status_code, again.json()["data"]["version"], len(facts(supplier))) == (200, 2, 1)


def test_prices_of_a_packaging_that_was_taken_out_are_not_shown(
    api: Api, supplier: Tenant, product: dict[str, Any]
) -> None:
    assert put(api, product, price(product), price(product, 1)).status_code == 200
    left = {name: product[name] for name in ("supplier_sku", "name", "category", "kind", "base_unit")}
    answer = api.put(f"/v1/products/{product['id']}", json=left | {"packagings": [packaging()]})
    assert answer.status_code == 200, answer.content

    found = api.get(f"/v1/products/{product['id']}/prices").json()["data"]
    included = api.get(f"/v1/products/{product['id']}?include=prices").json()["data"]
    given = [{name: value for name, value in one.items() if name != "tax_included"} for one in found["prices"]]
    again = put(api, product, *given)

    assert [one["packaging_id"] for one in found["prices"]] == [product["packagings"][0]["id"]]
    assert included["prices"] == found["prices"]
    assert (again.status_code, again.json()["data"]["version"]) == (200, found["version"])
    assert stored(supplier) == (2, 2)


def test_an_empty_list_takes_all_prices_away(api: Api, supplier: Tenant, product: dict[str, Any]) -> None:
    put(api, product, price(product))

    answer = put(api, product)

    assert (answer.status_code, answer.json()["data"]["prices"]) == (200, [])
    assert (stored(supplier), facts(supplier)[-1][2]) == ((0, 0), [])


def test_periods_may_follow_one_another_and_past_ones_are_not_shown(api: Api, product: dict[str, Any]) -> None:
    periods = [(-20, -10), (-10, 0), (0, 10), (10, None)]

    answer = put(
        api,
        product,
        *(
            price(
                product, valid_from=str(TODAY + first * DAY), valid_to=None if last is None else str(TODAY + last * DAY)
            )
            for first, last in reversed(periods)
        ),
    )

    assert answer.status_code == 200, answer.content
    assert [one["valid_from"] for one in answer.json()["data"]["prices"]] == [str(TODAY), str(TODAY + 10 * DAY)]


@pytest.mark.parametrize(
    ("changes", "field", "code"),
    [
        ({"currency": "XXX"}, "currency", "invalid_choice"),
        ({"currency": "eur"}, "currency", "invalid_choice"),
        ({"tiers": []}, "tiers", "empty"),
        ({"tiers": [{"min_quantity": 1, "unit_price": "-1"}]}, "tiers.0.unit_price", "min_value"),
        ({"tiers": [{"min_quantity": 1, "unit_price": "1.1234567"}]}, "tiers.0.unit_price", "max_decimal_places"),
        ({"tiers": [{"min_quantity": 0, "unit_price": "1"}]}, "tiers.0.min_quantity", "min_value"),
        (
            {"tiers": [{"min_quantity": 9, "unit_price": "1"}, {"min_quantity": 9, "unit_price": "2"}]},
            "tiers",
            "invalid",
        ),
        ({"price_base_quantity": 0}, "price_base_quantity", "min_value"),
        ({"valid_from": "2026-02-30"}, "valid_from", "invalid"),
        ({"valid_from": "2026-03-01", "valid_to": "2026-03-01"}, "valid_to", "min_value"),
        ({"valid_to": "2020-01-01"}, "valid_to", "min_value"),
        ({"tax_included": True}, "tax_included", "invalid_choice"),
        ({"packaging_id": "019aa000-0000-7000-8000-000000000000"}, "packaging_id", "unknown_packaging"),
        ({"source": "list"}, "source", "unknown_field"),
    ],
)
def test_put_refuses_with_the_path_and_changes_nothing(
    api: Api, supplier: Tenant, product: dict[str, Any], changes: dict[str, Any], field: str, code: str
) -> None:
    put(api, product, price(product))

    answer = put(api, product, price(product), price(product, 1, **changes))

    assert field_errors(answer) == {(f"prices.1.{field}", code)}
    assert (stored(supplier), len(facts(supplier))) == ((1, 1), 1)


@pytest.mark.parametrize(
    ("first", "second"),
    [((None, None), (5, None)), ((0, 10), (9, 20)), ((5, 6), (0, None)), ((None, None), (None, None))],
)
def test_overlapping_periods_are_refused(
    api: Api, product: dict[str, Any], first: tuple[Any, Any], second: tuple[Any, Any]
) -> None:
    def of(begin: int | None, end: int | None) -> dict[str, Any]:
        days = (None if days is None else str(TODAY + days * DAY) for days in (begin, end))
        return price(product, **dict(zip(("valid_from", "valid_to"), days, strict=True)))

    answer = put(api, product, of(*first), of(*second), price(product, currency="USD"), price(product, 1))

    assert {code for _, code in field_errors(answer)} == {"overlap"}
    assert len(field_errors(answer)) == 1


def test_prices_of_others_and_of_what_is_archived(api: Api, product: dict[str, Any]) -> None:
    stranger = provision("supplier")
    foreign = Api(key=api_key(stranger), tenant=stranger)
    other = create(foreign)

    assert put(foreign, product, price(product)).status_code == 404
    assert foreign.get(f"/v1/products/{product['id']}/prices").status_code == 404
    mixed = put(foreign, other, price(product))
    assert field_errors(mixed) == {("prices.0.packaging_id", "unknown_packaging")}
    api.delete(f"/v1/products/{product['id']}")
    refused = put(api, product, price(product))
    assert (refused.status_code, refused.json()["code"]) == (409, "invalid_transition")
    assert api.get(f"/v1/products/{product['id']}/prices").status_code == 200


def test_if_match_guards_and_each_right_is_its_own(api: Api, supplier: Tenant, product: dict[str, Any]) -> None:
    stale = put(api, product, price(product), headers={"If-Match": '"7"'})
    catalog = Api(key=api_key(supplier, scopes=["catalog:read", "catalog:write"]), tenant=supplier)

    assert (stale.status_code, stale.json()["code"]) == (409, "version_conflict")
    assert put(catalog, product, price(product)).json()["code"] == "insufficient_scope"
    assert catalog.get(f"/v1/products/{product['id']}/prices").status_code == 200


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Niue"])
def test_the_day_of_the_supplier_decides(api: Api, supplier: Tenant, product: dict[str, Any], zone: str) -> None:
    """Kiritimati is 14 hours ahead of UTC and Niue 11 behind: at any time one of them has another date than UTC."""
    with tenant_context(supplier.id):
        Tenant.objects.filter(pk=supplier.id).update(time_zone=zone)
    today = datetime.now(ZoneInfo(zone)).date()
    ended, begun = str(today - DAY), price(product, 1)

    put(api, product, price(product, valid_from=ended, valid_to=str(today)), begun)

    shown = api.get(f"/v1/products/{product['id']}/prices").json()["data"]["prices"]
    assert [(one["packaging_id"], one["valid_from"]) for one in shown] == [(begun["packaging_id"], str(today))]
    refused = put(api, product, price(product, valid_to=str(today)))
    assert field_errors(refused) == {("prices.0.valid_to", "min_value")}


def test_two_at_once_leave_the_prices_of_one(api: Api, supplier: Tenant, product: dict[str, Any]) -> None:
    text = api_key(supplier)

    def work(number: int) -> int:
        mine = Api(key=text, tenant=supplier)
        tiers = [{"min_quantity": step, "unit_price": str(number)} for step in (1, 2, 3)]
        return int(put(mine, product, price(product, tiers=tiers), price(product, 1, tiers=tiers)).status_code)

    answers = races.race(*[lambda number=number: work(number) for number in range(1, 9)])

    assert answers == [200] * 8
    assert stored(supplier) == (2, 6)
    with tenant_context(supplier.id):
        amounts = ListPriceTier.objects.filter(tenant_id=supplier.id).values_list("unit_price", flat=True)
        assert len(set(amounts)) == 1
        assert isinstance(amounts[0], Decimal)


def test_five_hundred_prices_take_as_many_statements_as_one(api: Api, product: dict[str, Any]) -> None:
    def periods(count: int) -> list[dict[str, Any]]:
        return [
            price(product, valid_from=str(TODAY + n * DAY), valid_to=str(TODAY + (n + 1) * DAY)) for n in range(count)
        ]

    put(api, product, *periods(2))
    with recording() as few:
        assert put(api, product, *periods(3)).status_code == 200
    with recording() as many:
        assert put(api, product, *periods(500)).status_code == 200

    assert len(many) == len(few)
