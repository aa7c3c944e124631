"""A recall finds what was delivered: notices on the lines, the buyer's lots, and how much of it is left."""

from tests.suppliers.deliveries.receiving.arrivals import Dock
from tests.suppliers.inventory import recalls
from tests.suppliers.inventory.recalls import facts, recall, walk
from tests.suppliers.inventory.shelf import refused


def test_a_recall_walks_on_to_what_was_delivered_and_to_what_is_still_there(dock: Dock) -> None:
    order = dock.order()
    first = dock.ship(order, {"units": 60, "lot": "L1"})
    second = dock.ship(order, {"units": 40, "lot": "L1"})
    dock.receive(first, {"accepted_quantity": 50, "short_quantity": 10})
    found = recall(dock.shelf, "L1")
    assert found["recall"]["progress"]["buyers_total"] == 1
    assert walk(dock.shelf) == 1
    for key in (first, second):
        (line,) = dock.lines(key)
        assert line.recall_notice
        assert line.recall_notice["recall_class"] == "II"
        assert dock.copy(key).lines[0]["recall_notice"] == line.recall_notice
    assert recalls.lot_of(dock.buyer, "L1").status == "recalled"
    (told,) = [one for one in facts(dock.buyer) if one.type == "lot.recalled"]
    assert (told.data["received"], told.data["still_held"]) == (50, 50)
    assert recalls.received(dock.buyer)[0].representation["received"] == 50
    refused(dock.post(second, {"accepted_quantity": 1}), 409, "lot_recalled")
    dock.receive(second, {"rejected_quantity": 40, "rejection_reason": "recalled"})
    assert dock.delivery(second).status == "completed"


def test_goods_on_their_way_concern_their_buyer_and_a_withdrawal_takes_the_notice_away(dock: Dock) -> None:
    delivery = dock.ship(dock.order(), {"units": 100, "lot": "L1"})
    recall(dock.shelf, "L1")
    walk(dock.shelf)
    assert dock.lines(delivery)[0].recall_notice is not None
    answer = recalls.change(dock.shelf, "L1", status="quarantined")
    assert answer.status_code == 200, answer.content
    walk(dock.shelf)
    assert dock.lines(delivery)[0].recall_notice is None
    assert dock.copy(delivery).lines[0]["recall_notice"] is None
