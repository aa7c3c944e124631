"""Why a Bundle, or one of its entries, is refused."""

from core.errors import Malformed, PreconditionFailed, Unprocessable
from fhir_api.access.records import Revealing


class InvalidBundle(Malformed):
    """The body is no Bundle of entries with requests (400)."""

    code = "invalid_bundle"
    title = "The Bundle is malformed."


class TooManyEntries(Malformed):
    """The Bundle has more entries than are carried out at once (400)."""

    code = "too_many_entries"
    title = "The Bundle has too many entries."


class InvalidEntry(Malformed):
    """An entry's request cannot be read (400)."""

    code = "invalid_entry"
    title = "An entry of the Bundle is malformed."


class UnsupportedEntry(Unprocessable):
    """An entry concerns a type that is not kept here, or an operation that no Bundle may hold (422)."""

    code = "unsupported_entry"
    title = "An entry of the Bundle is not supported."


class UnresolvedReference(Malformed):
    """A reference names an entry that the Bundle does not have (400)."""

    code = "unresolved_reference"
    title = "A reference leads to no entry of the Bundle."


class ConditionalReferenceFailed(Revealing, PreconditionFailed):
    """A conditional reference matches no resource, or more than one (412)."""

    code = "conditional_reference_failed"
    title = "A conditional reference does not match exactly one resource."


__all__ = [
    "ConditionalReferenceFailed",
    "InvalidBundle",
    "InvalidEntry",
    "TooManyEntries",
    "UnresolvedReference",
    "UnsupportedEntry",
]
