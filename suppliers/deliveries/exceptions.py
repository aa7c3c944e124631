"""A buyer reports what went wrong with a delivery. Source: contract, supply-order.md 3.

A delivery that is said to be lost is lost from 30 days after it had left; before that, it is a record. Suspect goods are held:
the buyer's own lots of them are quarantined.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from core.actor import Actor
from core.arrays import array_literal
from core.db import needs_transaction
from core.model_rows import rows_of, save_all_call, save_call
from core.pipeline import Call, ReadBack, Statement, run
from ledger.public import Occurrence
from organizations.public import write_documents
from suppliers.inventory.events import LotQuarantined
from suppliers.inventory.models import Lot
from suppliers.inventory.reservations import changes
from suppliers.orders.models import ORDERS
from suppliers.orders.sending import BOTH

from .changing import lose
from .course import IN_TRANSIT, LOST, Who, require
from .finding_delivery import Delivered
from .models import DELIVERIES, Delivery, DeliveryLine
from .reporting import report
from .states import ExceptionType
from .telling import BUYER, told

LOST_AFTER: Final = timedelta(days=30)
_COLUMNS: Final = ", ".join(f'l."{one.column}"' for one in Lot._meta.concrete_fields)
_LOTS = Statement.of(
    f"SELECT {_COLUMNS} FROM suppliers_lot l WHERE l.tenant_id = $1 AND l.origin_tenant_id = $2"
    " AND l.origin_lot_id = ANY($3::uuid[]) AND l.status = 'released' ORDER BY l.id FOR NO KEY UPDATE"
)
_MARK_LEVELS = Statement.of(
    "UPDATE suppliers_stocklevel v SET is_untold = true WHERE v.tenant_id = $1 AND v.id IN (SELECT w.id"
    " FROM suppliers_stocklevel w WHERE w.tenant_id = $1 AND w.lot_id = ANY($2::uuid[])"
    " ORDER BY w.id FOR NO KEY UPDATE) RETURNING v.id::text"
)


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
    step = require(was, LOST if is_lost else "exceptions", Who.BUYER)
    calls = [report(row, data, target.lines, by=BUYER, member=actor.subject_id, at=at)]
    names, touched, facts = list[str](), [(DELIVERIES, row.id)], list[Occurrence]()
    if is_lost:
        lost, names = lose(row, target.lines, target.order, target.order_lines, at)
        calls += lost
        touched.append((ORDERS, target.order.id))
    if kind == ExceptionType.SUSPECT:
        held, facts = _hold(row, _concerned(target.lines, data), data["note"] or "", at)
        calls += held
    calls = [save_call(row, *names, at=at, versions=BOTH), *calls]
    said = told(
        row, step.told, _concerned(target.lines, data), was=was, by=BUYER, reason=data["note"] or "", exception=kind
    )
    told_to = {row.tenant_id, *target.shared.parties}  # nobody reads the facts of a managed supplier
    both = changes.joined({row.tenant_id: facts}, {key: one for key, one in said.items() if key in told_to})
    write_documents(actor, row.tenant_id, touched, calls, told=both, at=at, reading=reading)
    return row


def _concerned(lines: Sequence[DeliveryLine], data: Mapping[str, Any]) -> list[DeliveryLine]:
    """Return the lines that a report is about."""
    return [one for one in lines if not data["line_nos"] or one.line_no in data["line_nos"]]


@needs_transaction
def _hold(row: Delivery, lines: Sequence[DeliveryLine], note: str, at: datetime) -> tuple[list[Call], list[Occurrence]]:
    """Quarantine the buyer's lots that came with some lines; return what is written and told of them."""
    origins = sorted({one.lot_id for one in lines if one.lot_id})
    if not origins:
        return [], []
    own = str(row.tenant_id)
    (found,) = run([Call(_LOTS, [own, str(row.supplier_tenant_id), array_literal(origins)])])
    lots = rows_of(Lot, found)
    if not lots:
        return [], []
    for lot in lots:
        lot.quarantine((note or "Suspect goods")[:500])
    saved = save_all_call(lots, "status", "status_reason", at=at)
    facts = [
        Occurrence(
            LotQuarantined(
                product_id=str(lot.product_id), lot_number=lot.lot_number, status=lot.status,
                expiry_date=lot.expiry_date.isoformat() if lot.expiry_date else None, by=BUYER,
            ),
            lot.id,
            lot.version,
        )
        for lot in lots
    ]  # fmt: skip
    return [saved, Call(_MARK_LEVELS, [own, array_literal(lot.id for lot in lots)])], facts
