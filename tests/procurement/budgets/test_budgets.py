"""GET and PUT /v1/procurement/budgets: what is kept, what is refused, what is recorded, who may, and who wins a race."""

from datetime import timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from bench.statements import recording
from core.clock import now
from organizations.models import Tenant
from procurement.budgets.commitments import commit, spend
from tests import races
from tests.factories import Api, api_key, as_member, provision, suffix
from tests.procurement.budgets import budgets
from tests.procurement.budgets.budgets import PATH, codes, facts, listed, put, stored
from tests.suppliers.products import field_errors

UPDATED = ("budget.updated", {"code": "a", "active": True})


def test_put_creates_replaces_and_writes_nothing_twice(api: Api, buyer: Tenant) -> None:
    given = {"cost_centers": ["4712", "4711", "4712"], "threshold_percent": 90, "enforcement": "warn"}

    first, again = put(api, **given), put(api, **given)

    assert (first.status_code, again.status_code) == (201, 200), first.content
    assert (first.headers["Location"], first.headers["ETag"]) == (f"{PATH}/a", '"1"')
    data = first.json()["data"]
    assert data == again.json()["data"]
    assert data == {
        "id": data["id"],
        "code": "a",
        "name": "Wards",
        "amount": "1000.00",
        "currency": "EUR",
        "valid_from": "2020-01-01",
        "valid_to": "2999-01-01",
        "cost_centers": ["4711", "4712"],
        "threshold_percent": 90,
        "enforcement": "warn",
        "active": True,
        "committed": "0.00",
        "spent": "0.00",
        "available": "1000.00",
        "created_at": data["created_at"],
        "updated_at": data["updated_at"],
        "version": 1,
    }
    assert (stored(buyer), facts(buyer)) == ([("a", 1, "Wards")], [(UPDATED[0], 1, UPDATED[1])])
    replaced = put(api, name="Theatres", active=False).json()["data"]
    assert (replaced["threshold_percent"], replaced["enforcement"], replaced["cost_centers"]) == (80, "hard", [])
    assert stored(buyer) == [("a", 2, "Theatres")]
    assert facts(buyer)[1:] == [("budget.updated", 2, {"code": "a", "active": False})]
    assert listed(api) == [replaced]


@pytest.mark.parametrize(
    ("changes", "field", "code"),
    [
        ({"name": ""}, "name", "blank"),
        ({"name": "x" * 256}, "name", "max_length"),
        ({"amount": None}, "amount", "null"),
        ({"amount": "-0.01"}, "amount", "min_value"),
        ({"amount": "1.001"}, "amount", "max_decimal_places"),
        ({"amount": "1.5", "currency": "JPY"}, "amount", "max_decimal_places"),
        ({"amount": "1.0001", "currency": "KWD"}, "amount", "max_decimal_places"),
        ({"amount": "1.00001", "currency": "CLF"}, "amount", "max_decimal_places"),
        ({"amount": "1000000000000000"}, "amount", "max_whole_digits"),
        ({"amount": "NaN"}, "amount", "invalid"),
        ({"currency": "XXX"}, "currency", "invalid_choice"),
        ({"currency": ""}, "currency", "blank"),
        ({"valid_to": "2020-01-01"}, "valid_to", "min_value"),
        ({"valid_from": "yesterday"}, "valid_from", "invalid"),
        ({"valid_to": None}, "valid_to", "null"),
        ({"cost_centers": [""]}, "cost_centers.0", "blank"),
        ({"cost_centers": ["x" * 65]}, "cost_centers.0", "max_length"),
        ({"cost_centers": ["x"] * 501}, "cost_centers", "max_length"),
        ({"threshold_percent": 0}, "threshold_percent", "min_value"),
        ({"threshold_percent": 101}, "threshold_percent", "max_value"),
        ({"enforcement": "soft"}, "enforcement", "invalid_choice"),
        ({"active": "perhaps"}, "active", "invalid"),
        ({"spent": "1"}, "spent", "unknown_field"),
    ],
)
def test_put_refuses_with_the_path_and_changes_nothing(
    api: Api, buyer: Tenant, changes: dict[str, Any], field: str, code: str
) -> None:
    put(api)

    known, new = put(api, **changes), put(api, "b", **changes)

    assert field_errors(known) == field_errors(new) == {(field, code)}
    assert (stored(buyer), len(facts(buyer))) == ([("a", 1, "Wards")], 1)


