"""What alerts follow: facts that goods, invoices, recalls and licences record, and what rooms and apps below call up.

The relay calls `follow` behind the commit of each fact, at least once, whatever the order.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from core import clock
from core.db import needs_transaction, tenant_context
from core.invariants import Breach
from core.pipeline import Call, Statement, run
from ledger.public import Event

from . import deliveries, invoices, recalls, sources
from .alerts import Cause, Look, settle
from .models import OpenAlert
from .preferences import Preferences
from .states import Severity, Type

SUBSCRIBER: Final = "suppliers.follow_alerts"
RECALLED: Final = "lot.recalled"
_LOW: Final = ("stock.low", "stock.depleted")
_RECALL_ENDS: Final = ("lot.quarantined", "lot.released", "lot.recall_answered")
_EXPIRY: Final = ("lot.expiring", "lot.expired")
_LICENSE: Final = ("supplier.license_expiring", "supplier.license_expired")
FOLLOWED: Final = (
    *_LOW,
    "stock.replenished",
    RECALLED,
    *_RECALL_ENDS,
    *_EXPIRY,
    *_LICENSE,
    "supplier.updated",
    deliveries.REPORTED,
    invoices.MISMATCHED,
    *invoices.DECIDED,
)
# Facts about the very subject of an alert: its type, what looks at the subject, and whether the fact can open the alert.
_OF_SUBJECT: Final[dict[str, tuple[Type, Look, bool]]] = {
    **dict.fromkeys(_LOW, (Type.LOW_STOCK, sources.low_stock, True)),
    **dict.fromkeys(_EXPIRY, (Type.EXPIRING_LOT, sources.expiring_lots, True)),
    invoices.MISMATCHED: (Type.INVOICE_MISMATCHED, invoices.differing, True),
    **dict.fromkeys(invoices.DECIDED, (Type.INVOICE_MISMATCHED, invoices.differing, False)),
}
# Alerts of levels of the product that the level $2 is of, at its place; and that level.
_LEVELS_BESIDE = Statement.of(
    "SELECT v.id::text FROM suppliers_stocklevel t JOIN suppliers_stocklevel v ON v.tenant_id = t.tenant_id"
    " AND v.product_id = t.product_id AND v.location_id = t.location_id AND v.tenant_id = $1"
    " WHERE t.tenant_id = $1 AND t.id = $2 AND (v.id = t.id OR EXISTS (SELECT 1 FROM suppliers_openalert o"
    " WHERE o.tenant_id = $1 AND o.type = 'low_stock' AND o.resource_id = v.id::text)) ORDER BY v.id"
)
_BREACHED: Final = "Rule {rule} does not hold: {count} rows. The first: {table} {row}: {what}"


def follow(event: Event) -> None:
    """Let the alerts that a fact concerns say what holds now. Safe to run again, and in any order of the facts."""
    tenant_id, at = event.tenant_id, clock.now()
    with tenant_context(tenant_id):
        if event.type in _OF_SUBJECT:
            kind, look, opens = _OF_SUBJECT[event.type]
            settle(tenant_id, kind, [str(event.resource_id)], look, at, opens=opens)
        elif event.type == "stock.replenished":
            found = _levels_beside(tenant_id, event.resource_id)
            settle(tenant_id, Type.LOW_STOCK, found, sources.low_stock, at, opens=False)
        elif event.type == RECALLED:
            subject = event.data.get("notice_id") or event.data["recall_id"]
            settle(tenant_id, Type.RECALL, [str(subject)], recalls.recalls, at)
        elif event.type in _RECALL_ENDS:
            found = recalls.subjects_of_lot(tenant_id, event.resource_id)
            settle(tenant_id, Type.RECALL, found, recalls.recalls, at, opens=False)
        elif event.type == deliveries.REPORTED:
            _follow_delivery(event, at)
        elif event.type in _LICENSE:
            subject = str(event.data["license_id"])
            settle(tenant_id, Type.LICENSE_EXPIRING, [subject], sources.ending_licenses, at)
        else:
            review(tenant_id, Type.LICENSE_EXPIRING, sources.ending_licenses, at)


@needs_transaction
def _follow_delivery(event: Event, at: datetime) -> None:
    """Open the alert of a delivery that went wrong, where its exception has one."""
    exception = event.data["exception"]
    if kind := deliveries.ALERT_OF.get(exception):
        settle(event.tenant_id, kind, [str(event.resource_id)], deliveries.reported(exception), at)


@needs_transaction
def review(tenant_id: UUID, kind: str, look: Look, at: datetime) -> None:
    """Let all open alerts of a type say what holds now."""
    found = OpenAlert.objects.filter(tenant_id=tenant_id, type=kind).order_by("resource_id")
    settle(tenant_id, kind, [*found.values_list("resource_id", flat=True)], look, at, opens=False)


def _levels_beside(tenant_id: UUID, level_id: UUID) -> list[str]:
    (found,) = run([Call(_LEVELS_BESIDE, [str(tenant_id), str(level_id)])])
    return [(found.value(number) or b"").decode() for number in range(len(found))]


def tell_unbooked(tenant_id: UUID, location_id: UUID, at: datetime) -> None:
    """Alert a tenant that dispensed lines were not taken from the stock of a place."""
    with tenant_context(tenant_id):
        settle(tenant_id, Type.STOCK_NOT_BOOKED, [str(location_id)], sources.unbooked_places, at)


def tell_compromised(kid: str, purpose: str, tenants: Iterable[UUID], at: datetime) -> None:
    """Alert each tenant for which a key has signed that the key is compromised."""
    cause = Cause(
        resource_type="signing_key",
        resource_id=kid,
        severity=Severity.CRITICAL,
        title=f"Compromised key: {purpose}",
        body=f"The platform's key {kid}, by which records of yours were signed, is compromised since {clock.rfc3339(at)}."
        " Verify what was signed with it before you rely on it.",
    )
    for tenant_id in sorted(set(tenants)):
        with tenant_context(tenant_id):
            settle(tenant_id, Type.KEY_COMPROMISED, [kid], _only(cause), at)


def tell_proof(tenant_id: UUID, rules: Iterable[str], found: Iterable[Breach], at: datetime) -> None:
    """Alert staff of the rules of which a proof has found breaches, and close the alerts of those that hold again."""
    by_rule: dict[str, list[Breach]] = {}
    for one in found:
        by_rule.setdefault(one.rule, []).append(one)
    causes = {rule[:64]: _breached(rule, broken) for rule, broken in by_rule.items()}
    subjects = sorted({*(rule[:64] for rule in rules), *causes})
    with tenant_context(tenant_id):
        settle(tenant_id, Type.PROOF_FAILED, subjects, lambda *_: causes.values(), at)


def _breached(rule: str, broken: list[Breach]) -> Cause:
    first = broken[0]
    words: dict[str, Any] = {"rule": rule, "count": len(broken), "table": first.table, "row": first.row_id}
    return Cause(
        resource_type="invariant",
        resource_id=rule[:64],
        severity=Severity.CRITICAL,
        title=f"Proof failed: {rule}"[:200],
        body=_BREACHED.format(**words, what=first.what)[:5000],
    )


def _only(cause: Cause) -> Look:
    def look(tenant_id: UUID, subjects: Any, preferences: Preferences, at: datetime) -> Iterable[Cause]:
        return [cause]

    return look
