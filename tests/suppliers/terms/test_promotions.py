"""GET and PUT /v1/promotions: what is kept, what is refused, what is told, and who wins a race."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest

from core import clock
from core.db import tenant_context
from ledger.public import Event
from organizations.models import Tenant
from suppliers.marketplace.models import AudienceMember
from suppliers.terms.promotions.models import Promotion
from tests import races
from tests.factories import Api, api_key, provision
from tests.suppliers.products import create, field_errors

PATH = "/v1/promotions"
ONE = {"currencies": ["EUR"]}
HOUR = timedelta(hours=1)


def instant(shift: timedelta) -> str:
    """Return the moment that is so far from now, as bodies have it."""
    return (datetime.now(UTC) + shift).replace(microsecond=0).isoformat().replace("+00:00", "Z")


def body(**changes: Any) -> dict[str, Any]:
    """Return the smallest promotion, which runs as soon as it is active."""
    return {
        "name": "Five off",
        "conditions": {},
        "action": {"type": "percent", "value": "5"},
        "starts_at": "2026-01-01T00:00:00Z",
        "ends_at": "2199-01-01T00:00:00Z",
    } | changes


def put(api: Api, code: str, *, headers: dict[str, str] | None = None, **changes: Any) -> Any:
    """Put a promotion."""
    return api.put(f"{PATH}/{code}", json=body(**changes), headers=headers or {})


def facts(tenant: Tenant) -> list[tuple[str, str, str]]:
    """Return kind, code and state of each fact of promotions, in their order."""
    with tenant_context(tenant.id):
        found = Event.objects.filter(tenant_id=tenant.id, type__startswith="promotion.").order_by("occurred_at", "id")
        return [(one.type.removeprefix("promotion."), one.data["code"], one.data["state"]) for one in found]


def stored(tenant: Tenant) -> list[tuple[str, int, str]]:
    """Return code, version and name of each promotion."""
    with tenant_context(tenant.id):
        rows = Promotion.objects.filter(tenant_id=tenant.id).order_by("code")
        return list(rows.values_list("code", "version", "name"))


def test_put_creates_replaces_and_writes_nothing_twice(api: Api, supplier: Tenant) -> None:
    product, buyer = create(api), provision("provider")
    conditions = {
        "product_ids": [product["id"]],
        "categories": ["gloves"],
        "buyer_ids": [str(buyer.id)],
        "groups": [],
        "countries": ["DE", "AT"],
        "min_quantity": 10,
        "min_amount": "100.5",
        "currencies": ["EUR"],
    }
    given = {
        "conditions": conditions,
        "floor_price": "3.9",
        "priority": 9,
        "starts_at": "2026-01-01T01:00:00+01:00",
        "budget_amount": {"amount": "500", "currency": "EUR"},
        "max_redemptions": 20,
        "max_per_buyer": 2,
        "combinable": True,
        "applies_to_offers": False,
        "applies_to_contracts": True,
    }

    made, again = put(api, "g", **given), put(api, "g", **given)

    assert (made.status_code, again.status_code) == (201, 200), made.content
    assert (made.headers["Location"], made.headers["ETag"]) == (f"{PATH}/g", '"1"')
    data = made.json()["data"]
    expected = {
        "id": data["id"],
        "code": "g",
        "name": "Five off",
        "status": "draft",
        "state": "draft",
        "priority": 9,
        "starts_at": "2026-01-01T00:00:00.000Z",
        "ends_at": "2199-01-01T00:00:00.000Z",
        "conditions": {**conditions, "countries": ["AT", "DE"], "min_amount": "100.50"},
        "action": {"type": "percent", "value": "5"},
        "floor_price": "3.90",
        "budget_amount": {"amount": "500.00", "currency": "EUR"},
        "spent": {"amount": "0.00", "currency": "EUR"},
        "max_redemptions": 20,
        "redemptions": 0,
        "max_per_buyer": 2,
        "combinable": True,
        "applies_to_offers": False,
        "applies_to_contracts": True,
        "created_at": data["created_at"],
        "updated_at": data["updated_at"],
        "version": 1,
    }
    assert data == again.json()["data"] == expected
    assert (stored(supplier), facts(supplier)) == ([("g", 1, "Five off")], [("updated", "g", "draft")])
    with tenant_context(supplier.id):
        row = Promotion.objects.get(tenant_id=supplier.id)
        members = AudienceMember.objects.filter(tenant_id=supplier.id, audience_id=row.audience_id)
        assert list(members.values_list("member_tenant_id", flat=True)) == [buyer.id]
    replaced = put(api, "g", name="Six", status="active", action={"type": "percent", "value": "6.5"}).json()["data"]
    assert (replaced["state"], replaced["budget_amount"], replaced["spent"]) == ("running", None, None)
    assert (replaced["applies_to_offers"], replaced["action"]["value"]) == (True, "6.5")
    assert stored(supplier) == [("g", 2, "Six")]
    assert facts(supplier)[1:] == [("updated", "g", "running"), ("started", "g", "running")]


@pytest.mark.parametrize(
    ("changes", "field", "code"),
    [
        ({"name": ""}, "name", "blank"),
        ({"status": "running"}, "status", "invalid_choice"),
        ({"priority": 1001}, "priority", "max_value"),
        ({"starts_at": None}, "starts_at", "null"),
        ({"ends_at": "soon"}, "ends_at", "invalid"),
        ({"ends_at": "2026-03-01T00:00:00"}, "ends_at", "offset"),
        ({"ends_at": "2300-01-01T00:00:00Z"}, "ends_at", "range"),
        ({"ends_at": "2026-01-01T00:00:00Z"}, "ends_at", "min_value"),
        ({"action": {"type": "percent", "value": "100.01"}}, "action.value", "max_value"),
        ({"action": {"type": "fixed_price", "value": "1"}}, "conditions.currencies", "required"),
        ({"floor_price": "1"}, "conditions.currencies", "required"),
        ({"budget_amount": {"amount": "1", "currency": "EUR"}}, "conditions.currencies", "required"),
        (
            {"budget_amount": {"amount": "1", "currency": "EUR"}, "conditions": {"currencies": ["EUR", "USD"]}},
            "conditions.currencies",
            "required",
        ),
        (
            {"budget_amount": {"amount": "1", "currency": "USD"}, "conditions": ONE},
            "budget_amount.currency",
            "invalid_choice",
        ),
        ({"budget_amount": {"amount": "0", "currency": "EUR"}, "conditions": ONE}, "budget_amount.amount", "min_value"),
        (
            {"budget_amount": {"amount": "1.001", "currency": "EUR"}, "conditions": ONE},
            "budget_amount.amount",
            "max_decimal_places",
        ),
        ({"budget_amount": {"amount": "1"}, "conditions": ONE}, "budget_amount.currency", "required"),
        ({"budget_amount": "5"}, "budget_amount", "invalid"),
        ({"max_redemptions": 0}, "max_redemptions", "min_value"),
        ({"max_redemptions": 2_147_483_648}, "max_redemptions", "max_value"),
        ({"max_per_buyer": 0}, "max_per_buyer", "min_value"),
        ({"spent": {"amount": "1", "currency": "EUR"}}, "spent", "unknown_field"),
        ({"redemptions": 1}, "redemptions", "unknown_field"),
        ({"exclusive": True}, "exclusive", "unknown_field"),
        ({"conditions": {"product_ids": [str(uuid4())]}}, "conditions.product_ids.0", "unknown_product"),
        ({"conditions": {"categories": ["nothing"]}}, "conditions.categories.0", "unknown_category"),
        ({"conditions": {"buyer_ids": [str(uuid4())]}}, "conditions.buyer_ids.0", "unknown_tenant"),
        ({"conditions": {"groups": ["none"]}}, "conditions.groups.0", "unknown_group"),
    ],
)
def test_put_refuses_with_the_path_and_changes_nothing(
    api: Api, supplier: Tenant, changes: dict[str, Any], field: str, code: str
) -> None:
    put(api, "a")

    known, new = put(api, "a", **changes), put(api, "b", **changes)

    assert field_errors(known) == field_errors(new) == {(field, code)}
    assert (stored(supplier), facts(supplier)) == ([("a", 1, "Five off")], [("updated", "a", "draft")])


@pytest.mark.parametrize(("currency", "amount"), [("JPY", "5"), ("EUR", "5.25"), ("KWD", "5.125"), ("CLF", "5.1234")])
def test_a_budget_has_the_decimals_of_its_currency(api: Api, currency: str, amount: str) -> None:
    budget = {"amount": amount, "currency": currency}

    made = put(api, "a", conditions={"currencies": [currency]}, budget_amount=budget)

    assert made.status_code == 201, made.content
    assert made.json()["data"]["budget_amount"] == budget


def test_preconditions_and_the_end_of_a_promotion(api: Api, supplier: Tenant) -> None:
    absent = put(api, "a", headers={"If-Match": '"1"'})
    assert (absent.status_code, absent.json()["code"], absent.json()["current_version"]) == (
        409,
        "version_conflict",
        None,
    )
    assert put(api, "a", status="active", headers={"If-None-Match": "*"}).status_code == 201
    taken = put(api, "a", name="B", headers={"If-None-Match": "*"})
    assert (taken.status_code, taken.json()["code"]) == (409, "duplicate")
    stale = put(api, "a", name="B", headers={"If-Match": '"2"'})
    assert (stale.status_code, stale.json()["code"], stale.json()["current_version"]) == (409, "version_conflict", 1)
    assert stored(supplier) == [("a", 1, "Five off")]
    assert put(api, "a", status="archived", headers={"If-Match": '"1"'}).json()["data"]["state"] == "archived"
    ended = put(api, "a", status="active")
    assert (ended.status_code, ended.json()["code"]) == (409, "invalid_transition")
    assert field_errors(put(api, "a b")) == {("code", "invalid")}
    assert stored(supplier) == [("a", 2, "Five off")]
    assert facts(supplier) == [
        ("updated", "a", "running"),
        ("started", "a", "running"),
        ("updated", "a", "archived"),
        ("ended", "a", "archived"),
    ]


def test_promotions_of_others_and_rights(api: Api, supplier: Tenant) -> None:
    product = create(api)
    put(api, "a")
    stranger = provision("supplier")
    foreign = Api(key=api_key(stranger), tenant=stranger)
    reader = Api(key=api_key(supplier, scopes=["pricing:read"]), tenant=supplier)
    hospital = provision("provider")
    buyer = Api(key=api_key(hospital), tenant=hospital)

    assert foreign.get(PATH).json()["data"]["total"] == 0
    refused = put(foreign, "b", conditions={"product_ids": [product["id"]]})
    assert field_errors(refused) == {("conditions.product_ids.0", "unknown_product")}
    assert put(foreign, "a", name="Mine").status_code == 201
    assert reader.get(PATH).json()["data"]["total"] == 1
    assert put(reader, "b").json()["code"] == "insufficient_scope"
    assert (buyer.get(PATH).json()["code"], put(buyer, "b").json()["code"]) == ("not_a_supplier", "not_a_supplier")
    assert stored(supplier) == [("a", 1, "Five off")]


def test_of_first_puts_at_once_one_creates(api: Api, supplier: Tenant) -> None:
    text = api_key(supplier)

    def work(number: int) -> int:
        return int(put(Api(key=text, tenant=supplier), "a", name=f"N{number}").status_code)

    answers = races.race(*[lambda number=number: work(number) for number in range(6)])

    assert answers.count(201) == 1
    assert set(answers) <= {200, 201, 409}
    ((_, version, _),) = stored(supplier)
    assert facts(supplier) == [("updated", "a", "draft")] * version


@pytest.fixture
def shelf_of_states(api: Api, supplier: Tenant) -> Tenant:
    """A supplier with one promotion in each state, whose code is the state."""
    for code in ("draft", "archived"):
        put(api, code, status=code, name="Größe L")
    put(api, "scheduled", status="active", starts_at=instant(HOUR))
    put(api, "running", status="active", starts_at=instant(-HOUR), ends_at=instant(HOUR))
    put(api, "ended", status="active", ends_at=instant(-HOUR))
    put(api, "exhausted", status="active", max_redemptions=1)
    with tenant_context(supplier.id):
        Promotion.objects.filter(tenant_id=supplier.id, code="exhausted").update(redemptions=1)
    return supplier


def listed(api: Api, query: str) -> list[str]:
    """Return the codes of a list, sorted by code, and hold its total to them."""
    data = api.get(f"{PATH}?sort=code&{query}").json()["data"]
    assert data["total"] == len(data["items"])
    return [one["code"] for one in data["items"]]


def test_states_and_filters(api: Api, shelf_of_states: Tenant) -> None:
    states = ["archived", "draft", "ended", "exhausted", "running", "scheduled"]
    everything = api.get(f"{PATH}?sort=code").json()["data"]["items"]
    assert [(one["code"], one["state"]) for one in everything] == [(one, one) for one in states]
    for state in states:
        assert listed(api, f"state={state}") == [state]
    assert listed(api, "state=running,ended") == ["ended", "running"]
    assert listed(api, "status=active") == ["ended", "exhausted", "running", "scheduled"]
    assert listed(api, "status=active&state=draft") == []
    assert listed(api, "search=run") == ["running"]
    assert listed(api, "search=groß") == listed(api, "search=l+GROSSE") == ["archived", "draft"]
    assert listed(api, "search=unning") == listed(api, "search=run+five+six") == []
    assert listed(api, f"updated_since={instant(HOUR)}") == []
    assert len(listed(api, f"updated_since={instant(-HOUR)}")) == 6
    assert [one["code"] for one in api.get(f"{PATH}?sort=-ends_at&limit=5").json()["data"]["items"]][-1] == "running"
    assert [one["code"] for one in api.get(f"{PATH}?sort=-starts_at&limit=2").json()["data"]["items"]] == [
        "scheduled",
        "running",
    ]


def test_from_and_to_name_a_time_in_the_zone_of_the_tenant(api: Api, supplier: Tenant) -> None:
    with tenant_context(supplier.id):
        Tenant.objects.filter(pk=supplier.id).update(time_zone="Pacific/Kiritimati")  # UTC+14
    put(api, "march", starts_at="2026-03-01T00:00:00Z", ends_at="2026-03-31T12:00:00Z")

    assert listed(api, "from=2026-03-31T11:59:59Z") == ["march"]
    assert listed(api, "from=2026-03-31T12:00:00Z") == []
    assert listed(api, "to=2026-03-01T00:00:01Z") == ["march"]
    assert listed(api, "to=2026-03-01T00:00:00Z") == []
    assert listed(api, "from=2026-04-01") == ["march"]  # there it begins at 10:00 UTC of the day before
    assert listed(api, "from=2026-04-02") == []
    assert listed(api, "to=2026-03-01") == []
    assert listed(api, "to=2026-03-02") == ["march"]
    assert listed(api, "from=2026-02-01&to=2026-02-20") == []


@pytest.mark.parametrize(
    ("query", "field", "code"),
    [
        ("state=over", "state", "invalid_choice"),
        ("status=ended", "status", "invalid_choice"),
        ("search=-", "search", "invalid"),
        ("from=soon", "from", "invalid"),
        ("from=2026-03-02&to=2026-03-01", "to", "min_value"),
    ],
)
def test_filters_refuse(api: Api, query: str, field: str, code: str) -> None:
    refused = api.get(f"{PATH}?{query}")

    assert refused.status_code == 400
    assert field_errors(refused) == {(field, code)}


def test_what_the_window_makes_of_a_put(api: Api, supplier: Tenant) -> None:
    """A window that is over tells nothing; one that is moved into the present starts, one that is moved out ends."""
    put(api, "a", status="active", ends_at=instant(-HOUR))
    put(api, "a", status="active", starts_at=instant(HOUR))
    put(api, "a", status="active")
    put(api, "a", status="active", starts_at=instant(HOUR))
    put(api, "a", status="active")
    put(api, "a", status="draft")

    assert facts(supplier) == [
        ("updated", "a", "ended"),
        ("updated", "a", "scheduled"),
        ("updated", "a", "running"),
        ("started", "a", "running"),
        ("updated", "a", "scheduled"),
        ("ended", "a", "scheduled"),
        ("updated", "a", "running"),
        ("started", "a", "running"),
        ("updated", "a", "draft"),
        ("ended", "a", "draft"),
    ]
    with tenant_context(supplier.id):
        row = Promotion.objects.get(tenant_id=supplier.id)
        assert (row.told, row.due_at, row.spent) == ("over", None, Decimal(0))
        assert row.updated_at <= clock.now()
