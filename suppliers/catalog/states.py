"""The lifecycle of a product, and the closed lists its fields choose from. Source: contract, supply 4.1."""

from django.db.models import TextChoices


class Status(TextChoices):
    """Where a product stands; `archived` is final."""

    DRAFT = "draft"
    ACTIVE = "active"
    DISCONTINUED = "discontinued"
    ARCHIVED = "archived"


class Kind(TextChoices):
    """What sort of thing a product is; medicines and devices carry stricter rules."""

    MEDICINE = "medicine"
    DEVICE = "device"
    CONSUMABLE = "consumable"
    REAGENT = "reagent"
    EQUIPMENT = "equipment"
    SERVICE = "service"


LOT_TRACKED_KINDS = frozenset({Kind.MEDICINE, Kind.DEVICE})


class Tracking(TextChoices):
    """What every unit in stock is told apart by."""

    NONE = "none"
    LOT = "lot"
    SERIAL = "serial"
    LOT_AND_SERIAL = "lot_and_serial"


LOT_TRACKING = frozenset({Tracking.LOT, Tracking.LOT_AND_SERIAL})


class Availability(TextChoices):
    """What a buyer can expect, kept by the inventory."""

    AVAILABLE = "available"
    LIMITED = "limited"
    BACKORDER = "backorder"
    UNAVAILABLE = "unavailable"


class PackagingLevel(TextChoices):
    """The place of a packaging in its hierarchy."""

    EACH = "each"
    INNER = "inner"
    CASE = "case"
    PALLET = "pallet"


class PackagingState(TextChoices):
    """`current` is offered; `removed` was taken out; `archived` went with its product and gave its GTIN free."""

    CURRENT = "current"
    REMOVED = "removed"
    ARCHIVED = "archived"


class SubstituteType(TextChoices):
    """How near a substitute comes to the product."""

    EQUIVALENT = "equivalent"
    THERAPEUTIC = "therapeutic"
    REPLACEMENT = "replacement"


class IssuingAgency(TextChoices):
    """Who issues the device identifier of a UDI."""

    GS1 = "GS1"
    HIBCC = "HIBCC"
    ICCBBA = "ICCBBA"


class AttributeSource(TextChoices):
    """Who vouches for an attribute's value."""

    SUPPLIER = "supplier"
    MANUFACTURER = "manufacturer"
    REGISTRY = "registry"


# Kept as a fact of the list too: the unfiltered list and its counter leave archived products out.
LISTED = (Status.DRAFT, Status.ACTIVE, Status.DISCONTINUED)
