"""States and kinds of price agreements."""

from django.db import models

NOBODY = "00000000-0000-0000-0000-000000000000"


class AgreementStatus(models.TextChoices):
    """What has become of one version of an agreement; a draft is no version yet."""

    PROPOSED = "proposed", "Proposed"
    ACTIVE = "active", "Active"
    SUSPENDED = "suspended", "Suspended"
    DECLINED = "declined", "Declined"
    SUPERSEDED = "superseded", "Superseded"
    TERMINATED = "terminated", "Terminated"
    EXPIRED = "expired", "Expired"


DRAFT = "draft"
STATUSES = [DRAFT, *AgreementStatus.values]  # as clients read them
ACCEPTED = (AgreementStatus.ACTIVE.value, AgreementStatus.SUSPENDED.value)  # one version of an agreement at a time

# What clients may do in each state; to edit what was accepted begins a draft of the next version.
ALLOWED = {
    DRAFT: ["edit", "propose"],
    AgreementStatus.PROPOSED.value: ["accept", "decline"],
    AgreementStatus.ACTIVE.value: ["edit", "suspend", "terminate"],
    AgreementStatus.SUSPENDED.value: ["edit", "resume", "terminate"],
    AgreementStatus.DECLINED.value: [],
    AgreementStatus.SUPERSEDED.value: [],
    AgreementStatus.TERMINATED.value: [],
    AgreementStatus.EXPIRED.value: [],
}
TOLD_DAYS = 30  # so long before the end both parties are told of it


class Side(models.TextChoices):
    """The party that acts, or that has written a version."""

    BUYER = "buyer", "Buyer"
    SUPPLIER = "supplier", "Supplier"

    @property
    def other(self) -> "Side":
        """The other party."""
        return Side.SUPPLIER if self is Side.BUYER else Side.BUYER


class AgreementScope(models.TextChoices):
    """For whom an agreement holds."""

    TENANT = "tenant", "The buyer alone"
    ORGANIZATION = "organization", "Every tenant of the buyer's organization and below"


class LinesMode(models.TextChoices):
    """What happens to the lines that a body does not name."""

    REPLACE = "replace", "They are taken out"
    MERGE = "merge", "They stay"