@pytest.mark.parametrize(
    ("currency", "amount", "shown", "nothing"),
    [
        ("JPY", "5", "5", "0"),
        ("EUR", "5.2", "5.20", "0.00"),
        ("KWD", "5.125", "5.125", "0.000"),
        ("CLF", "999999999999999.9999", "999999999999999.9999", "0.0000"),
        ("UYW", "0", "0.0000", "0.0000"),
    ],
)
def test_amounts_have_the_decimals_of_the_currency(
    api: Api, currency: str, amount: str, shown: str, nothing: str
) -> None:
    answer = put(api, amount=amount, currency=currency)

    assert answer.status_code == 201, answer.content
    data = answer.json()["data"]
    assert [data[name] for name in ("amount", "committed", "spent", "available")] == [shown, nothing, nothing, shown]


def test_preconditions(api: Api, buyer: Tenant) -> None:
    absent = put(api, headers={"If-Match": '"1"'})
    assert (absent.status_code, absent.json()["code"]) == (409, "version_conflict")
    assert absent.json()["current_version"] is None
    assert put(api, headers={"If-None-Match": "*"}).status_code == 201
    taken = put(api, name="B", headers={"If-None-Match": "*"})
    assert (taken.status_code, taken.json()["code"]) == (409, "duplicate")
    stale = put(api, name="B", headers={"If-Match": '"2"'})
    assert (stale.status_code, stale.json()["code"], stale.json()["current_version"]) == (409, "version_conflict", 1)
    assert field_errors(put(api, "a b")) == {("code", "invalid")}
    assert field_errors(put(api, "x" * 65)) == {("code", "invalid")}
    assert (stored(buyer), len(facts(buyer))) == ([("a", 1, "Wards")], 1)
    assert put(api, name="B", headers={"If-Match": '"1"'}).status_code == 200


def test_an_order_in_between_is_no_conflict(api: Api, buyer: Tenant) -> None:
    hold = budgets.made(api, buyer)
    budgets.step(commit, hold, Decimal(10))

    answer = put(api, name="B", headers={"If-Match": '"1"'})

    assert answer.status_code == 200, answer.content
    assert answer.json()["data"]["committed"] == "10.00"
    assert answer.headers["ETag"].startswith('"2;')
    assert answer.headers["ETag"] != '"2"'


def test_one_idempotency_key_writes_once(api: Api, buyer: Tenant) -> None:
    key = {"Idempotency-Key": suffix()}

    first, again, other = put(api, headers=key), put(api, headers=key), put(api, name="B", headers=key)

    assert (first.status_code, again.status_code, other.status_code) == (201, 201, 422)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert (stored(buyer), len(facts(buyer))) == ([("a", 1, "Wards")], 1)


def test_amount_is_not_lowered_below_what_is_used(api: Api, buyer: Tenant) -> None:
    hold = budgets.made(api, buyer)
    budgets.step(commit, hold, Decimal("700.50"))
    budgets.step(spend, hold, Decimal(200))

    refused = put(api, amount="700.49")

    assert (refused.status_code, refused.json()["code"]) == (409, "budget_exceeded")
    assert refused.json()["available"] == {"amount": "299.50", "currency": "EUR"}
    assert stored(buyer) == [("a", 1, "Wards")]
    lowered = put(api, amount="700.50").json()["data"]
    assert (lowered["committed"], lowered["spent"], lowered["available"]) == ("500.50", "200.00", "0.00")


