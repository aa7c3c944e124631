"""The states of deliveries, and the choices of their fields. Source: contract, supply-order.md 3 and 4."""

from typing import Final

from django.db.models import TextChoices


class DeliveryStatus(TextChoices):
    """How far a shipment is; `preparing` and `cancelled` are states of the supplier's draft, which no buyer sees."""

    PREPARING = "preparing", "In preparation"
    IN_TRANSIT = "in_transit", "On its way"
    DELIVERED = "delivered", "Delivered by the carrier"
    PARTIALLY_RECEIVED = "partially_received", "A part is received"
    COMPLETED = "completed", "All is received"
    CANCELLED = "cancelled", "Cancelled before it left"
    LOST = "lost", "Lost"


class ExceptionType(TextChoices):
    """What went wrong with a delivery; a record beside its state."""

    DELAYED = "delayed", "Delayed"
    DAMAGED = "damaged", "Damaged"
    LOST = "lost", "Lost"
    TEMPERATURE_EXCURSION = "temperature_excursion", "Too warm or too cold"
    REFUSED = "refused", "Refused"
    SUSPECT = "suspect", "Suspect goods"
    OVERAGE = "overage", "More than was announced"
    DATA_MISSING = "data_missing", "Goods without data, or data without goods"


class PackageLevel(TextChoices):
    """What kind of package carries a number."""

    INNER = "inner", "Inner pack"
    CASE = "case", "Case"
    PALLET = "pallet", "Pallet"
    CONTAINER = "container", "Container"


class RejectionReason(TextChoices):
    """Why goods were rejected at their receipt."""

    DAMAGED = "damaged", "Damaged"
    EXPIRED = "expired", "Expired"
    SHORT_DATED = "short_dated", "Too short a shelf life"
    WRONG_ITEM = "wrong_item", "Another item"
    TEMPERATURE_EXCURSION = "temperature_excursion", "Too warm or too cold"
    RECALLED = "recalled", "Recalled"
    DOCUMENTS_MISSING = "documents_missing", "Documents are missing"
    NOT_ORDERED = "not_ordered", "Not ordered"


# The states of a delivery, which the buyer owns, and of a draft, which is the supplier's.
OF_DELIVERY: Final = (
    DeliveryStatus.IN_TRANSIT.value, DeliveryStatus.DELIVERED.value, DeliveryStatus.PARTIALLY_RECEIVED.value,
    DeliveryStatus.COMPLETED.value, DeliveryStatus.LOST.value,
)  # fmt: skip
OF_DRAFT: Final = (DeliveryStatus.PREPARING.value, DeliveryStatus.CANCELLED.value)
