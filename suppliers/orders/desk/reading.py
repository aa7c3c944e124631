"""What staff see beside an order: what has happened to it, its lines with their derivation, and the copy that the supplier holds."""

from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from django.db.models import QuerySet, Sum

from core.actor import SubjectKind
from core.db import tenant_context
from ledger.public import Event
from organizations.staff.names import Ids
from suppliers.inventory.models import Reservation
from suppliers.inventory.states import ReservationStatus
from suppliers.orders.models import PurchaseOrder, PurchaseOrderLine, ReceivedOrder, ReceivedOrderLine
from suppliers.orders.telling import shared_status

MOST_LINES: Final = 100
MOST_ENTRIES: Final = 200


class Entry(NamedTuple):
    """One fact of the acting tenant's ledger about an order; of the other side's acts it names nobody."""

    at: datetime
    what: str
    revision: int | None
    was: str
    to: str
    by: str
    reason: str
    ids: Ids


class ShownLine(NamedTuple):
    """A line with what its supplier holds for it and what is still to come, in base units."""

    of: PurchaseOrderLine
    allocated: int
    open: int


class Beside(NamedTuple):
    """One thing of the buyer's row and of the copy that must be the same."""

    what: str
    row: str
    copy: str


def timeline(tenant_id: UUID, order_id: UUID) -> list[Entry]:
    """Return the newest facts about an order, the newest first."""
    mine = Event.objects.filter(tenant_id=tenant_id, resource_id=order_id).order_by("-occurred_at", "-id")
    return [_entry(one) for one in mine[:MOST_ENTRIES]]


def _entry(fact: Event) -> Entry:
    data, figures = fact.data, fact.figures or {}
    return Entry(
        fact.occurred_at,
        fact.type,
        data.get("revision"),
        data.get("was") or "",
        data.get("status") or "",
        data.get("by") or "",
        figures.get("reason") or "",
        _ids(fact),
    )


def _ids(fact: Event) -> Ids:
    if fact.subject_kind == SubjectKind.SYSTEM and not fact.credential.startswith("staff:"):
        return Ids()
    return Ids(fact.subject_id, fact.credential, fact.membership_id)


def shown_lines(row: PurchaseOrder) -> list[ShownLine]:
    """Return the first lines with what the supplier holds for each."""
    lines = list(_lines(row).order_by("line_no")[:MOST_LINES])
    held = _held(row, lines)
    return [ShownLine(one, held.get(one.pk, 0), one.ordered - one.cancelled - one.received) for one in lines]


def _lines(row: PurchaseOrder) -> QuerySet[PurchaseOrderLine]:
    return PurchaseOrderLine.objects.filter(tenant_id=row.tenant_id, order_id=row.pk)


def _held(row: PurchaseOrder, lines: list[PurchaseOrderLine]) -> dict[UUID, int]:
    """Return the base units of active reservations by line, read in the supplier's rows."""
    with tenant_context(row.supplier_tenant_id):
        mine = Reservation.objects.filter(
            tenant_id=row.supplier_tenant_id,
            purchase_order_line_id__in=[one.pk for one in lines],
            status=ReservationStatus.ACTIVE.value,
        )
        return dict(mine.values_list("purchase_order_line_id").annotate(Sum("base_quantity")))


def beside_copy(row: PurchaseOrder) -> list[Beside]:
    """Return what the buyer's row says beside what the supplier's copy says; nothing where there is no copy."""
    waiting = _lines(row).aggregate(sum=Sum("backordered", default=0))["sum"]
    with tenant_context(row.supplier_tenant_id):
        held = ReceivedOrder.objects.filter(tenant_id=row.supplier_tenant_id, pk=row.pk).first()
        theirs = ReceivedOrderLine.objects.filter(tenant_id=row.supplier_tenant_id, document_id=row.pk)
        copied = theirs.aggregate(sum=Sum("backordered", default=0))["sum"]
    if held is None:
        return []
    return [
        Beside("Status", shared_status(row.status) or "", held.status),
        Beside("Version", str(row.shared_version), str(held.version)),
        Beside("Number", row.order_number, held.number),
        Beside("Fulfilment", row.fulfilment_status, held.fulfilment_status),
        Beside("Billing", row.billing_status, held.billing_status),
        Beside("Backordered, in base units", str(waiting), str(copied)),
    ]
