"""The amount of an order that approvers decide about: of a proposed change it is that of the order as it would be."""

import copy

from suppliers.public import ApprovalFor, OrderChange, OrderStatus, Party, PurchaseOrder, open_of

from .peeking import Peeked


def with_gross(row: PurchaseOrder, change: OrderChange) -> PurchaseOrder:
    """Return an order as it would be by its gross, for the steps of the approvals."""
    found = copy.copy(row)
    found.gross = change.gross
    return found


def to_approve(target: Peeked) -> PurchaseOrder:
    """Return a pending order by the gross that its approvers decide about."""
    row = target.row
    if row.status != OrderStatus.PENDING_APPROVAL or row.approval_for == ApprovalFor.SENDING:
        return row
    party = Party.BUYER if row.approval_for == ApprovalFor.BUYER_CHANGE else Party.SUPPLIER
    change = open_of(target.changes, party)
    return row if change is None else with_gross(row, change)
