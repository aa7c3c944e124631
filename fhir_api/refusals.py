"""Refusals of apps that name a resource of the record in a body."""

from core.errors import Unprocessable


class PatientNotFound(Unprocessable):
    """The record holds no such patient: unknown, deleted, or another tenant's."""

    code = "patient_not_found"
    title = "There is no such patient."
