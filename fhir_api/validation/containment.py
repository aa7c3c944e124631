"""Contained resources: those of the twelve types by their own definition, others leniently. Source: R4 references.html#contained."""

from collections.abc import Iterator, Sequence
from typing import Any

from fhir_api.types import NUMBERS

from . import shapes
from .faults import STRUCTURE, VALUE, Fault, broken
from .invariants import Surroundings
from .rules import BY_CODE
from .walks import narrative, walk

Json = dict[str, Any]


def ids(resource: Json) -> frozenset[str]:
    """What a reference beginning with # may name."""
    return frozenset(one["id"] for one in resource.get("contained", ()) if "id" in one)


def shape_faults(resource: Json) -> Iterator[Fault]:
    """Contained resources that break the schema of their type."""
    for place, one in enumerate(resource.get("contained", ())):
        faults = shapes.faults(one["resourceType"], one) if one["resourceType"] in NUMBERS else list(_lenient(one))
        yield from (fault.under("contained", place) for fault in faults)


def walk_faults(resource: Json, surroundings: Surroundings) -> Iterator[Fault]:
    """What the walk finds in contained resources, and those that nothing refers to (dom-3)."""
    contained = resource.get("contained", ())
    for place, one in enumerate(contained):
        if one["resourceType"] in NUMBERS:
            inside = Surroundings(surroundings.contained, is_contained=True)
            yield from (fault.under("contained", place) for fault in walk(one["resourceType"], one, inside))
    if contained:
        yield from _repeated(contained)
        named = frozenset(_local(resource)) - {"#"}
        for place, one in enumerate(contained):
            if "#" + one.get("id", "") not in named and "#" not in _local(one):
                yield broken("dom-3", BY_CODE["dom-3"], "contained", place)


def _repeated(contained: Sequence[Json]) -> Iterator[Fault]:
    seen: set[str] = set()
    for place, one in enumerate(contained):
        if "id" in one and one["id"] in seen:
            yield Fault(VALUE, "The id of a contained resource must be its alone.", ("contained", place, "id"))
        seen.add(one.get("id", ""))


def _local(value: Any) -> Iterator[str]:
    """Every text below a value that names a contained resource."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
        elif isinstance(one, str) and one.startswith("#"):
            yield one


def _lenient(value: Any) -> Sequence[Fault]:
    """Empty values, which FHIR's JSON never has, and narratives, in a resource of a type this interface does not define."""
    found: list[Fault] = []
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), value)]
    while waiting:
        path, one = waiting.pop()
        if one is None and not (path and isinstance(path[-1], int)):
            found.append(Fault(STRUCTURE, "null is not allowed here.", path))
        elif one in ("", [], {}):
            found.append(Fault(STRUCTURE, "An empty value is not allowed.", path))
        elif isinstance(one, dict):
            waiting += (((*path, name), child) for name, child in one.items())
        elif isinstance(one, list):
            waiting += (((*path, place), child) for place, child in enumerate(one))
        elif path[-2:] == ("text", "div") and isinstance(one, str):
            found += (fault.under(*path) for fault in narrative(one))
    return found


__all__ = ["ids", "shape_faults", "walk_faults"]
