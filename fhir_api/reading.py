"""Reading the bytes of resources."""

import json
from decimal import Decimal

from .resources import Json


def read_stored(body: bytes) -> Json:
    """A resource that the store wrote; decimals keep their digits."""
    found: Json = json.loads(body, parse_float=Decimal)
    return found
