"""Reading the bytes of resources: strictly what clients send, quickly what the store wrote itself."""

import json
from decimal import Decimal
from typing import Any

from api import body
from core.errors import Malformed

from .resources import Json

_MAX_EXPONENT = 300  # what the index of quantities holds
_INTEGERS = range(-(2**63), 2**64)  # what JSON writers of the platform write


class WrongType(Malformed):
    """The body is not a resource of the type that the URL names."""

    code = "wrong_resource_type"
    title = "The body is a resource of another type."


def read_body(raw: bytes, expected_type: str | None, *, limit_bytes: int = body.LIMIT_BYTES) -> Json:
    """Read what a client sent as a resource; fractions come as Decimal with their digits kept.

    What the platform's JSON rules refuse is refused here too: duplicate keys, depth, NUL, lone surrogates, huge numbers.

    :raises BodyTooLarge: it has more than `limit_bytes`.
    :raises Malformed: any other fault, each with a code of its own.
    """
    resource = read_document(raw, limit_bytes=limit_bytes)
    if not isinstance(resource, dict):
        raise body.NotAnObject(issue_type="structure")
    sent = resource.get("resourceType")
    if not isinstance(sent, str):
        raise WrongType("The body has no resourceType.", issue_type="required", expression="resourceType")
    if expected_type is not None and sent != expected_type:
        raise WrongType(f"A {expected_type} is expected.", issue_type="value", expression="resourceType")
    return resource


def read_document(raw: bytes, *, limit_bytes: int = body.LIMIT_BYTES) -> Any:
    """Read JSON of any outermost type (a JSON Patch is a list) by the same rules.

    :raises Malformed: any fault.
    """
    try:
        return body.parse(raw, limit_bytes=limit_bytes, max_exponent=_MAX_EXPONENT, integers=_INTEGERS)
    except Malformed as refusal:
        is_value = isinstance(refusal, body.NumberOutOfRange)
        refusal.extra.setdefault("issue_type", "value" if is_value else "structure")
        raise


def read_stored(stored: bytes) -> Json:
    """A resource that the store wrote; decimals keep their digits."""
    found: Json = json.loads(stored, parse_float=Decimal, parse_int=body.whole)
    return found
