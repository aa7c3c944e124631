"""What a write may answer besides its row: a refusal that commits, 200 or 201 of a PUT by own code, a Location, an ETag by content."""

import itertools
import json
from typing import Any

import pytest
from django.test import override_settings

from config.bounds import body_limit
from core.db import tenant_context
from suppliers.catalog.models import Category
from tests import factories
from tests.api.shelves import LARGE, SMALL
from tests.factories import suffix
from tests.races import race
from tests.suppliers import products

_numbers = itertools.count()


@pytest.fixture(autouse=True)
def addresses():
    with override_settings(ROOT_URLCONF="tests.api.shelves"):
        yield


@pytest.fixture(scope="module")
def tenant():
    return factories.provision("supplier")


@pytest.fixture(scope="module")
def api(tenant):
    return factories.as_member(tenant, ["supplier_admin"])


def address() -> str:
    return f"/v1/shelves/{suffix()}-{next(_numbers)}"


def stored(tenant: Any, path: str) -> list[tuple[str, int]]:
    with tenant_context(tenant.id):
        found = Category.objects.filter(tenant_id=tenant.id, code=path.rpartition("/")[2])
        return list(found.values_list("name", "version"))


# -- a refusal that commits --------------------------------------------------------------------------------------------


def test_refusal_keeps_what_the_action_wrote_and_is_replayed(api, tenant):
    path, key = address(), {"Idempotency-Key": suffix()}
    api.put(path, json={"name": "Upper"})
    first = api.post(f"{path}/inspect", json={"text": "grey"}, headers=key)
    assert (first.status_code, first.json()["code"], first.json()["seen"]) == (422, "too_dusty", "grey")
    assert first.headers["Content-Type"] == "application/problem+json"
    assert stored(tenant, path) == [("Upper, dusty", 2)]
    again = api.post(f"{path}/inspect", json={"text": "grey"}, headers=key)
    assert (again.status_code, again.content) == (422, first.content)
    assert again.headers["Content-Type"] == "application/problem+json"
    assert again.headers["Idempotency-Replayed"] == "true"
    assert stored(tenant, path) == [("Upper, dusty", 2)]


def test_refusal_that_is_raised_keeps_nothing_and_is_judged_anew(api, tenant):
    path, key = address(), {"Idempotency-Key": suffix(), "If-Match": '"7"'}
    api.put(path, json={"name": "Upper"})
    for _ in range(2):
        answer = api.put(path, json={"name": "Lower"}, headers=key)
        assert (answer.status_code, answer.json()["code"]) == (409, "version_conflict")
        assert "Idempotency-Replayed" not in answer.headers
    assert stored(tenant, path) == [("Upper", 1)]


# -- bodies ------------------------------------------------------------------------------------------------------------


def test_body_without_required_members_may_be_empty(api):
    path = address()
    api.put(path, json={"name": "Upper"})
    answer = api.post(f"{path}/inspect")
    assert (answer.status_code, answer.json()["code"], answer.json()["seen"]) == (422, "too_dusty", "")


def test_body_with_required_members_may_not_be_empty(api, tenant):
    path = address()
    assert api.put(path).status_code == 400
    assert api.put(path).json()["code"] == "invalid_json"
    answer = api.put(path, json={})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (400, "/name")
    assert stored(tenant, path) == []


def of_size(size: int, name: str) -> str:
    """A JSON object of so many bytes."""
    bare = json.dumps({name: "x"})
    return bare + " " * (size - len(bare))


@pytest.mark.parametrize(
    ("method", "below", "name", "limit", "status"),
    [
        ("PUT", "", "name", LARGE, 201),
        ("POST", "/inspect", "text", SMALL, 422),
        ("POST", "/copies", "", 1_048_576, 201),
    ],
)
def test_body_has_the_bound_of_its_operation(api, method, below, name, limit, status):
    path = address()
    if below:
        api.put(path, json={"name": "Upper"})
    assert body_limit(method, path + below) == limit  # the same number as the front's
    body = of_size(limit, name) if name else "{}" + " " * (limit - 2)
    over = api.call(method, path + below, data=body + " ")
    assert (over.status_code, over.json()["code"], over.json()["limit_bytes"]) == (413, "body_too_large", limit)
    assert api.call(method, path + below, data=body).status_code == status


@pytest.mark.parametrize("path", ["/v1/nowhere", "/v1/shelves/a/b/c", "/health/live", "/admin/", "/v1/shelves", "x"])
def test_body_at_an_address_without_operation_has_the_usual_bound(path):
    assert body_limit("POST", path) == 1_048_576


# -- PUT under the client's own code -----------------------------------------------------------------------------------


def test_put_creates_and_then_replaces(api, tenant):
    path = address()
    created = api.put(path, json={"name": "Upper"})
    assert (created.status_code, created.headers["Location"], created.headers["ETag"]) == (201, path, '"1"')
    assert created.json()["data"]["code"] == path.rpartition("/")[2]
    replaced = api.put(path, json={"name": "Lower"})
    assert (replaced.status_code, replaced.headers["ETag"]) == (200, '"2"')
    assert "Location" not in replaced.headers
    assert stored(tenant, path) == [("Lower", 2)]
    assert api.get(created.headers["Location"]).json()["data"]["name"] == "Lower"


