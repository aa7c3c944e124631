"""The states of a relationship, and the choices of its fields. Source: contract, supply-shelf.md "Relationship"."""

from typing import Final

from django.db.models import TextChoices


class RelationshipStatus(TextChoices):
    """Whether the buyer deals with the supplier; `invited` is never set by a caller."""

    INVITED = "invited"
    ACTIVE = "active"
    BLOCKED = "blocked"


class Block(TextChoices):
    """What a relationship stops."""

    ORDERS = "orders"
    INVOICES = "invoices"
    PAYMENTS = "payments"


class Period(TextChoices):
    """How long a limit of spending holds before it begins anew."""

    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"


MANAGED: Final = "managed"  # how a supplier reads that is not on the platform, beside `company.states.Qualification`
