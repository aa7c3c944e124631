"""For which day lines are promised, and when the rest of them comes: dates follow what becomes of a line."""

from datetime import UTC, date, datetime, timedelta

from core.clock import now
from core.db import tenant_context
from ledger.models import Event
from organizations.models import Tenant
from suppliers.orders.backorders import allocate_backorders, follow_stock
from suppliers.orders.models import PurchaseOrderLine, ReceivedOrderLine
from tests.procurement.purchasing.orders import Trade, act, price, submitted
from tests.suppliers.orders.answers import accepted, counters, held, seen
from tests.suppliers.orders.changes.proposals import confirm, counter, decide, done, items, propose, respond, sent
from tests.suppliers.orders.test_stock_of_orders import counted

SOON, LATER = "2030-01-02", "2030-02-01"


def dates(trade: Trade, key: str) -> list[tuple[str | None, str | None]]:
    """Return of each line for which day it is promised and when its rest comes, which both sides read alike."""
    mine, theirs = trade.read(key)["lines"], seen(trade, key)["items"]
    found = [(one["promised_date"], one["backorder_date"]) for one in mine]
    assert found == [(one["promised_date"], one["backorder_date"]) for one in theirs]
    return found


def test_the_day_of_what_comes_later_is_kept(trade: Trade) -> None:
    trade.shelf.stock(trade.masks, 10)
    order = sent(trade, (trade.masks, 10))
    (line,) = items(trade, order["id"])
    done(counter(
        trade, order["id"],
        {"item_id": line, "accepted_quantity": 6, "backorder_quantity": 4, "promised_date": SOON, "backorder_date": LATER},
    ))  # fmt: skip
    (change,) = seen(trade, order["id"])["change"]["lines"]
    assert (change["proposed"]["promised_date"], change["backorder_date"]) == (SOON, LATER)
    assert dates(trade, order["id"]) == [(None, None)]

    done(confirm(trade, order["id"], "accept"))

    assert dates(trade, order["id"]) == [(SOON, LATER)]
    assert counters(trade) == [(10, 6, 4, 0)]
    with tenant_context(trade.shelf.id):
        (indexed,) = ReceivedOrderLine.objects.filter(tenant_id=trade.shelf.id)
    assert indexed.backorder_date == date.fromisoformat(LATER)


def test_what_is_put_off_waits_for_its_day(trade: Trade) -> None:
    trade.shelf.stock(trade.masks, 10)
    order = sent(trade, (trade.masks, 10), requested_delivery_date=SOON)
    (line,) = items(trade, order["id"])
    accepted(trade, order["id"])
    day = now() + timedelta(days=3)
    done(respond(trade, order["id"], line, backorder_quantity=10, backorder_date=f"{day:%Y-%m-%d}"))
    assert dates(trade, order["id"]) == [(None, f"{day:%Y-%m-%d}")]
    assert (counters(trade), held(trade)) == ([(10, 0, 10, 0)], [(10, 0)])

    for early in (now(), day - timedelta(days=2)):
        allocate_backorders(at=early)
        assert (counters(trade), held(trade)) == ([(10, 0, 10, 0)], [(10, 0)])
    allocate_backorders(at=day + timedelta(days=1))

    assert (counters(trade), held(trade)) == ([(10, 10, 0, 0)], [(10, 10)])
    assert dates(trade, order["id"]) == [(f"{day:%Y-%m-%d}", None)]
    with tenant_context(trade.buyer.id):
        stored = PurchaseOrderLine.objects.get(tenant_id=trade.buyer.id)
    assert stored.first_promised_date == date.fromisoformat(SOON)


def test_further_stock_goes_to_what_is_put_off(trade: Trade) -> None:
    trade.shelf.stock(trade.masks, 10)
    order = sent(trade, (trade.masks, 10))
    (line,) = items(trade, order["id"])
    accepted(trade, order["id"])
    done(respond(trade, order["id"], line, backorder_quantity=10, backorder_date=LATER))

    assert counted(trade, 9).status_code == 201
    follow_newest(trade, "stock.adjusted")  # one unit was lost
    assert counters(trade) == [(10, 0, 10, 0)]
    assert counted(trade, 12, expected_quantity=9).status_code == 201
    follow_newest(trade, "stock.adjusted")

    assert (counters(trade), held(trade)) == ([(10, 10, 0, 0)], [(12, 10)])


def test_what_waits_waits_for_goods_that_last(trade: Trade) -> None:
    serum = trade.shelf.product(name="Serum", min_remaining_shelf_life_days=100)
    trade.shelf.offer(serum, currency="EUR", tiers=price((1, "2.00")))
    order = submitted(trade, (serum, 5))
    accepted(trade, order["id"], allow_partial=True)

    for lot, days, taken in (("SHORT", 20, [(5, 0)]), ("LONG", 300, [(5, 0), (5, 5)])):
        trade.shelf.stock(serum, 5, lot=lot, expiry=date.today() + timedelta(days=days))
        allocate_backorders(at=now())
        assert held(trade) == taken

    assert counters(trade) == [(5, 5, 0, 0)]


def follow_newest(trade: Trade, kind: str) -> None:
    """Let orders follow the newest fact of a type of the supplier, as the relay does."""
    with tenant_context(trade.shelf.id):
        event = Event.objects.filter(tenant_id=trade.shelf.id, type=kind).latest("occurred_at", "id")
    follow_stock(event)


