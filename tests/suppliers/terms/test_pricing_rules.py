"""GET and PUT /v1/pricing-rules: what is kept, what is refused, what is recorded, and who wins a race."""

from typing import Any
from uuid import uuid4

import pytest

from core.db import tenant_context
from ledger.public import Event
from organizations.models import Tenant
from suppliers.marketplace.models import AudienceMember
from suppliers.terms.models import PricingRule
from tests import races
from tests.factories import Api, api_key, provision
from tests.suppliers.products import create, field_errors

PATH = "/v1/pricing-rules"
ONE = {"currencies": ["EUR"]}


def body(**changes: Any) -> dict[str, Any]:
    """Return the smallest rule."""
    return {"name": "Five off", "conditions": {}, "action": {"type": "percent", "value": "5"}} | changes


def put(api: Api, code: str, *, headers: dict[str, str] | None = None, **changes: Any) -> Any:
    """Put a rule."""
    return api.put(f"{PATH}/{code}", json=body(**changes), headers=headers or {})


def stored(tenant: Tenant) -> tuple[list[tuple[str, int, str]], list[int]]:
    """Return code, version and name of each rule, and the versions of the facts."""
    with tenant_context(tenant.id):
        mine = {"tenant_id": tenant.id}
        rules = list(PricingRule.objects.filter(**mine).order_by("code").values_list("code", "version", "name"))
        facts = Event.objects.filter(**mine, type="pricing_rule.updated").order_by("occurred_at", "id")
        return rules, [int(one.resource_version or 0) for one in facts]


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
    given = {"conditions": conditions, "floor_price": "3.9", "exclusive": True, "priority": 9, "valid_to": "2027-01-01"}

    made, again = put(api, "g", **given), put(api, "g", **given)

    assert (made.status_code, again.status_code) == (201, 200), made.content
    assert (made.headers["Location"], made.headers["ETag"]) == (f"{PATH}/g", '"1"')
    data = made.json()["data"]
    assert (
        data
        == again.json()["data"]
        == {
            "id": data["id"],
            "code": "g",
            "name": "Five off",
            "status": "draft",
            "priority": 9,
            "valid_from": None,
            "valid_to": "2027-01-01",
            "conditions": {**conditions, "countries": ["AT", "DE"], "min_amount": "100.50"},
            "action": {"type": "percent", "value": "5"},
            "floor_price": "3.90",
            "exclusive": True,
            "applies_to_offers": False,
            "created_at": data["created_at"],
            "updated_at": data["updated_at"],
            "version": 1,
        }
    )
    assert stored(supplier) == ([("g", 1, "Five off")], [1])
    with tenant_context(supplier.id):
        row = PricingRule.objects.get(tenant_id=supplier.id)
        members = AudienceMember.objects.filter(tenant_id=supplier.id, audience_id=row.audience_id)
        assert list(members.values_list("member_tenant_id", flat=True)) == [buyer.id]
    replaced = put(api, "g", name="Six", status="active", action={"type": "markup", "value": "6.5"})
    assert replaced.json()["data"]["action"] == {"type": "markup", "value": "6.5"}
    assert stored(supplier) == ([("g", 2, "Six")], [1, 2])
    assert api.get(f"{PATH}?status=active").json()["data"]["items"] == [replaced.json()["data"]]
    assert api.get(f"{PATH}?status=draft").json()["data"]["total"] == 0


