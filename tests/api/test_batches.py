"""A batch of rows: each is judged by itself, the sound ones are written in one statement, every row has its result."""

from typing import Any

import pytest
from django.test import override_settings

from bench.statements import recording
from core.db import tenant_context
from suppliers.catalog.models import Category
from tests import factories
from tests.api import shelves
from tests.factories import Api, suffix

pytestmark = pytest.mark.usefixtures("addresses")


@pytest.fixture
def addresses():
    with override_settings(ROOT_URLCONF="tests.api.shelves"):
        yield


@pytest.fixture
def tenant():
    return factories.provision("supplier")


@pytest.fixture
def api(tenant):
    return factories.as_member(tenant, ["supplier_admin"])


def rows(*codes: str, **changes: Any) -> list[dict[str, Any]]:
    return [{"code": code, "name": f"Shelf {code}"} | changes for code in codes]


def send(api: Api, items: Any, **more: Any) -> Any:
    return api.post("/v1/shelves/bulk", json={"items": items, **more})


def codes(tenant: Any) -> list[str]:
    with tenant_context(tenant.id):
        return sorted(Category.objects.filter(tenant_id=tenant.id).values_list("code", flat=True))


def test_every_row_has_its_result_in_the_order_sent(api, tenant):
    answer = send(api, [*rows("b", "a"), {"code": "c"}, *rows("d")])
    assert answer.status_code == 200, answer.content
    data = answer.json()["data"]
    assert [(one["index"], one["code"], one["status"]) for one in data["results"]] == [
        (0, "b", "created"), (1, "a", "created"), (2, "c", "failed"), (3, "d", "created"),
    ]  # fmt: skip
    assert data["results"][2]["error"] == {
        "code": "validation_error",
        "title": "Some fields are invalid.",
        "errors": [
            {
                "field": "items.2.name",
                "pointer": "/items/2/name",
                "code": "required",
                "message": "This field is required.",
            }
        ],
    }
    assert {name: data[name] for name in ("created", "updated", "unchanged", "failed")} == {
        "created": 3, "updated": 0, "unchanged": 0, "failed": 1,
    }  # fmt: skip
    assert codes(tenant) == ["a", "b", "d"]
    assert "id" in data["results"][0]
    assert "id" not in data["results"][2]


def test_row_that_the_action_refuses_is_told_beside_the_others(api, tenant):
    send(api, rows("a"))
    data = send(api, rows("a", "b")).json()["data"]
    assert [one["status"] for one in data["results"]] == ["failed", "created"]
    assert data["results"][0]["error"]["code"] == "duplicate"
    assert data["results"][0]["error"]["errors"][0]["pointer"] == "/items/0/code"
    assert codes(tenant) == ["a", "b"]


def test_key_that_comes_twice_fails_the_second_row(api, tenant):
    data = send(api, rows("a", "b", "a")).json()["data"]
    assert [one["status"] for one in data["results"]] == ["created", "created", "failed"]
    assert data["results"][2]["error"]["code"] == "duplicate"
    assert data["results"][2]["error"]["errors"][0]["field"] == "items.2.code"
    assert codes(tenant) == ["a", "b"]


@pytest.mark.parametrize(
    ("odd", "code"),
    [(7, "invalid"), (None, "null"), ({"code": "z", "name": "Z", "colour": "red"}, "unknown_field")],
)
def test_row_of_another_form_fails_alone(api, tenant, odd, code):
    data = send(api, [odd, *rows("a")]).json()["data"]
    assert [one["status"] for one in data["results"]] == ["failed", "created"]
    assert data["results"][0]["error"]["errors"][0]["code"] == code
    assert codes(tenant) == ["a"]


def test_batch_in_which_every_row_fails_is_answered_200_and_writes_nothing(api, tenant):
    answer = send(api, [{}, {}])
    assert (answer.status_code, answer.json()["data"]["failed"]) == (200, 2)
    assert codes(tenant) == []


def test_atomic_batch_names_every_unsound_row_and_writes_nothing(api, tenant):
    answer = send(api, [*rows("a"), {"code": "b"}, {"code": "c", "name": "C", "colour": "red"}], atomic=True)
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (400, "validation_error")
    assert [(one["pointer"], one["code"]) for one in problem["errors"]] == [
        ("/items/1/name", "required"),
        ("/items/2/colour", "unknown_field"),
    ]
    assert codes(tenant) == []


def test_atomic_batch_in_which_only_a_member_is_unknown_is_a_validation_error(api, tenant):
    answer = send(api, rows("a", colour="red"), atomic=True)
    assert (answer.status_code, answer.json()["code"]) == (400, "validation_error")
    assert codes(tenant) == []


def test_atomic_batch_that_the_action_refuses_leaves_nothing(api, tenant):
    send(api, rows("a"))
    answer = send(api, rows("b", "a"), atomic=True)
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (400, "validation_error")
    assert [(one["pointer"], one["code"]) for one in problem["errors"]] == [("/items/1/code", "duplicate")]
    assert codes(tenant) == ["a"]


def test_atomic_batch_of_sound_rows_is_written(api, tenant):
    assert send(api, rows("a", "b"), atomic=True).json()["data"]["created"] == 2
    assert codes(tenant) == ["a", "b"]


@pytest.mark.parametrize(
    ("items", "code"),
    [([], "min_length"), ([{}] * 501, "max_length"), ({}, "not_a_list"), (None, "null")],
)
def test_body_that_is_no_batch_is_refused(api, tenant, items, code):
    answer = send(api, items)
    assert answer.status_code == 400
    assert [(one["field"], one["code"]) for one in answer.json()["errors"]] == [("items", code)]
    assert codes(tenant) == []


def test_rows_that_a_mode_lets_be_partial_are_read_so(api, tenant):
    data = send(api, [{"code": "a"}], mode="merge").json()["data"]
    assert data["results"][0]["status"] == "created"
    assert codes(tenant) == ["a"]


def test_number_of_statements_does_not_depend_on_the_rows(api):
    send(api, rows("first"))
    counts = []
    for number in (1, 500):
        with recording() as record:
            assert send(api, rows(*(f"{suffix()}-{n}" for n in range(number)))).json()["data"]["created"] == number
        counts.append((len(record), record.statements))
    assert counts[0] == counts[1]


def test_repeated_key_of_the_request_replays_the_results(api, tenant):
    header = {"Idempotency-Key": suffix()}
    body = {"items": [*rows("a"), {}]}
    first = api.post("/v1/shelves/bulk", json=body, headers=header)
    again = api.post("/v1/shelves/bulk", json=body, headers=header)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert (again.status_code, again.content) == (first.status_code, first.content)


def test_action_that_forgets_a_row_is_an_error_of_ours(api, tenant):
    answer = api.post("/v1/shelves/forgetful", json={"items": rows("a", "b")})
    assert (answer.status_code, answer.json()["code"]) == (500, "internal_error")
    assert codes(tenant) == []


def test_form_of_the_answer_is_made_of_the_batch():
    form = shelves.ShelfViewSet.operations["bulk"].answer
    assert form.__name__ == "ShelvesResultsOut"
    assert list(form().fields) == ["results", "created", "updated", "unchanged", "failed"]
    result = form().fields["results"].child
    assert list(result.fields) == ["index", "code", "status", "id", "error"]
    assert [shelves.ShelfViewSet.operations["bulk"].shape, list(result.fields["status"].choices)] == [
        None,
        ["created", "updated", "unchanged", "failed"],
    ]