def test_exceeded_budget_keeps_its_amount_but_does_not_become_hard(api: Api, buyer: Tenant) -> None:
    hold = budgets.made(api, buyer, enforcement="warn")
    budgets.step(commit, hold, Decimal(1500))

    renamed = put(api, name="B", enforcement="warn")
    answers = [put(api, enforcement="hard"), put(api, amount="1499.99", enforcement="warn")]

    assert renamed.status_code == 200, renamed.content
    assert renamed.json()["data"]["available"] == "-500.00"
    for refused in answers:
        assert (refused.status_code, refused.json()["code"]) == (409, "budget_exceeded")
        assert refused.json()["available"] == {"amount": "-500.00", "currency": "EUR"}
    assert stored(buyer) == [("a", 2, "B")]
    assert put(api, amount="1500", enforcement="hard").status_code == 200


def test_currency_stays_while_something_is_used(api: Api, buyer: Tenant) -> None:
    hold = budgets.made(api, buyer)
    budgets.step(commit, hold, Decimal(1))

    refused = put(api, currency="CHF")

    assert (refused.status_code, refused.json()["code"], refused.json()["fields"]) == (
        409,
        "field_locked",
        ["currency"],
    )
    assert stored(buyer) == [("a", 1, "Wards")]
    budgets.step(commit, hold, Decimal(0))
    assert put(api, currency="CHF").json()["data"]["currency"] == "CHF"


def test_put_that_crosses_the_threshold_tells_once(api: Api, buyer: Tenant) -> None:
    budgets.step(commit, budgets.made(api, buyer), Decimal(500))

    for changes in ({"amount": "625"}, {"amount": "600"}, {"amount": "1000"}, {"threshold_percent": 50}):
        assert put(api, **changes).status_code == 200

    told = [(version, data) for kind, version, data in facts(buyer) if kind == "budget.threshold_reached"]
    assert told == [(2, {"code": "a", "threshold_percent": 80}), (5, {"code": "a", "threshold_percent": 50})]


def test_list_filters_and_sorts(api: Api, buyer: Tenant) -> None:
    put(api, "wards-2026", name="Pflegestationen", cost_centers=["4711"])
    put(api, "theatre", name="OP-Säle", cost_centers=["5000"], amount="5")
    put(api, "any", name="Reserve")
    put(api, "old", name="Reserve", valid_to="2021-01-01")
    put(api, "off", name="Reserve", active=False)
    every = ["off", "old", "any", "theatre", "wards-2026"]

    assert codes(api) == every
    assert codes(api, "code=theatre") == ["theatre"]
    assert codes(api, "code=nothing") == []
    assert codes(api, "cost_center=4711&sort=code") == ["any", "off", "old", "wards-2026"]
    assert codes(api, "active_on=2020-12-31&sort=code") == ["any", "old", "theatre", "wards-2026"]
    assert codes(api, "active_on=2021-01-01&sort=code") == ["any", "theatre", "wards-2026"]
    assert codes(api, "active_on=2019-12-31") == []
    assert codes(api, "search=saele") == []
    assert codes(api, "search=sal%20OP") == ["theatre"]
    assert codes(api, "search=2026%20pfleg") == ["wards-2026"]
    assert codes(api, "sort=-code") == ["wards-2026", "theatre", "old", "off", "any"]
    assert codes(api, "sort=name,-code") == ["theatre", "wards-2026", "old", "off", "any"]
    since = listed(api, "code=any")[0]["updated_at"]
    assert codes(api, f"updated_since={since}&sort=code") == ["any", "off", "old"]
    pages = api.get(f"{PATH}?limit=2&sort=code").json()
    assert ([one["code"] for one in pages["data"]], pages["has_more"]) == (["any", "off"], True)
    assert codes(api, f"limit=2&sort=code&cursor={pages['next_cursor']}") == ["old", "theatre"]
    assert listed(api, "code=any&fields=code,available") == [
        {"id": listed(api, "code=any")[0]["id"], "code": "any", "available": "1000.00"}
    ]


