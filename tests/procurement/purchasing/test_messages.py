"""Messages about an order: its parties write to each other from its sending on."""

from typing import Any

from tests import factories
from tests.factories import Api
from tests.procurement.purchasing.orders import Trade, submitted, ward
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.inventory.shelf import refused

PATH = "/v1/notifications"


def write(api: Any, order: dict[str, Any], body: str = "When will it come?") -> Any:
    return api.post(PATH, json={"resource": {"type": "order", "id": order["id"]}, "body": body})


def texts(api: Any) -> list[str]:
    answer = api.get(f"{PATH}?kind=message")
    assert answer.status_code == 200, answer.content
    return [one["body"] for one in answer.json()["data"]["items"]]


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
    people = [
        factories.member(trade.buyer.tenant, ["buyer"], location_ids=[place])[0] for place in (elsewhere, trade.ward)
    ]
    away, there = (Api(token=factories.bearer(one), tenant=trade.buyer.tenant) for one in people)

    refused(write(away, order), 404, "not_found")
    assert write(there, order).status_code == 201
