"""Refusals of receipts. Source: contract, supply-order.md 4."""

from collections.abc import Sequence

from core.errors import Conflict, FieldError


class LotMismatch(Conflict):
    """Lots or expiry dates differ from the shipment's, and `confirm_difference` is not true; `errors` names each line."""

    code = "lot_mismatch"
    title = "A lot or an expiry date differs from the shipment."


class OverReceipt(Conflict):
    """More would be received than was shipped and the policy `over_receipt_tolerance_bp` admits; `errors` names each line."""

    code = "over_receipt"
    title = "More would be received than was shipped."


class ReceiptNotReversible(Conflict):
    """The receipt cannot be reversed any more; `reason` says why.

    Where goods of it were moved on, sent back, billed or shipped again, `errors` names each line of the receipt with its
    own reason as the code.
    """

    code = "receipt_not_reversible"
    title = "The receipt cannot be reversed."
    extensions = {"reason": "stock_gone"}

    def __init__(self, reason: str, errors: Sequence[FieldError] = ()) -> None:
        super().__init__(reason=reason, errors=errors)