def test_the_day_is_the_supplier_s(trade: Trade) -> None:
    Tenant.objects.filter(pk=trade.shelf.id).update(time_zone="Pacific/Auckland")  # 13 hours ahead in January
    trade.shelf.stock(trade.masks, 10)
    order = sent(trade, (trade.masks, 10))
    (line,) = items(trade, order["id"])
    accepted(trade, order["id"])
    done(respond(trade, order["id"], line, backorder_quantity=10, backorder_date=SOON))

    allocate_backorders(at=datetime(2030, 1, 1, 10, 59, tzinfo=UTC))
    assert counters(trade) == [(10, 0, 10, 0)]
    allocate_backorders(at=datetime(2030, 1, 1, 11, 0, tzinfo=UTC))
    assert counters(trade) == [(10, 10, 0, 0)]


def test_what_waits_for_a_day_leaves_its_stock_to_others(trade: Trade) -> None:
    trade.shelf.stock(trade.masks, 4)
    first, second = (sent(trade, (trade.masks, 4))["id"] for _ in range(2))
    accepted(trade, first)
    accepted(trade, second, allow_partial=True)
    (line,) = items(trade, first)
    done(respond(trade, first, line, backorder_quantity=4, backorder_date=LATER))

    allocate_backorders(at=now())

    assert counters(trade) == [(4, 0, 4, 0), (4, 4, 0, 0)]
    done(respond(trade, first, line, backorder_quantity=4))  # as soon as there is stock
    assert dates(trade, first) == [(None, None)]
    assert counted(trade, 8, expected_quantity=4).status_code == 201
    allocate_backorders(at=now())
    assert counters(trade) == [(4, 4, 0, 0), (4, 4, 0, 0)]


def test_what_breaks_waits_for_stock_alone(trade: Trade) -> None:
    trade.shelf.stock(trade.masks, 10)
    order = sent(trade, (trade.masks, 10), requested_delivery_date=SOON)
    (line,) = items(trade, order["id"])
    accepted(trade, order["id"])
    done(respond(trade, order["id"], line, backorder_quantity=4, backorder_date=LATER))
    assert dates(trade, order["id"]) == [(SOON, LATER)]

    assert counted(trade, 2).status_code == 201

    assert counters(trade) == [(10, 0, 10, 0)]
    assert dates(trade, order["id"]) == [(SOON, None)]
    allocate_backorders(at=now())
    assert counters(trade) == [(10, 2, 8, 0)]


def test_a_line_that_is_cut_wholly_promises_no_day(trade: Trade) -> None:
    trade.shelf.stock(trade.masks, 10)
    trade.shelf.stock(trade.gloves, 1_000)
    order = sent(trade, (trade.masks, 5), (trade.gloves, 2), (trade.masks, 3), requested_delivery_date=SOON)
    accepted(trade, order["id"])
    assert dates(trade, order["id"]) == [(SOON, None)] * 3

    done(propose(trade, order["id"], lines=[{"line_no": 1, "cancel_quantity": 5}, {"line_no": 2, "quantity": 1}]))
    first, second = seen(trade, order["id"])["change"]["lines"]
    assert (first["proposed"]["promised_date"], second["proposed"]["promised_date"]) == (None, SOON)
    done(decide(trade, order["id"], "accept"))
    assert dates(trade, order["id"]) == [(None, None), (SOON, None), (SOON, None)]

    done(respond(trade, order["id"], items(trade, order["id"])[2], cancel_quantity=3))
    assert dates(trade, order["id"]) == [(None, None), (SOON, None), (None, None)]
    assert act(trade, order["id"], "cancel").status_code == 200
    assert dates(trade, order["id"]) == [(None, None)] * 3


def test_another_day_that_the_supplier_accepts_is_promised(trade: Trade) -> None:
    trade.shelf.stock(trade.masks, 10)
    order = sent(trade, (trade.masks, 5), (trade.masks, 3), requested_delivery_date=SOON)
    accepted(trade, order["id"])
    moved = "2030-03-01"
    done(propose(trade, order["id"], lines=[{"line_no": 1, "requested_date": moved}], requested_delivery_date=LATER))
    (line,) = seen(trade, order["id"])["change"]["lines"]
    assert (line["current"]["promised_date"], line["proposed"]["promised_date"]) == (SOON, moved)

    done(decide(trade, order["id"], "decline"))
    assert dates(trade, order["id"]) == [(SOON, None)] * 2
    done(propose(trade, order["id"], lines=[{"line_no": 1, "requested_date": moved}], requested_delivery_date=LATER))
    done(decide(trade, order["id"], "accept"))

    assert dates(trade, order["id"]) == [(moved, None), (LATER, None)]
    done(respond(trade, order["id"], items(trade, order["id"])[1], promised_date="2030-04-01"))
    done(propose(trade, order["id"], lines=[{"line_no": 2, "quantity": 2}]))
    done(decide(trade, order["id"], "accept"))
    assert dates(trade, order["id"]) == [(moved, None), ("2030-04-01", None)]  # nobody has asked for another day


def test_what_comes_later_wholly_is_promised_once_it_is_there(trade: Trade) -> None:
    order = sent(trade, (trade.masks, 5), requested_delivery_date=SOON)
    accepted(trade, order["id"], allow_partial=True)
    assert (dates(trade, order["id"]), counters(trade)) == ([(None, None)], [(5, 0, 5, 0)])

    trade.shelf.stock(trade.masks, 3)
    allocate_backorders(at=now())

    assert (dates(trade, order["id"]), counters(trade)) == ([(SOON, None)], [(5, 3, 2, 0)])
