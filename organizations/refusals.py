"""Refusals that the tables of the app declare: those of their transitions and of their unique keys."""

from core.errors import Conflict


class OrganizationInUse(Conflict):
    """Something below the organization is still open."""

    code = "organization_in_use"
    title = "Close the organizations and tenants below it first."


class LegalHold(Conflict):
    """The tenant's data must be kept."""

    code = "legal_hold"
    title = "The tenant is under a legal hold."


class AlreadyMember(Conflict):
    """The subject has a membership here that is not over."""

    code = "duplicate"
    title = "There is a membership of this subject already."
