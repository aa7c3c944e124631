"""Searching deliveries on both sides: by the words that each side reads, kept with the delivery, and by the other party's name."""

from importlib import import_module
from typing import Any
from urllib.parse import urlencode

from django.db import connections

from organizations.models import Tenant
from tests.factories import Api
from tests.procurement.purchasing.orders import trade
from tests.suppliers.deliveries.shipping import DELIVERIES, patch, placed, prepared, shipped

_WORDS = (
    "SELECT tenant_id, word, document_id, party_id FROM suppliers_documentword WHERE tenant_id = ANY(%s) AND kind = 'delivery'"
    " ORDER BY 1, 2, 3"
)


def found(api: Api, search: str, **more: str) -> list[str]:
    """Return the numbers of the deliveries that a search finds."""
    answer = api.get(f"{DELIVERIES}?{urlencode({'search': search, **more})}")
    assert answer.status_code == 200, answer.content
    return [row["delivery_number"] for row in answer.json()["data"]]


def rename(tenant: Any, name: str) -> None:
    Tenant.objects.using("owner").filter(pk=tenant.pk).update(name=name)


def test_both_sides_find_by_numbers_and_names_of_now() -> None:
    one = trade()  # tenants of its own, since they are renamed
    rename(one.buyer.tenant, "Klinikum Österreich")
    rename(one.shelf.tenant, "Möller & Söhne")
    one.shelf.stock(one.masks, 50)
    order = placed(one, (one.masks, 20))
    first = shipped(one, order, 5, tracking_number="JD014-600")
    second = shipped(one, order, 5)
    prepared(one, order, 5, tracking_number="JD014-700")
    numbers = [second["delivery_number"], first["delivery_number"]]
    sides = ((one.buyer.api, "moller", "osterreich"), (one.shelf.api, "osterreich", "moller"))

    for api, other, own in sides:
        assert found(api, "jd014") == found(api, f"600 {other}") == [first["delivery_number"]]
        assert found(api, "jd014 700") == found(api, own) == found(api, f"jd014 {own}") == []
        assert found(api, other) == found(api, "PO 00000") == found(api, f"so-000001 {other[:4]}") == numbers
        assert found(api, other, status="lost") == []
        assert found(api, "000002") == [second["delivery_number"]]
    assert patch(one, order, first["id"], tracking_number="Zeta 9").status_code == 200
    rename(one.shelf.tenant, "Northwind")
    for api, _, _ in sides:
        assert (found(api, "jd014"), found(api, "zeta")) == ([], [first["delivery_number"]])
    assert (found(one.buyer.api, "moller"), found(one.buyer.api, "northw")) == ([], numbers)
    stranger = trade()
    assert found(stranger.buyer.api, "zeta") == found(stranger.shelf.api, "zeta") == []
    answer = one.buyer.api.get(f"{DELIVERIES}?search=%2B")
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "search")


def test_the_migration_fills_in_what_the_triggers_keep() -> None:
    one = trade()
    one.shelf.stock(one.masks, 50)
    shipped(one, placed(one, (one.masks, 20)), 5, tracking_number="Straße 9 ½")
    both = [one.buyer.id, one.shelf.id]
    fill = import_module("suppliers.migrations.0045_dates_files_words_of_orders").FILL
    with connections["owner"].cursor() as cursor:
        cursor.execute(_WORDS, [both])
        kept = cursor.fetchall()
        cursor.execute("DELETE FROM suppliers_documentword WHERE tenant_id = ANY(%s) AND kind = 'delivery'", [both])
        cursor.execute(fill)
        cursor.execute(_WORDS, [both])
        filled = cursor.fetchall()

    assert filled == kept
    assert {word for _, word, *_ in kept} >= {"strasse", "9", "1", "2", "po", "so", "000001"}
    assert {(tenant, party) for tenant, *_, party in kept} == {tuple(both), tuple(both[::-1])}
