"""What tests of notifications read and do: rows, facts, the relay's work, and notifications by HTTP."""

from datetime import datetime
from typing import Any

from django.db import transaction

from core import clock
from core.db import tenant_context
from core.invariants import breaches
from ledger import public as ledger
from suppliers.notifications.alerts import Cause, settle
from suppliers.notifications.following import FOLLOWED, follow
from suppliers.notifications.models import (
    Notification,
    NotificationCounter,
    NotificationMail,
    NotificationPreference,
    NotificationRead,
    OpenAlert,
)
from suppliers.notifications.states import Severity
from tests.suppliers.inventory import shelf as shelves

PATH = "/v1/notifications"
ALERTS = "/v1/notifications/alerts"
PREFERENCES = "/v1/notifications/preferences"
TABLES = (Notification, OpenAlert, NotificationRead, NotificationMail, NotificationPreference)


def rows(tenant: Any, model: Any = Notification, **more: Any) -> list[Any]:
    """Rows of a tenant, of the platform itself where `tenant` is a tenant, a shelf or a buyer."""
    with tenant_context(tenant.id):
        return list(
            model.objects.filter(tenant_id=tenant.id, **more).order_by(
                "created_at" if model is not NotificationRead else "read_at"
            )
        )


def state(*tenants: Any) -> list[Any]:
    """Everything that notifications keep of some tenants, to hold that nothing has changed."""
    found = []
    for tenant in tenants:
        with tenant_context(tenant.id):
            found += [list(model.objects.filter(tenant_id=tenant.id).order_by("pk").values()) for model in TABLES]
            found.append(facts(tenant))
    return found


def facts(tenant: Any, *types: str) -> list[Any]:
    """The facts of messages and alerts, or of some types: their types and payloads."""
    wanted = types or ("message.sent", "alert.raised", "alert.acknowledged", "lot.recall_answered")
    with tenant_context(tenant.id):
        found = ledger.Event.objects.filter(tenant_id=tenant.id, type__in=wanted).order_by("occurred_at", "id")
        return [(one.type, one.resource_id, one.data) for one in found]


def relay(tenant: Any) -> None:
    """Handle every fact that alerts follow, as the relay does."""
    with tenant_context(tenant.id):
        found = list(ledger.Event.objects.filter(tenant_id=tenant.id, type__in=FOLLOWED).order_by("occurred_at", "id"))
    for event in found:
        follow(event)


def raised(
    tenant: Any, kind: str = "low_stock", subject: str = "s1", *, at: datetime | None = None, **more: Any
) -> Notification:
    """Open an alert that holds as long as nobody says otherwise; return its row."""
    given = {
        "severity": Severity.WARNING,
        "title": "Low",
        "body": "Little is left.",
        "resource_type": "stock_level",
    } | more
    cause = Cause(resource_id=subject, **given)
    with tenant_context(tenant.id):
        settle(tenant.id, kind, [subject], lambda *_: [cause], at or clock.now())
    return rows(tenant, type=kind, resource_id=subject)[-1]


def gone(tenant: Any, kind: str = "low_stock", subject: str = "s1") -> None:
    """Let the cause of an alert be gone."""
    with tenant_context(tenant.id):
        settle(tenant.id, kind, [subject], lambda *_: [], clock.now())


def counted(tenant: Any) -> dict[str, int]:
    """What the counters say."""
    found: dict[str, int] = {}
    with tenant_context(tenant.id):
        for one in NotificationCounter.objects.filter(tenant_id=tenant.id):
            found[one.state] = found.get(one.state, 0) + one.notifications
    return found


def reserved(shelf: Any, one: Any, quantity: int = 2) -> str:
    """Reserve something of a supplier; return the reservation's id."""
    product = shelf.product()
    shelf.stock(product, 10)
    shelf.offer(product, to=[one])
    (found,) = shelves.reserve(one, shelf, (product, quantity))
    return str(found["id"])


def message(api: Any, document: str, body: str = "Can you hold it?", **more: Any) -> Any:
    """Write about a reservation."""
    return api.post(PATH, json={"resource": {"type": "reservation", "id": document}, "body": body} | more)


def data(answer: Any, status: int = 200) -> Any:
    assert answer.status_code == status, answer.content
    return answer.json()["data"]


def sound(*tenants: Any) -> None:
    """Hold that no rule between rows is broken."""
    for tenant in tenants:
        assert [*breaches(tenant.id)] == []


def atomically(work: Any) -> Any:
    with transaction.atomic():
        return work()
