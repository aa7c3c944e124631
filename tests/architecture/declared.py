"""What the service declares, in an order that each test process finds alike.

The garbage collector lists objects in the order of their memory, which differs between processes; pytest-xdist needs
the same tests in the same order in all of them.
"""

import gc
from collections.abc import Iterator
from typing import TypeVar

from api.listing import Listing
from api.operations import Operation
from api.shapes import Shape

Kind = TypeVar("Kind")


def shapes() -> list[Shape]:
    """Return the compiled representations that exist now."""
    return sorted(_living(Shape), key=_name_of_shape)


def listings() -> list[Listing]:
    """Return the lists that exist now; two of one representation are told apart by what they offer."""
    return sorted(_living(Listing), key=_name_of_listing)


def operations() -> dict[tuple[str, str], Operation]:
    """Return what each operation of the API document declares, by method and path."""
    from tests.architecture.test_routes import ROUTES
    from tests.contract.document import path_of

    return {
        (method.upper(), path_of(path)): pattern.callback.cls.operations[name]
        for path, pattern in ROUTES
        for method, name in pattern.callback.actions.items()
        if method != "head"  # DRF adds it to a view's actions at its first request
    }


def _living(kind: type[Kind]) -> Iterator[Kind]:
    """Yield the objects of a class; by their own type, since isinstance() would wake lazy objects of other tests."""
    return (found for found in gc.get_objects() if issubclass(type(found), kind))


def _name_of_shape(shape: Shape) -> tuple[str, ...]:
    declared = shape.representation
    return (shape.name, declared.__module__, declared.__qualname__) if declared else (shape.name,)


def _name_of_listing(listing: Listing) -> tuple[tuple[str, ...], ...]:
    filters = listing.filters
    offered = (filters.__module__, filters.__qualname__, *filters.base_filters) if filters else ()
    return _name_of_shape(listing.shape), offered, tuple(listing.sorts), (listing.default_sort,)
