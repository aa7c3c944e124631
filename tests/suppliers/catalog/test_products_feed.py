"""Who asks by `updated_since` for what changed since the newest product he has seen misses none, however slow a writer is."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection, transaction

from core.db import tenant_context
from core.ids import uuid7
from organizations.models import Tenant
from suppliers.catalog.models import Product
from tests.factories import Api, api_key, provision
from tests.races import await_waiter, race
from tests.suppliers.products import body, create


def twin(api: Api) -> Api:
    """Return another client of the same caller, for another thread."""
    found = Api()
    found.headers = dict(api.headers)
    return found


def elsewhere(work: Any) -> Any:
    """Do something on a connection of its own, and return what it returns."""
    (found,) = race(work)
    if isinstance(found, Exception):
        raise found
    return found


def skus(api: Api, query: str) -> tuple[list[str], int]:
    """Return what a client of its own connection is listed, and the total."""
    answer = elsewhere(lambda: twin(api).get(f"/v1/products?{query}"))
    assert answer.status_code == 200, answer.content
    data = answer.json()["data"]
    return [one["supplier_sku"] for one in data["items"]], data["total"]


@contextmanager
def slow_create(supplier: Tenant, api: Api, like: dict[str, Any]) -> Iterator[list[Any]]:
    """A create that has read its instant and waits for the SKU, which nobody gets, as long as the `with` lasts."""
    answers: list[Any] = []

    def write() -> None:
        answers.append(twin(api).post("/v1/products", json=body(supplier_sku="SLOW")))
        connection.close()

    thread = threading.Thread(target=write)
    with tenant_context(supplier.id):
        row = Product.objects.get(pk=like["id"])
        row.pk, row.supplier_sku = uuid7(), "SLOW"
        row.save(force_insert=True)
        thread.start()
        await_waiter()
        try:
            yield answers
        finally:
            transaction.set_rollback(True)
    thread.join()


@pytest.mark.parametrize("order", ["", "&sort=updated_at", "&sort=-updated_at"])
def test_feed_ends_at_the_oldest_write_that_is_open(supplier: Tenant, api: Api, order: str) -> None:
    first = create(api, supplier_sku="FIRST")
    feed = f"updated_since={first['updated_at']}{order}"

    with slow_create(supplier, api, first) as answers:
        later = elsewhere(lambda: create(twin(api), supplier_sku="LATER"))
        assert skus(api, feed) == (["FIRST"], 1)
        assert skus(api, "sort=updated_at") == (["FIRST"], 1)
        assert skus(api, "sort=created_at") == (["FIRST", "LATER"], 2)
        assert not answers

    (slow,) = answers
    assert slow.status_code == 201, slow.content
    made = slow.json()["data"]
    assert first["updated_at"] <= made["updated_at"] <= later["updated_at"]
    found, total = skus(api, feed)
    assert (sorted(found), total) == (["FIRST", "LATER", "SLOW"], 3)


def test_own_writes_are_in_the_feed_at_once_and_other_tenants_hold_nobody_up(supplier: Tenant, api: Api) -> None:
    other = provision("supplier")
    other_api = Api(key=api_key(other), tenant=other)
    mine = create(other_api, supplier_sku="MINE")
    with slow_create(supplier, api, create(api, supplier_sku="FIRST")):
        elsewhere(lambda: create(twin(other_api), supplier_sku="NEXT"))
        found, total = skus(other_api, f"updated_since={mine['updated_at']}&sort=updated_at")
    assert (found, total) == (["MINE", "NEXT"], 2)
