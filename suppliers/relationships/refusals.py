"""Refusals of relationships and managed suppliers."""

from core.errors import Conflict


class RegistrationTaken(Conflict):
    """Another supplier that the tenant manages has one of the registrations."""

    code = "registration_taken"
    title = "You manage another supplier with this registration."
