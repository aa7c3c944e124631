"""Numbers of the supplier at a merge: its orders get new ones, invoices keep theirs.

The platform made the numbers of orders to a managed supplier. The supplier has never seen them, and has given the same ones to
orders of its own. An invoice bears the number on its paper.
"""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from core.arrays import array_literal
from core.db import bind_call, needs_transaction
from core.pipeline import Call, Statement, run
from suppliers.orders.numbers import Claimed, claim_all_call, lock_call
from suppliers.orders.states import DocumentKind

_INVOICE: Final = DocumentKind.INVOICE.value
_GIVEN = Statement.of(
    "SELECT d.number, d.document_id FROM suppliers_documentnumber d WHERE d.tenant_id = $1 AND d.kind = $2 ORDER BY d.sequence",
    row=Claimed,
)
_TAKE = Statement.of(
    "INSERT INTO suppliers_documentnumber (tenant_id, kind, sequence, number, document_id)"
    " SELECT $1::uuid, $2::text, g.place + coalesce((SELECT max(d.sequence) FROM suppliers_documentnumber d"
    " WHERE d.tenant_id = $1 AND d.kind = $2), 0), g.number, g.id"
    " FROM unnest($3::text[], $4::uuid[]) WITH ORDINALITY AS g (number, id, place) RETURNING 1"
)
_DROP = Statement.of("DELETE FROM suppliers_documentnumber d WHERE d.tenant_id = $1")


def lock_calls(supplier_id: UUID) -> list[Call]:
    """Return the statements after which nobody else numbers orders and invoices of the supplier."""
    return [lock_call(supplier_id, kind) for kind in (DocumentKind.ORDER, DocumentKind.INVOICE)]


@needs_transaction
def renumber(buyer_id: UUID, managed_id: UUID, into_id: UUID, orders: Sequence[UUID]) -> dict[UUID, str]:
    """Claim numbers for orders, in their order, and take over those of invoices; return the new numbers of the orders.

    The numbers of the supplier are locked, and those of invoices are free there. The buyer is bound before and afterwards.
    """
    _, given, _ = run(
        [bind_call(managed_id), Call(_GIVEN, [str(managed_id), _INVOICE]), Call(_DROP, [str(managed_id)])]
    )
    invoices = given.of(Claimed)
    keys = [array_literal(one.number for one in invoices), array_literal(one.document_id for one in invoices)]
    _, claimed, *_ = run(
        [
            bind_call(into_id), claim_all_call(into_id, DocumentKind.ORDER, orders),
            Call(_TAKE, [str(into_id), _INVOICE, *keys]), bind_call(buyer_id),
        ]
    )  # fmt: skip
    return {one.document_id: one.number for one in claimed.of(Claimed)}
