"""Refusals that the models declare for their transitions and unique keys."""

from core.errors import Conflict


class OrganizationInUse(Conflict):
    """An organization or tenant below this organization is not closed."""

    code = "organization_in_use"
    title = "Close the organizations and tenants below it first."


class LegalHold(Conflict):
    """A legal hold requires that the tenant's data be kept."""

    code = "legal_hold"
    title = "The tenant is under a legal hold."


class AlreadyMember(Conflict):
    """The person or service account already has a membership in this tenant that has not ended."""

    code = "duplicate"
    title = "This person or service account already has a membership."
