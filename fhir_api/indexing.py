"""What a resource is found by."""

from .entries import Entries
from .resources import Json


def index(resource: Json) -> Entries:
    """Make the entries of a resource."""
    raise LookupError(resource["resourceType"])
