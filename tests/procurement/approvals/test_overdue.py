"""Steps that nobody decides in time: told of once each, with an alert that closes when they are decided."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from core.clock import now
from core.db import tenant_context
from ledger.public import Event
from procurement.approvals.alerting import FOLLOWED, follow
from procurement.approvals.sweeping import OVERDUE, tell_approvals
from procurement.tasks import tell_approvals as task
from suppliers.notifications.models import Notification
from tests.procurement.approvals.desk import TWO, Desk, decide, done
from tests.procurement.purchasing.orders import act
from tests.races import race

HOUR = timedelta(hours=1)


def overdue(desk: Desk) -> list[str]:
    """Return the ids of the orders that the buyer was told of."""
    with tenant_context(desk.trade.buyer.id):
        found = Event.objects.filter(tenant_id=desk.trade.buyer.id, type=OVERDUE).order_by("occurred_at", "id")
        return [str(one.resource_id) for one in found]


def alerts(desk: Desk) -> list[tuple[str, bool]]:
    """Handle the facts as the relay does; return what alerts are about, and whether they are open."""
    with tenant_context(desk.trade.buyer.id):
        events = list(
            Event.objects.filter(tenant_id=desk.trade.buyer.id, type__in=FOLLOWED).order_by("occurred_at", "id")
        )
    for event in events:
        follow(event)
    with tenant_context(desk.trade.buyer.id):
        found = Notification.objects.filter(tenant_id=desk.trade.buyer.id, type="approval_overdue")
        return [(one.resource_id, one.closed_at is None) for one in found.order_by("created_at", "id")]


def sweep(at: datetime) -> None:
    """Sweep to the end, as several runs would."""
    while tell_approvals(at=at):
        pass


def test_a_step_is_told_of_once(desk: Desk) -> None:
    order, begun = desk.pending(), now()
    sweep(begun + 24 * HOUR - timedelta(minutes=1))
    assert overdue(desk) == []

    for hours in (24.1, 24.1, 48, 100):
        sweep(begun + hours * HOUR)

    assert overdue(desk) == [order["id"]]
    ((kind, version, payload),) = desk.trade.facts()[-1:]
    assert (kind, version, payload["by"], payload["status"]) == (OVERDUE, 2, "system", "pending_approval")
    assert desk.heard() == []
    entry = desk.trade.read(order["id"])["timeline"][0]
    assert (entry["action"], entry["by"], entry["actor_id"]) == ("approval_overdue", "system", None)
    assert [one[:3] for one in desk.trade.stored()] == [("pending_approval", 1, 2)], "the order itself is as it was"


def test_each_step_has_its_own_time(desk: Desk) -> None:
    desk.policies(approval_steps=TWO, approval_overdue_hours=2)
    order = desk.pending()
    sweep(now() + 3 * HOUR)
    assert (overdue(desk), alerts(desk)) == ([order["id"]], [(order["id"], True)])

    done(decide(desk.person(), order["id"]))

    assert alerts(desk) == [(order["id"], False)], "the next step is not late yet"
    sweep(now() + HOUR)
    assert overdue(desk) == [order["id"]]
    sweep(now() + 3 * HOUR)
    assert overdue(desk) == [order["id"]] * 2
    assert alerts(desk) == [(order["id"], False), (order["id"], True)]


@pytest.mark.parametrize("action", ["approve", "reject", "cancel"])
def test_the_alert_closes_with_the_decision(desk: Desk, action: str) -> None:
    order, other = desk.pending(), desk.pending()
    sweep(now() + 25 * HOUR)
    assert sorted(alerts(desk)) == sorted([(order["id"], True), (other["id"], True)])

    if action == "cancel":
        assert act(desk.trade, order["id"], "cancel").status_code == 200
    else:
        done(decide(desk.person(), order["id"], action))

    assert sorted(alerts(desk)) == sorted([(order["id"], False), (other["id"], True)])
    assert desk.trade.stored()


def test_the_alert_is_what_approvers_read(desk: Desk) -> None:
    order, ann = desk.pending(), desk.person()
    sweep(now() + 25 * HOUR)
    alerts(desk)

    (found,) = items(ann)

    assert (found["type"], found["severity"], found["resource"]) == (
        "approval_overdue", "warning", {"type": "purchase_order", "id": order["id"]},
    )  # fmt: skip
    assert order["po_number"] in found["title"]
    from tests.procurement.purchasing.orders import ward

    assert items(desk.person(location_ids=[ward(desk.trade.buyer, "Elsewhere")])) == []
    assert len(items(desk.person(location_ids=[desk.trade.ward]))) == 1


def items(person: Any) -> list[dict[str, Any]]:
    answer = person.api.get("/v1/notifications/alerts?type=approval_overdue")
    assert answer.status_code == 200, answer.content
    found: list[dict[str, Any]] = answer.json()["data"]["items"]
    return found


def test_sweeps_at_once_tell_once_and_against_a_decision_the_truth(desk: Desk) -> None:
    desk.policies(approval_overdue_hours=1)
    keys = [desk.pending()["id"] for _ in range(6)]
    ann, late = desk.person(), now() + 2 * HOUR

    found = race(
        *[lambda: tell_approvals(at=late)] * 4, *[lambda key=key: decide(ann.client(), key) for key in keys[:3]]
    )

    assert [one for one in found if isinstance(one, Exception)] == []
    assert [one.status_code for one in found[4:]] == [200] * 3
    sweep(late)
    told = overdue(desk)
    assert len(told) == len(set(told))
    assert set(keys[3:]) <= set(told)
    assert {key for key, is_open in alerts(desk) if is_open} == set(keys[3:])
    assert len(desk.trade.stored()) == 6


def test_the_task_does_the_same(desk: Desk) -> None:
    order = desk.pending()
    with tenant_context(desk.trade.buyer.id):
        (step,) = desk.steps()
        step.due_at = now() - HOUR
        step.save_version("due_at", at=now())

    task()

    assert overdue(desk) == [order["id"]]
