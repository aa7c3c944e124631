"""Ids of elements: each names one element of its resource. Source: R4 element.html, Element.id."""

from collections.abc import Iterator
from typing import Any

from fhir_api.resources.types import NUMBERS

from .faults import VALUE, Fault, Path

Json = dict[str, Any]


def repeated(resource: Json) -> Iterator[Fault]:
    """The ids that another element has; a contained resource of the registered types has ids of its own."""
    yield from _repeated({name: value for name, value in resource.items() if name != "contained"})
    for place, one in enumerate(resource.get("contained", ())):
        if one["resourceType"] in NUMBERS:
            yield from (fault.under("contained", place) for fault in _repeated(one))


def _repeated(resource: Json) -> Iterator[Fault]:
    seen: set[str] = set()
    for name, value in resource.items():
        for path, one in _ids(value, (name,)):
            if one in seen:
                yield Fault(VALUE, "The id of an element must be its alone.", (*path, "id"))
            seen.add(one)


def _ids(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, dict):
        if "id" in value:
            yield path, value["id"]
        for name, child in value.items():
            yield from _ids(child, (*path, name))
    elif isinstance(value, list):
        for place, child in enumerate(value):
            yield from _ids(child, (*path, place))


__all__ = ["repeated"]
