"""Messages about an order: its parties write to each other from its sending on."""

from typing import Any

from tests import factories
from tests.factories import Api
from tests.procurement.purchasing.orders import PATH as ORDERS
from tests.procurement.purchasing.orders import Trade, submitted, ward
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.notifications.inbox import raised
from tests.suppliers.orders.changes.proposals import decide, done, propose

PATH = "/v1/notifications"


def write(api: Any, order: dict[str, Any], body: str = "When will it come?") -> Any:
    return api.post(PATH, json={"resource": {"type": "order", "id": order["id"]}, "body": body})


def texts(api: Any) -> list[str]:
    answer = api.get(f"{PATH}?kind=message")
    assert answer.status_code == 200, answer.content
    return [one["body"] for one in answer.json()["data"]["items"]]


def members(trade: Trade, *places: Any) -> list[Api]:
    """Return clients of members of the buyer, each limited to a place."""
    people = [factories.member(trade.buyer.tenant, ["buyer"], location_ids=[place])[0] for place in places]
    return [Api(token=factories.bearer(one), tenant=trade.buyer.tenant) for one in people]


def test_the_parties_of_an_order_write_to_each_other(trade: Trade) -> None:
    buyer, order = trade.api, submitted(trade)

    asked = write(buyer, order)
    answered = write(trade.shelf.api, order, "On Monday.")

    assert (asked.status_code, answered.status_code) == (201, 201), (asked.content, answered.content)
    assert asked.json()["data"]["resource"] == {"type": "order", "id": order["id"]}
    assert {one.json()["data"]["thread_id"] for one in (asked, answered)} == {order["id"]}
    assert texts(buyer) == texts(trade.shelf.api) == ["On Monday.", "When will it come?"]


def test_nobody_writes_about_an_order_that_the_other_side_does_not_see(trade: Trade) -> None:
    buyer, draft = trade.api, trade.draft()
    order = submitted(trade)

    refused(write(buyer, draft), 404, "not_found")
    refused(write(trade.shelf.api, draft), 404, "not_found")
    refused(write(shelves.shelf().api, order), 404, "not_found")
    assert texts(buyer) == texts(trade.shelf.api) == []


def test_a_member_of_another_place_does_not_see_the_order(trade: Trade) -> None:
    order, elsewhere = submitted(trade), ward(trade.buyer, "Ward 9")
    away, there = members(trade, elsewhere, trade.ward)

    refused(write(away, order), 404, "not_found")
    assert write(there, order).status_code == 201


def test_messages_go_with_an_order_that_moves(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 1_000)
    order, elsewhere = submitted(trade), ward(trade.buyer, "Ward 9")
    before, after = members(trade, trade.ward, elsewhere)
    first = write(before, order, "first").json()["data"]
    assert (first["location_id"], first["thread_total"]) == (str(trade.ward), 1)
    refused(after.get(f"{PATH}/{first['id']}"), 404, "not_found")

    done(propose(trade, order["id"], delivery_location_id=str(elsewhere)))
    done(decide(trade, order["id"], "accept"))
    assert write(trade.shelf.api, order, "second").status_code == 201

    assert (texts(before), texts(after)) == ([], ["second", "first"])
    refused(before.get(f"{PATH}/{first['id']}"), 404, "not_found")
    refused(before.patch(f"{PATH}/{first['id']}", json={"read": True}), 404, "not_found")
    found = after.patch(f"{PATH}/{first['id']}", json={"read": True}).json()["data"]
    assert ([one["body"] for one in found["thread"]], found["thread_total"]) == (["first", "second"], 2)
    assert found["location_id"] == str(elsewhere)


def test_alerts_go_with_a_draft_that_moves(trade: Trade) -> None:
    draft, elsewhere = trade.draft(), ward(trade.buyer, "Ward 9")
    before, after = members(trade, trade.ward, elsewhere)
    told = {"resource_type": "purchase_order", "location_id": trade.ward}
    alert = f"{PATH}/{raised(trade.buyer, 'approval_overdue', draft['id'], **told).id}"
    tag = trade.api.get(alert)["ETag"]

    moved = trade.api.patch(f"{ORDERS}/{draft['id']}", json={"delivery_location_id": str(elsewhere)})

    assert moved.status_code == 200, moved.content
    refused(before.get(alert), 404, "not_found")
    refused(before.patch(alert, json={"acknowledged": True}), 404, "not_found")
    assert [one.get(f"{PATH}/alerts").json()["data"]["total"] for one in (before, after)] == [0, 1]
    assert (trade.api.get(alert)["ETag"] == tag, after.patch(alert, json={"acknowledged": True}).status_code) == (
        False,
        200,
    )
