"""Approvals of orders: how many different people have to approve one. Source: contract, supply-order.md 2 "Approvals"."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from suppliers.public import PurchaseOrder


def approvals_needed(policies: Mapping[str, Any], row: PurchaseOrder, currency: str) -> int:
    """Return how many approvals the gross of an order needs: those of the highest step that it is strictly over.

    `currency` is the tenant's; an order in another one takes the highest step of all.
    """
    steps = sorted((Decimal(one["over_amount"]), int(one["approvals"])) for one in policies["approval_steps"])
    if row.currency != currency:
        return steps[-1][1] if steps else 0
    return next((approvals for over, approvals in reversed(steps) if row.gross > over), 0)
