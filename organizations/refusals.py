"""Refusals that the models declare for their transitions and unique keys, and those that other apps raise too."""

from core.errors import Conflict, Unprocessable


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


class PharmacyNotFound(Unprocessable):
    """The location is neither in the directory of pharmacies nor an own place that dispenses."""

    code = "pharmacy_not_found"
    title = "There is no such pharmacy."


class LocationNotFound(Unprocessable):
    """The tenant has no such active location, or it is beyond the caller's places."""

    code = "location_not_found"
    title = "There is no such location."
