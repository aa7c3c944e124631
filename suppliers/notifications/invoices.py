"""What alerts tell of invoices that do not match, to both parties. Source: contract, supply-order.md 5 and supply-invoice.md 2.

An alert stays open while the invoice differs and nobody has decided about it: through a dispute, until it matches, is
released, rejected or withdrawn.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from core.arrays import array_literal
from core.pipeline import Call, Statement, run

from .alerts import Cause
from .preferences import Preferences
from .states import Severity

MISMATCHED: Final = "invoice.mismatched"
# Facts that end it, or that say that it holds still.
DECIDED: Final = (
    "invoice.matched", "invoice.approved", "invoice.rejected", "invoice.cancelled", "invoice.dispute_resolved",
)  # fmt: skip
INVOICE: Final = "invoice"
_NEXT: Final = {
    "buyer": "Approve it with a reason, dispute or reject it; it is matched again at every receipt and credit.",
    "supplier": "Credit what is too much, or withdraw it; it is matched again at every receipt and credit.",
}


class _Differing(NamedTuple):
    """An invoice that does not match; `location_id` is the buyer's place, null for its supplier."""

    id: UUID
    number: str
    order_number: str
    side: str
    location_id: UUID | None


# The buyer's own rows, and the supplier's copies, of which a tenant has either.
_DIFFERING = Statement.of(
    "SELECT i.id, i.number, i.po_number AS order_number, 'buyer' AS side, i.delivery_location_id AS location_id"
    " FROM suppliers_invoice i WHERE i.tenant_id = $1 AND i.id = ANY($2::uuid[]) AND i.match_status = 'mismatched'"
    " AND i.status IN ('mismatched', 'disputed') UNION ALL SELECT c.id, c.number, c.order_number, 'supplier', NULL::uuid"
    " FROM suppliers_receivedinvoice c WHERE c.tenant_id = $1 AND c.id = ANY($2::uuid[])"
    " AND c.representation ->> 'match_status' = 'mismatched' AND c.status IN ('mismatched', 'disputed')",
    row=_Differing,
)


def differing(tenant_id: UUID, subjects: Sequence[str], preferences: Preferences, at: datetime) -> Iterator[Cause]:
    """Yield the invoices that differ from what was ordered or received."""
    (found,) = run([Call(_DIFFERING, [str(tenant_id), array_literal(subjects)])])
    for one in found.of(_Differing):
        yield Cause(
            resource_type=INVOICE,
            resource_id=str(one.id),
            severity=Severity.WARNING,
            title=f"Invoice does not match: {one.number}"[:200],
            body=f"Invoice {one.number} for order {one.order_number} differs from what was ordered or received; its lines say"
            f" where. {_NEXT[one.side]}",
            location_id=one.location_id,
        )
