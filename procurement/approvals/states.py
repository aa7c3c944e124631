"""What an approver decides, and for what."""

from django.db.models import TextChoices


class Decision(TextChoices):
    """What an approver has decided about a revision of an order."""

    APPROVED = "approved", "Approved"
    REJECTED = "rejected", "Rejected"


class Purpose(TextChoices):
    """What an approval is for: `ApprovalFor` of orders, whose door opens only once all models are there; a test compares."""

    SENDING = "sending", "Sending the order"
    SUPPLIER_CHANGE = "supplier_change", "Accepting the supplier's change"
    BUYER_CHANGE = "buyer_change", "Proposing the buyer's change"
