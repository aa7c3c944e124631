"""The kinds of notifications and the choices of their fields. Source: contract, supply-order.md 5."""

from typing import Final

from django.db.models import TextChoices


class Kind(TextChoices):
    """Whether a person of another tenant has written, or the platform has noticed something."""

    MESSAGE = "message"
    ALERT = "alert"


class Severity(TextChoices):
    """How much a notification matters."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"


class Type(TextChoices):
    """What a notification is about; all but `message` are alerts."""

    MESSAGE = "message"
    RECALL = "recall"
    TEMPERATURE_EXCURSION = "temperature_excursion"
    LOW_STOCK = "low_stock"
    EXPIRING_LOT = "expiring_lot"
    ACCEPTANCE_OVERDUE = "acceptance_overdue"
    APPROVAL_OVERDUE = "approval_overdue"
    LICENSE_EXPIRING = "license_expiring"
    SUSPECT_GOODS = "suspect_goods"
    INVOICE_MISMATCHED = "invoice_mismatched"
    KEY_COMPROMISED = "key_compromised"
    STOCK_NOT_BOOKED = "stock_not_booked"
    PROOF_FAILED = "proof_failed"


class Digest(TextChoices):
    """How often mails go out."""

    IMMEDIATE = "immediate"
    HOURLY = "hourly"
    DAILY = "daily"


class Shelved(TextChoices):
    """What the counters tell apart: notifications that stand in the list, and archived ones."""

    CURRENT = "current"
    ARCHIVED = "archived"


# Of these the platform's staff are told, not the tenant.
FOR_STAFF: Final = frozenset({Type.PROOF_FAILED.value})
# What a tenant is told of, and settles in its preferences.
TOLD: Final = tuple(one for one in Type.values if one not in FOR_STAFF)
# These go out at once and cannot be switched off: somebody may come to harm.
MANDATORY: Final = frozenset({Type.RECALL.value, Type.TEMPERATURE_EXCURSION.value, Type.KEY_COMPROMISED.value})
# Alerts of these types open only at or below a threshold that the tenant chooses: units that are free, or days that are left.
WITH_THRESHOLD: Final = frozenset({Type.LOW_STOCK.value, Type.EXPIRING_LOT.value, Type.LICENSE_EXPIRING.value})
CHANNELS: Final = ("in_app", "email", "webhook")
EXPIRY_DAYS: Final = (90, 30, 7)
MOST_EXPIRY_DAYS: Final = 365
