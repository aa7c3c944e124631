"""The alert of an invoice that does not match: one for each side and invoice, open until somebody has decided about it."""

from typing import Any
from uuid import UUID

import pytest

from suppliers.notifications.models import Notification
from tests import factories
from tests.suppliers.invoices.bills import Desk
from tests.suppliers.notifications.inbox import ALERTS, PATH, facts, relay, rows


def alerts(desk: Desk, side: Any) -> list[Notification]:
    """Let the relay work; return the alerts of a side."""
    relay(side)
    return rows(side, type="invoice_mismatched")


def both(desk: Desk) -> tuple[Any, Any]:
    """Return both parties."""
    return desk.dock.buyer, desk.dock.shelf


def still_open(desk: Desk) -> list[bool]:
    """Tell whether the newest alert of each side is open."""
    return [alerts(desk, side)[-1].closed_at is None for side in both(desk)]


def test_a_mismatch_is_told_once_to_both_and_ends_when_it_matches(desk: Desk) -> None:
    order = desk.ordered()
    delivery = desk.ship(order, 40)
    made = desk.issue(order, 40)

    for side, word in zip(both(desk), ("po_number", "order_number"), strict=True):
        (one,) = alerts(desk, side)
        assert (one.kind, one.severity, one.resource_type, str(one.resource_id)) == (
            "alert", "warning", "invoice", made["id"],
        )  # fmt: skip
        assert made["invoice_number"] in one.title
        assert made[word] in one.body
        assert one.closed_at is None
        assert [kind for kind, _, _ in facts(side)] == ["alert.raised"]

    desk.receive(delivery, 20)  # it differs still
    desk.did(made, "match")
    assert [len(alerts(desk, side)) for side in both(desk)] == [1, 1]
    assert still_open(desk) == [True, True]

    desk.receive(delivery, 20)
    assert desk.read(made)["status"] == "matched"
    assert still_open(desk) == [False, False]
    assert [len(alerts(desk, side)) for side in both(desk)] == [1, 1]
    assert [kind for kind, _, _ in facts(desk.dock.buyer)] == ["alert.raised"]


@pytest.mark.parametrize("end", ["approve", "reject", "cancel", "credit"])
def test_the_alert_ends_with_what_is_decided(desk: Desk, end: str) -> None:
    order = desk.arrived(60)
    made = desk.issue(order, desk.line(order, 1, 60, unit_price="5.90"))
    assert still_open(desk) == [True, True]

    if end == "credit":
        desk.credit(order, made, desk.line(order, 1, 60, unit_price="1.00"))
    else:
        said = {"approve": {"override_reason": "Agreed"}}.get(end, {"reason": "No"})
        desk.did(made, end, **said)

    assert still_open(desk) == [False, False]


def test_a_dispute_keeps_the_alert_open(desk: Desk) -> None:
    order = desk.arrived(60)
    made = desk.issue(order, desk.line(order, 1, 60, unit_price="5.90"))
    desk.did(made, "dispute", reason_code="price")
    assert still_open(desk) == [True, True]

    desk.did(made, "dispute", withdraw=True)

    assert desk.read(made)["status"] == "mismatched"
    assert still_open(desk) == [True, True]
    assert [len(alerts(desk, side)) for side in both(desk)] == [1, 1]  # the cause is the same


def test_another_cause_is_another_alert(desk: Desk) -> None:
    order = desk.ordered()
    delivery = desk.ship(order, 40)
    made = desk.issue(order, 40)
    assert still_open(desk) == [True, True]
    receipt = desk.receive(delivery, 40)
    assert still_open(desk) == [False, False]

    answer = desk.dock.post(delivery, reverses=receipt["id"])

    assert answer.status_code == 201, answer.content
    assert desk.read(made)["status"] == "mismatched"
    assert still_open(desk) == [True, True]
    assert [len(alerts(desk, side)) for side in both(desk)] == [2, 2]


def test_what_matches_raises_nothing(desk: Desk) -> None:
    desk.issue(desk.arrived(60), 60)

    assert [alerts(desk, side) for side in both(desk)] == [[], []]


def test_members_read_the_alerts_of_their_places_and_write_about_invoices(desk: Desk) -> None:
    order = desk.arrived(60)
    made = desk.issue(order, desk.line(order, 1, 60, unit_price="5.90"))
    (one,) = alerts(desk, desk.dock.buyer)
    person, _ = factories.member(desk.dock.buyer.tenant, ["buyer"], location_ids=[UUID(desk.dock.place["id"])])
    elsewhere = factories.Api(token=factories.bearer(person), tenant=desk.dock.buyer.tenant)
    everywhere = desk.clerk_of("buyer")

    shown = everywhere.get(ALERTS).json()["data"]["items"]
    hidden = elsewhere.get(ALERTS).json()["data"]["items"]

    assert [item["id"] for item in shown if item["type"] == "invoice_mismatched"] == [str(one.id)]
    assert [item for item in hidden if item["type"] == "invoice_mismatched"] == []
    body = {"resource": {"type": "invoice", "id": made["id"]}, "body": "Which price was agreed?"}
    for api in (everywhere, desk.supplier):
        answer = api.post(PATH, json=body)
        assert answer.status_code == 201, answer.content
    assert elsewhere.post(PATH, json=body).status_code == 404
