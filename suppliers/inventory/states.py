"""The states of lots and reservations, and the choices of their fields. Source: contract, supply-shelf.md 4 and 7."""

from django.db.models import TextChoices


class LotStatus(TextChoices):
    """Whether a lot may be sold."""

    RELEASED = "released"
    QUARANTINED = "quarantined"
    RECALLED = "recalled"


class RecallClass(TextChoices):
    """How grave the danger is; I is the gravest."""

    I = "I", "I"  # noqa: E741  # the roman numeral
    II = "II", "II"
    III = "III", "III"


class NoticeStatus(TextChoices):
    """What became of the notice to one buyer; `unreachable` is the notice to a closed tenant."""

    PENDING = "pending"
    TOLD = "told"
    ANSWERED = "answered"
    CLOSED = "closed"
    WITHDRAWN = "withdrawn"
    UNREACHABLE = "unreachable"


class ReservationKind(TextChoices):
    """`soft` ends by itself, `hard` with the order that it was made for."""

    SOFT = "soft"
    HARD = "hard"


class ReservationStatus(TextChoices):
    """What became of a reservation; all but `active` are final."""

    ACTIVE = "active"
    CONSUMED = "consumed"
    RELEASED = "released"
    EXPIRED = "expired"
    BROKEN = "broken"


class Unit(TextChoices):
    """What a quantity counts: packs of a packaging, or base units of the product."""

    PACK = "pack"
    BASE = "base"


class SerialStatus(TextChoices):
    """What became of a unit with a serial number."""

    IN_STOCK = "in_stock"
    ALLOCATED = "allocated"
    SHIPPED = "shipped"
    RECEIVED = "received"
    RETURNED = "returned"
    DISPOSED = "disposed"


class MovementType(TextChoices):
    """What moved stock."""

    RECEIPT = "receipt"
    ADJUSTMENT = "adjustment"
    COUNT = "count"
    TRANSFER_IN = "transfer_in"
    TRANSFER_OUT = "transfer_out"
    SHIPMENT = "shipment"
    RETURN_IN = "return_in"
    DISPENSE = "dispense"
    DISPOSAL = "disposal"


class ReasonCode(TextChoices):
    """Why somebody has adjusted stock."""

    RECEIPT = "receipt"
    COUNT = "count"
    DAMAGED = "damaged"
    EXPIRED = "expired"
    LOST = "lost"
    FOUND = "found"
    THEFT = "theft"
    SAMPLE = "sample"
    DESTROYED = "destroyed"
    CORRECTION = "correction"
    RETURN = "return"


class Mode(TextChoices):
    """Whether a line changes a quantity by so much, or says what is there."""

    DELTA = "delta"
    SET = "set"


class OnReserved(TextChoices):
    """What happens where less is left than is reserved."""

    REJECT = "reject"
    BREAK = "break"


TYPE_OF_REASON = {
    ReasonCode.RECEIPT.value: MovementType.RECEIPT.value,
    ReasonCode.COUNT.value: MovementType.COUNT.value,
    ReasonCode.DESTROYED.value: MovementType.DISPOSAL.value,
    ReasonCode.RETURN.value: MovementType.RETURN_IN.value,
}  # all others: adjustment


class BookingStatus(TextChoices):
    """What stock did with a line of a dispensation."""

    BOOKED = "booked"
    UNBOOKED = "unbooked"
    REVERSED = "reversed"


class UnbookedReason(TextChoices):
    """Why a dispensed line was not taken from stock."""

    NO_PRODUCT = "no_product"
    UNKNOWN_PRODUCT = "unknown_product"
    NO_LOT = "no_lot"
    UNKNOWN_LOT = "unknown_lot"
    AMBIGUOUS = "ambiguous_product"
    SERIAL_NUMBERS = "serial_numbers"
    UNIT_MISMATCH = "unit_mismatch"
    FRACTION = "fraction"
    INSUFFICIENT_STOCK = "insufficient_stock"
