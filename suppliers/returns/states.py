"""The states of returns, and the choices of their fields. Source: contract, supply-invoice.md 4."""

from typing import Final

from django.db.models import TextChoices


class ReturnStatus(TextChoices):
    """How far a return is; `inspected` is passed on the way to `completed` and never stays."""

    REQUESTED = "requested", "Requested"
    AUTHORIZED = "authorized", "Authorized"
    DECLINED = "declined", "Declined"
    IN_TRANSIT = "in_transit", "On its way back"
    RECEIVED = "received", "Received by the supplier"
    INSPECTED = "inspected", "Inspected"
    COMPLETED = "completed", "Completed"
    CANCELLED = "cancelled", "Cancelled by the buyer"


class ReturnType(TextChoices):
    """Why goods go back; a recall has no window, and needs no authorization."""

    RETURN = "return", "Return"
    RECALL = "recall", "Recall"
    OVER_DELIVERY = "over_delivery", "More was delivered than ordered"


class Resolution(TextChoices):
    """What the buyer wants for the goods."""

    CREDIT = "credit", "A credit note"
    REPLACEMENT = "replacement", "Other goods"
    REPAIR = "repair", "The same goods, repaired"


class Reason(TextChoices):
    """Why goods of a line go back."""

    DAMAGED = "damaged", "Damaged"
    EXPIRED = "expired", "Expired"
    SHORT_DATED = "short_dated", "Too short a shelf life"
    WRONG_ITEM = "wrong_item", "Another item"
    NOT_NEEDED = "not_needed", "Not needed"
    RECALLED = "recalled", "Recalled"
    QUALITY = "quality", "Poor quality"
    TEMPERATURE = "temperature", "Too warm or too cold"


class Condition(TextChoices):
    """In which condition goods are, as the buyer says."""

    SEALED = "sealed", "Sealed"
    OPENED = "opened", "Opened"
    DAMAGED = "damaged", "Damaged"


class Disposition(TextChoices):
    """What the supplier does with goods that came back."""

    RESTOCK = "restock", "To be sold again"
    QUARANTINE = "quarantine", "Set apart"
    DESTROY = "destroy", "Destroyed"
    RETURN_TO_MANUFACTURER = "return_to_manufacturer", "Back to the manufacturer"
    NOT_RECEIVED = "not_received", "Not received"


class Decision(TextChoices):
    """What a supplier decides about a requested return."""

    AUTHORIZED = "authorized", "Authorized"
    DECLINED = "declined", "Declined"


STORED: Final = tuple(one for one in ReturnStatus.values if one != ReturnStatus.INSPECTED)
# What is given up counts for no line any more.
VOID: Final = (ReturnStatus.DECLINED.value, ReturnStatus.CANCELLED.value)
