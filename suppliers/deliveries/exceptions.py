"""A buyer reports what went wrong with a delivery. Source: contract, supply-order.md 3.

A delivery that is said to be lost is lost from 30 days after it had left; before that, it is a record. Suspect goods are held:
the buyer's own lots of them are held back.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from core.actor import Actor
from core.db import needs_transaction
from core.model_rows import save_call
from core.pipeline import ReadBack
from ledger.public import Occurrence
from organizations.public import write_documents
from suppliers.inventory.reservations import changes
from suppliers.orders.models import ORDERS
from suppliers.orders.sending import BOTH

from .changing import lose
from .course import IN_TRANSIT, LOST, Who, require
from .filing import filing_calls, named_by, require_files, sharing_calls
from .finding_delivery import Delivered
from .holding import hold_lines
from .models import DELIVERIES, Delivery, DeliveryLine
from .reporting import concerned, report
from .states import ExceptionType
from .telling import BUYER, Happened, told

LOST_AFTER: Final = timedelta(days=30)
REPORTED: Final = "delivery.exception_reported"


@needs_transaction
def report_exception(
    actor: Actor, target: Delivered, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> Delivery:
    """Record what the buyer reports, with what follows from it.

    :raises InvalidTransition: the delivery's state does not allow it.
    :raises InvalidFields: it names a line that the delivery has not.
    """
    row, was, kind = target.row, target.row.status, data["type"]
    is_lost = kind == ExceptionType.LOST and was == IN_TRANSIT and at >= row.shipped_at + LOST_AFTER
    require(was, LOST if is_lost else "exceptions", Who.BUYER)
    named = named_by(data)
    calls = [report(row, data, target.lines, by=BUYER, member=actor.subject_id, at=at)]
    known = require_files(row.tenant_id, named, row.tenant_id)
    calls += filing_calls(row.tenant_id, named, row.id, at)
    if row.supplier_tenant_id in target.shared.parties:
        calls += sharing_calls(row.supplier_tenant_id, row.tenant_id, known, at, bound_id=row.tenant_id)
    about, note = concerned(target.lines, data), data["note"] or ""
    names, touched, facts, lost = list[str](), [(DELIVERIES, row.id)], list[Occurrence](), None
    if is_lost:
        lost = lose(row, target.lines, target.order, target.order_lines, at)
        calls, names = [*calls, *lost.calls], lost.names
        touched.append((ORDERS, target.order.id))
    if kind == ExceptionType.SUSPECT:
        held = hold_lines(row, about, note, at, by=BUYER)
        calls, facts = [*calls, *held.calls], held.facts
    calls = [save_call(row, *names, at=at, versions=BOTH), *calls]
    happened = Happened(was=was, by=BUYER, reason=note, exception=kind, counts=lost.counts if lost else {})
    said = _told(target, about, happened, is_lost=is_lost)
    both = changes.joined({row.tenant_id: facts}, *said)
    write_documents(actor, row.tenant_id, touched, calls, told=both, at=at, reading=reading)
    return row


def _told(
    target: Delivered, about: Sequence[DeliveryLine], happened: Happened, *, is_lost: bool
) -> list[dict[UUID, list[Occurrence]]]:
    """Return what the parties are told: a report is about the lines that it names, a loss about all."""
    ordered = {one.id: one for one in target.order_lines}
    is_managed = target.row.supplier_tenant_id not in target.shared.parties
    said = [(REPORTED, about), *([("delivery.lost", target.lines)] if is_lost else [])]
    return [told(target.row, [name], lines, ordered, happened, is_managed=is_managed) for name, lines in said]
