"""The states of a supplier and the choices of its profile's fields. Source: contract, supply-shelf.md "Supplier profile"."""

from typing import Final

from django.db.models import TextChoices


class Qualification(TextChoices):
    """Whether a supplier may take new orders, which the platform's staff decide."""

    REGISTERED = "registered"
    UNDER_REVIEW = "under_review"
    QUALIFIED = "qualified"
    SUSPENDED = "suspended"
    DISQUALIFIED = "disqualified"


class LicenseType(TextChoices):
    """What a licence permits."""

    WHOLESALE = "wholesale"
    MANUFACTURING = "manufacturing"
    CONTROLLED = "controlled"
    GDP = "gdp"
    ISO13485 = "iso13485"


class Scheme(TextChoices):
    """The register that a registration belongs to."""

    VAT = "VAT"
    GLN = "GLN"
    DUNS = "DUNS"
    LEI = "LEI"
    SRN = "SRN"
    NATIONAL = "national"


class AddressUse(TextChoices):
    """What an address of the supplier is for."""

    LEGAL = "legal"
    BILLING = "billing"
    SHIPPING = "shipping"
    RETURNS = "returns"


class ContactRole(TextChoices):
    """What a contact of the supplier is for."""

    GENERAL = "general"
    ORDERS = "orders"
    BILLING = "billing"
    QUALITY = "quality"
    RECALL = "recall"


class MemberKind(TextChoices):
    """What a buyer group names: one buyer, or an organization with every tenant below it."""

    BUYER = "buyer"
    ORGANIZATION = "organization"


# Medicines are sold under one of these.
FOR_MEDICINES: Final = (LicenseType.WHOLESALE.value, LicenseType.MANUFACTURING.value)
# Controlled substances are sold under this one, whatever else is needed.
FOR_CONTROLLED: Final = (LicenseType.CONTROLLED.value,)
# So many days before a licence ends its supplier is told; at 0 it has ended.
THRESHOLDS: Final = (90, 30, 7, 0)
