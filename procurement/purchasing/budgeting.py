"""What orders hold of budgets, and give back when they end; the room of orders asks for it by `ask_budgets`."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Final
from uuid import UUID

from core.pipeline import Call, Rows
from ledger.public import Occurrence
from procurement.budgets.commitments import Hold, commit_call, give_back_call, lock_call, moved_of
from suppliers.public import Budgets, PurchaseOrder


def hold_of(row: PurchaseOrder) -> Hold:
    """Return the hold of an order on its budget."""
    assert row.budget_id is not None
    return Hold(row.tenant_id, UUID(str(row.budget_id)), row.id, row.cost_center)


def _giving_back(row: PurchaseOrder, keeping: Decimal, at: datetime) -> list[Call]:
    if row.budget_id is None:
        return []
    return [lock_call(row.tenant_id, [row.budget_id]), give_back_call(hold_of(row), at, keeping=keeping)]


def _committing(row: PurchaseOrder, gross: Decimal, at: datetime) -> list[Call]:
    if row.budget_id is None:
        return []
    return [lock_call(row.tenant_id, [row.budget_id]), commit_call(hold_of(row), gross, at)]


def _given_back(found: Sequence[Rows]) -> Sequence[Occurrence]:
    return moved_of(found[1]).told


BUDGETS: Final = Budgets(_giving_back, _committing, _given_back)
