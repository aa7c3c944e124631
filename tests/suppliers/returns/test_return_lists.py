"""Lists of returns for both parties, who sees them, messages about them, and what never reaches the other party."""

from typing import Any

import pytest

from core.db import tenant_context
from ledger.public import Event
from suppliers.exceptions.queues import PAGE, QUEUES, counts, rows_of
from suppliers.returns.models import Return, ReturnPrivate
from tests import factories
from tests.procurement.purchasing import orders
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.returns.backs import PATH, Back


def listed(api: Any, query: str = "") -> list[str]:
    """Return the numbers of a list."""
    answer = api.get(f"{PATH}{query}")
    assert answer.status_code == 200, answer.content
    return [one["return_number"] for one in answer.json()["data"]]


def test_both_parties_list_by_the_same_filters(back: Back) -> None:
    first, second = back.brought("cancelled"), back.brought("authorized", 20)
    numbers = [second["return_number"], first["return_number"]]
    buyer, shelf = back.dock.buyer, back.dock.shelf
    for api, own, other, party in (
        (back.api, "buyer_id", "supplier_id", shelf),
        (back.supplier, "supplier_id", "buyer_id", buyer),
    ):
        assert listed(api) == numbers
        assert listed(api, f"?{other}={party.id}&sort=return_number") == numbers[::-1]
        assert listed(api, "?status=authorized,requested") == numbers[:1]
        assert listed(api, f"?purchase_order_id={first['purchase_order_id']}&type=return") == numbers
        assert listed(api, f"?delivery_id={back.delivery}&search={numbers[0].lower()}") == numbers[:1]
        assert listed(api, "?to=2020-01-01") == []
        assert listed(api, "?from=2020-01-01") == numbers
        mine = api.get(f"{PATH}/{second['id']}").json()["data"]  # a copy is written behind its owner's row
        assert listed(api, f"?updated_since={mine['updated_at']}") == numbers[:1]
        refused(api.get(f"{PATH}?{own}={party.id}"), 400, "validation_error")
        refused(api.get(f"{PATH}?colour=red"), 400, "unknown_parameter")
        page = api.get(f"{PATH}?limit=1").json()
        assert (page["has_more"], len(page["data"])) == (True, 1)
        assert listed(api, f"?limit=1&cursor={page['next_cursor']}") == numbers[1:]


def test_each_side_has_its_own_tag(back: Back) -> None:
    one = back.request()
    for api in (back.api, back.supplier):
        answer = api.get(f"{PATH}/{one['id']}")
        tag = answer["ETag"]
        assert api.get(f"{PATH}/{one['id']}", headers={"If-None-Match": tag}).status_code == 304
    path = f"{PATH}/{one['id']}/authorize"
    refused(back.supplier.post(path, json={}, headers={"If-Match": '"9"'}), 409, "version_conflict")
    assert back.supplier.post(path, json={}, headers={"If-Match": '"1"'}).status_code == 200


def test_nobody_else_sees_a_return(back: Back) -> None:
    one = back.request()
    stranger, other = shelves.buyer(), shelves.shelf()
    for api in (stranger.api, other.api):
        assert listed(api) == []
        refused(api.get(f"{PATH}/{one['id']}"), 404, "not_found")
    refused(back.act(one["id"], "cancel", api=stranger.api), 404, "not_found")
    refused(back.act(one["id"], "authorize", api=other.api), 404, "not_found")
    refused(stranger.api.post(PATH, json=back.body()), 400, "validation_error")
    refused(back.supplier.post(PATH, json=back.body()), 403, "insufficient_scope")


def test_a_member_sees_what_was_delivered_within_its_places(back: Back) -> None:
    one = back.request()
    elsewhere = orders.ward(back.dock.buyer, "Ward 9")
    person, _ = factories.member(back.dock.buyer.tenant, ["buyer"], location_ids=(elsewhere,))
    api = factories.Api(token=factories.bearer(person), tenant=back.dock.buyer.tenant)
    assert listed(api) == []
    refused(api.get(f"{PATH}/{one['id']}"), 404, "not_found")
    refused(back.act(one["id"], "cancel", api=api), 404, "not_found")
    error = refused(api.post(PATH, json=back.body()), 400, "validation_error")["errors"][0]
    assert error["code"] == "unknown_delivery"


def test_what_one_side_alone_knows_never_reaches_the_other(back: Back) -> None:
    one = back.brought("completed")
    secret = "6f6e6c79-7468-4973-b769-646573656573"
    with tenant_context(back.dock.shelf.id):
        mine = ReturnPrivate.objects.filter(tenant_id=back.dock.shelf.id, pk=one["id"])
        mine.update(witnesses=[{"line_no": 1, "witness_id": secret}])
        place = str(mine.get().location_id)
    with tenant_context(back.dock.buyer.id):
        levels = [
            movement["level_id"]
            for line in Return.objects.get(tenant_id=back.dock.buyer.id, pk=one["id"]).lines.filter(
                tenant_id=back.dock.buyer.id
            )
            for movement in line.stock
        ]
    assert levels
    seen = {
        side: api.get(f"{PATH}/{one['id']}").content.decode() for side, api in (("b", back.api), ("s", back.supplier))
    }
    assert place in seen["s"]
    assert place not in seen["b"]
    assert secret not in seen["b"]
    assert not any(level in seen["s"] for level in levels)
    for side, words in ((back.dock.buyer, [place, secret]), (back.dock.shelf, levels)):
        with tenant_context(side.id):
            kept = Event.objects.filter(tenant_id=side.id, resource_id=one["id"])
            text = " ".join(f"{row.data} {row.figures}" for row in kept)
        assert not any(word in text for word in words)


@pytest.mark.parametrize("side", ["buyer", "supplier"])
def test_both_sides_write_about_a_return(back: Back, side: str) -> None:
    one = back.request()
    api = {
        "buyer": back.api,
        "supplier": back.supplier,
    }[side]
    body = {"resource": {"type": "return", "id": one["id"]}, "body": "When will they come?"}
    answer = api.post("/v1/notifications", json=body)
    assert answer.status_code == 201, answer.content


def test_staff_see_what_waits_for_an_inspection(back: Back) -> None:
    queue = next(one for one in QUEUES if one.name == "return_to_inspect")
    ((_, before),) = counts([queue])
    one = back.brought("received")
    ((_, after),) = counts([queue])
    assert after == before + 1
    shown = [row for place in range(0, after, PAGE) for row in rows_of(queue, place)]
    assert one["id"] in [str(row.row_id) for row in shown if row.tenant_id == back.dock.shelf.id]
