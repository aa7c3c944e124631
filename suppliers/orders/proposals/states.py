"""The states of a proposed change. Source: contract, supply-order.md 2 "States"."""

from django.db.models import TextChoices


class ChangeState(TextChoices):
    """What has become of a proposed change; an accepted one stands in the lines of its order."""

    OPEN = "open", "Not answered"
    ACCEPTED = "accepted", "Accepted"
    DECLINED = "declined", "Declined"
    WITHDRAWN = "withdrawn", "Withdrawn"
