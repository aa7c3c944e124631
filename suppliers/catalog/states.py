"""The states of products and packagings, and the choices of their fields. Source: contract, supply 4.1."""

from typing import Final

from django.db.models import TextChoices

DAYS_MAX: Final = 36_500  # of every number of days that goods last or take


class Status(TextChoices):
    """The status of a product; `archived` is final."""

    DRAFT = "draft"
    ACTIVE = "active"
    DISCONTINUED = "discontinued"
    ARCHIVED = "archived"


class Kind(TextChoices):
    """The kind of a product; stricter rules apply to medicines and devices."""

    MEDICINE = "medicine"
    DEVICE = "device"
    CONSUMABLE = "consumable"
    REAGENT = "reagent"
    EQUIPMENT = "equipment"
    SERVICE = "service"


LOT_TRACKED_KINDS = frozenset({Kind.MEDICINE, Kind.DEVICE})


class Tracking(TextChoices):
    """How units in stock are distinguished."""

    NONE = "none"
    LOT = "lot"
    SERIAL = "serial"
    LOT_AND_SERIAL = "lot_and_serial"


LOT_TRACKING = frozenset({Tracking.LOT, Tracking.LOT_AND_SERIAL})
SERIAL_TRACKING = frozenset({Tracking.SERIAL, Tracking.LOT_AND_SERIAL})


class Availability(TextChoices):
    """The availability that buyers see, derived from the inventory."""

    AVAILABLE = "available"
    LIMITED = "limited"
    BACKORDER = "backorder"
    UNAVAILABLE = "unavailable"


class PackagingLevel(TextChoices):
    """The level of a packaging in the packaging hierarchy."""

    EACH = "each"
    INNER = "inner"
    CASE = "case"
    PALLET = "pallet"


class PackagingState(TextChoices):
    """`current` is offered; `removed` was taken out; `archived` was archived with its product, which freed its GTIN."""

    CURRENT = "current"
    REMOVED = "removed"
    ARCHIVED = "archived"


class SubstituteType(TextChoices):
    """How a substitute relates to the product."""

    EQUIVALENT = "equivalent"
    THERAPEUTIC = "therapeutic"
    REPLACEMENT = "replacement"


class IssuingAgency(TextChoices):
    """The issuing agency of a UDI's device identifier."""

    GS1 = "GS1"
    HIBCC = "HIBCC"
    ICCBBA = "ICCBBA"


class AttributeType(TextChoices):
    """What values an attribute takes; a quantity is a number with a unit."""

    TEXT = "text"
    INTEGER = "integer"
    DECIMAL = "decimal"
    BOOLEAN = "boolean"
    DATE = "date"
    ENUM = "enum"
    QUANTITY = "quantity"


class AttributeSource(TextChoices):
    """The source of an attribute's value."""

    SUPPLIER = "supplier"
    MANUFACTURER = "manufacturer"
    REGISTRY = "registry"


# The unfiltered list and its counter leave archived products out.
LISTED = (Status.DRAFT, Status.ACTIVE, Status.DISCONTINUED)