def test_today_is_that_of_the_buyer(api: Api, buyer: Tenant) -> None:
    here = now().astimezone(ZoneInfo(str(buyer.time_zone))).date()
    put(api, "today", valid_from=str(here), valid_to=str(here + timedelta(1)))
    put(api, "gone", valid_from="2020-01-01", valid_to=str(here))
    put(api, "coming", valid_from=str(here + timedelta(1)))

    assert codes(api, "active_on=today") == ["today"]
    ahead = provision("provider", time_zone="Pacific/Kiritimati")
    there = as_member(ahead, ["approver"])
    then = now().astimezone(ZoneInfo("Pacific/Kiritimati")).date()
    assert then > here, "25 hours lie between both zones"
    put(there, "today", valid_from=str(then), valid_to=str(then + timedelta(1)))
    assert codes(there, "active_on=today") == ["today"]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("active_on=tomorrow", "validation_error"),
        ("active_on=2026-02-30", "validation_error"),
        ("search=%2D", "validation_error"),
        ("updated_since=yesterday", "validation_error"),
        ("sort=amount", "unknown_sort"),
        ("budget=a", "unknown_parameter"),
        ("code=a&code=b", "duplicate_parameter"),
        ("limit=0", "invalid_page"),
        ("cursor=abc", "invalid_cursor"),
        ("include=entries", "unknown_include"),
    ],
)
def test_list_refuses_odd_queries(api: Api, query: str, code: str) -> None:
    answer = api.get(f"{PATH}?{query}")

    assert (answer.status_code, answer.json()["code"]) == (400, code)


def test_who_may(api: Api, buyer: Tenant) -> None:
    put(api)
    reader = as_member(buyer, ["buyer"])
    key = Api(key=api_key(buyer, ["buyer"]), tenant=buyer)
    seller = as_member(provision("supplier"), ["approver"])
    foreign = as_member(provision("pharmacy"), ["approver"])

    assert codes(reader) == ["a"]
    assert put(reader, name="B").json()["code"] == "insufficient_scope"
    for one in (lambda: key.get(PATH), lambda: put(key, name="B")):
        assert one().json()["code"] == "credential_not_accepted"
    for one in (lambda: seller.get(PATH), lambda: put(seller)):
        assert (one().status_code, one().json()["code"]) == (403, "not_a_buyer")
    assert codes(foreign) == []
    assert put(foreign, name="Mine").status_code == 201
    assert stored(buyer) == [("a", 1, "Wards")]


def test_feature_is_demanded(api: Api, buyer: Tenant) -> None:
    Tenant.objects.filter(pk=buyer.id).update(features=["appointments"])

    for answer in (api.get(PATH), put(api)):
        assert (answer.status_code, answer.json()["code"]) == (403, "feature_not_enabled")
    assert stored(buyer) == []


def test_of_first_puts_at_once_one_creates(api: Api, buyer: Tenant) -> None:
    def work(number: int) -> int:
        one = Api()
        one.headers = api.headers
        return int(put(one, name=f"N{number}").status_code)

    answers = races.race(*[lambda number=number: work(number) for number in range(8)])

    assert answers.count(201) == 1
    assert set(answers) <= {200, 201, 409}
    ((_, version, _),), told = stored(buyer), facts(buyer)
    assert [one[1] for one in told] == list(range(1, version + 1))


def test_statements_do_not_grow(api: Api) -> None:
    put(api)
    with recording() as one:
        assert len(listed(api)) == 1
    for code in ("b", "c"):
        put(api, code)
    with recording() as three:
        assert len(listed(api)) == 3
    assert (len(one), one.statements) == (len(three), three.statements) == (1, 2)
