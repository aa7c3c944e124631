"""What approved invoices spend of budgets, behind the commit of their facts: budgets are locked before orders, and an approval that
follows from a receipt has locked the order first.

What is spent and committed afterwards follows from the rows as they stand, so a fact may be told twice, late, or in another order.
Source: contract, supply-price.md 6, and supply.md 5; decision 121.
"""

from decimal import Decimal
from typing import Final, NamedTuple
from uuid import UUID

from core import clock
from core.actor import system_actor
from core.db import needs_transaction, tenant_context
from core.pipeline import Call, Statement, run
from ledger import public as ledger
from ledger.public import Event
from procurement.budgets.commitments import Hold, commit_call, lock_call, moved_of, spend_call

SUBSCRIBER: Final = "procurement.spend_budgets"
FOLLOWED: Final = ("invoice.approved", "invoice.disputed", "credit_note.issued")


class _Held(NamedTuple):
    """The budget that an order names."""

    budget_id: UUID
    cost_center: str


class _Spent(NamedTuple):
    """What approved invoices of an order come to, less their credits; and what the order uses with what they do not ask for.

    A hard budget that does not have as much is spent as far as it goes.
    """

    spent: Decimal
    used: Decimal


_HELD = Statement.of(
    "SELECT o.budget_id, o.cost_center FROM suppliers_purchaseorder o WHERE o.tenant_id = $1 AND o.id = $2"
    " AND o.budget_id IS NOT NULL",
    row=_Held,
)
# Of the order's gross stays committed what no approved invoice asks for; what the spending leaves committed stays besides.
_SPENT = Statement.of(
    "SELECT s.spent, least(h.most, s.spent + greatest(o.gross - o.given_back - i.asked,"
    " h.committed - greatest(s.spent - h.spent, 0), 0)) AS used"
    " FROM suppliers_purchaseorder o JOIN procurement_budget b ON b.tenant_id = o.tenant_id AND b.id = $3 AND b.tenant_id = $1"
    " CROSS JOIN LATERAL (SELECT k.committed, k.spent, CASE WHEN b.enforcement = 'hard'"
    " THEN k.committed + k.spent + greatest(b.amount - b.committed - b.spent, 0) ELSE 1e18 END AS most FROM"
    " (SELECT coalesce(sum(e.committed), 0) AS committed, coalesce(sum(e.spent), 0) AS spent FROM procurement_budgetentry e"
    " WHERE e.tenant_id = $1 AND e.budget_id = b.id AND e.document_id = $2) k) h"
    " CROSS JOIN LATERAL (SELECT coalesce(sum(v.gross_total), 0) AS asked, coalesce(sum(v.gross_total - v.credited_total), 0) AS due"
    " FROM suppliers_invoice v WHERE v.tenant_id = $1 AND v.order_id = $2 AND v.type <> 'credit_note'"
    " AND v.status IN ('approved', 'partially_paid', 'paid')) i"
    " CROSS JOIN LATERAL (SELECT least(i.due, h.most) AS spent) s WHERE o.tenant_id = $1 AND o.id = $2",
    row=_Spent,
)


def follow(event: Event) -> None:
    """Let a budget say what the approved invoices of an order have spent of it. Safe to run again, and in any order of the facts."""
    with tenant_context(event.tenant_id):
        order_id = UUID(str(event.data["purchase_order_id"]))
        (held,) = run([Call(_HELD, [str(event.tenant_id), str(order_id)])])
        for one in held.of(_Held):  # none at the supplier, or where the order names no budget
            _spend(Hold(event.tenant_id, one.budget_id, order_id, one.cost_center))


@needs_transaction
def _spend(hold: Hold) -> None:
    """Spend what is approved, and commit again what is not approved any more."""
    given = [str(hold.tenant_id), str(hold.document_id), str(hold.budget_id)]
    _, found = run([lock_call(hold.tenant_id, [hold.budget_id]), Call(_SPENT, given)])
    at = clock.now()
    for one in found.of(_Spent):
        moved = run([spend_call(hold, one.spent, at), commit_call(hold, one.used, at)])
        told = [fact for rows in moved for fact in moved_of(rows).told]
        if told:
            ledger.record_many(actor=system_actor(hold.tenant_id), occurrences=told, at=at)
