"""Searching orders on both sides: by the words that each side reads, kept with the order, and by the other party's name of now."""

from importlib import import_module
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connections

from core.db import tenant_context
from organizations.models import Tenant
from suppliers.models import DocumentWord, ReceivedOrder, ReceivedOrderCounter
from tests import factories
from tests.factories import Api
from tests.procurement.purchasing.orders import PATH, Trade, submitted, trade, ward
from tests.suppliers.orders.answers import ORDERS

_WORDS = "SELECT tenant_id, kind, word, document_id, party_id FROM suppliers_documentword WHERE tenant_id = ANY(%s) ORDER BY 1, 2, 3, 4"


@pytest.fixture
def one() -> Trade:
    """Return a supplier and a buyer of its own, since tenants are renamed."""
    return trade()


def bought(api: Api, search: str, **more: str) -> list[str]:
    """Return the buyer's numbers of the purchase orders that a search finds."""
    answer = api.get(f"{PATH}?{urlencode({'search': search, **more})}")
    assert answer.status_code == 200, answer.content
    return [row["po_number"] for row in answer.json()["data"]]


def received(api: Api, search: str, **more: str) -> list[str]:
    """Return the supplier's numbers of the orders that a search finds; the total agrees."""
    answer = api.get(f"{ORDERS}?{urlencode({'search': search, **more})}")
    assert answer.status_code == 200, answer.content
    data = answer.json()["data"]
    assert data["total"] == len(data["items"])
    return [row["order_number"] for row in data["items"]]


def rename(tenant: Any, name: str) -> None:
    Tenant.objects.using("owner").filter(pk=tenant.pk).update(name=name)


def test_each_side_finds_an_order_by_what_it_reads_itself(one: Trade) -> None:
    rename(one.buyer.tenant, "Klinikum Österreich")
    rename(one.shelf.tenant, "Möller & Söhne")
    sent = submitted(one, external_reference="Requisition zeta-77")
    draft = one.draft(external_reference="zeta 78")
    supplier = one.shelf.api

    assert bought(one.api, "zeta") == [draft["po_number"], sent["po_number"]]
    assert bought(one.api, "ZETA 77 requi") == [sent["po_number"]]
    assert bought(one.api, "so-000001") == [sent["po_number"]]
    assert bought(one.api, "moller 000002") == [draft["po_number"]]
    assert bought(one.api, "möller sohne") == [draft["po_number"], sent["po_number"]]
    assert bought(one.api, "klinikum") == bought(one.api, "eta") == bought(one.api, "möller zeta 79") == []
    assert received(supplier, "zeta") == received(supplier, "requisition") == received(supplier, "moller") == []
    assert received(supplier, "000001 oster") == received(supplier, "po 00000") == ["SO-000001"]
    assert received(supplier, draft["po_number"]) == []
    assert received(supplier, "osterreich", status="sent") == ["SO-000001"]
    assert received(supplier, "osterreich", status="accepted") == []


def test_words_follow_the_order_and_names_those_of_now(one: Trade) -> None:
    rename(one.shelf.tenant, "Northwind Supplies")
    draft = one.draft(external_reference="alpha")
    assert bought(one.api, "alpha") == bought(one.api, "northwind") == [draft["po_number"]]

    etag = one.api.get(f"{PATH}/{draft['id']}").headers["ETag"]
    answer = one.api.patch(f"{PATH}/{draft['id']}", json={"external_reference": "beta"}, headers={"If-Match": etag})
    assert answer.status_code == 200, answer.content
    rename(one.shelf.tenant, "Southwind Supplies")

    assert bought(one.api, "alpha") == bought(one.api, "northwind") == []
    assert bought(one.api, "beta southwind") == [draft["po_number"]]
    with tenant_context(one.buyer.id):
        assert not DocumentWord.objects.filter(tenant_id=one.buyer.id, word="alpha").exists()


def test_orders_of_others_are_not_found(one: Trade) -> None:
    other = trade()
    mine, theirs = submitted(one, external_reference="gamma"), submitted(other, external_reference="gamma")

    assert mine["po_number"] == theirs["po_number"] == "PO-000001"
    for api in (one.api, other.api):
        answer = api.get(f"{PATH}?search=gamma%20po").json()["data"]
        assert [row["id"] for row in answer] == [(mine if api is one.api else theirs)["id"]]
    with tenant_context(one.shelf.id):
        assert {str(row.document_id) for row in DocumentWord.objects.all()} == {mine["id"]}


def test_members_of_a_place_find_what_is_delivered_there(one: Trade) -> None:
    away = ward(one.buyer, "Ward 9")
    here, there = (
        one.draft(external_reference="delta"),
        one.draft(external_reference="delta", delivery_location_id=str(away)),
    )
    person, _ = factories.member(one.buyer.tenant, ["buyer"], location_ids=[away])
    limited = Api(token=factories.bearer(person), tenant=one.buyer.tenant)

    assert bought(one.api, "delta") == [there["po_number"], here["po_number"]]
    assert bought(limited, "delta") == [there["po_number"]]


def test_a_search_goes_on_from_page_to_page(one: Trade) -> None:
    numbers = [one.draft(external_reference="epsilon")["po_number"] for _ in range(5)]
    one.draft()
    found, query = [], {"search": "epsilon", "limit": "2", "sort": "po_number"}
    for _ in range(3):
        page = one.api.get(f"{PATH}?{urlencode(query)}").json()
        found += [row["po_number"] for row in page["data"]]
        query["cursor"] = page["next_cursor"]

    assert found == numbers
    assert not page["has_more"]


def test_the_migration_fills_in_what_the_triggers_keep(one: Trade) -> None:
    submitted(one, external_reference="Straße 9 äöü ＡＢ_c ½")
    one.draft(external_reference="x" * 120)
    both, owner = [one.buyer.id, one.shelf.id], connections["owner"]
    fill = import_module("suppliers.migrations.0036_words_of_orders").FILL
    with owner.cursor() as cursor:
        cursor.execute(_WORDS, [both])
        kept = cursor.fetchall()
        cursor.execute("DELETE FROM suppliers_documentword WHERE tenant_id = ANY(%s)", [both])
        cursor.execute(fill)
        cursor.execute(_WORDS, [both])
        filled = cursor.fetchall()
    owner.close()

    assert filled == kept
    words = {word for tenant, kind, word, *_ in kept if kind == "purchase_order"}
    assert words == {"po", "000001", "000002", "so", "strasse", "9", "aou", "ab", "c", "1", "2", "x" * 64}
    assert {word for _, kind, word, *_ in kept if kind == "order"} == {"so", "po", "000001"}


def test_the_total_is_counted_with_each_order_that_is_sent(one: Trade) -> None:
    one.draft()
    sent = [submitted(one)["id"] for _ in range(3)]
    withdrawn = one.api.post(f"{PATH}/{sent[0]}/cancel", json={"reason": "Not needed."})
    assert withdrawn.status_code == 200, withdrawn.content

    with tenant_context(one.shelf.id):
        stored = ReceivedOrder.objects.filter(tenant_id=one.shelf.id).count()
        counted = ReceivedOrderCounter.objects.get(tenant_id=one.shelf.id).orders
    page = one.shelf.api.get(f"{ORDERS}?limit=2").json()["data"]
    assert (stored, counted, page["total"]) == (3, 3, 3)
    assert one.shelf.api.get(f"{ORDERS}?status=sent").json()["data"]["total"] == 2
    assert trade().shelf.api.get(ORDERS).json()["data"]["total"] == 0
