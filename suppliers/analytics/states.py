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
