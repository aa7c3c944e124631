"""Contained resources: those of the registered types by their own definition, others leniently. Source: R4 references.html#contained."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final

from fhir_api.resources.types import NUMBERS

from . import shapes
from .definitions import definitions
from .faults import STRUCTURE, VALUE, Fault, broken
from .invariants import Surroundings
from .rules import BY_CODE
from .walks import narrative, walk

Json = dict[str, Any]
_URIS: Final = frozenset({"uri", "url", "canonical"})


def types(resource: Json) -> dict[str, str]:
    """What a reference beginning with # may name, and the type of it."""
    return {one["id"]: one["resourceType"] for one in resource["contained"] if "id" in one}


def shape_faults(resource: Json) -> Iterator[Fault]:
    """Contained resources that break the schema of their type."""
    for place, one in enumerate(resource.get("contained", ())):
        faults = shapes.faults(one["resourceType"], one) if one["resourceType"] in NUMBERS else list(_lenient(one))
        yield from (fault.under("contained", place) for fault in faults)


def walk_faults(resource: Json, surroundings: Surroundings) -> Iterator[Fault]:
    """What the walk finds in contained resources, and those that nothing refers to (dom-3)."""
    contained = resource["contained"]
    inside = Surroundings(surroundings.contained, resource["resourceType"])
    for place, one in enumerate(contained):
        if one["resourceType"] in NUMBERS:
            yield from (fault.under("contained", place) for fault in walk(one["resourceType"], one, inside))
    yield from _repeated(contained)
    container = {name: value for name, value in resource.items() if name != "contained"}
    named = {text for one in (container, *contained) for text in _local(one)} - {"#"}
    for place, one in enumerate(contained):
        if "#" + one.get("id", "") not in named and "#" not in _local(one):
            yield broken("dom-3", BY_CODE["dom-3"], "contained", place)


def _repeated(contained: Sequence[Json]) -> Iterator[Fault]:
    seen: set[str] = set()
    for place, one in enumerate(contained):
        if "id" in one and one["id"] in seen:
            yield Fault(VALUE, "The id of a contained resource must be its alone.", ("contained", place, "id"))
        seen.add(one.get("id", ""))


def _local(resource: Json) -> Iterator[str]:
    """What names a contained resource: references, URIs and canonicals; of a type whose elements are not known, any text."""
    is_known = resource["resourceType"] in NUMBERS
    waiting: list[tuple[str, Any]] = [("", resource)]
    while waiting:
        name, one = waiting.pop()
        if isinstance(one, dict):
            waiting += one.items()
        elif isinstance(one, list):
            waiting += ((name, child) for child in one)
        elif isinstance(one, str) and one.startswith("#") and not (is_known and name not in _naming()):
            yield one


@cache
def _naming() -> frozenset[str]:
    """The names of elements of type uri, url or canonical, and `reference`, which is a string."""
    return frozenset({"reference"}).union(
        name
        for definition in definitions().values()
        for name, schema in definition.get("properties", {}).items()
        if schema.get("items", schema).get("$ref", "").rpartition("/")[2].removesuffix("-or-null") in _URIS
    )


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


__all__ = ["shape_faults", "types", "walk_faults"]