@pytest.mark.parametrize(
    ("changes", "field", "code"),
    [
        ({"name": ""}, "name", "blank"),
        ({"status": "ended"}, "status", "invalid_choice"),
        ({"priority": -1}, "priority", "min_value"),
        ({"valid_from": "2026-03-02", "valid_to": "2026-03-01"}, "valid_to", "min_value"),
        ({"action": {"type": "percent", "value": "100.01"}}, "action.value", "max_value"),
        ({"action": {"type": "markup", "value": "1001"}}, "action.value", "max_value"),
        ({"action": {"type": "percent", "value": "-1"}}, "action.value", "min_value"),
        ({"action": {"type": "half", "value": "1"}}, "action.type", "invalid_choice"),
        ({"action": {"type": "percent"}}, "action.value", "required"),
        ({"action": {"type": "fixed_price", "value": "1"}}, "conditions.currencies", "required"),
        ({"action": {"type": "amount_off", "value": "1.1234567"}}, "action.value", "max_decimal_places"),
        ({"floor_price": "1"}, "conditions.currencies", "required"),
        ({"conditions": {"min_amount": "1"}}, "conditions.currencies", "required"),
        ({"conditions": {"min_amount": "1.001"} | ONE}, "conditions.min_amount", "max_decimal_places"),
        (
            {"conditions": {"min_amount": "1.5", "currencies": ["JPY"]}},
            "conditions.min_amount",
            "max_decimal_places",
        ),
        (
            {"conditions": {"min_amount": "1.0001", "currencies": ["KWD"]}},
            "conditions.min_amount",
            "max_decimal_places",
        ),
        ({"conditions": {"min_quantity": 0}}, "conditions.min_quantity", "min_value"),
        ({"conditions": {"countries": ["XX"]}}, "conditions.countries.0", "invalid_choice"),
        ({"conditions": {"currencies": ["XXX"]}}, "conditions.currencies.0", "invalid_choice"),
        ({"conditions": {"product_ids": [str(uuid4())]}}, "conditions.product_ids.0", "unknown_product"),
        ({"conditions": {"categories": ["nothing"]}}, "conditions.categories.0", "unknown_category"),
        ({"conditions": {"buyer_ids": [str(uuid4())]}}, "conditions.buyer_ids.0", "unknown_tenant"),
        ({"conditions": {"groups": ["none"]}}, "conditions.groups.0", "unknown_group"),
        ({"conditions": {"buyers": []}}, "conditions.buyers", "unknown_field"),
    ],
)
def test_put_refuses_with_the_path_and_changes_nothing(
    api: Api, supplier: Tenant, changes: dict[str, Any], field: str, code: str
) -> None:
    put(api, "a")

    known, new = put(api, "a", **changes), put(api, "b", **changes)

    assert field_errors(known) == field_errors(new) == {(field, code)}
    assert stored(supplier) == ([("a", 1, "Five off")], [1])


@pytest.mark.parametrize(
    ("currency", "amount"), [("JPY", "5"), ("EUR", "5.25"), ("KWD", "5.125"), ("CLF", "5.1234"), ("UYW", "5.0001")]
)
def test_an_amount_has_as_many_decimals_as_its_currency(api: Api, currency: str, amount: str) -> None:
    made = put(api, "a", conditions={"min_amount": amount, "currencies": [currency]})

    assert made.status_code == 201, made.content
    assert made.json()["data"]["conditions"]["min_amount"] == amount


def test_preconditions_and_the_end_of_a_rule(api: Api, supplier: Tenant) -> None:
    absent = put(api, "a", headers={"If-Match": '"1"'})
    assert (absent.status_code, absent.json()["code"], absent.json()["current_version"]) == (
        409,
        "version_conflict",
        None,
    )
    assert put(api, "a", headers={"If-None-Match": "*"}).status_code == 201
    taken = put(api, "a", name="B", headers={"If-None-Match": "*"})
    assert (taken.status_code, taken.json()["code"]) == (409, "duplicate")
    stale = put(api, "a", name="B", headers={"If-Match": '"2"'})
    assert (stale.status_code, stale.json()["code"], stale.json()["current_version"]) == (409, "version_conflict", 1)
    assert stored(supplier) == ([("a", 1, "Five off")], [1])
    assert put(api, "a", status="archived", headers={"If-Match": '"1"'}).status_code == 200
    ended = put(api, "a", status="active")
    assert (ended.status_code, ended.json()["code"]) == (409, "invalid_transition")
    assert field_errors(put(api, "a b")) == {("code", "invalid")}
    assert stored(supplier) == ([("a", 2, "Five off")], [1, 2])


def test_rules_of_others_and_rights(api: Api, supplier: Tenant) -> None:
    product = create(api)
    put(api, "a")
    stranger = provision("supplier")
    foreign = Api(key=api_key(stranger), tenant=stranger)
    reader = Api(key=api_key(supplier, scopes=["pricing:read"]), tenant=supplier)

    assert foreign.get(PATH).json()["data"]["total"] == 0
    refused = put(foreign, "b", conditions={"product_ids": [product["id"]]})
    assert field_errors(refused) == {("conditions.product_ids.0", "unknown_product")}
    assert put(foreign, "a", name="Mine").status_code == 201
    assert reader.get(PATH).json()["data"]["total"] == 1
    assert put(reader, "b").json()["code"] == "insufficient_scope"
    assert stored(supplier) == ([("a", 1, "Five off")], [1])


def test_of_first_puts_at_once_one_creates(api: Api, supplier: Tenant) -> None:
    text = api_key(supplier)

    def work(number: int) -> int:
        return int(put(Api(key=text, tenant=supplier), "a", name=f"N{number}").status_code)

    answers = races.race(*[lambda number=number: work(number) for number in range(6)])

    assert answers.count(201) == 1
    assert set(answers) <= {200, 201, 409}
    ((_, version, _),), facts = stored(supplier)
    assert facts == list(range(1, version + 1))
