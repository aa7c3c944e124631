"""The words of analytics. Source: contract, supply-invoice.md 6."""

from django.db.models import TextChoices


class Kind(TextChoices):
    """What a row of the roll-ups counts."""

    ORDERED = "ordered"
    LISTED = "listed"
    ACCEPTED = "accepted"
    DUE = "due"
    RECEIVED = "received"
    RETURNED = "returned"
    OFFERED = "offered"


class Grouping(TextChoices):
    """By what sums of roll-ups are told apart."""

    ALL = "", "all"
    PRODUCT = "product"
    CATEGORY = "category"
    BUYER = "buyer"
    LOCATION = "location"


class Span(TextChoices):
    """Which time a sum of roll-ups covers: an hour or a day of UTC, or 24 hours from any half hour of UTC on."""

    HOUR = "hour"
    DAY = "day"
    SLIDING = "sliding"
