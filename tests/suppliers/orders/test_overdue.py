"""Orders that were not answered in time: one alert for each party, which ends with the answer."""

from datetime import timedelta

from core.clock import now
from core.db import tenant_context
from ledger.public import Event
from suppliers.notifications.models import Notification
from suppliers.notifications.overdue import ANSWERED, follow_answers
from suppliers.orders.overdue import tell_overdue_orders
from tests.procurement.purchasing.orders import Trade, submitted
from tests.suppliers.orders.answers import accepted, answer


def alerts(trade: Trade) -> list[list[tuple[str, bool]]]:
    """Return of the buyer and the supplier what each alert is about, and whether it is open."""
    found = []
    for tenant in (trade.buyer.tenant, trade.shelf.tenant):
        with tenant_context(tenant.id):
            rows = Notification.objects.filter(tenant_id=tenant.id, type="acceptance_overdue").order_by("id")
            found.append([(row.title, row.closed_at is None) for row in rows])
    return found


def test_both_are_alerted_once_until_it_is_answered(trade: Trade) -> None:
    trade.shelf.stock(trade.masks, 5)
    key = submitted(trade, (trade.masks, 5))["id"]
    late = now() + timedelta(hours=49)
    tell_overdue_orders(at=now() + timedelta(hours=47))
    assert alerts(trade) == [[], []]

    tell_overdue_orders(at=late)
    tell_overdue_orders(at=late)

    assert alerts(trade) == [[("Not answered in time: PO-000001", True)], [("Not answered in time: SO-000001", True)]]
    assert trade.read(key)["version"] == 2
    accepted(trade, key)
    for tenant in (trade.buyer.tenant, trade.shelf.tenant):
        with tenant_context(tenant.id):
            events = list(Event.objects.filter(tenant_id=tenant.id, type__in=ANSWERED))
        for event in events:
            follow_answers(event)
    assert [[is_open for _, is_open in of] for of in alerts(trade)] == [[False], [False]]
    trade.stored()


def test_an_answered_order_is_not_overdue(trade: Trade) -> None:
    trade.shelf.stock(trade.masks, 5)
    accepted(trade, submitted(trade, (trade.masks, 5))["id"])
    rejected = submitted(trade, (trade.masks, 5))["id"]
    assert answer(trade, rejected, "reject", reason_code="late").status_code == 200

    tell_overdue_orders(at=now() + timedelta(hours=49))

    assert alerts(trade) == [[], []]
