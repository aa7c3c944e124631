"""POST /v1/products/bulk: what is created, replaced and merged, what fails alone, and what refuses all."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import connection

from core import pipeline
from core.db import tenant_context
from ledger.models import Event
from organizations.models import Tenant
from suppliers.catalog.models import Packaging, Product, ProductCounter, ProductWord
from tests.factories import Api, api_key, provision
from tests.suppliers.products import body, create, listed

GTIN, OTHER = "04006381333931", "04012345678901"


def row(sku: str, **changes: Any) -> dict[str, Any]:
    pack = {"level": "inner", "name": "Box", "units_per_pack": 100}
    return {
        "supplier_sku": sku,
        "name": f"Glove {sku}",
        "category": "gloves",
        "kind": "consumable",
        "base_unit": "EA",
        "packagings": [pack],
    } | changes


def pack(gtin: str | None = None, **changes: Any) -> dict[str, Any]:
    return {"level": "inner", "units_per_pack": 100, "gtin": gtin} | changes


def send(api: Api, *rows: Any, **members: Any) -> Any:
    return api.post("/v1/products/bulk", json={"items": list(rows), **members})


def send_until_judged(api: Api, *rows: Any) -> Any:
    """Send a batch as a client does that is told to try again: locks are waited for two seconds, then 409."""
    for _ in range(10):
        answer = send(api, *rows)
        if answer.status_code != 409:
            break
        assert (answer.json()["code"], answer["Retry-After"]) == ("concurrent_update", "1")
    return answer


def results(answer: Any) -> list[tuple[Any, ...]]:
    assert answer.status_code == 200, answer.content
    found = answer.json()["data"]["results"]
    assert [one["index"] for one in found] == list(range(len(found)))
    return [(one["status"], one["error"]["code"]) if "error" in one else (one["status"],) for one in found]


def counting(taken: list[float]) -> Callable[..., Any]:
    def count(execute: Callable[..., Any], *arguments: Any) -> Any:
        taken.append(0)
        return execute(*arguments)

    return count


def read(api: Api, product_id: str) -> dict[str, Any]:
    found: dict[str, Any] = api.get(f"/v1/products/{product_id}").json()["data"]
    return found


def without(product: dict[str, Any], *names: str) -> dict[str, Any]:
    left = {name: value for name, value in product.items() if name not in ("id", "created_at", "updated_at", *names)}
    packs = [{name: value for name, value in one.items() if name != "id"} for one in left["packagings"]]
    return left | {"packagings": packs}


def told(tenant: Tenant, product_id: str) -> list[str]:
    with tenant_context(tenant.id):
        rows = Event.objects.filter(tenant_id=tenant.id, resource_id=product_id).order_by("id")
        return list(rows.values_list("type", flat=True))


def counted(tenant: Tenant) -> tuple[int, ...]:
    with tenant_context(tenant.id):
        one = ProductCounter.objects.get(tenant_id=tenant.id)
        return one.draft, one.active, one.discontinued, one.archived


def test_batch_creates_what_single_requests_would(api: Api, supplier: Tenant) -> None:
    other = provision("supplier")
    single = create(Api(key=api_key(other), tenant=other))
    plain = create(Api(key=api_key(other), tenant=other), supplier_sku="P", packagings=[pack(OTHER)])

    answer = send(api, body(), body(supplier_sku="P", packagings=[pack(OTHER)]))

    assert results(answer) == [("created",), ("created",)]
    data = answer.json()["data"]
    assert [data[name] for name in ("created", "updated", "unchanged", "failed")] == [2, 0, 0, 0]
    made, second = (read(api, one["id"]) for one in data["results"])
    assert without(made, "supplier_sku") == without(single, "supplier_sku")
    assert without(second) == without(plain)
    assert told(supplier, made["id"]) == ["product.created"]
    statuses = [made["status"], second["status"]]
    assert counted(supplier) == (statuses.count("draft"), statuses.count("active"), 0, 0)
    assert listed(api, f"search={OTHER}") == (["P"], 1)
    assert listed(api, "sort=-supplier_sku") == (sorted([made["supplier_sku"], "P"], reverse=True), 2)


def test_batch_replaces_what_single_requests_would(api: Api, supplier: Tenant) -> None:
    first, second = create(api, supplier_sku="A"), create(api, supplier_sku="B", packagings=[pack(OTHER)])
    wanted = row("A", status="active", name="Renamed", packagings=[pack(units_per_pack=50), pack(OTHER[:-1] + "8")])
    del wanted["packagings"][1]
    same = body(supplier_sku="B", packagings=[pack(OTHER)])

    answer = send(api, wanted, same)

    assert results(answer) == [("updated",), ("unchanged",)]
    found = read(api, first["id"])
    assert (found["name"], found["status"], found["version"]) == ("Renamed", "active", first["version"] + 1)
    assert (found["description"], found["udi"], found["attributes"]) == ("", None, [])
    assert read(api, second["id"]) == second
    assert "product.updated" in told(supplier, first["id"])
    assert told(supplier, second["id"]) == ["product.created"]
    assert listed(api, "search=renamed") == (["A"], 1)
    with tenant_context(supplier.id):
        left = set(
            ProductWord.objects.filter(tenant_id=supplier.id, product_id=first["id"]).values_list("word", flat=True)
        )
    assert left == {"a", "renamed"}


def test_merge_changes_only_what_is_sent(api: Api, supplier: Tenant) -> None:
    whole = create(api, supplier_sku="A")

    answer = send(
        api,
        {"supplier_sku": "A", "name": "Merged", "storage": {"min_c": 4, "max_c": 7.5}},
        {"supplier_sku": "NEW", "name": "Half"},
        row("NEW2"),
        {"name": "Nameless"},
        "nothing",
        {"supplier_sku": "A2", "colour": "red"},
        mode="merge",
    )

    assert results(answer) == [
        ("updated",), ("failed", "validation_error"), ("created",), ("failed", "validation_error"),
        ("failed", "validation_error"), ("failed", "validation_error"),
    ]  # fmt: skip
    found = read(api, whole["id"])
    assert without(found, "version") == without(
        {
            **whole,
            "name": "Merged",
            "storage": {"min_c": 4.0, "max_c": 7.5, "light_sensitive": False, "cold_chain": True},
        },
        "version",
    )
    assert [one["id"] for one in found["packagings"]] == [one["id"] for one in whole["packagings"]]
    again = send(api, {"supplier_sku": "A", "name": "Merged"}, {"supplier_sku": "NEW2"}, mode="merge")
    assert results(again) == [("unchanged",), ("unchanged",)]


def test_merge_minds_no_reference_that_it_does_not_send(api: Api, supplier: Tenant) -> None:
    made = create(api, supplier_sku="A")
    with tenant_context(supplier.id):
        Product.objects.filter(tenant_id=supplier.id, pk=made["id"]).update(category="gone")

    answer = send(api, {"supplier_sku": "A", "name": "Renamed"}, mode="merge")
    kept = send(api, {"supplier_sku": "A", "category": "gone"}, mode="merge")
    refused = send(api, {"supplier_sku": "A", "category": "unheard"}, mode="merge")

    assert results(answer) == [("updated",)]
    assert results(kept) == [("unchanged",)]  # a product stays in its category, whatever became of that
    assert results(refused) == [("failed", "validation_error")]


@pytest.mark.parametrize(
    ("changes", "code", "field"),
    [
        ({"category": "moon-dust"}, "validation_error", "category"),
        ({"name": ""}, "validation_error", "name"),
        ({"colour": "red"}, "unknown_field", "colour"),
        ({"status": "archived"}, "validation_error", "status"),
        ({"status": "active", "packagings": []}, "validation_error", "packagings"),
        ({"attributes": [{"code": "flavour", "value": "mint"}]}, "validation_error", "attributes.0.code"),
        ({"packagings": [pack("4006381333930")]}, "validation_error", "packagings.0.gtin"),
        ({"packagings": [pack(GTIN)]}, "gtin_taken", "packagings.0.gtin"),
        ({"supplier_sku": "FINE"}, "duplicate", "supplier_sku"),
        (
            {"substitutes": [{"product_id": "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f", "type": "equivalent"}]},
            "validation_error",
            "substitutes.0.product_id",
        ),
    ],
)
def test_row_that_fails_is_left_out_or_refuses_all(
    api: Api, supplier: Tenant, changes: dict[str, Any], code: str, field: str
) -> None:
    create(api, supplier_sku="OWNER", packagings=[pack(GTIN)])
    before = listed(api)[1]

    atomic = send(api, row("FINE"), row("BAD", **changes), atomic=True)
    untouched = listed(api)[1]
    answer = send(api, row("FINE"), row("BAD", **changes))

    assert (atomic.status_code, atomic.json()["code"]) == (400, "validation_error")
    assert atomic.json()["errors"][0]["field"] == f"items.1.{field}"
    assert untouched == before
    assert results(answer)[0] == ("created",)
    failed = answer.json()["data"]["results"][1]
    assert failed["status"] == "failed"
    assert (failed["error"]["code"], failed["error"]["errors"][0]["field"]) == (code, f"items.1.{field}")
    assert listed(api)[1] == before + 1


def test_gtin_goes_from_one_row_to_a_later_one(api: Api) -> None:
    create(api, supplier_sku="A", packagings=[pack(GTIN)])
    create(api, supplier_sku="B", packagings=[pack(OTHER)])

    early = send(api, row("B", packagings=[pack(GTIN)]), row("A", packagings=[pack()]))
    late = send(
        api, row("A", packagings=[pack()]), row("B", packagings=[pack(GTIN)]), row("C", packagings=[pack(OTHER)])
    )

    assert results(early) == [("failed", "gtin_taken"), ("updated",)]
    assert results(late) == [("unchanged",), ("updated",), ("created",)]
    assert listed(api, f"search={GTIN}") == (["B"], 1)
    assert listed(api, f"search={OTHER}") == (["C"], 1)


def test_statuses_are_counted_and_told(api: Api, supplier: Tenant) -> None:
    send(api, row("A", status="active"), row("B", status="active"), row("C"))

    answer = send(
        api,
        row("A", status="discontinued"),
        row("B", status="draft"),
        row("C", status="active"),
        row("D", status="active"),
    )

    assert results(answer) == [("updated",), ("failed", "invalid_transition"), ("updated",), ("created",)]
    assert counted(supplier) == (0, 3, 1, 0)
    first, _, third, _ = answer.json()["data"]["results"]
    assert told(supplier, first["id"]) == ["product.created", "product.updated", "product.discontinued"]
    assert told(supplier, third["id"]) == ["product.created", "product.updated", "product.activated"]


def test_archived_product_frees_its_sku(api: Api) -> None:
    gone = create(api, supplier_sku="A")
    api.delete(f"/v1/products/{gone['id']}")

    answer = send(api, row("A"))

    assert results(answer) == [("created",)]
    assert answer.json()["data"]["results"][0]["id"] != gone["id"]


@pytest.mark.parametrize(
    ("members", "field", "code"),
    [
        ({"items": []}, "items", "min_length"),
        ({"items": [row(str(n)) for n in range(501)]}, "items", "max_length"),
        ({"items": [row("A")], "mode": "guess"}, "mode", "invalid_choice"),
        ({"items": [row("A")], "dry_run": True}, "dry_run", "unknown_field"),
        ({}, "items", "required"),
    ],
)
def test_body_that_is_no_batch_is_refused(api: Api, members: dict[str, Any], field: str, code: str) -> None:
    answer = api.post("/v1/products/bulk", json=members)

    assert answer.status_code == 400
    assert [(one["field"], one["code"]) for one in answer.json()["errors"]] == [(field, code)]


def test_a_row_is_known_by_a_text_or_not_at_all(api: Api) -> None:
    answer = send(
        api, row("A", supplier_sku={}), row("B", supplier_sku=["B"]), row("C", supplier_sku=True), row("D"), 7
    )

    found = answer.json()["data"]["results"]
    assert [(one["supplier_sku"], one["status"]) for one in found] == [
        (None, "failed"), (None, "failed"), (None, "failed"), ("D", "created"), (None, "failed"),
    ]  # fmt: skip


def test_five_hundred_rows_take_as_many_trips_as_two(api: Api) -> None:
    send(api, row("first"))

    def cost(rows: list[dict[str, Any]]) -> int:
        taken: list[float] = []
        pipeline.observers.append(taken.append)
        try:
            with connection.execute_wrapper(counting(taken)):
                assert {one[0] for one in results(send(api, *rows))} <= {"created", "updated"}
        finally:
            pipeline.observers.remove(taken.append)
        return len(taken)

    few = cost([row("few-1"), row("few-2")])
    many = cost([row(f"many-{n}", description="x" * 3000) for n in range(500)])
    changed = cost([row(f"many-{n}", name="New") for n in range(500)])

    assert many == few
    assert changed <= few + 1
    assert listed(api)[1] == 503


def test_key_replays_the_same_answer(api: Api) -> None:
    sent = {"items": [row("A"), row("B", category="moon-dust")]}
    headers = {"Idempotency-Key": "load-2026-11"}

    first = api.post("/v1/products/bulk", json=sent, headers=headers)
    again = api.post("/v1/products/bulk", json=sent, headers=headers)

    assert again.content == first.content
    assert listed(api)[1] == 1


def test_batches_that_race_judge_their_rows_again(api: Api, supplier: Tenant) -> None:
    start = Barrier(4)

    def load(number: int) -> Any:
        start.wait()
        shared = [row(f"S{n}", name=f"By {number}", packagings=[pack()]) for n in range(400)][
            :: 1 if number % 2 else -1
        ]
        return send_until_judged(api, *shared, row(f"own-{number}", packagings=[pack(GTIN)]))

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(load, range(4)))

    found = [results(answer) for answer in answers]
    assert all({one[0] for one in rows[:400]} <= {"created", "updated", "unchanged"} for rows in found)
    assert sorted(rows[400] for rows in found) == [("created",), *[("failed", "gtin_taken")] * 3]
    assert sum(one == ("created",) for rows in found for one in rows[:400]) == 400
    with tenant_context(supplier.id):
        assert Product.objects.filter(tenant_id=supplier.id).count() == 401
        assert Packaging.objects.filter(tenant_id=supplier.id, state="current").count() == 401
    assert sum(counted(supplier)) == 401


def test_foreign_products_are_out_of_reach(api: Api) -> None:
    other = provision("supplier")
    theirs = create(Api(key=api_key(other), tenant=other), supplier_sku="A", packagings=[pack(GTIN)])

    answer = send(api, row("A", name="Mine", packagings=[pack(GTIN)]))

    assert results(answer) == [("created",)]
    assert read(Api(key=api_key(other), tenant=other), theirs["id"]) == theirs
