"""What receipts add to the roll-ups, and the rate of returns."""

from tests.suppliers.analytics.figures import kept, metric, values
from tests.suppliers.deliveries.receiving import arrivals
from tests.suppliers.returns import backs


def test_receipts_count_for_the_rate_of_returns_by_place() -> None:
    dock = arrivals.dock()
    delivery = dock.ship(dock.order(), {"units": 100, "lot": "L1"})
    api = dock.shelf.api
    assert values(api, "return_rate") == [None, None, None]
    dock.receive(delivery, {"accepted_quantity": 60, "rejected_quantity": 10, "rejection_reason": "damaged"})
    dock.receive(delivery, {"accepted_quantity": 20, "short_quantity": 10})
    assert [row[:3] for row in kept(dock.shelf.id) if row[0] == "received"] == [("received", 2, 80)]
    assert values(api, "return_rate") == [None, "0.0000", None]
    found = metric(api, "return_rate", group_by="location")["buckets"]
    assert [one["group"] for one in found] == [str(dock.trade.ward)] * 3


def test_goods_count_as_returned_once_they_have_left_their_buyer() -> None:
    back = backs.back()
    api = back.supplier
    rates = [values(api, "return_rate")[1]]
    one, other = back.request(10), back.request(20)
    rates.append(values(api, "return_rate")[1])
    back.done(other["id"], "authorize", decision="declined", reason="Not ours")
    for action, given in (("authorize", {}), ("ship", {}), ("receive", {"location_id": str(back.apart)})):
        back.done(one["id"], action, **given)
        rates.append(values(api, "return_rate")[1])
    entries = [back.disposed(one, "not_received", quantity=3), back.disposed(one, "destroy")]
    back.done(one["id"], "inspect", lines=entries)
    rates.append(values(api, "return_rate")[1])
    assert rates == ["0.0000", "0.0000", "0.0000", "0.1000", "0.1000", "0.0700"]
