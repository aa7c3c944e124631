"""Logical ids: their form, and new ones. Source: R4 datatypes.html#id."""

import re
from uuid import uuid4

from core.errors import Malformed
from core.ids import uuid7_text

_ID = re.compile(r"[A-Za-z0-9\-.]{1,64}")


class InvalidId(Malformed):
    """A logical id has 1 to 64 letters, digits, hyphens and dots."""

    code = "invalid_id"
    title = "The logical id is malformed."


def is_id(text: str) -> bool:
    """Tell whether a text has the form of a logical id; upper and lower case are different ids."""
    return _ID.fullmatch(text) is not None


def check_id(text: str) -> str:
    """Pass a logical id on.

    :raises InvalidId: it has another form.
    """
    if not is_id(text):
        raise InvalidId("A logical id has 1 to 64 letters, digits, hyphens and dots.", issue_type="value")
    return text


def new_urn() -> str:
    """The full URL of what has no address: every entry but those of transactions, batches and their answers has one.

    Source: R4 bundle.html, Bundle.entry.fullUrl.
    """
    return f"urn:uuid:{uuid7_text()}"


def new_id(type_name: str) -> str:
    """A new id: UUIDv7, which shows when it was made; a patient's shows nothing."""
    return str(uuid4()) if type_name == "Patient" else uuid7_text()
