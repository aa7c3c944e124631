"""What the kick-off of an export is refused with."""

from core.errors import Malformed
from fhir_api.access.records import Revealing


class InvalidExport(Malformed):
    """A parameter of the export is not of its form, or asks for what is not kept here."""

    code = "invalid_export"
    title = "The export's parameters are not valid."


class UnsupportedParameter(Malformed):
    """A parameter that this server does not offer; `Prefer: handling=lenient` leaves it out."""

    code = "unsupported_parameter"
    title = "The export names a parameter that is not supported."


class AsyncRequired(Malformed):
    """An export is carried out after the answer, which the client has to agree to."""

    code = "async_required"
    title = "An export needs Prefer: respond-async."


class UnknownPatients(Revealing, Malformed):
    """`patient` names somebody who is not there, or not a member of the group; the record tells who was asked about."""

    code = "unknown_patients"
    title = "The export names patients who are not among those that it is of."
