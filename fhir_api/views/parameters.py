"""The Parameters that operations are asked with. Source: R4 parameters.html."""

from typing import Any

from core.errors import Malformed
from fhir_api.resources import Json


class InvalidParameters(Malformed):
    """The Parameters of the operation are not of its form."""

    code = "invalid_parameters"
    title = "The operation's parameters are malformed."


def parts(given: Any) -> list[Json]:
    """The parameters, each an object.

    :raises InvalidParameters: they are none.
    """
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise InvalidParameters("parameter is a list of objects.", issue_type="structure", expression="Parameters")
    return given
