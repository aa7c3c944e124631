"""Lists of deliveries of both sides: filters, places, and who sees nothing."""

from typing import Any

import pytest

from tests import factories
from tests.procurement.purchasing.orders import Trade, ward
from tests.suppliers.deliveries.shipping import DELIVERIES, placed, post, prepared, read, shipped
from tests.suppliers.inventory.shelf import refused

Found = tuple[dict[str, Any], dict[str, Any], dict[str, Any]]


@pytest.fixture
def found(trade: Trade) -> Found:
    """Return two deliveries of two orders and places, and a shipment in preparation."""
    trade.shelf.stock(trade.gloves, 5_000)
    first, second = placed(trade, (trade.gloves, 10)), None
    trade_ward, other = trade.ward, ward(trade.buyer, "Ward 9")
    trade.ward = other
    second = placed(trade, (trade.gloves, 5))
    trade.ward = trade_ward
    one = shipped(trade, first, 400, tracking_number="JD014 600", dispatched_at="2026-11-01T08:00:00Z")
    two = shipped(trade, second, 500, dispatched_at="2026-11-05T08:00:00Z")
    return one, two, prepared(trade, first, 100)


def listed(api: Any, query: str = "") -> list[str]:
    answer = api.get(f"{DELIVERIES}{query}")
    assert answer.status_code == 200, answer.content
    return [one["id"] for one in answer.json()["data"]]


def limited(tenant: Any, role: str, place: Any) -> factories.Api:
    """Return a client of a member that is limited to a place."""
    person, _ = factories.member(tenant, [role], location_ids=[place])
    return factories.Api(token=factories.bearer(person), tenant=tenant)


def test_both_sides_list_what_has_left(trade: Trade, found: Found) -> None:
    one, two, _ = (item["id"] for item in found)

    for api, other in (
        (trade.buyer.api, f"supplier_id={trade.shelf.id}"),
        (trade.shelf.api, f"buyer_id={trade.buyer.id}"),
    ):
        assert listed(api) == [two, one]
        assert listed(api, f"?{other}") == [two, one]
        assert listed(api, "?status=in_transit,lost") == [two, one]
        assert listed(api, "?status=delivered") == []
        assert listed(api, f"?purchase_order_id={found[0]['purchase_order_id']}") == [one]
        assert listed(api, "?from=2026-11-02T00:00:00Z") == [two]
        assert listed(api, "?to=2026-11-02T00:00:00Z") == [one]
        assert listed(api, "?search=jd014") == [one]
        assert listed(api, "?search=nothing") == []
        assert listed(api, "?updated_since=2026-01-01T00:00:00Z&sort=delivery_number") == [one, two]
    refused(trade.buyer.api.get(f"{DELIVERIES}?buyer_id={trade.buyer.id}"), 400, "validation_error")
    refused(trade.shelf.api.get(f"{DELIVERIES}?supplier_id={trade.shelf.id}"), 400, "validation_error")


def test_members_with_places_see_what_goes_there_or_left_there(trade: Trade, found: Found) -> None:
    one, two, _ = (item["id"] for item in found)
    clerk = limited(trade.buyer.tenant, "receiving_clerk", trade.ward)
    elsewhere = trade.shelf.place("Hall 7")
    packer = limited(trade.shelf.tenant, "supplier_orders", elsewhere)

    assert listed(clerk) == [one]
    assert clerk.get(f"{DELIVERIES}/{two}").status_code == 404
    assert clerk.post(f"{DELIVERIES}/{two}/exceptions", json={"type": "damaged"}).status_code == 404
    assert (listed(packer), packer.get(f"{DELIVERIES}/{one}").status_code) == ([], 404)
    path = f"/v1/orders/{found[0]['purchase_order_id']}/shipments"
    assert packer.patch(f"{path}/{one}", json={"status": "delivered"}).status_code == 404
    order = trade.shelf.api.get(f"/v1/orders/{found[0]['purchase_order_id']}").json()["data"]
    refused(post(trade, order, 1, api=packer), 400, "validation_error")


def test_strangers_and_the_wrong_side_find_nothing(trade: Trade, found: Found) -> None:
    key = found[0]["id"]
    stranger = factories.as_member(factories.provision("provider"), ["receiving_clerk"])
    assert (listed(stranger), stranger.get(f"{DELIVERIES}/{key}").status_code) == ([], 404)
    assert stranger.post(f"{DELIVERIES}/{key}/exceptions", json={"type": "damaged"}).status_code == 404
    assert trade.shelf.api.post(f"{DELIVERIES}/{key}/exceptions", json={"type": "damaged"}).status_code == 403
    other = factories.as_member(factories.provision("supplier"), ["supplier_admin"])
    path = f"/v1/orders/{found[0]['purchase_order_id']}/shipments/{key}"
    assert other.patch(path, json={"status": "delivered"}).status_code == 404


def test_pages_of_lines(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 5_000)
    order = placed(trade, *[(trade.gloves, 1)] * 3)
    key = shipped(trade, order, 100, 100, 100)["id"]

    for api in (trade.buyer.api, trade.shelf.api):
        page = read(api, key, "?lines_page=2&lines_limit=2")
        assert [one["line_no"] for one in page["lines"]] == [3]
        assert page["lines_next"] is None
        first = read(api, key, "?lines_limit=2")
        assert ([one["line_no"] for one in first["lines"]], first["lines_next"]) == (
            [1, 2], f"{DELIVERIES}/{key}?lines_page=2&lines_limit=2",
        )  # fmt: skip
