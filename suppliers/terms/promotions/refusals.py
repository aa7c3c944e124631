"""Refusals of promotions."""

from core.errors import Conflict

_ID = "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"


class PromotionExhausted(Conflict):
    """A promotion that an order names cannot be redeemed any more; `promotions` names each one, and why.

    `reason` is `not_running`, `other_currency`, `max_redemptions`, `budget`, `max_per_buyer`, or `unknown`.
    """

    code = "promotion_exhausted"
    title = "A promotion cannot be redeemed any more."
    extensions = {"promotions": [{"id": _ID, "code": "autumn-gloves", "reason": "budget"}]}


class LimitBelowRedeemed(Conflict):
    """A limit of the promotion would be below what orders have redeemed already; `fields` names it."""

    code = "limit_below_redeemed"
    title = "The limit is below what is redeemed already."
    extensions = {"fields": ["budget_amount"]}