def test_put_if_none_match_on_a_known_code_is_a_duplicate(api, tenant):
    path, new = address(), {"If-None-Match": "*"}
    assert api.put(path, json={"name": "Upper"}, headers=new).status_code == 201
    answer = api.put(path, json={"name": "Lower"}, headers=new)
    assert (answer.status_code, answer.json()["code"]) == (409, "duplicate")
    assert stored(tenant, path) == [("Upper", 1)]


def test_put_if_match_on_an_absent_code_is_a_version_conflict(api, tenant):
    path = address()
    answer = api.put(path, json={"name": "Upper"}, headers={"If-Match": '"1"'})
    problem = answer.json()
    assert (answer.status_code, problem["code"], problem["current_version"]) == (409, "version_conflict", None)
    assert stored(tenant, path) == []


def test_put_body_version_on_an_absent_code_is_a_version_conflict(api, tenant):
    path = address()
    answer = api.put(path, json={"name": "Upper", "version": 1})
    assert (answer.status_code, answer.json().get("current_version", "")) == (409, None)
    assert stored(tenant, path) == []


def test_put_if_match_of_another_version_is_a_version_conflict(api, tenant):
    path = address()
    api.put(path, json={"name": "Upper"})
    answer = api.put(path, json={"name": "Lower"}, headers={"If-Match": '"2"'})
    assert (answer.status_code, answer.json()["current_version"], answer.headers["ETag"]) == (409, 1, '"1"')
    assert api.put(path, json={"name": "Lower"}, headers={"If-Match": '"1"'}).status_code == 200


def test_puts_of_one_new_code_at_once_create_one_row(api, tenant):
    for _ in range(5):
        path = address()
        answers = race(*[lambda n=n: api.put(path, json={"name": f"Shelf {n}"}) for n in range(4)])
        assert sorted(answer.status_code for answer in answers) == [200, 200, 200, 201]
        assert [version for _, version in stored(tenant, path)] == [4]


def test_puts_if_none_match_of_one_new_code_at_once_leave_one_winner(api, tenant):
    path, new = address(), {"If-None-Match": "*"}
    answers = race(*[lambda n=n: api.put(path, json={"name": f"Shelf {n}"}, headers=new) for n in range(4)])
    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409]
    assert {answer.json()["code"] for answer in answers if answer.status_code == 409} == {"duplicate"}
    assert [version for _, version in stored(tenant, path)] == [1]


def test_list_by_cursor_of_rows_known_by_a_code_goes_on(tenant):
    person, _ = factories.member(tenant, ["supplier_admin"])
    api = factories.Api(token=factories.bearer(person), tenant=tenant)
    paths = [address() for _ in range(3)]
    for path in paths:
        api.put(path, json={"name": "Upper"})
    found: list[str] = []
    query = "limit=2&sort=-created_at"
    while query:
        page = api.get(f"/v1/cursor-shelves?{query}").json()
        found += [row["code"] for row in page["data"]]
        query = f"limit=2&sort=-created_at&cursor={page['next_cursor']}" if page["has_more"] else ""
    assert {path.rpartition("/")[2] for path in paths} <= set(found)
    assert len(found) == len(set(found))


# -- Location and ETag -------------------------------------------------------------------------------------------------


def test_created_has_a_location_only_where_it_can_be_read(api):
    blind = api.post("/v1/blind-shelves", json={"code": suffix(), "name": "Upper"})
    assert (blind.status_code, "Location" in blind.headers) == (201, False)
    path = address()
    api.put(path, json={"name": "Upper"})
    copy = api.post(f"{path}/copies")  # what an @action creates does not lie below its own address
    assert (copy.status_code, "Location" in copy.headers) == (201, False)
    made = api.post("/v1/products", json=products.body())
    assert made.headers["Location"] == f"/v1/products/{made.json()['data']['id']}"
    assert api.get(made.headers["Location"]).status_code == 200


def test_etag_of_an_answer_with_includes_is_of_its_content(api, tenant):
    product = products.create(api)
    path = f"/v1/products/{product['id']}?include=stock"
    first = api.get(path).headers["ETag"]
    assert first.startswith('"1;')
    assert api.get(path, headers={"If-None-Match": first}).status_code == 304
    products.stock(tenant, product["id"], on_hand=7)
    changed = api.get(path, headers={"If-None-Match": first})
    assert (changed.status_code, changed.json()["data"]["stock"]["on_hand"]) == (200, 7)
    assert changed.headers["ETag"] != first
    body = products.body(supplier_sku=product["supplier_sku"], name="Renamed")
    answer = api.put(f"/v1/products/{product['id']}", json=body, headers={"If-Match": first})
    assert answer.status_code == 200, answer.content  # the version stands before the semicolon
    late = api.put(f"/v1/products/{product['id']}", json=body, headers={"If-Match": first})
    assert (late.status_code, late.json()["code"]) == (409, "version_conflict")
