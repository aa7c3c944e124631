"""What the service declares, in an order that each test process finds alike.

The garbage collector lists objects in the order of their memory, which differs between processes; pytest-xdist needs
the same tests in the same order in all of them.
"""

import gc

from api.listing import Listing
from api.shapes import Shape


def shapes() -> list[Shape]:
    """Return the compiled representations that exist now."""
    return sorted((found for found in gc.get_objects() if isinstance(found, Shape)), key=_name_of_shape)


def listings() -> list[Listing]:
    """Return the lists that exist now; two of one representation are told apart by what they offer."""
    return sorted((found for found in gc.get_objects() if isinstance(found, Listing)), key=_name_of_listing)


def _name_of_shape(shape: Shape) -> tuple[str, ...]:
    declared = shape.representation
    return (shape.name, declared.__module__, declared.__qualname__) if declared else (shape.name,)


def _name_of_listing(listing: Listing) -> tuple[tuple[str, ...], ...]:
    filters = listing.filters
    offered = (filters.__module__, filters.__qualname__, *filters.base_filters) if filters else ()
    return _name_of_shape(listing.shape), offered, tuple(listing.sorts), (listing.default_sort,)
